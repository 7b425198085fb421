"""A job's life, from its first step to its end: one coroutine that reads top to bottom.

What happens *to* the job meanwhile is in `nucleo.jobs.execution`. Where to go next is always decided without awaiting,
outside any exception handler, so that no run starts with the failure of the one before as its context.
"""

import asyncio
from typing import Any, Final

from nucleo.errors import DependencyFailedException
from nucleo.jobs.context import JobContext
from nucleo.jobs.events import JobRetrying, JobWaiting
from nucleo.jobs.execution import Execution
from nucleo.jobs.outcome import Outcome, cancelled, failed, timed_out
from nucleo.jobs.reruns import Rerun
from nucleo.jobs.resources import NOTHING, Resources
from nucleo.jobs.states import JobState
from nucleo.jobs.terms import Stage, grace_of
from nucleo.jobs.threads import start_body

_NO_VALUE: Final = object()


async def live(execution: Execution) -> None:
    """Run a job to its end: dependencies, then one attempt after the other, its children, its terminal event."""
    execution.stage = Stage.WAITING
    value: Any = _NO_VALUE
    casualty: BaseException | None = None
    rerun: Rerun | None = None
    while True:
        try:
            if execution.terms.after and execution.attempt == 0:
                await _dependencies(execution)
            if rerun is not None:
                await _pause(execution, rerun)
            value = await _attempt(execution)
            casualty = None
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not _is_stepping(execution):
                # The loop is gone, and with it everyone who could be told.
                raise
            casualty = error
        if casualty is None or execution.is_stopped:
            break
        verdict = execution.decide(casualty)
        if not isinstance(verdict, Rerun):
            casualty = verdict
            del verdict
            break
        rerun, casualty = verdict, None
    outcome = _judge(execution, value, casualty)
    if execution.children:
        outcome = await _see_children_through(execution, outcome, value, casualty)
    passing = outcome.passing
    execution.settle(outcome)
    # The frame is in the failure's traceback; without this the two would keep each other alive.
    value = casualty = None
    del outcome
    if passing is not None:
        try:
            raise passing
        finally:
            del passing


async def _attempt(execution: Execution) -> Any:
    """Run the body once, with everything it asked for, and give everything back before its result is judged."""
    job = execution.job
    execution.stage = Stage.WAITING
    needs = job.requirements()
    if job.threaded:
        await _thread_place(execution)
    resources = execution.resources = Resources()
    execution.begin()
    context = execution.context = JobContext(execution)
    error: BaseException | None = None
    value: Any = None
    try:
        if needs is not NOTHING:
            _start_clock(execution)
            await resources.open(needs)
            execution.disarm()
            # Open at last, but in its grace: the body would only begin what it may not finish.
            context.check_cancellation()
        _start_clock(execution)
        if job.threaded:
            value = await _in_thread(execution, resources, context)
        else:
            value = await job.run(resources, context)
    except BaseException as raised:
        if isinstance(raised, GeneratorExit) and not _is_stepping(execution):
            raise
        error = raised
    execution.stage = Stage.CLOSING
    execution.disarm()
    if needs is not NOTHING or execution.interrupting is not None:
        error = await _close(execution, resources, error)
    if execution.has_place:
        execution.engine.places.give()
        execution.has_place = False
    execution.give_back()
    if error is not None:
        try:
            raise error
        finally:
            del error
    return value


def _judge(execution: Execution, value: Any, casualty: BaseException | None) -> Outcome:
    """Say how the job ended, from what its body did and what it was told meanwhile."""
    if execution.is_cancelled:
        return cancelled(execution.reason, casualty)
    if casualty is None and value is not _NO_VALUE:
        return Outcome(JobState.COMPLETED, value=value)
    if execution.is_timed_out or casualty is None:
        return timed_out(execution.spent_budget, casualty)
    return failed(execution.name, casualty, foreign_cancel=execution.foreign_cancels)


async def _see_children_through(
    execution: Execution, outcome: Outcome, value: Any, casualty: BaseException | None
) -> Outcome:
    """Stop what the job started and did not wait for, and wait for the ends of it: nothing outlives its starter."""
    execution.stage = Stage.CLOSING
    execution.cancel_children("the job that started it has ended")
    stopped = execution.is_stopped
    while children := execution.attached_children():
        waiter = children[0].watch()
        try:
            await waiter
        except asyncio.CancelledError as error:
            children[0].leave(waiter)
            if execution.foreign_cancels:
                casualty = error
    return outcome if stopped == execution.is_stopped and casualty is None else _judge(execution, value, casualty)


async def _dependencies(execution: Execution) -> None:
    """Wait for the jobs that come before, holding nothing. As any waiter this one keeps them alive."""
    terms = execution.terms
    waiting = {before.watch(): before for before in terms.after if before.outcome is None}
    if waiting:
        execution.move(JobState.WAITING)
        execution.announce(JobWaiting, reason="the jobs that come before it")
    try:
        _check_dependencies(execution)
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for waiter in done:
                del waiting[waiter]
            _check_dependencies(execution)
    finally:
        for waiter, before in waiting.items():
            before.leave(waiter)


def _check_dependencies(execution: Execution) -> None:
    if execution.terms.tolerates_failures:
        return
    for before in execution.terms.after:
        if before.outcome is not None and before.outcome.failure is not None:
            raise DependencyFailedException(before.id) from before.outcome.failure


async def _pause(execution: Execution, rerun: Rerun) -> None:
    """Wait before the next run, holding nothing; a cancel, the deadline and the shutdown end it at once."""
    execution.stage = Stage.WAITING
    execution.announce(
        JobRetrying, attempt=execution.attempt + 1, pause_seconds=rerun.pause_seconds, reason=rerun.reason
    )
    if rerun.pause_seconds <= 0:
        return
    execution.move(JobState.WAITING)
    execution.is_paused = True
    if execution.engine.is_stopping:
        execution.cancel("the dispatcher is stopping")
    try:
        await asyncio.sleep(rerun.pause_seconds)
    finally:
        execution.is_paused = False


async def _thread_place(execution: Execution) -> None:
    places = execution.engine.places
    if not places.try_take():
        execution.move(JobState.WAITING)
        execution.announce(JobWaiting, reason="a thread")
        await places.take(execution.engine.loop)
    execution.has_place = True


def _start_clock(execution: Execution) -> None:
    if execution.terms.timeout is not None:
        execution.arm(execution.terms.timeout)


async def _in_thread(execution: Execution, resources: Resources, context: JobContext) -> Any:
    """Run a synchronous body. When the task is cancelled the thread goes on, and keeps its place and its name."""
    engine = execution.engine

    def ended() -> None:
        execution.thread_runs = False
        engine.stragglers.pop(execution.id, None)
        engine.places.give()

    execution.thread_runs = True
    execution.has_place = False
    outcome = start_body(
        lambda: execution.job.run_sync(resources, context), name=execution.name, loop=engine.loop, ended=ended
    )
    try:
        value, error = await outcome
    except asyncio.CancelledError:
        if execution.thread_runs:
            engine.stragglers[execution.id] = execution
        raise
    if error is not None:
        try:
            raise error
        finally:
            del error
    return value


async def _close(execution: Execution, resources: Resources, error: BaseException | None) -> BaseException | None:
    """Close what was opened, after whatever the end of the time budget had begun to close. Nothing here may hang."""
    patience = grace_of(execution.terms.timeout)
    interrupting, execution.interrupting = execution.interrupting, None
    if interrupting is not None:
        for _ in range(2):
            try:
                await asyncio.wait([interrupting], timeout=patience)
            except asyncio.CancelledError as stop:
                error = error or stop
            interrupting.cancel()
    return await resources.close(error, patience=patience)


def _is_stepping(execution: Execution) -> bool:
    """Whether the loop runs the job's task at this moment; if not, its coroutine is being thrown away."""
    loop = execution.engine.loop
    return loop.is_running() and asyncio.current_task(loop) is execution.task
