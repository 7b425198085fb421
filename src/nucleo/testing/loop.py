"""An event loop whose clock jumps: an hour of timeouts in a millisecond, a deadlock reported.

Apart from the rest of the kit because it is all that most tests need, and because it replaces
``time.monotonic`` while it runs, which nothing else may do.

The clock has two gaits. When nothing outside the loop can wake it, it jumps to the next timer. While a
worker thread of ours runs, or a watched socket has been quiet for less than ``patience``, it
keeps pace with the real clock, so that a timeout and a thread race as they would in production.
"""

import asyncio
import math
import selectors
import threading
import time
import traceback
from asyncio import base_events
from collections.abc import Callable, Coroutine, Generator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple, final

from nucleo.jobs.threads import BodyThread

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

_REAL_MONOTONIC = time.monotonic
_SLICE_SECONDS = 0.002
"""How often a real wait looks again whether the thread it waits for has ended."""

_STALL_SECONDS = 30.0
"""How long a watched socket may be quiet, with no timer to jump to, before that is a deadlock."""

_SELF_PIPE = 1
"""The loop itself always watches one socket, by which other threads wake it."""


class DeadlockError(RuntimeError):
    """Nothing is ready, no timer is set and nothing outside can wake the loop: it would hang.

    Attributes:
        waiting: One line for each task that waits: its name, and the place it waits at.
    """

    def __init__(self, waiting: tuple[str, ...]) -> None:
        self.waiting = waiting
        lines = "".join(f"\n  {line}" for line in waiting) or " nothing that is still there"
        super().__init__(f"nothing can happen any more; these wait for ever:{lines}")


@final
class JumpingLoop(asyncio.SelectorEventLoop):
    """A selector loop that moves its own clock.

    Args:
        patience: Real seconds that a watched socket may be quiet before the clock jumps over the
            wait for it. The loopback servers of a test answer well within it.
    """

    def __init__(self, *, patience: float = 0.5) -> None:
        # Not zero: stamps taken before the run must not lie in the future of the run. Whole,
        # so that sums of short waits stay readable.
        self._now = float(math.ceil(_REAL_MONOTONIC()))
        self._errands = 0
        super().__init__(_JumpingSelector(self, patience))

    def time(self) -> float:
        """The loop's clock, in seconds; it stands still while callbacks run."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock. Called by the selector; a test has no need to."""
        self._now += seconds

    def has_work_outside(self) -> bool:
        """Whether a thread that will call back is running."""
        if self._errands:
            return True
        return any(isinstance(thread, BodyThread) and thread.is_busy for thread in threading.enumerate())

    def run_in_executor(self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts) -> asyncio.Future[_T]:
        """As the base class, and the clock does not jump until the call is done."""
        future = super().run_in_executor(executor, func, *args)
        self._errands += 1
        future.add_done_callback(self._errand_done)
        return future

    async def shutdown_default_executor(self, *args: Any, **kwargs: Any) -> None:
        """As the base class, which joins its workers in a thread that calls back."""
        self._errands += 1
        try:
            await super().shutdown_default_executor(*args, **kwargs)
        finally:
            self._errands -= 1

    def _errand_done(self, _: asyncio.Future[Any]) -> None:
        self._errands -= 1


@final
class _JumpingSelector(selectors.BaseSelector):
    """The real selector, and the decision between waiting and jumping."""

    def __init__(self, loop: JumpingLoop, patience: float) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()
        self._patience = patience
        self._quiet_seconds = 0.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        self._quiet_seconds = 0.0
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        self._quiet_seconds = 0.0
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        left = math.inf if timeout is None else timeout
        while not ready and left > 0:
            if not self._must_wait(timed=timeout is not None):
                self._jump(timeout, left)
                break
            began = _REAL_MONOTONIC()
            ready = self._real.select(min(_SLICE_SECONDS, left))
            passed = min(_REAL_MONOTONIC() - began, left)
            self._loop.advance(passed)
            self._quiet_seconds += passed
            left -= passed
        if ready:
            self._quiet_seconds = 0.0
        return ready

    def _must_wait(self, *, timed: bool) -> bool:
        if self._loop.has_work_outside():
            return True
        watches_a_socket = len(self._real.get_map()) > _SELF_PIPE
        limit = self._patience if timed else _STALL_SECONDS
        return watches_a_socket and self._quiet_seconds < limit

    def _jump(self, timeout: float | None, left: float) -> None:
        if timeout is None:
            raise DeadlockError(_waiting(self._loop))
        self._loop.advance(left)


def run(coroutine: Coroutine[Any, Any, _T], *, patience: float = 0.5, debug: bool = False) -> _T:
    """Run a coroutine on a fresh jumping loop, as ``asyncio.run`` does on an ordinary one.

    While it runs, ``time.monotonic`` is the loop's clock for all who look it up on the module.

    Args:
        coroutine: What to run.
        patience: Real seconds that a watched socket may be quiet before the clock jumps.
        debug: Asyncio's debug mode.

    Returns:
        What the coroutine returned.

    Raises:
        DeadlockError: When everything waits and nothing can happen any more.
    """
    loop = JumpingLoop(patience=patience)
    with _clock(loop.time), asyncio.Runner(debug=debug, loop_factory=lambda: loop) as runner:
        return runner.run(coroutine)


@contextmanager
def _clock(clock: Callable[[], float]) -> Generator[None]:
    before = time.monotonic
    time.monotonic = clock
    try:
        yield
    finally:
        time.monotonic = before


def _waiting(loop: base_events.BaseEventLoop) -> tuple[str, ...]:
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    return tuple(f"{task.get_name()}: {_place(task)}" for task in tasks)


def _place(task: asyncio.Task[Any]) -> str:
    coroutine: Any = task.get_coro()
    frame: Any = None
    while coroutine is not None and getattr(coroutine, "cr_frame", None) is not None:
        frame = coroutine.cr_frame
        coroutine = coroutine.cr_await
    if frame is None:
        return repr(task.get_coro())
    summary = traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    return f"{summary.filename}:{summary.lineno} in {summary.name}"
