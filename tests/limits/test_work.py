import asyncio
import contextvars
import threading

from nucleo.limits import CurrentWork, current_work


def work(**changes):
    return CurrentWork(**{"job_id": "j1", "name": "fetch", **changes})


def test_there_is_no_work_outside_a_job():
    assert contextvars.Context().run(current_work.get) is None


def test_the_time_left_is_read_off_the_clock_of_the_deadline():
    now = [100.0]
    job = work(deadline=130.0, now=lambda: now[0])
    assert job.remaining_seconds() == 30.0
    now[0] = 129.0
    assert job.remaining_seconds() == 1.0
    now[0] = 500.0
    assert job.remaining_seconds() == 0.0


def test_work_without_a_deadline_has_all_the_time():
    assert work().remaining_seconds() is None


def test_whether_resources_are_held_is_asked_each_time():
    held = [True]
    job = work(holds=lambda: held[0])
    assert job.holds()
    held[0] = False
    assert not job.holds()
    assert not work().holds()


def test_tasks_and_threads_inherit_the_work_and_neighbours_do_not():
    async def main():
        token = current_work.set(work())
        child = asyncio.create_task(look())
        in_thread = await asyncio.to_thread(look_now)
        current_work.reset(token)
        return await child, in_thread, look_now()

    async def look():
        return look_now()

    def look_now():
        found = current_work.get()
        return None if found is None else (found.job_id, threading.current_thread() is threading.main_thread())

    task, thread, outside = asyncio.run(main())
    assert task == ("j1", True)
    assert thread == ("j1", False)
    assert outside is None
