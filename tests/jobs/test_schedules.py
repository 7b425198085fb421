"""Random schedules: whatever bodies do and whoever stops them, each job ends once, rightly, and leaves nothing."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nucleo.errors import (
    DependencyFailedException,
    InvalidInputException,
    JobCancelledException,
    JobDeadlockException,
    JobTimeoutException,
    LLMReadableException,
    RateLimitRetryException,
    SystemException,
)
from nucleo.errors.retry import retry_signal_in
from nucleo.jobs import TERMINAL_EVENTS, Dispatcher, Job, JobCancelled, JobCompleted, JobFailed, JobState, JobTimedOut
from nucleo.testing import run

KINDS = (
    "succeed",
    "fail",
    "crash",
    "hang",
    "swallow once",
    "swallow always",
    "raise CancelledError",
    "cancel itself",
    "signal",
    "slow to leave",
    "task group",
    "await a handle",
)
_TERMINAL = {
    JobState.COMPLETED: JobCompleted,
    JobState.FAILED: JobFailed,
    JobState.CANCELLED: JobCancelled,
    JobState.TIMED_OUT: JobTimedOut,
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One job of a schedule."""

    kind: str
    delay: float
    timeout: float | None
    deadline: float | None
    cancel_at: float | None
    waiter_leaves_at: float | None
    detached: bool
    children: tuple["Plan", ...]
    after_previous: bool


def plans(depth: int) -> st.SearchStrategy[Plan]:
    moments = st.sampled_from([0.0, 0.1, 1.0, 3.0, 10.0, 40.0])
    children = st.just(()) if depth == 0 else st.lists(plans(depth - 1), max_size=3).map(tuple)
    return st.builds(
        Plan,
        kind=st.sampled_from(KINDS),
        delay=moments,
        timeout=st.none() | st.sampled_from([0.5, 1.0, 5.0, 30.0]),
        deadline=st.none() | st.sampled_from([0.5, 2.0, 20.0]),
        cancel_at=st.none() | moments,
        waiter_leaves_at=st.none() | moments,
        detached=st.booleans(),
        children=children,
        after_previous=st.booleans(),
    )


class Scheduled(Job[object]):
    """A job that follows its plan; with children it is an orchestrator."""

    def __init__(self, plan: Plan, schedule: "Schedule") -> None:
        self.plan = plan
        self.schedule = schedule
        self.orchestrator = bool(plan.children)
        self.name = plan.kind

    async def run(self, resources, context):
        if self.plan.children:
            handles = self.schedule.submit_all(context, self.plan.children)
            await asyncio.gather(*handles, return_exceptions=True)
        return await self.schedule.act(self.plan, context)


class Schedule:
    """Submits what is planned, and stops and waits as planned."""

    def __init__(self) -> None:
        self.handles = []
        self.over = False
        self.waits = []

    def submit_all(self, submitter, planned):
        made = []
        loop = asyncio.get_running_loop()
        for plan in planned:
            after = made[-1:] if plan.after_previous else ()
            handle = submitter.submit(
                Scheduled(plan, self),
                after=after,
                timeout=plan.timeout,
                deadline=plan.deadline,
                detached=plan.detached,
                upstream_retries=1,
            )
            made.append(handle)
            if plan.cancel_at is not None:
                loop.call_later(plan.cancel_at, handle.cancel, "planned")
        self.handles += made
        return made

    async def act(self, plan, context):
        await asyncio.sleep(plan.delay)
        match plan.kind:
            case "succeed":
                return "value"
            case "fail":
                raise InvalidInputException("a", 1, "wrong")
            case "crash":
                raise KeyError("crash")
            case "hang":
                await asyncio.sleep(10_000)
            case "swallow once" | "swallow always":
                for _ in range(1 if plan.kind == "swallow once" else 1000):
                    try:
                        await asyncio.sleep(10_000)
                    except asyncio.CancelledError:
                        if self.over:
                            raise
            case "raise CancelledError":
                raise asyncio.CancelledError
            case "cancel itself":
                asyncio.current_task().cancel()
                await asyncio.sleep(0)
            case "signal":
                raise RateLimitRetryException("requests")
            case "slow to leave":
                try:
                    await asyncio.sleep(10_000)
                finally:
                    await asyncio.sleep(0.3)
            case "task group":
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.sleep(5))
                    raise InvalidInputException("a", 1, "wrong")
            case "await a handle":
                await context.handle
        return "value"


async def _wait(handle):
    try:
        await handle
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return error
    return None


async def _run(schedule, planned, seed, events):
    async with Dispatcher(random=Random(seed), shutdown_grace=100.0) as dispatcher:
        dispatcher.subscribe(events.append)
        handles = schedule.submit_all(dispatcher, planned)
        for plan, handle in zip(planned, handles, strict=True):
            if plan.waiter_leaves_at is not None:
                waiter = asyncio.create_task(_wait(handle))
                asyncio.get_running_loop().call_later(plan.waiter_leaves_at, waiter.cancel)
                schedule.waits.append(waiter)
    stragglers = {task for task in asyncio.all_tasks() if "swallow always" in task.get_name()}
    schedule.over = True
    for straggler in stragglers:
        straggler.cancel()
    await asyncio.gather(*schedule.waits, *stragglers, return_exceptions=True)
    return asyncio.all_tasks() - {asyncio.current_task()}


def _check_end(handle, ends):
    assert handle.done(), handle
    assert ends[handle.id] == [_TERMINAL[handle.state]], (handle, ends[handle.id])
    failure = handle.exception()
    assert (failure is None) == (handle.state is JobState.COMPLETED)
    if failure is None:
        return
    assert isinstance(failure, LLMReadableException | DependencyFailedException | JobDeadlockException)
    assert retry_signal_in(failure) is None
    assert isinstance(failure, JobCancelledException) or handle.state is not JobState.CANCELLED
    assert isinstance(failure, JobTimeoutException) or handle.state is not JobState.TIMED_OUT
    if handle.name in {"raise CancelledError", "crash"} and handle.state is JobState.FAILED:
        assert isinstance(failure, SystemException | DependencyFailedException)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(planned=st.lists(plans(2), min_size=1, max_size=4), seed=st.integers())
def test_every_job_ends_once_with_the_right_class_and_leaves_no_task(planned, seed):
    schedule, events = Schedule(), []
    left = run(_run(schedule, planned, seed, events))
    assert not left
    submitted = Counter(event.job_id for event in events if type(event).__name__ == "JobSubmitted")
    assert set(submitted.values()) == {1}
    ends = {handle.id: [] for handle in schedule.handles}
    for event in events:
        if isinstance(event, TERMINAL_EVENTS):
            ends[event.job_id].append(type(event))
    for handle in schedule.handles:
        _check_end(handle, ends)
