"""The door: what is misuse, what is refused, and how a job that may enter is started."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, Final, TypeVar

from nucleo.errors import JobDeadlockException, SystemException, UncorrectableRuntimeLLMException
from nucleo.jobs.deadlock import call_site
from nucleo.jobs.engine import Door, Engine
from nucleo.jobs.events import JobSubmitted
from nucleo.jobs.execution import Execution, JobWork
from nucleo.jobs.handle import JobHandle, execution_of
from nucleo.jobs.job import Job
from nucleo.jobs.life import live
from nucleo.jobs.options import UPSTREAM_RETRIES
from nucleo.jobs.outcome import failed
from nucleo.jobs.reruns import LONGEST_PAUSE_SECONDS
from nucleo.jobs.states import JobState
from nucleo.jobs.terms import Terms
from nucleo.limits import CurrentWork, current_work

T = TypeVar("T")

_NO_RUN: Final = Job[Any].run
_NO_RUN_SYNC: Final = Job[Any].run_sync


def submit(
    engine: Engine,
    job: Job[T],
    *,
    parent: Execution | None = None,
    after: Sequence[JobHandle[Any]] = (),
    workflow: str | None = None,
    timeout: float | EllipsisType | None = ...,
    deadline: float | None = None,
    detached: bool = False,
    tolerate_failed_dependencies: bool = False,
    upstream_retries: int = UPSTREAM_RETRIES,
    max_pause: float = LONGEST_PAUSE_SECONDS,
    metadata: Mapping[str, Any] | None = None,
) -> JobHandle[T]:
    """Start a job, or give back a handle that has already failed and says why.

    Raises:
        TypeError: When it is no job, a job without a body, or `after` holds something that is no handle.
        ValueError: When a number makes no sense.
        RuntimeError: When called outside the dispatcher's loop.
    """
    _check_job(job)
    if timeout is not ... or deadline is not None:
        _check_seconds(timeout=timeout, deadline=deadline)
    if upstream_retries < 0:
        raise ValueError(f"upstream_retries is 0 or more; got {upstream_retries!r}")
    if not max_pause >= 0:
        raise ValueError(f"max_pause is 0 or more seconds; got {max_pause!r}")
    if asyncio.get_running_loop() is not engine.loop:
        raise RuntimeError("submit was called outside the dispatcher's event loop; use submit_threadsafe")
    work = current_work.get()
    if parent is None and isinstance(work, JobWork):
        parent = work.execution
    workflow = workflow or (None if parent is None else parent.workflow)
    submitter = parent
    if parent is not None and parent.outcome is not None:
        parent = None
    timeout = job.timeout if isinstance(timeout, EllipsisType) else timeout
    end, deadline = _deadline(engine, parent, deadline)
    terms = Terms(
        _executions(after) if after else (),
        tolerate_failed_dependencies,
        detached,
        timeout,
        end,
        deadline,
        upstream_retries,
        max_pause,
        metadata,
    )
    execution = Execution(engine, job, parent=parent, workflow=workflow, terms=terms)
    handle: JobHandle[T] = JobHandle(execution)
    execution.handle = handle
    if engine.stream.has_listeners:
        execution.announce(JobSubmitted, parent_id=None if parent is None else parent.id)
    refusal = _refusal(engine, execution, submitter, work)
    if refusal is not None:
        execution.settle(failed(execution.name, refusal, foreign_cancel=False))
    else:
        _start(engine, execution)
    return handle


def _start(engine: Engine, execution: Execution) -> None:
    engine.executions[execution.id] = execution
    parent = execution.parent
    if parent is not None:
        if parent.children is None:
            parent.children = set()
        parent.children.add(execution)
    execution.task = engine.loop.create_task(live(execution), name=f"{execution.name} {execution.id}")
    if execution.terms.deadline is not None:
        execution.start_deadline(execution.terms.deadline)
    if parent is not None and parent.state is JobState.CANCELLING and not execution.terms.is_detached:
        execution.cancel(parent.reason or "the job that started it is ending")


def _deadline(engine: Engine, parent: Execution | None, seconds: float | None) -> tuple[float | None, float | None]:
    """Give the end of the whole job on the loop's clock, and the same as a budget; never later than the parent's."""
    inherited = None if parent is None else parent.terms.deadline
    if seconds is None and inherited is None:
        return None, None
    now = engine.loop.time()
    end = None if seconds is None else now + seconds
    if inherited is not None and (end is None or inherited < end):
        return inherited, max(0.0, inherited - now)
    return end, seconds


def _executions(after: Sequence[JobHandle[Any]]) -> tuple[Execution, ...]:
    for handle in after:
        if not isinstance(handle, JobHandle):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise TypeError(f"after= takes the handles that submit gave, not {type(handle).__name__}")
    return tuple(map(execution_of, after))


def _check_job(job: Job[Any]) -> None:
    if not isinstance(job, Job):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise TypeError(f"submit takes a Job, not {type(job).__name__}; a tool makes one by tool.job(...)")
    cls: type[Job[Any]] = type(job)
    if job.threaded:
        if cls.run_sync is _NO_RUN_SYNC:
            raise TypeError(f"{cls.__name__} is threaded and defines no run_sync(resources, context)")
    elif cls.run is _NO_RUN:
        raise TypeError(f"{cls.__name__} defines no run(resources, context)")


def _check_seconds(**limits: float | EllipsisType | None) -> None:
    for name, value in limits.items():
        if value is None or isinstance(value, EllipsisType):
            continue
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} is a positive number of seconds, or None for no limit; got {value!r}")


def _refusal(
    engine: Engine, execution: Execution, submitter: Execution | None, work: CurrentWork | None
) -> BaseException | None:
    """Say why a job may not enter, or nothing."""
    is_leafs_work = work is not None and work.holds()
    if is_leafs_work or (submitter is not None and not submitter.job.orchestrator and submitter.outcome is None):
        who = submitter.name if submitter is not None else (work.name if work is not None else "a leaf")
        return SystemException(
            execution.name, f"{who} is a leaf and may not submit jobs; set orchestrator = True if it only starts others"
        )
    if engine.door is Door.SHUT or (engine.door is Door.CHILDREN_ONLY and execution.parent is None):
        return UncorrectableRuntimeLLMException(f"{execution.name} was not started: the dispatcher is stopping.")
    for dependency in execution.terms.after:
        if dependency.outcome is None and submitter is not None and submitter.is_within(dependency):
            return JobDeadlockException(
                f"{execution.name} ({execution.id})",
                f"{dependency.name} ({dependency.id}), which does not end before it,",
                call_site(submitter),
            )
    return _refusal_of_needs(execution)


def _refusal_of_needs(execution: Execution) -> BaseException | None:
    job = execution.job
    if not job.orchestrator and execution.terms.timeout is not None:
        return None
    try:
        needs_nothing = job.requirements().is_nothing
    except Exception as error:  # noqa: BLE001 - the job's own code: its failure is the job's
        return error
    if needs_nothing:
        return None
    rule = (
        "an orchestrator holds nothing; move its requirements to the leaves that it submits"
        if job.orchestrator
        else "a job that holds resources must have a timeout"
    )
    return SystemException(execution.name, rule)
