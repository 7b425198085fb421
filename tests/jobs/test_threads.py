import asyncio
import threading
from contextvars import ContextVar

import pytest

from nucleo.errors import InvalidInputException, JobCancelledException, JobTimeoutException, SystemException
from nucleo.jobs import Dispatcher, Job, JobProgress, JobState
from nucleo.jobs.threads import ThreadPlaces
from nucleo.limits import current_work
from nucleo.testing import run

USER: ContextVar[str] = ContextVar("user", default="nobody")


class Sync(Job[object]):
    threaded = True

    def __init__(self, function, *, name="sync"):
        self.function = function
        self.name = name

    def run_sync(self, resources, context):
        return self.function(context)


def test_a_synchronous_body_runs_in_a_daemon_thread_with_the_jobs_context():
    def look(context):
        thread = threading.current_thread()
        return thread.daemon, thread is threading.main_thread(), USER.get(), current_work.get().job_id == context.job_id

    async def main():
        USER.set("ada")
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(Sync(look))

    assert run(main()) == (True, False, "ada", True)


def test_what_a_thread_raises_reaches_the_waiter_even_stop_iteration():
    def fail(context):
        raise InvalidInputException("a", 1, "wrong")

    def stop(context):
        raise StopIteration

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(Sync(fail))
            with pytest.raises(SystemException):
                await dispatcher.submit(Sync(stop))

    run(main())


def test_a_thread_publishes_progress_and_is_heard():
    def work(context):
        context.publish("half way", 50)
        return 7

    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            await dispatcher.submit(Sync(work))
        return [(event.message, event.percent) for event in events if isinstance(event, JobProgress)]

    assert run(main()) == [("half way", 50)]


def test_no_more_threads_run_at_once_than_there_are_places():
    lock = threading.Lock()
    running, most = [0], [0]
    both = threading.Barrier(2, timeout=30)

    def work(context):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        both.wait()
        with lock:
            running[0] -= 1

    async def main():
        async with Dispatcher(max_threads=2) as dispatcher:
            handles = [dispatcher.submit(Sync(work)) for _ in range(6)]
            for handle in handles:
                await handle

    run(main())
    assert most[0] == 2


def test_a_cancelled_wait_for_a_place_takes_none():
    gate = threading.Event()

    async def main():
        async with Dispatcher(max_threads=1) as dispatcher:
            holder = dispatcher.submit(Sync(lambda _: gate.wait(30)))
            waiting = dispatcher.submit(Sync(lambda _: 1))
            after = dispatcher.submit(Sync(lambda _: 2))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert waiting.state is JobState.WAITING
            waiting.cancel("not needed")
            with pytest.raises(JobCancelledException):
                await waiting
            gate.set()
            await holder
            assert await after == 2

    run(main())


def test_a_place_that_comes_in_the_same_step_as_the_cancel_goes_to_the_next_in_line():
    async def main():
        loop = asyncio.get_running_loop()
        places = ThreadPlaces(1)
        assert places.try_take()
        first = asyncio.create_task(places.take(loop))
        second = asyncio.create_task(places.take(loop))
        await asyncio.sleep(0)
        assert not places.try_take()
        places.give()
        first.cancel()
        await second
        assert first.cancelled()
        places.give()
        assert places.try_take()

    run(main())


def test_a_thread_that_looks_leaves_at_the_cancel():
    entered = threading.Event()
    pause = threading.Event()

    def work(context):
        entered.set()
        while not pause.wait(0.001):
            context.check_cancellation()

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(Sync(work))
            await asyncio.to_thread(entered.wait, 30)
            handle.cancel("enough")
            with pytest.raises(JobCancelledException):
                await handle
            assert dispatcher.snapshot().stragglers == ()

    run(main())


def test_past_its_grace_the_handle_settles_and_the_thread_keeps_its_name_and_its_place(caplog):
    gate = threading.Event()
    ended = threading.Event()

    def stuck(context):
        gate.wait(60)
        ended.set()

    async def main():
        async with Dispatcher(max_threads=1) as dispatcher:
            handle = dispatcher.submit(Sync(stuck, name="stuck tool"), timeout=0.01)
            with pytest.raises(JobTimeoutException):
                await handle
            assert handle.state is JobState.TIMED_OUT
            assert [job.name for job in dispatcher.snapshot().stragglers] == ["stuck tool"]
            next_one = dispatcher.submit(Sync(lambda _: 7))
            await asyncio.sleep(0.01)
            assert next_one.state is JobState.WAITING
            gate.set()
            assert await next_one == 7
            assert dispatcher.snapshot().stragglers == ()

    run(main())
    assert ended.wait(30)


def test_shutdown_reports_a_stuck_thread_by_name_and_leaves(caplog):
    gate = threading.Event()

    async def main():
        async with Dispatcher(shutdown_grace=0) as dispatcher:
            dispatcher.submit(Sync(lambda _: gate.wait(60), name="stuck tool"), timeout=0.01)
            await asyncio.sleep(0.005)

    try:
        run(main())
        assert "stuck tool" in caplog.text
    finally:
        gate.set()
