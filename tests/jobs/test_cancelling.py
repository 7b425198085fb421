import asyncio

import pytest

from nucleo.errors import (
    CancellationException,
    InvalidInputException,
    JobCancelledException,
    JobTimeoutException,
    SystemException,
)
from nucleo.jobs import TERMINAL_EVENTS, Dispatcher, JobCancelled, JobState, JobTimedOut
from nucleo.testing import run


async def _sleep(context):
    await asyncio.sleep(1000)


async def _swallow(context):
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        return "swallowed"


def test_a_cancelled_job_ends_cancelled_with_the_reason(body):
    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            handle = dispatcher.submit(body(_sleep), timeout=None)
            await asyncio.sleep(1)
            assert handle.cancel("the user left")
            assert not handle.cancel("again")
            assert handle.state is JobState.CANCELLING
            with pytest.raises(JobCancelledException) as caught:
                await handle
            assert caught.value.reason == "the user left"
            assert handle.state is JobState.CANCELLED
        assert [event.reason for event in events if isinstance(event, JobCancelled)] == ["the user left"]

    run(main())


@pytest.mark.parametrize("outcome", ["value", "failure", "own check"])
def test_a_cancelled_job_ends_cancelled_whatever_its_body_then_does(body, outcome):
    async def stubborn(context):
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            if outcome == "value":
                return 1
            if outcome == "failure":
                raise InvalidInputException("a", 1, "wrong") from None
            context.check_cancellation()

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(stubborn), timeout=None)
            await asyncio.sleep(1)
            handle.cancel("enough")
            with pytest.raises(JobCancelledException):
                await handle
            assert handle.state is JobState.CANCELLED

    run(main())


def test_a_job_cancelled_before_its_first_step_never_runs(body):
    ran = []

    async def note(context):
        ran.append(1)

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(note))
            handle.cancel()
            with pytest.raises(JobCancelledException):
                await handle

    run(main())
    assert ran == []


def test_a_cancel_reaches_everything_the_job_started_but_not_what_is_detached(body, others):
    started = {}

    async def orchestrate(context):
        started["child"] = context.submit(body(_sleep), timeout=None)
        started["inner"] = context.submit(body(inner, leaf=False))
        started["detached"] = context.submit(body(_sleep), timeout=None, detached=True)
        await started["inner"]

    async def inner(context):
        started["grandchild"] = context.submit(body(_sleep), timeout=None)
        await started["grandchild"]

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(orchestrate, leaf=False))
            await asyncio.sleep(1)
            handle.cancel("stop all")
            with pytest.raises(JobCancelledException):
                await handle
            ended = {name: each.state for name, each in started.items()}
            assert ended.pop("detached") is JobState.RUNNING
            assert set(ended.values()) == {JobState.CANCELLED}
            assert started["grandchild"].exception().reason == "stop all"
            started["detached"].cancel()
        assert not others()

    run(main())


def test_a_whole_workflow_is_cancelled_at_once(body):
    async def main():
        async with Dispatcher() as dispatcher:
            mine = [dispatcher.submit(body(_sleep), workflow="mine", timeout=None) for _ in range(3)]
            other = dispatcher.submit(body(_sleep), workflow="other", timeout=None)
            await asyncio.sleep(1)
            assert dispatcher.cancel_workflow("mine", "over") == 3
            await asyncio.wait([handle.future() for handle in mine])
            assert {handle.state for handle in mine} == {JobState.CANCELLED}
            assert other.state is JobState.RUNNING
            other.cancel()

    run(main())


def test_cancelling_the_last_waiter_cancels_the_job_and_waits_for_its_end(body):
    ended = []

    async def slow_to_leave(context):
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(3)
            ended.append(asyncio.get_running_loop().time())

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(slow_to_leave), timeout=None)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await handle
            assert ended
            assert handle.state is JobState.CANCELLED

    run(main())


def test_cancelling_one_of_two_waiters_leaves_the_job_alone(body):
    async def wait(handle):
        return await handle

    async def seven(context):
        await asyncio.sleep(5)
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(seven))
            first, second = asyncio.create_task(wait(handle)), asyncio.create_task(wait(handle))
            await asyncio.sleep(1)
            first.cancel()
            assert await second == 7

    run(main())


def test_a_detached_job_survives_its_last_waiter(body):
    async def seven(context):
        await asyncio.sleep(5)
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(seven), detached=True)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await handle
            assert await handle == 7

    run(main())


def test_a_task_group_around_handles_does_what_a_reader_expects(body):
    async def fail(context):
        await asyncio.sleep(1)
        raise InvalidInputException("a", 1, "wrong")

    async def wait(handle):
        await handle

    async def main():
        async with Dispatcher() as dispatcher:
            slow = dispatcher.submit(body(_sleep), timeout=None)
            with pytest.raises(ExceptionGroup) as caught:
                async with asyncio.TaskGroup() as group:
                    group.create_task(wait(slow))
                    group.create_task(wait(dispatcher.submit(body(fail))))
            assert [type(error) for error in caught.value.exceptions] == [InvalidInputException]
            assert slow.state is JobState.CANCELLED

    run(main())


def test_asyncio_wait_takes_the_future_of_a_handle_and_cancelling_it_is_a_waiter_gone(body):
    async def seven(context):
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            quick, slow = dispatcher.submit(body(seven)), dispatcher.submit(body(_sleep), timeout=None)
            futures = [quick.future(), slow.future()]
            done, pending = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            assert [future.result() for future in done] == [7]
            assert quick.future().result() == 7
            for future in pending:
                future.cancel()
            await asyncio.sleep(0)
            with pytest.raises(JobCancelledException):
                await slow

    run(main())


def test_a_cancelled_error_that_nobody_sent_fails_the_job_and_leaves_the_waiter_alone(body):
    async def tool(context):
        raise asyncio.CancelledError

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(tool, name="connect"))
            with pytest.raises(SystemException, match="CancelledError"):
                await handle
            assert handle.state is JobState.FAILED
            assert asyncio.current_task().cancelling() == 0

    run(main())


def test_a_cancelled_error_out_of_an_inner_task_fails_the_job(body):
    async def tool(context):
        inner = asyncio.create_task(asyncio.sleep(1000))
        await asyncio.sleep(0)
        inner.cancel()
        await inner

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(SystemException):
                await dispatcher.submit(body(tool))

    run(main())


def test_a_cancel_from_outside_the_dispatcher_is_never_swallowed(body):
    tasks = []

    async def tool(context):
        tasks.append(asyncio.current_task())
        await asyncio.sleep(1000)

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(tool), timeout=None)
            await asyncio.sleep(1)
            tasks[0].cancel()
            with pytest.raises(JobCancelledException, match="outside"):
                await handle
            assert handle.state is JobState.CANCELLED
            await asyncio.sleep(0)
            assert tasks[0].cancelled()

    run(main())


def test_the_callers_own_cancel_passes_through_an_await(body):
    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(_sleep), timeout=None)

            async def caller():
                await handle

            task = asyncio.create_task(caller())
            await asyncio.sleep(1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert task.cancelled()

    run(main())


def test_a_body_that_swallows_one_cancel_is_cancelled_again(body):
    async def stubborn(context):
        for _ in range(2):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                continue

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(stubborn), timeout=None)
            await asyncio.sleep(1)
            handle.cancel("now")
            began = asyncio.get_running_loop().time()
            with pytest.raises(JobCancelledException):
                await handle
            assert asyncio.get_running_loop().time() - began == pytest.approx(5)
            assert dispatcher.snapshot().stragglers == ()

    run(main())


def test_a_body_that_swallows_every_cancel_is_left_behind_and_named(body, caplog):
    gate = []

    async def stubborn(context):
        while not gate:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                continue

    async def main():
        ends = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(lambda event: ends.append(event) if isinstance(event, TERMINAL_EVENTS) else None)
            handle = dispatcher.submit(body(stubborn, name="stubborn"), timeout=None)
            await asyncio.sleep(1)
            handle.cancel("now")
            with pytest.raises(JobCancelledException):
                await handle
            assert [job.name for job in dispatcher.snapshot().stragglers] == ["stubborn"]
            gate.append(1)
            await asyncio.sleep(5)
            assert dispatcher.snapshot().stragglers == ()
            assert isinstance(handle.exception(), JobCancelledException)
        assert len(ends) == 1

    run(main())
    assert "left behind" in caplog.text


def test_what_an_orchestrator_did_not_wait_for_is_stopped_with_it(body):
    started = []

    async def orchestrate(context):
        started.append(context.submit(body(_sleep), timeout=None))
        await asyncio.sleep(1)
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            assert await dispatcher.submit(body(orchestrate, leaf=False)) == 7
            assert started[0].state is JobState.CANCELLED

    run(main())


def test_a_failed_child_does_not_stop_its_siblings(body):
    async def fail(context):
        raise InvalidInputException("a", 1, "wrong")

    async def slow(context):
        await asyncio.sleep(5)
        return 7

    async def orchestrate(context):
        bad, good = context.submit(body(fail)), context.submit(body(slow))
        return [type(each) for each in await asyncio.gather(bad, good, return_exceptions=True)]

    async def main():
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(body(orchestrate, leaf=False))

    assert run(main()) == [InvalidInputException, int]


def test_a_budget_that_is_spent_is_told_first_and_enforced_after_the_grace(body):
    times = {}

    async def ignore(context):
        loop = asyncio.get_running_loop()
        times["began"] = loop.time()
        try:
            while True:
                await asyncio.sleep(0.25)
                if context.timed_out and "told" not in times:
                    times["told"] = loop.time()
        finally:
            times["ended"] = loop.time()

    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            handle = dispatcher.submit(body(ignore), timeout=20)
            with pytest.raises(JobTimeoutException) as caught:
                await handle
            assert caught.value.budget_seconds == 20
            assert handle.state is JobState.TIMED_OUT
        assert [event.budget_seconds for event in events if isinstance(event, JobTimedOut)] == [20]

    run(main())
    assert times["told"] - times["began"] == pytest.approx(20, abs=0.3)
    assert times["ended"] - times["began"] == pytest.approx(22, abs=0.1)


@pytest.mark.parametrize(("budget", "grace"), [(1, 0.5), (100, 10), (1000, 30)])
def test_the_grace_is_a_tenth_of_the_budget_between_half_a_second_and_thirty(body, budget, grace):
    async def main():
        async with Dispatcher() as dispatcher:
            began = asyncio.get_running_loop().time()

            async def sleep(context):
                await asyncio.sleep(100_000)

            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(body(sleep), timeout=budget)
            return asyncio.get_running_loop().time() - began

    assert run(main()) == pytest.approx(budget + grace)


def test_a_body_that_returns_in_its_grace_is_completed(body):
    async def just_in_time(context):
        await asyncio.sleep(10.5)
        return 7

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(just_in_time), timeout=10)
            assert await handle == 7
            assert handle.state is JobState.COMPLETED

    run(main())


@pytest.mark.parametrize("way", ["check", "own error"])
def test_a_body_that_leaves_in_its_grace_is_timed_out_with_its_casualty_as_the_cause(body, way):
    async def leave(context):
        await asyncio.sleep(10.5)
        if way == "check":
            context.check_cancellation()
        raise ConnectionError("closed")

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JobTimeoutException) as caught:
                await dispatcher.submit(body(leave), timeout=10)
            return caught.value.__cause__

    assert isinstance(run(main()), CancellationException if way == "check" else ConnectionError)


def test_a_cancel_in_the_grace_ends_the_job_cancelled(body):
    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(_sleep), timeout=10)
            await asyncio.sleep(10.5)
            handle.cancel("too late for you")
            with pytest.raises(JobCancelledException):
                await handle

    run(main())


def test_a_deadline_bounds_the_whole_job_and_a_childs_is_never_later(body):
    states = {}

    async def orchestrate(context):
        child = context.submit(body(_sleep), timeout=None, deadline=500)
        states["child"] = child
        assert context.remaining_seconds == pytest.approx(10)
        await child

    async def main():
        async with Dispatcher() as dispatcher:
            began = asyncio.get_running_loop().time()
            handle = dispatcher.submit(body(orchestrate, leaf=False), deadline=10)
            with pytest.raises(JobTimeoutException) as caught:
                await handle
            assert caught.value.budget_seconds == pytest.approx(10)
            assert handle.state is JobState.TIMED_OUT
            assert states["child"].state is JobState.TIMED_OUT
            assert asyncio.get_running_loop().time() - began < 12

    run(main())


def test_a_timeout_of_the_bodys_own_is_not_taken_for_the_budget(body):
    async def tool(context):
        async with asyncio.timeout(1):
            await asyncio.sleep(10)

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(tool), timeout=20)
            with pytest.raises(SystemException):
                await handle
            assert handle.state is JobState.FAILED

    run(main())
