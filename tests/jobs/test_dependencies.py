import asyncio

import pytest

from nucleo.errors import (
    DependencyFailedException,
    InvalidInputException,
    JobCancelledException,
    JobDeadlockException,
)
from nucleo.jobs import Dispatcher, JobFailed, JobState, JobWaiting
from nucleo.testing import run


async def _seven(context):
    await asyncio.sleep(5)
    return 7


async def _fail(context):
    await asyncio.sleep(1)
    raise InvalidInputException("a", 1, "wrong")


def test_a_job_runs_after_its_dependencies_and_reads_their_results(body):
    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            first, second = dispatcher.submit(body(_seven)), dispatcher.submit(body(_seven))

            async def add(context):
                assert first.done()
                return context.dependency(first) + context.dependency(second)

            handle = dispatcher.submit(body(add), after=[first, second])
            assert await handle == 14
        assert [event.job_id for event in events if isinstance(event, JobWaiting)] == [handle.id]

    run(main())


def test_a_failed_dependency_fails_the_job_before_it_runs_with_its_id_and_the_cause(body):
    ran = []

    async def note(context):
        ran.append(1)

    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            slow, bad = dispatcher.submit(body(_seven)), dispatcher.submit(body(_fail))
            handle = dispatcher.submit(body(note), after=[slow, bad])
            with pytest.raises(DependencyFailedException) as caught:
                await handle
            assert not slow.done()
            assert caught.value.dependency_id == bad.id
            assert isinstance(caught.value.__cause__, InvalidInputException)
            late = dispatcher.submit(body(note), after=[bad])
            with pytest.raises(DependencyFailedException):
                await late
        assert len([event for event in events if isinstance(event, JobFailed) and event.job_id == handle.id]) == 1

    run(main())
    assert ran == []


def test_a_tolerated_failure_is_raised_where_its_result_is_read(body):
    async def main():
        async with Dispatcher() as dispatcher:
            bad = dispatcher.submit(body(_fail))

            async def read(context):
                with pytest.raises(InvalidInputException):
                    context.dependency(bad)
                return "went on"

            assert await dispatcher.submit(body(read), after=[bad], tolerate_failed_dependencies=True) == "went on"

    run(main())


def test_reading_a_job_that_was_not_named_is_an_error_that_says_so(body):
    async def main():
        async with Dispatcher() as dispatcher:
            other = dispatcher.submit(body(_seven))
            await other

            async def read(context):
                with pytest.raises(ValueError, match="after="):
                    context.dependency(other)

            await dispatcher.submit(body(read))

    run(main())


def test_a_cancelled_wait_for_a_dependency_ends_at_once_and_leaves_it_alone(body):
    async def main():
        async with Dispatcher() as dispatcher:
            slow = dispatcher.submit(body(_seven))
            handle = dispatcher.submit(body(_seven), after=[slow])
            await asyncio.sleep(1)
            assert handle.state is JobState.WAITING
            handle.cancel("not needed")
            with pytest.raises(JobCancelledException):
                await handle
            assert slow.state is JobState.RUNNING
            assert await slow == 7

    run(main())


def test_a_dependency_that_lost_its_last_waiter_runs_on_for_the_job_that_comes_after(body):
    async def main():
        async with Dispatcher() as dispatcher:
            slow = dispatcher.submit(body(_seven))

            async def read(context):
                return context.dependency(slow)

            handle = dispatcher.submit(body(read), after=[slow])
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await slow
            assert await handle == 7

    run(main())


def test_coming_after_the_job_that_started_it_is_refused_at_the_door(body):
    async def main():
        async with Dispatcher() as dispatcher:
            refused = []

            async def orchestrate(context):
                refused.append(context.submit(body(_seven), after=[context.handle]))
                assert refused[0].done()

            await dispatcher.submit(body(orchestrate, leaf=False))
            with pytest.raises(JobDeadlockException):
                await refused[0]

    run(main())


@pytest.mark.parametrize("way", ["await", "gather", "task", "wait_for", "future"])
def test_a_leaf_that_awaits_a_handle_is_refused_with_both_jobs_and_the_line(body, way):
    async def main():
        async with Dispatcher() as dispatcher:
            other = dispatcher.submit(body(_seven, name="other"))

            async def helper():
                return await other

            async def leaf(context):
                match way:
                    case "await":
                        await other
                    case "gather":
                        await asyncio.gather(other)
                    case "task":
                        await asyncio.create_task(helper())
                    case "wait_for":
                        await asyncio.wait_for(other, 3)
                    case "future":
                        await asyncio.wait([other.future()])

            with pytest.raises(JobDeadlockException) as caught:
                await dispatcher.submit(body(leaf, name="leaf"))
            error = caught.value
            assert "leaf" in error.job
            assert "other" in error.awaited
            assert "test_dependencies.py:" in error.call_site
            assert "after=" in str(error)
            assert await other == 7
            finished = dispatcher.submit(body(leaf))
            with pytest.raises(JobDeadlockException):
                await finished

    run(main())


def test_a_thread_of_a_leaf_that_awaits_a_handle_is_refused_too(body):
    async def main():
        async with Dispatcher() as dispatcher:
            other = dispatcher.submit(body(_seven))

            async def leaf(context):
                await asyncio.to_thread(dispatcher.submit_threadsafe(body(_seven)).result, 30)

            with pytest.raises(Exception, match="leaf") as caught:
                await dispatcher.submit(body(leaf, name="leaf"))
            assert isinstance(caught.value, JobDeadlockException) or "may not submit" in str(caught.value)
            await other

    run(main())


def test_a_job_that_awaits_itself_or_the_job_that_started_it_is_refused(body):
    async def main():
        async with Dispatcher() as dispatcher:

            async def narcissus(context):
                await context.handle

            async def orchestrate(context):
                async def child(inner):
                    await context.handle

                await context.submit(body(child, leaf=False))

            for function in (narcissus, orchestrate):
                with pytest.raises(JobDeadlockException):
                    await dispatcher.submit(body(function, leaf=False))

    run(main())
