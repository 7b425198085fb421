import asyncio
import contextvars
import logging
import threading

import pytest

from nucleo import Dispatcher, Palette, Tool, call_tool, call_tool_sync, llm_readable, tool
from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    JobTimeoutException,
    RateLimitRetryException,
    ResourceNotFoundException,
    SystemException,
    TransientErrorRetryException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
)
from nucleo.jobs import JobContext, JobState, Requirements, Resources, ToolFailed
from nucleo.testing import run
from nucleo.tools import Boundary, Stage

VARIABLE = contextvars.ContextVar("VARIABLE", default="unset")


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


@tool
def where() -> list[str]:
    """Say where it runs."""
    return [
        VARIABLE.get(),
        str(threading.current_thread() is threading.main_thread()),
        str(threading.current_thread().daemon),
    ]


def test_a_sync_body_runs_in_a_daemon_thread_with_the_callers_context():
    async def main():
        VARIABLE.set("set")
        return await call_tool(where, None)

    assert run(main()).value == ["set", "False", "True"]


def test_a_sync_call_inside_a_loop_and_outside_one_keeps_the_callers_context():
    async def main():
        VARIABLE.set("inside")
        return call_tool_sync(where, None)

    assert asyncio.run(main()).value[0] == "inside"

    def outside():
        VARIABLE.set("outside")
        return call_tool_sync(where, None).value[0]

    assert contextvars.copy_context().run(outside) == "outside"


def test_a_body_that_answers_its_timeout_with_an_error_of_its_own_has_timed_out():
    @tool(timeout=1)
    async def untidy() -> str:
        """Be untidy."""
        try:
            await asyncio.sleep(10)
        finally:
            raise ValueError("while cleaning up")
        return ""

    result = run(call_tool(untidy, None))
    assert result.stage is Stage.TIMEOUT
    assert isinstance(result.failure, JobTimeoutException)
    assert isinstance(result.failure.__cause__, ValueError)


def test_a_body_that_answers_its_timeout_with_a_value_has_answered():
    @tool(timeout=1)
    async def late() -> str:
        """Be late."""
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return "late"
        return ""

    assert run(call_tool(late, None)).content == "late"


def test_a_cancel_of_the_caller_that_a_body_turns_into_an_error_still_reaches_the_caller():
    @tool
    async def eats() -> str:
        """Eat a cancel."""
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError as error:
            raise ValueError("eaten") from error
        return ""

    async def main():
        task = asyncio.ensure_future(call_tool(eats, None))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(20):
            async with asyncio.TaskGroup() as group:
                group.create_task(call_tool(wait, {"seconds": 1}))

    run(main())


def test_a_timeout_of_the_caller_is_the_callers():
    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await call_tool(wait, {"seconds": 5})

    run(main())


@pytest.mark.parametrize("kind", [asyncio.CancelledError, lambda: BaseExceptionGroup("g", [asyncio.CancelledError()])])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_cancel_that_nobody_sent_is_the_tools_failure(kind, is_async):
    @tool
    async def cancels() -> str:
        """Cancel."""
        raise kind()

    @tool
    def cancels_in_a_thread() -> str:
        """Cancel."""
        raise kind()

    result = run(call_tool(cancels if is_async else cancels_in_a_thread, None))
    assert result.stage is Stage.BODY
    assert isinstance(result.failure, SystemException)


def test_an_exit_beside_a_cancel_in_a_group_still_passes():
    @tool
    async def leaves() -> str:
        """Leave."""
        raise BaseExceptionGroup("g", [asyncio.CancelledError(), BaseExceptionGroup("h", [SystemExit(3)])])

    with pytest.raises(SystemExit):
        asyncio.run(call_tool(leaves, None))


@pytest.mark.parametrize("exit_kind", [KeyboardInterrupt, SystemExit])
def test_an_exit_in_a_thread_reaches_the_caller(exit_kind):
    @tool
    def leaves() -> str:
        """Leave."""
        raise exit_kind

    with pytest.raises(exit_kind):
        asyncio.run(call_tool(leaves, None))


@pytest.mark.parametrize(
    ("signal", "kind"),
    [
        (RateLimitRetryException("rpm", 1, "slow", 7.0), UpstreamThrottleException),
        (TransientErrorRetryException("Anthropic", "it broke", 500), ExternalServiceException),
    ],
)
def test_a_tool_is_never_run_again_for_a_signal_whoever_calls_it(signal, kind):
    runs = []

    @tool
    async def signals() -> str:
        """Signal."""
        runs.append(1)
        try:
            raise signal
        except BaseException as error:
            raise ValueError("wrapped") from error

    async def main():
        assert isinstance((await call_tool(signals, None)).failure, kind)
        async with Dispatcher() as dispatcher:
            result = await dispatcher.submit(Palette([signals]).call_job("c", "signals", "{}"))
            assert isinstance(result.failure, kind)
            with pytest.raises(kind):
                await dispatcher.submit(signals.job())

    run(main())
    assert len(runs) == 3


def test_a_hook_that_breaks_changes_nothing(caplog):
    def hook(told):
        raise RuntimeError("the hook")

    result = run(call_tool(wait, "{", on_failure=hook))
    assert result.stage is Stage.PARSING
    assert "the hook" in caplog.text


def test_a_call_through_a_dispatcher_fails_in_its_result_and_is_announced_and_logged_once(caplog):
    @tool
    async def broken() -> str:
        """Break."""
        raise ExternalServiceException("Orders", "down")

    @tool
    def broken_in_a_thread() -> str:
        """Break."""
        raise ExternalServiceException("Orders", "down")

    heard, events = [], []
    palette = Palette([broken, broken_in_a_thread])

    async def main():
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            for name in ("broken", "broken_in_a_thread", "brken"):
                handle = dispatcher.submit(palette.call_job(f"call {name}", name, "{}", on_failure=heard.append))
                result = await handle
                assert result.is_error
                assert handle.state is JobState.COMPLETED

    with caplog.at_level(logging.INFO, "nucleo.failures"):
        run(main())
    failed = [event for event in events if isinstance(event, ToolFailed)]
    assert [event.text for event in failed] == [each.text for each in heard]
    assert [event.stage for event in failed] == ["body", "body", "lookup"]
    assert [record.call_id for record in caplog.records] == ["call broken", "call broken_in_a_thread", "call brken"]
    assert all(record.job_id and record.workflow_id for record in caplog.records)


def test_a_call_that_its_dispatcher_stops_becomes_a_result_too(caplog):
    release = threading.Event()

    @tool(timeout=0.05)
    def stuck() -> str:
        """Be stuck."""
        release.wait(20)
        return ""

    heard = []

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(Palette([stuck]).call_job("c", "stuck", "{}"))
            with pytest.raises(JobTimeoutException) as caught:
                await handle
            boundary = Boundary("stuck", call_id="c", on_failure=heard.append)
            result = boundary.stopped(caught.value, threaded=True)
            release.set()
        assert result.stage is Stage.TIMEOUT
        assert isinstance(result.failure, UncorrectableRuntimeLLMException)
        assert "may still be running" in result.content
        assert "0.05 seconds" in result.content

    asyncio.run(main())
    assert len(heard) == 1
    assert len([record for record in caplog.records if record.name == "nucleo.failures"]) == 1


def test_a_tool_that_asks_for_its_context_is_called_under_a_dispatcher_of_its_own():
    @tool(timeout=2)
    async def slow(context: JobContext) -> str:
        """Be slow."""
        await asyncio.sleep(100)
        return context.job_id

    heard = []
    result = run(call_tool(slow, None, call_id="c", on_failure=heard.append))
    assert result.stage is Stage.TIMEOUT
    assert [each.stage for each in heard] == [Stage.TIMEOUT]


class Broken(Tool):
    """Need what cannot be had."""

    def __init__(self, error):
        self.error = error
        super().__init__()

    def requirements(self) -> Requirements:
        raise self.error

    async def execute(self, resources: Resources) -> str:
        return ""


@pytest.mark.parametrize("error", [KeyError("database"), ExternalServiceException("Database", "down")])
def test_requirements_that_cannot_be_said_are_a_failed_result(error):
    result = run(call_tool(Broken(error), None))
    assert result.is_error
    assert isinstance(result.failure, SystemException | ExternalServiceException)


def test_the_job_of_a_tool_takes_typed_arguments_and_gives_the_typed_value():
    from datetime import date

    @tool
    async def next_day(day: date) -> date:
        """Give the next day."""
        return day.replace(day=day.day + 1)

    @tool
    def broken(day: date) -> date:
        """Break."""
        raise KeyError(day)

    async def main():
        async with Dispatcher() as dispatcher:
            assert await dispatcher.submit(next_day.job(day=date(2026, 1, 1))) == date(2026, 1, 2)
            with pytest.raises(InvalidInputException, match="day"):
                await dispatcher.submit(next_day.job(day="soon"))
            with pytest.raises(SystemException, match="broken"):
                await dispatcher.submit(broken.job(day="2026-01-01"))
        with pytest.raises(TypeError, match=r"next_day.job\(day=\.\.\.\)"):
            next_day.job(date(2026, 1, 1))

    run(main())


def test_readable_generators_are_closed_with_their_readers_and_take_what_is_sent():
    ended = []

    @llm_readable
    async def rows():
        try:
            yield 1
            yield 2
        finally:
            ended.append("rows")

    @llm_readable
    def echo():
        got = yield "ready"
        if got == "stop":
            return "done"
        raise ResourceNotFoundException("row", got)

    async def main():
        reader = rows()
        async for _ in reader:
            break
        await reader.aclose()
        assert ended == ["rows"]

    run(main())
    first = echo()
    assert next(first) == "ready"
    with pytest.raises(StopIteration) as stop:
        first.send("stop")
    assert stop.value.value == "done"
    second = echo()
    next(second)
    with pytest.raises(ResourceNotFoundException):
        second.send("7")
    third = echo()
    next(third)
    with pytest.raises(SystemException):
        third.throw(KeyError("thrown"))
    with pytest.raises(TypeError, match="@llm_readable"):
        llm_readable(7)


def test_a_tool_called_while_its_caller_cleans_up_after_a_cancel_is_answered():
    @tool
    async def broken() -> str:
        """Break."""
        raise KeyError("x")

    results = []

    async def worker():
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            results.extend([await call_tool(broken, None), await call_tool(wait, {"seconds": "long"})])
            results.append(await call_tool(wait, {"seconds": 1}))
            raise

    async def main():
        task = asyncio.ensure_future(worker())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert [result.stage for result in results] == [Stage.BODY, Stage.VALIDATION, None]
