"""The dispatcher: one value that runs jobs on one event loop, from ``async with`` to the end of the block."""

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Final, Self, TypeVar, Unpack, final

from nucleo.jobs.engine import Engine
from nucleo.jobs.events import JobEvent
from nucleo.jobs.execution import Execution
from nucleo.jobs.handle import JobHandle
from nucleo.jobs.job import Job
from nucleo.jobs.options import SubmitOptions
from nucleo.jobs.states import JobState
from nucleo.jobs.stream import EventIterator, EventStream
from nucleo.jobs.submission import submit

T = TypeVar("T")

logger = logging.getLogger("nucleo.jobs")

MAX_THREADS: Final = 64
"""Synchronous bodies at once, unless said otherwise."""
SHUTDOWN_GRACE_SECONDS: Final = 30.0
"""How long the end of the block waits for jobs before it cancels them, unless said otherwise."""
EVENTS_KEPT: Final = 1_000
"""Events that a subscriber may be behind before it loses the oldest, unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSnapshot:
    """A job as it is at one moment.

    Attributes:
        id: Its id.
        name: Its name.
        workflow: Its workflow.
        state: Where it is in its life.
        attempt: Which run of its body, from 1; 0 before the first.
        age_seconds: Seconds since it was submitted.
    """

    id: str
    name: str
    workflow: str
    state: JobState
    attempt: int
    age_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatcherSnapshot:
    """A dispatcher as it is at one moment.

    Attributes:
        jobs: The jobs that have not ended, oldest first.
        stragglers: Jobs that have ended although their bodies still run: threads, and bodies that swallow cancels.
    """

    jobs: tuple[JobSnapshot, ...]
    stragglers: tuple[JobSnapshot, ...]


@final
class Dispatcher:
    """Runs jobs, an asyncio task each. A value: as many as wanted, each restartable.

        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(find_order.job(number="ORD-1042"))
            order = await handle

    The end of the block waits for the jobs, cancels what is left after the grace, and leaves no task behind; after an
    exception it cancels at once. A synchronous body that does not end within its grace is reported by name.

    Args:
        max_threads: Synchronous bodies at once; further ones wait.
        shutdown_grace: Seconds that the end of the block waits for jobs before it cancels them.
        random: Where pauses are drawn from; a seeded one makes a run repeatable.
        events_kept: Events that a subscriber may be behind before it loses the oldest.

    Raises:
        ValueError: A number is out of its range.
    """

    def __init__(
        self,
        *,
        max_threads: int = MAX_THREADS,
        shutdown_grace: float = SHUTDOWN_GRACE_SECONDS,
        random: Random | None = None,
        events_kept: int = EVENTS_KEPT,
    ) -> None:
        if max_threads < 1:
            raise ValueError(f"max_threads is 1 or more; got {max_threads!r}")
        if not shutdown_grace >= 0:
            raise ValueError(f"shutdown_grace is 0 or more seconds; got {shutdown_grace!r}")
        if events_kept < 1:
            raise ValueError(f"events_kept is 1 or more; got {events_kept!r}")
        self._max_threads = max_threads
        self._shutdown_grace = shutdown_grace
        self._random = random or Random()  # noqa: S311 - jitter, not a secret
        self._stream = EventStream(events_kept)
        self._engine: Engine | None = None

    async def __aenter__(self) -> Self:
        """Start.

        Raises:
            RuntimeError: It has been started already.
        """
        if self._engine is not None:
            raise RuntimeError("this dispatcher is running; make another one, or start this one again after its end")
        self._engine = Engine(
            self, random=self._random, max_threads=self._max_threads, stream=self._stream, submit=submit
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the jobs, cancel what is left, and end."""
        engine = self._running()
        try:
            await engine.drain(self._shutdown_grace if error is None else 0.0)
        finally:
            self._engine = None
            for execution in engine.stragglers.values():
                logger.warning("%s (%s) was stopped, but its body still runs", execution.name, execution.id)
            self._stream.finish()

    def submit(self, job: Job[T], **options: Unpack[SubmitOptions]) -> JobHandle[T]:
        """Start a job.

        Args:
            job: What to run.
            options: ``after`` (handles it waits for), ``workflow`` (the submitting job's, else its own), ``timeout``
                (seconds for each run of the body; the job's own), ``deadline`` (seconds for the whole job: waiting,
                pauses and re-runs included; never later than the submitting job's), ``detached`` (lives on without
                waiters and without the job that started it), ``tolerate_failed_dependencies``, ``upstream_retries``
                (3), ``max_pause`` (300 seconds; a service that asks for more fails the job at once), ``metadata``.

        Returns:
            The handle; a job that is refused at the door has one too, which has already failed with the reason.

        Raises:
            TypeError: It is no job, or a job without a body.
            ValueError: A number makes no sense.
            RuntimeError: The dispatcher is not running, or this is not its loop.
        """
        return submit(self._running(), job, **options)

    def submit_threadsafe(self, job: Job[T], **options: Unpack[SubmitOptions]) -> "concurrent.futures.Future[T]":
        """Start a job from another thread.

        Returns:
            A future of the result. Cancelling it cancels the job.
        """
        engine = self._running()

        async def wait() -> T:
            return await submit(engine, job, **options)

        return asyncio.run_coroutine_threadsafe(wait(), engine.loop)

    def cancel_workflow(self, workflow: str, reason: str | None = None) -> int:
        """Cancel every job of a workflow.

        Returns:
            How many jobs were told to stop.
        """
        mine = [each for each in self._running().executions.values() if each.workflow == workflow]
        return sum(each.cancel(reason) for each in mine)

    def events(self, workflow: str | None = None) -> EventIterator:
        """Listen from now on: ``async for event in dispatcher.events()``; ends when the dispatcher has ended.

        Args:
            workflow: Only the events of this one.
        """
        return self._stream.events(workflow)

    def subscribe(self, callback: Callable[[JobEvent], object], *, workflow: str | None = None) -> Callable[[], None]:
        """Have every event from now on handed to a callback, on the loop, never by whoever publishes.

        Args:
            callback: What is called; what it raises is logged and goes no further.
            workflow: Only the events of this one.

        Returns:
            A function that ends the subscription.
        """
        return self._stream.subscribe(callback, workflow, self._running().loop)

    def publish(self, event: JobEvent) -> None:
        """Hand an event to everyone who listens. Never blocks and never raises."""
        if self._engine is not None:
            self._engine.publish(event)

    def snapshot(self) -> DispatcherSnapshot:
        """Show the jobs that have not ended, and the bodies that should have."""
        engine = self._running()
        now = engine.loop.time()
        return DispatcherSnapshot(
            jobs=tuple(_snapshot(each, now) for each in engine.executions.values()),
            stragglers=tuple(_snapshot(each, now) for each in engine.stragglers.values()),
        )

    def _running(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("this dispatcher is not running: use it inside 'async with dispatcher:'")
        return self._engine


def run(job: Job[T], **options: Unpack[SubmitOptions]) -> T:
    """Run one job in a script, with an event loop and a dispatcher of its own.

    Args:
        job: What to run.
        options: As for `Dispatcher.submit`.

    Returns:
        Its result.

    Raises:
        LLMReadableException: Its failure.
    """

    async def main() -> T:
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(job, **options)

    return asyncio.run(main())


def _snapshot(execution: Execution, now: float) -> JobSnapshot:
    return JobSnapshot(
        id=execution.id,
        name=execution.name,
        workflow=execution.workflow,
        state=execution.state,
        attempt=execution.attempt,
        age_seconds=now - execution.submitted_at,
    )
