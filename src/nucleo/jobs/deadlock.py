"""The rule that who holds must not wait, and the place in the code that broke it."""

import inspect
from types import FrameType
from typing import Any

from nucleo.errors import JobDeadlockException
from nucleo.jobs.execution import Execution, JobWork
from nucleo.limits import CurrentWork

_NOT_THE_READER = ("nucleo.jobs", "asyncio")
_LOOP = "asyncio.events"


def refuse_waiting(work: CurrentWork, awaited: Execution) -> None:
    """Raise if the code that runs now may not wait for this job, even if that job has already ended.

    Args:
        work: The work that would wait. It follows the context into tasks and threads, so that a helper task is no way
            round; whether it *holds* is asked of the job at this moment, so a helper that outlives its job is free.
        awaited: The job it would wait for.

    Raises:
        JobDeadlockException: When the waiter holds resources, or is itself, or was started by, what it waits for.
    """
    waiter = work.execution if isinstance(work, JobWork) else None
    in_a_circle = waiter is not None and awaited.outcome is None and waiter.is_within(awaited)
    if work.holds() or in_a_circle:
        raise JobDeadlockException(f"{work.name} ({work.job_id})", f"{awaited.name} ({awaited.id})", call_site(waiter))


def call_site(waiter: Execution | None) -> str:
    """Name the line of the user's code that waits, as ``file:line in function``."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == _LOOP:
            break
        if not module.startswith(_NOT_THE_READER):
            return _place(frame)
        frame = frame.f_back
    # A helper task of asyncio waits on the body's behalf (gather, wait_for): the line is where the body stands.
    inner = _innermost(waiter)
    return "an unknown line" if inner is None else _place(inner)


def _innermost(waiter: Execution | None) -> FrameType | None:
    if waiter is None or waiter.task is None:
        return None
    coroutine: Any = waiter.task.get_coro()
    found: FrameType | None = None
    while coroutine is not None:
        frame: FrameType | None = getattr(coroutine, "cr_frame", None)
        if frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(_NOT_THE_READER):
            found = frame
        coroutine = getattr(coroutine, "cr_await", None)
    return found


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
