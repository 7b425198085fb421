"""Measure, and print the ratios that `bench/README.md` speaks of. Run with ``make bench``.

Every figure is a ratio of two measurements made in turns in one run, so that a slow or busy machine slows both. The
best of several rounds counts: what other processes add is never negative.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from scenes import floor_scene, in_dispatcher, thinker_scene

from nucleo.errors import InvalidInputException, explain
from nucleo.errors.http import http_failure

ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    what: str
    value: float
    limit: float
    unit: str = "x"

    @property
    def kept(self) -> bool:
        """Whether the figure is within its limit."""
        return self.value <= self.limit


def main() -> int:
    """Measure everything and print the table; 1 when a limit is not kept."""
    logging.disable(logging.CRITICAL)
    figures = [*imports(), *failures(), *answers(), *runs()]
    width = max(len(figure.what) for figure in figures)
    for figure in figures:
        mark = "ok  " if figure.kept else "OVER"
        print(f"{mark} {figure.what:<{width}}  {figure.value:8.2f} {figure.unit:<2}  (limit {figure.limit:g})")
    return 0 if all(figure.kept for figure in figures) else 1


def imports() -> list[Figure]:
    """Time imports in processes of their own, in turns."""
    plain = "import dataclasses, json, logging, re, typing"
    libraries = "import asyncio, pydantic; pydantic.TypeAdapter(int)"
    front = (
        "from nucleo import tool, Thinker, Dispatcher\n"
        "@tool\nasync def find(number: str) -> str:\n    '''Find an order.'''\n    return number\n"
    )
    best = _import_times(plain, f"{plain}\nimport nucleo.errors", libraries, front)
    return [
        Figure("import nucleo.errors, above the standard modules it uses", best[1] - best[0], 10, "ms"),
        Figure(
            "from nucleo import tool, Thinker, Dispatcher and one tool / pydantic and asyncio", best[3] / best[2], 1.3
        ),
    ]


def _import_times(*programs: str) -> list[float]:
    best = [float("inf")] * len(programs)
    # As an installed package is imported: from compiled files.
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(11):
        for index, program in enumerate(programs):
            timed = f"import time; t = time.perf_counter()\n{program}\nprint((time.perf_counter() - t) * 1e3)"
            out = subprocess.run(
                [sys.executable, "-c", timed], capture_output=True, text=True, check=True, env=compiled
            )
            best[index] = min(best[index], float(out.stdout))
    return best


def failures() -> list[Figure]:
    """Time raising, catching and explaining a failure against a plain ValueError with an f-string."""
    number = "1042"

    def plain() -> None:
        try:
            raise ValueError(f"invalid number: {number!r} does not look like ORD-1234")  # noqa: TRY301
        except ValueError:
            pass

    def ours() -> None:
        try:
            raise InvalidInputException("number", number, "must look like ORD-1234")  # noqa: TRY301
        except InvalidInputException:
            pass

    def explained() -> None:
        try:
            raise InvalidInputException("number", number, "must look like ORD-1234")  # noqa: TRY301
        except InvalidInputException as error:
            explain(error)

    best = _best(plain, ours, explained, loops=20_000)
    return [
        Figure("raise and catch a failure / a ValueError", best[1] / best[0], 3),
        Figure("raise, catch and explain a failure / a ValueError", best[2] / best[0], 10),
    ]


def answers() -> list[Figure]:
    """Time the reading of an error answer against `json.loads` of its body, and against a larger body."""
    body = json.dumps(
        {
            "error": {
                "code": "INVALID_FIELD",
                "message": "The field 'quantity' must be between 1 and 99.",
                "field": "quantity",
                "details": [{"path": f"items.{i}.quantity", "problem": "out of range"} for i in range(30)],
            }
        }
    ).encode()
    large, larger = body[:-2] + b" " * (70_000 - len(body)) + b"}}", body[:-2] + b" " * (700_000 - len(body)) + b"}}"
    headers = {"Content-Type": "application/json"}

    def read(content: bytes) -> Callable[[], object]:
        return lambda: http_failure("shop", "/orders", 422, content, headers=headers).explain_to_llm()

    best = _best(lambda: json.loads(body), read(body), loops=2_000)
    flat = _best(read(large), read(larger), loops=100)
    return [
        Figure(f"http_failure of a {len(body)} byte JSON body / json.loads of it", best[1] / best[0], 8),
        Figure("http_failure of 700 KB / of 70 KB", flat[1] / flat[0], 1.5),
    ]


def runs() -> list[Figure]:
    """Time thinker runs against the floor, and the calls of a long run against each other."""
    one = _run_ratio(thinker_scene(1), floor_scene(1), runs=300)
    failing = _run_ratio(thinker_scene(2, failing_first=True), floor_scene(2, failing_first=True), runs=300)
    short, long = asyncio.run(in_dispatcher(_per_call))
    return [
        Figure("thinker run with one tool call / floor", one, 3),
        Figure("thinker run whose call fails once / floor", failing, 4),
        Figure("time per call in a run of 400 calls / of 40 calls", long / short, 1.3),
    ]


def _run_ratio(
    ours: Callable[[], Coroutine[Any, Any, Any]], floor: Callable[[], Coroutine[Any, Any, Any]], *, runs: int
) -> float:
    async def measure() -> float:
        best = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            for index, scene in enumerate((ours, floor)):
                start = time.perf_counter()
                for _ in range(runs):
                    await scene()
                best[index] = min(best[index], time.perf_counter() - start)
        return best[0] / best[1]

    return asyncio.run(in_dispatcher(measure))


async def _per_call() -> tuple[float, float]:
    best = {40: float("inf"), 400: float("inf")}
    for _ in range(ROUNDS):
        for calls in best:
            scene = thinker_scene(calls)
            start = time.perf_counter()
            await scene()
            best[calls] = min(best[calls], (time.perf_counter() - start) / calls)
    return best[40], best[400]


def _best(*functions: Callable[[], object], loops: int) -> list[float]:
    best = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for index, function in enumerate(functions):
            best[index] = min(best[index], timeit.timeit(function, number=loops))
    return best


if __name__ == "__main__":
    sys.exit(main())
