"""What a submitter holds of a job: its result when there is one, and the means to stop it."""

import asyncio
from collections.abc import Generator
from typing import Any, Generic, TypeVar

from nucleo.jobs.deadlock import refuse_waiting
from nucleo.jobs.execution import Execution
from nucleo.jobs.states import JobState
from nucleo.limits import current_work

T = TypeVar("T")


class JobHandle(Generic[T]):
    """One submitted job. ``await handle`` gives its result or raises its failure, as often as wanted.

    Cancelling a waiter cancels the job when it was the last one, and waits for it to end, unless the job was
    submitted detached.

    Attributes:
        ended_by: What ended a thinker's run, in one word; the job sets it.
        transcript: What a thinker said and heard; the job sets it.
    """

    __slots__ = ("_execution", "ended_by", "transcript")

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self.ended_by: str | None = None
        self.transcript: object = None

    @property
    def id(self) -> str:
        """The job's id."""
        return self._execution.id

    @property
    def name(self) -> str:
        """The job's name."""
        return self._execution.name

    @property
    def workflow(self) -> str:
        """The workflow it belongs to."""
        return self._execution.workflow

    @property
    def state(self) -> JobState:
        """Where it is in its life."""
        return self._execution.state

    def done(self) -> bool:
        """Whether it has settled."""
        return self._execution.outcome is not None

    def cancel(self, reason: str | None = None) -> bool:
        """Stop the job and everything it started. On the loop's thread; returns at once.

        Args:
            reason: Why, for the log and for whoever reads the failure.

        Returns:
            Whether it was the first cancel of a job that had not ended.
        """
        return self._execution.cancel(reason)

    def exception(self) -> BaseException | None:
        """Give the failure of a job that has settled, ``None`` when it completed.

        Raises:
            asyncio.InvalidStateError: When it has not settled.
        """
        outcome = self._execution.outcome
        if outcome is None:
            raise asyncio.InvalidStateError(f"{self._execution.name} ({self._execution.id}) has not ended")
        return outcome.failure

    def future(self) -> asyncio.Future[T]:
        """Give a future of the result, for `asyncio.wait`. Cancelling it counts as a waiter that went away.

        Raises:
            JobDeadlockException: When the caller holds resources, as for ``await``.
        """
        execution = self._execution
        _refuse(execution)
        future: asyncio.Future[T] = execution.future()
        if execution.outcome is None:
            future.add_done_callback(self._future_is_done)
        return future

    def _future_is_done(self, future: asyncio.Future[T]) -> None:
        if future.cancelled() and self._execution.leave(future):
            self._execution.cancel("nobody waits for it any more")

    def __await__(self) -> Generator[Any, None, T]:
        execution = self._execution
        _refuse(execution)
        if execution.outcome is None:
            waiter = execution.watch()
            try:
                yield from waiter
            except asyncio.CancelledError:
                if execution.leave(waiter):
                    execution.cancel("nobody waits for it any more")
                    yield from _until_settled(execution)
                raise
        outcome = execution.outcome
        if outcome is None:
            raise asyncio.InvalidStateError(f"{execution.name} ({execution.id}) was waited for outside its loop")
        if outcome.failure is not None:
            # With the traceback of its own end: raising one object again and again would make it grow.
            raise outcome.failure.with_traceback(outcome.traceback)
        value: T = outcome.value
        return value

    def __repr__(self) -> str:
        execution = self._execution
        return f"<JobHandle {execution.name} {execution.id} {execution.state.value}>"


def execution_of(handle: JobHandle[Any]) -> Execution:
    """The job behind a handle. For this package only."""
    return handle._execution  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the two are one thing, seen from two sides


def _refuse(execution: Execution) -> None:
    if asyncio.get_running_loop() is not execution.engine.loop:
        raise RuntimeError(f"{execution.name} ({execution.id}) belongs to another event loop")
    work = current_work.get()
    if work is not None:
        refuse_waiting(work, execution)


def _until_settled(execution: Execution) -> Generator[Any, None, None]:
    """Wait for the end whatever comes: the caller is told of its cancel when the job is gone."""
    while execution.outcome is None:
        waiter = execution.watch()
        try:
            yield from waiter
        except asyncio.CancelledError:
            execution.leave(waiter)
