import asyncio
import logging
from random import Random

import pytest

from nucleo.errors import (
    InvalidInputException,
    ResourceNotFoundException,
    SystemException,
    UncorrectableRuntimeLLMException,
)
from nucleo.jobs import (
    Dispatcher,
    Job,
    JobCompleted,
    JobFailed,
    JobHandle,
    JobStarted,
    JobState,
    JobSubmitted,
    Requirements,
)
from nucleo.jobs import run as run_job
from nucleo.testing import run


async def _seven(context):
    return 7


def test_a_job_gives_its_result_to_everyone_who_awaits_it(body):
    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(_seven))
            assert not handle.done()
            assert await asyncio.gather(handle, handle) == [7, 7]
            assert await handle == 7
            return handle.state, handle.exception()

    assert run(main()) == (JobState.COMPLETED, None)


def test_the_lifecycle_is_published_in_order_with_the_end_before_the_handle_settles(body):
    async def main():
        seen: list[object] = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(seen.append)
            handle = dispatcher.submit(body(_seven))
            await handle
            return seen, handle

    seen, handle = run(main())
    assert [type(event) for event in seen] == [JobSubmitted, JobStarted, JobCompleted]
    assert {(event.job_id, event.name, event.workflow) for event in seen} == {(handle.id, "body", handle.workflow)}


def test_a_failure_of_the_set_reaches_the_waiter_as_itself(body):
    failure = ResourceNotFoundException("order", "1042")

    async def fail(context):
        raise failure

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(fail))
            with pytest.raises(ResourceNotFoundException) as caught:
                await handle
            assert caught.value is failure
            assert handle.exception() is failure
            assert handle.state is JobState.FAILED

    run(main())


def test_an_exception_from_outside_the_set_becomes_a_system_error_that_names_the_job(body):
    async def fail(context):
        raise KeyError("secret detail")

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(SystemException) as caught:
                await dispatcher.submit(body(fail, name="find_order"))
            return caught.value

    failure = run(main())
    assert failure.component == "find_order"
    assert isinstance(failure.__cause__, KeyError)
    assert "secret" not in failure.explain_to_llm()


def test_raising_a_failure_many_times_does_not_make_its_traceback_grow(body):
    async def fail(context):
        raise ResourceNotFoundException("order", "1042")

    def depth(error: BaseException) -> int:
        count, trace = 0, error.__traceback__
        while trace is not None:
            count, trace = count + 1, trace.tb_next
        return count

    async def main():
        depths = []
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(fail))
            for _ in range(5):
                try:
                    await handle
                except ResourceNotFoundException as error:
                    depths.append(depth(error))
        return depths

    assert len(set(run(main()))) == 1


def test_a_correctable_failure_is_logged_once_as_a_warning_without_a_stack(body, caplog):
    async def fail(context):
        raise InvalidInputException("number", "", "must not be blank")

    async def outer(context):
        await context.submit(body(fail))

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(outer, leaf=False))
            with pytest.raises(InvalidInputException):
                await handle
            return handle

    handle = run(main())
    [record] = [record for record in caplog.records if record.name == "nucleo.failures"]
    assert record.levelno == logging.WARNING
    assert record.exc_info is None
    assert (record.workflow_id, record.failure_type, record.correctable) == (
        handle.workflow,
        "InvalidInputException",
        True,
    )


def test_an_uncorrectable_failure_is_logged_as_an_error_with_its_stack(body, caplog):
    async def fail(context):
        raise KeyError("broken")

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(fail))
            with pytest.raises(SystemException):
                await handle
            return handle

    handle = run(main())
    [record] = [record for record in caplog.records if record.name == "nucleo.failures"]
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.job_id == handle.id
    assert record.correctable is False


def test_a_dispatcher_can_be_used_again_and_beside_another(body):
    async def main():
        first, second = Dispatcher(), Dispatcher()
        async with first, second:
            assert await first.submit(body(_seven)) == await second.submit(body(_seven)) == 7
        async with first:
            assert await first.submit(body(_seven)) == 7

    run(main())


def test_the_same_dispatcher_runs_on_one_loop_after_another(body):
    dispatcher = Dispatcher()

    async def main():
        async with dispatcher:
            return await dispatcher.submit(body(_seven))

    assert [run(main()), run(main())] == [7, 7]


def test_a_seeded_dispatcher_names_its_jobs_repeatably(body):
    async def main():
        async with Dispatcher(random=Random(5)) as dispatcher:
            handle = dispatcher.submit(body(_seven))
            await handle
            return handle.id

    assert run(main()) == run(main())


def test_run_needs_no_dispatcher_and_no_loop(body):
    assert run_job(body(_seven)) == 7


def test_a_dispatcher_that_is_not_running_refuses_by_raising(body):
    async def main():
        with pytest.raises(RuntimeError, match="not running"):
            Dispatcher().submit(body(_seven))
        async with Dispatcher() as dispatcher:
            with pytest.raises(RuntimeError, match="is running"):
                await dispatcher.__aenter__()

    run(main())


@pytest.mark.parametrize("options", [{"max_threads": 0}, {"shutdown_grace": -1}, {"events_kept": 0}])
def test_a_dispatcher_refuses_figures_out_of_range(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Dispatcher(**options)


def test_misuse_of_submit_is_an_error_that_says_how_to_do_it(body):
    class NoBody(Job[int]):
        pass

    class NoThreadBody(Job[int]):
        threaded = True

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(TypeError, match="takes a Job"):
                dispatcher.submit(_seven)
            with pytest.raises(TypeError, match="NoBody defines no run"):
                dispatcher.submit(NoBody())
            with pytest.raises(TypeError, match="run_sync"):
                dispatcher.submit(NoThreadBody())
            with pytest.raises(TypeError, match="after="):
                dispatcher.submit(body(_seven), after=[object()])
            for number in (0, -1, float("nan"), float("inf")):
                with pytest.raises(ValueError, match="timeout"):
                    dispatcher.submit(body(_seven), timeout=number)
                with pytest.raises(ValueError, match="deadline"):
                    dispatcher.submit(body(_seven), deadline=number)
            with pytest.raises(ValueError, match="upstream_retries"):
                dispatcher.submit(body(_seven), upstream_retries=-1)
            with pytest.raises(ValueError, match="max_pause"):
                dispatcher.submit(body(_seven), max_pause=float("nan"))
            assert dispatcher.snapshot().jobs == ()

    run(main())


def test_leaves_have_thirty_seconds_and_orchestrators_no_limit_unless_they_say_so():
    class Leaf(Job[int]):
        pass

    class Orchestrator(Job[int]):
        orchestrator = True

    class Timed(Job[int]):
        orchestrator = True
        timeout = 5.0

    class Named(Job[int]):
        name = "find_order"

    class Inherits(Named):
        pass

    assert (Leaf().timeout, Orchestrator().timeout, Timed().timeout) == (30.0, None, 5.0)
    assert (Leaf().name, Named().name, Inherits().name) == ("Leaf", "find_order", "find_order")


def test_a_leaf_that_submits_gets_a_handle_that_has_failed_with_its_one_terminal_event(body):
    handles: list[JobHandle] = []

    async def by_context(context):
        handles.append(context.submit(body(_seven)))

    async def by_dispatcher(context):
        handles.append(context.dispatcher.submit(body(_seven)))

    async def by_a_helper_task(context):
        async def helper():
            handles.append(context.dispatcher.submit(body(_seven)))

        await asyncio.create_task(helper())

    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            for function in (by_context, by_dispatcher, by_a_helper_task):
                await dispatcher.submit(body(function))
            for handle in handles:
                assert handle.done()
                with pytest.raises(SystemException, match="may not submit"):
                    await handle
        return events

    events = run(main())
    assert len(handles) == 3
    for handle in handles:
        mine = [type(event) for event in events if event.job_id == handle.id]
        assert mine == [JobSubmitted, JobFailed]


def test_what_outlives_its_leaf_may_submit_again(body):
    async def main():
        results = []

        async def helper(dispatcher, gate):
            await gate.wait()
            results.append(await dispatcher.submit(body(_seven)))

        async with Dispatcher() as dispatcher:
            gate = asyncio.Event()
            helpers = []

            async def leaf(context):
                helpers.append(asyncio.create_task(helper(context.dispatcher, gate)))

            await dispatcher.submit(body(leaf))
            gate.set()
            await helpers[0]
        return results

    assert run(main()) == [7]


def test_resources_without_a_timeout_are_refused_at_the_door(body):
    class Holder(body):
        def requirements(self):
            return Requirements(resources={"place": lambda: pytest.fail("opened")})

    async def main():
        async with Dispatcher() as dispatcher:
            untimed = dispatcher.submit(Holder(_seven), timeout=None)
            orchestrator = dispatcher.submit(Holder(_seven, leaf=False))
            assert untimed.done()
            assert orchestrator.done()
            with pytest.raises(SystemException, match="must have a timeout"):
                await untimed
            with pytest.raises(SystemException, match="holds nothing"):
                await orchestrator

    run(main())


def test_a_dispatcher_that_is_stopping_refuses_new_work_but_lets_its_jobs_finish(body):
    refused: list[JobHandle] = []

    async def main():
        async with Dispatcher() as dispatcher:

            async def orchestrate(context):
                await asyncio.sleep(5)
                return await context.submit(body(_seven))

            running = dispatcher.submit(body(orchestrate, leaf=False))

            async def latecomer():
                await asyncio.sleep(1)
                refused.append(dispatcher.submit(body(_seven)))

            late = asyncio.create_task(latecomer())
        await late
        assert running.state is JobState.COMPLETED
        assert refused[0].done()
        assert isinstance(refused[0].exception(), UncorrectableRuntimeLLMException)

    run(main())


def test_children_belong_to_the_workflow_of_their_parent(body):
    async def main():
        async with Dispatcher() as dispatcher:

            async def orchestrate(context):
                child = context.submit(body(_seven))
                stranger = context.submit(body(_seven), workflow="other")
                await child
                await stranger
                return context.workflow, child.workflow, stranger.workflow

            handle = dispatcher.submit(body(orchestrate, leaf=False), workflow="orders")
            assert await handle == ("orders", "orders", "other")
            alone = dispatcher.submit(body(_seven))
            await alone
            assert alone.workflow == alone.id

    run(main())


def test_a_body_sees_its_attempt_its_metadata_and_its_remaining_time(body):
    async def look(context):
        await asyncio.sleep(4)
        context.check_cancellation()
        return context.attempt, context.metadata["user"], context.remaining_seconds, context.handle.id == context.job_id

    async def main():
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(body(look), timeout=10, metadata={"user": "ada"})

    attempt, user, remaining, same = run(main())
    assert (attempt, user, same) == (1, "ada", True)
    assert remaining == pytest.approx(6)


def test_the_job_sets_what_ended_it_and_its_transcript_through_its_handle(body):
    async def think(context):
        context.handle.ended_by = "turn_limit"
        context.handle.transcript = ["hello"]
        raise UncorrectableRuntimeLLMException("no answer")

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(think))
            with pytest.raises(UncorrectableRuntimeLLMException):
                await handle
            return handle.ended_by, handle.transcript

    assert run(main()) == ("turn_limit", ["hello"])


def test_a_job_is_submitted_from_another_thread(body):
    async def main():
        async with Dispatcher() as dispatcher:

            def elsewhere():
                return dispatcher.submit_threadsafe(body(_seven)).result(30)

            return await asyncio.to_thread(elsewhere)

    assert run(main()) == 7


def test_a_snapshot_shows_what_has_not_ended(body):
    async def main():
        async with Dispatcher() as dispatcher:

            async def wait(context):
                await asyncio.sleep(10)

            handle = dispatcher.submit(body(wait, name="slow"))
            await asyncio.sleep(3)
            [job] = dispatcher.snapshot().jobs
            assert (job.id, job.name, job.state, job.attempt) == (handle.id, "slow", JobState.RUNNING, 1)
            assert job.age_seconds == pytest.approx(3)
            await handle
            assert dispatcher.snapshot().jobs == ()

    run(main())


def test_a_job_that_has_ended_is_freed_with_its_last_handle(body):
    import gc
    import weakref

    async def fail(context):
        raise KeyError("broken")

    async def main():
        async with Dispatcher() as dispatcher:
            gc.collect()
            gc.disable()
            try:
                job = body(_seven)
                gone = weakref.ref(job)
                await dispatcher.submit(job)
                del job
                await asyncio.sleep(0)
                return gone() is None
            finally:
                gc.enable()

    assert run(main())


def test_a_body_that_raises_generator_exit_has_failed_and_holds_nobody_up():
    class Odd(Job[None]):
        async def run(self, resources, context):
            raise GeneratorExit

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(SystemException):
                await dispatcher.submit(Odd())

    run(main())
