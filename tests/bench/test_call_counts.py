"""What a run costs, in Python function calls: a measure without noise.

The ceilings are in `bench/calls.json`. A change that needs more says why and raises one; `--update-call-counts` is not
there on purpose.
"""

import gc
import json
import logging
import sys
from pathlib import Path

import pytest
from scenes import in_dispatcher, thinker_scene

from nucleo.errors import InvalidInputException, explain
from nucleo.errors.http import http_failure
from nucleo.testing import run

CEILINGS = json.loads((Path(__file__).parents[2] / "bench" / "calls.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def without_handlers():
    """What listens to the log here is the test runner, and what it does is not ours to count."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class CallCounter:
    """Counts calls of Python functions while it is entered."""

    def __init__(self):
        self.count = 0

    def __enter__(self):
        # What a collection finalises is not this run's.
        gc.collect()
        gc.disable()
        sys.setprofile(self._saw)
        return self

    def __exit__(self, *exc):
        sys.setprofile(None)
        gc.enable()

    def _saw(self, frame, event, argument):
        if event == "call":
            self.count += 1


def calls_of_run(calls, *, failing_first=False):
    scene = thinker_scene(calls, failing_first=failing_first)
    counted = []

    async def measured():
        await scene()
        with CallCounter() as counter:
            await scene()
        counted.append(counter.count)

    run(in_dispatcher(measured))
    return counted[0]


def calls_at(*places, of):
    """Count what lies between one model call of a long run and the next."""
    seen = []
    counter = CallCounter()
    scene = thinker_scene(of, at_each_model_call=lambda: seen.append(counter.count))

    async def measured():
        with counter:
            await scene()

    run(in_dispatcher(measured))
    return [seen[place + 1] - seen[place] for place in places]


@pytest.mark.parametrize(
    ("what", "calls", "failing_first"),
    [("run with one tool call", 1, False), ("run whose call fails once", 2, True)],
)
def test_a_run_costs_no_more_calls_than_its_ceiling(what, calls, failing_first):
    assert calls_of_run(calls, failing_first=failing_first) <= CEILINGS[what]


def test_a_call_late_in_a_long_run_costs_what_an_early_one_does():
    early, late = calls_at(15, 195, of=200)
    assert early <= CEILINGS["call 15 of a long run"]
    assert late <= CEILINGS["call 195 of a long run"]
    assert late <= early


def test_explaining_a_failure_costs_no_more_calls_than_its_ceiling():
    failure = InvalidInputException("number", "1042", "must look like ORD-1234")
    explain(failure)
    with CallCounter() as counter:
        explain(failure)
    assert counter.count <= CEILINGS["explaining a failure"]


def test_reading_an_error_answer_costs_no_more_calls_than_its_ceiling():
    body = json.dumps(
        {"error": {"code": "INVALID_FIELD", "message": "The quantity must be between 1 and 99."}}
    ).encode()
    http_failure("shop", "/orders", 422, body).explain_to_llm()
    with CallCounter() as counter:
        http_failure("shop", "/orders", 422, body).explain_to_llm()
    assert counter.count <= CEILINGS["reading an error answer"]
