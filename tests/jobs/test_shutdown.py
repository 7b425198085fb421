import asyncio

import pytest

from nucleo.errors import JobCancelledException
from nucleo.jobs import Dispatcher, JobState
from nucleo.testing import run


def _sleep(seconds):
    async def sleep(context):
        await asyncio.sleep(seconds)
        return 7

    return sleep


def test_the_end_of_the_block_waits_for_its_jobs(body, others):
    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(_sleep(20)))
        assert handle.state is JobState.COMPLETED
        assert not others()

    run(main())


def test_what_is_left_after_the_grace_is_cancelled(body, others):
    async def main():
        began = asyncio.get_running_loop().time()
        async with Dispatcher(shutdown_grace=5) as dispatcher:
            handle = dispatcher.submit(body(_sleep(500)), timeout=None)
        assert asyncio.get_running_loop().time() - began == pytest.approx(5)
        assert handle.state is JobState.CANCELLED
        with pytest.raises(JobCancelledException, match="stopping"):
            await handle
        assert not others()

    run(main())


def test_an_exception_out_of_the_block_cancels_at_once_and_comes_through(body, others):
    async def main():
        began = asyncio.get_running_loop().time()
        with pytest.raises(KeyError, match="planted"):
            async with Dispatcher() as dispatcher:
                handle = dispatcher.submit(body(_sleep(500)), timeout=None)
                await asyncio.sleep(1)
                raise KeyError("planted")
        assert asyncio.get_running_loop().time() - began == pytest.approx(1)
        assert handle.state is JobState.CANCELLED
        assert not others()

    run(main())


def test_a_cancel_of_the_block_itself_cuts_the_grace_short_and_passes_through(body, others):
    handles = []

    async def main():
        async def serve():
            async with Dispatcher() as dispatcher:
                handles.append(dispatcher.submit(body(_sleep(500)), timeout=None))

        task = asyncio.create_task(serve())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert handles[0].state is JobState.CANCELLED
        assert not others()

    run(main())


def test_a_timeout_around_the_block_fires_as_a_reader_expects(body):
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                async with Dispatcher() as dispatcher:
                    await dispatcher.submit(body(_sleep(500)), timeout=None)

    run(main())


def test_an_orchestrator_may_still_submit_while_the_dispatcher_waits_for_it(body):
    async def orchestrate(context):
        await asyncio.sleep(2)
        return await context.submit(body(_sleep(1)))

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(orchestrate, leaf=False))
        assert await_result(handle) == JobState.COMPLETED

    def await_result(handle):
        return handle.state

    run(main())


def test_a_loop_that_is_torn_down_takes_its_jobs_with_it(body):
    handles = []

    async def main():
        dispatcher = await Dispatcher().__aenter__()
        handles.append(dispatcher.submit(body(_sleep(500)), timeout=None))
        await asyncio.sleep(1)

    run(main())
    assert handles[0].state is JobState.CANCELLED


def test_an_exit_out_of_a_body_ends_the_program_with_its_job_settled(body):
    handles = []

    async def leave(context):
        raise SystemExit(3)

    async def main():
        async with Dispatcher() as dispatcher:
            handles.append(dispatcher.submit(body(leave)))
            await handles[0]

    with pytest.raises(SystemExit):
        run(main())
    assert handles[0].state is JobState.FAILED
