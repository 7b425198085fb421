"""How a job ended: one verdict over what its body did and what it was told meanwhile, and its line in the log."""

import asyncio
import logging
from types import TracebackType
from typing import Any, NamedTuple
from weakref import WeakSet

from nucleo.errors import (
    DependencyFailedException,
    JobCancelledException,
    JobDeadlockException,
    JobTimeoutException,
    LLMReadableException,
    SystemException,
    unwrap,
)
from nucleo.errors.chain import interpreter_signal
from nucleo.errors.logs import log_failure
from nucleo.errors.retry import retry_signal_in
from nucleo.jobs.states import JobState

logger = logging.getLogger("nucleo.failures")

_BESIDE_THE_SET = (DependencyFailedException, JobDeadlockException)
"""What leaves a job as itself although no model reads it."""


class Outcome(NamedTuple):
    """How a job ended. A tuple, because one is made for every job.

    Attributes:
        state: Its last state.
        value: Its result, when it completed.
        failure: What its waiters get, when it did not.
        passing: A cancel or exit that was not sent to this job alone and must go on after it has settled.
        traceback: Where the failure came from, for raising it afresh to every waiter.
    """

    state: JobState
    value: Any = None
    failure: BaseException | None = None
    passing: BaseException | None = None
    traceback: TracebackType | None = None


def _failed(failure: BaseException, *, passing: BaseException | None = None) -> Outcome:
    return Outcome(JobState.FAILED, failure=failure, passing=passing, traceback=failure.__traceback__)


def failed(component: str, casualty: BaseException, *, foreign_cancel: bool) -> Outcome:
    """Judge a body that raised although nobody had told the job to stop.

    Args:
        component: The job's name.
        casualty: What it raised.
        foreign_cancel: Whether somebody other than the dispatcher cancelled its task.
    """
    if isinstance(casualty, _BESIDE_THE_SET):
        return _failed(casualty)
    control = interpreter_signal(casualty)
    if control is None:
        return _failed(unwrap(casualty, component=component))
    if not isinstance(control, asyncio.CancelledError):
        failure = SystemException(component, f"interrupted by {type(control).__name__}")
        # Nobody above a task is waiting for a GeneratorExit: a body that raises one has merely failed.
        return _failed(failure, passing=None if isinstance(control, GeneratorExit) else control)
    if foreign_cancel:
        stopped = JobCancelledException("its task was cancelled from outside the dispatcher")
        return Outcome(JobState.CANCELLED, failure=stopped, passing=control)
    failure = SystemException(component, "it raised CancelledError itself; nobody had cancelled it")
    failure.__cause__ = casualty
    return _failed(failure)


def cancelled(reason: str | None, casualty: BaseException | None) -> Outcome:
    """Judge a job that was told to stop, whatever its body then did."""
    failure = JobCancelledException(reason)
    failure.__cause__ = _worth_keeping(casualty)
    return Outcome(JobState.CANCELLED, failure=failure)


def timed_out(budget_seconds: float | None, casualty: BaseException | None) -> Outcome:
    """Judge a job that returned nothing within its budget and its grace."""
    failure = JobTimeoutException(budget_seconds)
    failure.__cause__ = _worth_keeping(casualty)
    return Outcome(JobState.TIMED_OUT, failure=failure)


def log_end(outcome: Outcome, *, job_id: str, name: str, workflow: str, logged: WeakSet[BaseException]) -> None:
    """Write the one line of a job that did not complete.

    A failure that only passes through on its way up is not written again, and a cancel that somebody asked for is no
    error.
    """
    failure = outcome.failure
    if failure is None or failure in logged:
        return
    logged.add(failure)
    if outcome.state is JobState.CANCELLED:
        logger.info("%s: %s", name, failure, extra={"job_id": job_id, "workflow_id": workflow})
    elif isinstance(failure, LLMReadableException):
        log_failure(failure, job_id=job_id, workflow_id=workflow)
    else:
        extra = {
            "job_id": job_id,
            "workflow_id": workflow,
            "failure_type": type(failure).__name__,
            "correctable": False,
        }
        logger.error("%s: %s", name, failure, exc_info=failure, extra=extra)


def _worth_keeping(casualty: BaseException | None) -> BaseException | None:
    """What explains the end, without a signal that would make a parent run again."""
    if casualty is None or isinstance(casualty, asyncio.CancelledError):
        return None
    signal = retry_signal_in(casualty)
    if signal is None:
        return casualty
    cause = signal.__cause__
    return None if cause is None or retry_signal_in(cause) is not None else cause
