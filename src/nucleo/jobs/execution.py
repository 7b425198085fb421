"""One job on its way through a dispatcher: its state, its clocks, and what it is told.

Everything here is synchronous. What a job *does* is in `nucleo.jobs.life`; here is what happens *to* it: it is
cancelled, its time runs out, it settles. State changes go through `Execution.move`, ends through `Execution.settle`.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from nucleo.errors.chain import interpreter_signal
from nucleo.jobs.engine import Engine
from nucleo.jobs.events import JobCancelled, JobCompleted, JobEvent, JobFailed, JobStarted, JobTimedOut
from nucleo.jobs.job import Job
from nucleo.jobs.outcome import Outcome, cancelled, log_end, timed_out
from nucleo.jobs.reruns import Rerun, Reruns
from nucleo.jobs.resources import Resources
from nucleo.jobs.states import TRANSITIONS, JobState
from nucleo.jobs.terms import MOST_CANCELS, Stage, Terms, grace_of
from nucleo.limits import CurrentWork, current_work

if TYPE_CHECKING:
    from nucleo.jobs.context import JobContext
    from nucleo.jobs.handle import JobHandle

logger = logging.getLogger("nucleo.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWork(CurrentWork):
    """The current work of code that a dispatcher runs: it also knows the way back to the job.

    Attributes:
        execution: The job.
    """

    execution: "Execution"


@final
class Execution:
    """The state of one submitted job."""

    __slots__ = (
        "_attempt_timer",
        "_cancels",
        "_deadline_timer",
        "attempt",
        "children",
        "context",
        "engine",
        "futures",
        "handle",
        "has_place",
        "holding",
        "id",
        "interrupting",
        "is_cancelled",
        "is_paused",
        "is_timed_out",
        "job",
        "name",
        "outcome",
        "parent",
        "reason",
        "reruns",
        "resources",
        "spent_budget",
        "stage",
        "state",
        "submitted_at",
        "task",
        "terms",
        "thread_runs",
        "waiters",
        "work",
        "workflow",
    )

    def __init__(
        self, engine: Engine, job: Job[Any], *, parent: "Execution | None", workflow: str | None, terms: Terms
    ) -> None:
        self.engine = engine
        self.job = job
        self.name = job.name
        self.id = engine.prefix + str(next(engine.counter))
        self.parent = parent
        self.workflow = workflow or self.id
        self.terms = terms
        self.state = JobState.QUEUED
        self.stage = Stage.BEFORE
        self.submitted_at = engine.loop.time()
        self.attempt = 0
        self.holding = False
        self.has_place = False
        self.is_cancelled = False
        self.is_timed_out = False
        self.is_paused = False
        self.thread_runs = False
        self.reason: str | None = None
        self.spent_budget: float | None = None
        self.reruns: Reruns | None = None
        self.resources: Resources | None = None
        self.interrupting: asyncio.Task[None] | None = None
        self.outcome: Outcome | None = None
        self.task: asyncio.Task[None] | None = None
        self.handle: JobHandle[Any] | None = None
        self.context: JobContext | None = None
        self.work: JobWork | None = None
        self.children: set[Execution] | None = None
        self.waiters: list[asyncio.Future[None]] | None = None
        self.futures: list[asyncio.Future[Any]] | None = None
        self._cancels = 0
        self._attempt_timer: asyncio.TimerHandle | None = None
        self._deadline_timer: asyncio.TimerHandle | None = None

    # -- what others ask

    def holds(self) -> bool:
        """Whether the job has something in its hands at this moment that others may be waiting for."""
        return self.holding or self.thread_runs

    @property
    def is_stopped(self) -> bool:
        """Whether it was told to stop, so that nothing of it may run again."""
        return self.is_cancelled or self.is_timed_out

    @property
    def foreign_cancels(self) -> bool:
        """Whether somebody besides this dispatcher cancelled the task."""
        return self.task is not None and self.task.cancelling() > self._cancels

    def attached_children(self) -> "list[Execution]":
        """The jobs it started that end with it."""
        return [child for child in self.children or () if not child.terms.is_detached]

    def is_within(self, ancestor: "Execution") -> bool:
        """Whether the other job is this one, or will not end before this one because it started it."""
        current: Execution | None = self
        while current is not None:
            if current is ancestor:
                return True
            current = None if current.terms.is_detached else current.parent
        return False

    # -- its runs

    def begin(self) -> None:
        """Start another run of the body: the job holds what it asked for, and the code that runs knows whose it is."""
        self.attempt += 1
        self.stage = Stage.BODY
        self.holding = not self.job.orchestrator
        self.move(JobState.RUNNING)
        self.work = JobWork(
            job_id=self.id,
            name=self.name,
            deadline=self._run_ends_at(),
            holds=self.holds,
            now=self.engine.loop.time,
            execution=self,
        )
        current_work.set(self.work)
        if self.engine.stream.has_listeners:
            self.announce(JobStarted, attempt=self.attempt)

    def give_back(self) -> None:
        """The run is over and everything it held has been given back."""
        self.holding = False
        self.resources = None

    def decide(self, casualty: BaseException) -> Rerun | BaseException:
        """Say whether the job runs again after what its body raised. A cancel or an exit is never run again."""
        if interpreter_signal(casualty) is not None:
            return casualty
        if self.reruns is None:
            terms = self.terms
            self.reruns = Reruns(
                upstream_retries=terms.upstream_retries, max_pause=terms.max_pause, random=self.engine.random
            )
        return self.reruns.decide(casualty)

    def _run_ends_at(self) -> float | None:
        timeout, deadline = self.terms.timeout, self.terms.deadline
        if timeout is None:
            return deadline
        end = self.engine.loop.time() + timeout
        return end if deadline is None else min(end, deadline)

    # -- the one way from state to state

    def move(self, state: JobState) -> bool:
        """Change the state if the table allows it; after an end nothing is allowed, so the first end wins."""
        if state not in TRANSITIONS[self.state]:
            return False
        self.state = state
        return True

    def announce(self, kind: type[JobEvent], **fields: Any) -> None:
        """Publish an event of this job, if anybody listens."""
        if self.engine.stream.has_listeners:
            self.engine.publish(
                kind(job_id=self.id, name=self.name, workflow=self.workflow, at=self.engine.loop.time(), **fields)
            )

    def settle(self, outcome: Outcome) -> None:
        """End: the terminal event, the log, then the waiters. Once; a later call changes nothing."""
        if not self.move(outcome.state):
            return
        self.disarm()
        if self._deadline_timer is not None:
            self._deadline_timer.cancel()
            self._deadline_timer = None
        if self.engine.stream.has_listeners:
            self._announce_end(outcome)
        if outcome.failure is not None:
            log_end(outcome, job_id=self.id, name=self.name, workflow=self.workflow, logged=self.engine.logged)
        self.outcome = outcome
        if self.parent is not None and self.parent.children is not None:
            self.parent.children.discard(self)
        self.engine.forget(self)
        # Each of these points back here; without the circle the job is freed with its last handle.
        self.handle = self.context = self.work = self.resources = self.task = None
        self._wake(outcome)

    def _announce_end(self, outcome: Outcome) -> None:
        match outcome.state:
            case JobState.COMPLETED:
                self.announce(JobCompleted)
            case JobState.CANCELLED:
                self.announce(JobCancelled, reason=self.reason or getattr(outcome.failure, "reason", None))
            case JobState.TIMED_OUT:
                self.announce(JobTimedOut, budget_seconds=self.spent_budget)
            case _:
                self.announce(JobFailed, failure=outcome.failure)

    def _wake(self, outcome: Outcome) -> None:
        waiters, self.waiters = self.waiters, None
        futures, self.futures = self.futures, None
        for waiter in waiters or ():
            if not waiter.done():
                waiter.set_result(None)
        for future in futures or ():
            if not future.done():
                resolve(future, outcome)

    # -- told to stop

    def cancel(self, reason: str | None) -> bool:
        """Stop the job and everything it started.

        Returns:
            Whether this was the first cancel of a job that had not ended.
        """
        if self.is_cancelled or self.state.is_terminal:
            return False
        self.is_cancelled = True
        self.reason = reason
        self.move(JobState.CANCELLING)
        self.disarm()
        self.cancel_children(reason)
        self._stop()
        return True

    def start_deadline(self, deadline: float) -> None:
        """Arm the one timer of the whole job."""
        self._deadline_timer = self.engine.loop.call_at(deadline, self._deadline_is_over)

    def arm(self, timeout: float) -> None:
        """Start the clock of one run of the body."""
        self._attempt_timer = self.engine.loop.call_later(timeout, self._budget_is_spent, timeout)

    def disarm(self) -> None:
        """Stop the clock of the run."""
        if self._attempt_timer is not None:
            self._attempt_timer.cancel()
            self._attempt_timer = None

    def _budget_is_spent(self, budget_seconds: float | None) -> None:
        """First phase: the body is told, and what it waits on is closed under it."""
        self.is_timed_out = True
        self.spent_budget = budget_seconds
        self._interrupt()
        self._attempt_timer = self.engine.loop.call_later(grace_of(budget_seconds), self._grace_is_over)

    def _grace_is_over(self) -> None:
        """Second phase: it did not leave by itself."""
        self.move(JobState.CANCELLING)
        self.cancel_children("the job that started it ran out of time")
        self._press()

    def _deadline_is_over(self) -> None:
        self._deadline_timer = None
        if self.is_stopped:
            return
        self.disarm()
        if self.stage == Stage.BODY:
            self._budget_is_spent(self.terms.deadline_seconds)
            return
        self.is_timed_out = True
        self.spent_budget = self.terms.deadline_seconds
        self.move(JobState.CANCELLING)
        self.cancel_children("the job that started it ran out of time")
        self._stop()

    def _stop(self) -> None:
        """Reach the task, in the way that the stage it is in calls for."""
        if self.stage == Stage.BEFORE:
            # A task that never took its first step never runs its own ending.
            task = self.task
            self.settle(cancelled(self.reason, None) if self.is_cancelled else timed_out(self.spent_budget, None))
            if task is not None:
                task.cancel()
        elif self.thread_runs or self.stage == Stage.CLOSING:
            self._interrupt()
            self._attempt_timer = self.engine.loop.call_later(grace_of(self.terms.timeout), self._press)
        else:
            self._press()

    def _press(self) -> None:
        """Cancel the task, and again after each grace, because a body may swallow a cancel."""
        if self.task is None or self.task.done():
            return
        if self.attached_children():
            # It cannot end before they have, and each of them is being pressed itself.
            if self._cancels == 0:
                self._cancel_task()
        elif self._cancels < MOST_CANCELS:
            self._cancel_task()
        else:
            self._leave_behind()
            return
        self._attempt_timer = self.engine.loop.call_later(grace_of(self.terms.timeout), self._press)

    def _cancel_task(self) -> None:
        if self.task is not None:
            self._cancels += 1
            if self.resources is not None:
                self.resources.abort()
            self.task.cancel()

    def _leave_behind(self) -> None:
        logger.error("%s (%s) swallowed %d cancels and is left behind", self.name, self.id, self._cancels)
        self.engine.stragglers[self.id] = self
        if self.task is not None:
            self.task.add_done_callback(lambda _: self.engine.stragglers.pop(self.id, None))
        self.settle(cancelled(self.reason, None) if self.is_cancelled else timed_out(self.spent_budget, None))

    def _interrupt(self) -> None:
        if self.interrupting is None and self.resources is not None and self.resources.can_be_interrupted:
            self.interrupting = self.engine.loop.create_task(self.resources.interrupt(), name=f"{self.id} interrupt")

    def cancel_children(self, reason: str | None) -> None:
        """Stop what the job started and has not ended, except what is detached."""
        for child in self.attached_children():
            if child.is_timed_out and not child.is_cancelled:
                # It ends by its own budget, and says so; only its grace is cut to that of the job that started it.
                child.disarm()
                child._grace_is_over()  # noqa: SLF001 - of the same class
            else:
                child.cancel(reason)

    # -- waited for

    def watch(self) -> asyncio.Future[None]:
        """Make a future that is done when the job has settled. Only while it has not."""
        waiter: asyncio.Future[None] = self.engine.loop.create_future()
        if self.waiters is None:
            self.waiters = [waiter]
        else:
            self.waiters.append(waiter)
        return waiter

    def future(self) -> asyncio.Future[Any]:
        """Make a future of the result. Cancelling it is a waiter that goes away."""
        future: asyncio.Future[Any] = self.engine.loop.create_future()
        if self.outcome is not None:
            resolve(future, self.outcome)
            return future
        if self.futures is None:
            self.futures = []
        self.futures.append(future)
        return future

    def leave(self, waiter: asyncio.Future[Any]) -> bool:
        """Take a waiter away. True when it was the last one, so that nobody is left to want the result."""
        for queue in (self.waiters, self.futures):
            if queue is not None and waiter in queue:
                queue.remove(waiter)
        return not self.waiters and not self.futures and not self.terms.is_detached


def resolve(future: asyncio.Future[Any], outcome: Outcome) -> None:
    """Give a future the end of a job. Its failure was logged where the job ended, so nobody has to fetch it."""
    if outcome.failure is None:
        future.set_result(outcome.value)
    else:
        future.set_exception(outcome.failure)
        future.exception()
