import asyncio
import gc

import pytest

from nucleo.errors import InvalidInputException
from nucleo.jobs import (
    Dispatcher,
    EventsLost,
    JobCancelled,
    JobCompleted,
    JobFailed,
    JobNotification,
    JobProgress,
    JobStarted,
    JobSubmitted,
)
from nucleo.testing import run


async def _seven(context):
    return 7


async def _chatter(context):
    for number in range(100):
        context.publish(f"step {number}", number)


def test_an_iterator_gives_every_event_and_ends_with_the_dispatcher(body):
    async def main():
        seen = []

        async def listen(events):
            seen.extend([type(event) async for event in events])

        async with Dispatcher() as dispatcher:
            reader = asyncio.create_task(listen(dispatcher.events()))
            await dispatcher.submit(body(_seven))
        await reader
        return seen

    assert run(main()) == [JobSubmitted, JobStarted, JobCompleted]


def test_a_listener_of_one_workflow_hears_only_that(body):
    async def main():
        seen = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(seen.append, workflow="mine")
            await dispatcher.submit(body(_seven), workflow="mine")
            await dispatcher.submit(body(_seven), workflow="other")
        return {event.workflow for event in seen}

    assert run(main()) == {"mine"}


def test_a_slow_reader_loses_its_oldest_events_and_is_told_how_many(body):
    async def main():
        async with Dispatcher(events_kept=10) as dispatcher:
            events = dispatcher.events()
            await dispatcher.submit(body(_chatter))
        return [event async for event in events]

    first, *rest = run(main())
    assert isinstance(first, EventsLost)
    assert first.count == 103 - 10
    assert len(rest) == 10
    assert isinstance(rest[-1], JobCompleted)
    assert [event.message for event in rest if isinstance(event, JobProgress)][-1] == "step 99"


def test_a_slow_reader_costs_nobody_else_anything(body):
    async def main():
        seen = []
        async with Dispatcher(events_kept=10) as dispatcher:
            dispatcher.events()
            dispatcher.subscribe(seen.append)

            async def chatter(context):
                for number in range(100):
                    context.publish(f"step {number}")
                    await asyncio.sleep(0)

            await dispatcher.submit(body(chatter))
        return [event for event in seen if isinstance(event, EventsLost)]

    assert run(main()) == []


def test_a_subscriber_that_raises_disturbs_neither_the_job_nor_the_others(body, caplog):
    def broken(event):
        raise KeyError("subscriber")

    async def main():
        seen = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(broken)
            dispatcher.subscribe(seen.append)
            assert await dispatcher.submit(body(_seven)) == 7
        return len(seen)

    assert run(main()) == 3
    assert "a subscriber failed" in caplog.text


def test_a_subscription_ends_when_it_is_told_to_and_an_iterator_when_it_is_dropped(body):
    async def main():
        seen = []
        async with Dispatcher() as dispatcher:
            stop = dispatcher.subscribe(seen.append)
            await dispatcher.submit(body(_seven))
            stop()
            stop()
            before = len(seen)
            events = dispatcher.events()
            await events.aclose()
            assert [event async for event in events] == []
            dropped = dispatcher.events()
            del dropped
            gc.collect()
            assert not dispatcher._stream.has_listeners
            await dispatcher.submit(body(_seven))
            return before, len(seen)

    assert run(main()) == (3, 3)


def test_a_body_notifies_a_person_and_publishes_events_of_its_own(body):
    async def call(context):
        context.notify("your order is on its way")

    async def main():
        seen = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(seen.append)
            handle = dispatcher.submit(body(call))
            await handle
            dispatcher.publish(JobNotification(job_id="x", name="y", workflow="z", at=0.0, message="from outside"))
        return [(event.job_id, event.message) for event in seen if isinstance(event, JobNotification)], handle.id

    messages, job = run(main())
    assert messages == [(job, "your order is on its way"), ("x", "from outside")]


def test_events_cannot_be_changed():
    event = JobNotification(job_id="x", name="y", workflow="z", at=0.0, message="m")
    with pytest.raises(AttributeError):
        event.message = "other"


def test_publishing_without_a_running_dispatcher_is_lost_without_a_word():
    Dispatcher().publish(JobNotification(job_id="x", name="y", workflow="z", at=0.0, message="m"))


@pytest.mark.parametrize("ending", ["value", "failure", "cancel"])
def test_the_terminal_event_is_seen_before_any_waiter_goes_on(body, ending):
    order = []

    async def work(context):
        await asyncio.sleep(1)
        if ending == "failure":
            raise InvalidInputException("a", 1, "wrong")

    def note(event):
        if isinstance(event, JobCompleted | JobFailed | JobCancelled):
            order.append("event")

    async def main():
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(note)
            handle = dispatcher.submit(body(work))
            if ending == "cancel":
                asyncio.get_running_loop().call_later(0.5, handle.cancel)
            await asyncio.wait([handle.future()])
            order.append("waiter")

    run(main())
    assert order == ["event", "waiter"]
