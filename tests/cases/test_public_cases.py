"""Public bug reports of other projects, by their id in our list of cases, and what happens here instead."""

import asyncio
import json

import pytest
from pydantic import BaseModel, create_model

from nucleo import Dispatcher, Palette, Thinker, call_tool, tool
from nucleo.conversation import INTERRUPTED
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    ExternalServiceException,
    Http503Exception,
    HttpErrorDetail,
    InvalidInputException,
    JobCancelledException,
    JobTimeoutException,
    JsonParseException,
    QuotaExhaustedException,
    SystemException,
    TokenEstimateExceedsLimitException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
    unwrap,
    wrap_with_context,
)
from nucleo.errors.http import http_failure
from nucleo.jobs import Job
from nucleo.models import (
    AssistantMessage,
    Reply,
    ScriptedModel,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResultsMessage,
    UserMessage,
)
from nucleo.models.stop import normalise_stop_reason
from nucleo.testing import run


class Answer(BaseModel):
    text: str


ANSWER = '{"text": "done"}'


def called(what, arguments=None, **options):
    return run(call_tool(what, arguments, **options))


async def think(script, tools=(), **options):
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    async with Dispatcher() as dispatcher:
        handle = dispatcher.submit(Thinker("Answer.", tools=tools, model=model, output=Answer, **options).job("?"))
        await asyncio.wait([handle.future()])
    return handle, model


def test_d01_an_ordinary_exception_becomes_a_result_and_the_run_goes_on():
    """The seeds decide what the model reads of it: one sentence, because nobody said that its text may be shown."""

    @tool
    async def user(number: int) -> str:
        """Find a user."""
        raise ValueError(f"There is no user with the id {number}")

    async def main():
        handle, model = await think([ToolCall("1", "user", '{"number": 7}'), ANSWER], [user])
        assert (await handle).text == "done"
        read = model.requests[1].messages[-1].results[0]
        assert read.is_error
        assert (
            read.content
            == f"A system error occurred in user. The operation could not be completed.\n{VERDICT_UNCORRECTABLE}"
        )

    run(main())


def test_d04_arguments_are_shown_and_internals_are_not():
    @tool
    async def take(x: int) -> str:
        """Take."""
        raise RuntimeError("pg://u:pw@db")

    wrong = called(take, {"x": "abc"})
    assert "x" in wrong.content
    assert "whole number" in wrong.content
    broken = called(take, {"x": 1})
    assert "pw" not in broken.content
    assert "try again" not in broken.content


def test_d05_d06_an_unknown_tool_is_answered_and_the_session_lives():
    def make(name):
        @tool(name=name)
        async def some() -> str:
            """Do."""
            return "found"

        return some

    tools = [make("search_docs"), *[make(f"other_{n}") for n in range(300)]]

    async def main():
        script = [
            ToolCall("1", "search_docs", "{}"),
            ToolCall("2", "serch_docs", "{}"),
            ToolCall("3", "search_docs", "{}"),
            ANSWER,
        ]
        handle, model = await think(script, tools)
        assert (await handle).text == "done"
        read = model.requests[2].messages[-1].results[0]
        assert "search_docs" in read.content
        assert read.content.endswith(VERDICT_CORRECTABLE)
        assert len(read.content) < 600
        assert model.requests[3].messages[-1].results[0].content == "found"

    run(main())


def test_d10_a_failure_without_words_still_says_something():
    @tool
    def mute() -> str:
        """Fail without words."""
        raise RuntimeError

    result = called(mute)
    assert result.content.strip()
    assert json.dumps([result.for_openai("c"), result.for_anthropic("c")])


@pytest.mark.parametrize("nested", [False, True])
def test_d17_d18_many_faults_in_a_large_object_make_a_small_message(nested):
    fields = {f"field_{n}": (str, ...) for n in range(30)}
    large_model = create_model("Large", **fields)
    item_model = create_model("Item", id=(int, ...), text=(str, ""))

    @tool
    def take(large: large_model | None = None, items: list[item_model] = []) -> str:  # noqa: B006 - a tool's default
        """Take."""
        return ""

    raw = {"items": [{"text": "x" * 1000} for _ in range(20)]} if nested else {"large": {"other": "x" * 20_000}}
    content = called(take, raw).content
    assert len(content.encode()) < 4200
    assert ("items.3.id" if nested else "large.field_0") in content


def test_d20_a_correction_is_marked_as_automatic():
    async def main():
        handle, model = await think(["no json", ANSWER])
        await handle
        said = model.requests[1].messages[-1]
        assert isinstance(said, UserMessage)
        assert said.automatic
        assert "automatic message of the application" in said.text

    run(main())


def test_d22_a_validation_error_of_the_body_is_not_the_models():
    @tool
    def body() -> Answer:
        """Read upstream data."""
        return Answer.model_validate({})

    result = called(body)
    assert result.content.endswith(VERDICT_UNCORRECTABLE)
    assert "argument" not in result.content


def test_d23_arguments_encoded_twice_are_taken():
    @tool
    def age(age: int) -> int:
        """Give the age."""
        return age

    assert called(age, '"{\\"age\\": 28}"').value == 28


def test_d26_a_secret_in_a_cause_is_not_shown():
    class Safe(InvalidInputException):
        """An application's own."""

    @tool
    def leak() -> str:
        """Leak."""
        try:
            raise RuntimeError("token=ghp_Zx81kQq0Lm27PpTt93VwZx81kQq0Lm27PpTt")
        except RuntimeError as error:
            raise Safe("x", 1, "must be 2") from error

    assert "ghp_" not in called(leak).content


def unavailable():
    return Http503Exception(HttpErrorDetail(503, "the provider", "/v1", said="deadline exceeded"))


def test_d34_a_provider_that_is_unavailable_is_waited_for_and_then_a_typed_failure_with_its_history():
    async def main():
        handle, _ = await think([unavailable(), unavailable(), unavailable(), ANSWER])
        assert (await handle).text == "done"
        handle, _ = await think([unavailable() for _ in range(5)])
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert len(handle.transcript) == 1

    run(main())


def cut(text):
    return Reply(AssistantMessage((TextBlock(text),) if text else ()), StopReason.MAX_TOKENS)


def test_d38_d39_a_cut_reply_burns_no_correction_and_is_never_an_answer():
    async def main():
        handle, model = await think([cut('{"text": "do'), ANSWER], max_output_tokens=10, output_ceiling=100)
        await handle
        assert [request.max_output_tokens for request in model.requests] == [10, 100]
        assert all(not message.automatic for request in model.requests for message in request.messages)
        handle, model = await think([cut("")], max_output_tokens=100)
        with pytest.raises(UncorrectableRuntimeLLMException, match="cut off"):
            await handle
        assert len(model.requests) == 1

    run(main())


@pytest.mark.parametrize("spelling", ["length", "max_tokens", "MAX_TOKENS", "incomplete"])
def test_d40_every_spelling_of_a_cut_reply_is_one_meaning(spelling):
    assert normalise_stop_reason(spelling) is StopReason.MAX_TOKENS


@pytest.mark.parametrize("sibling", [True, False])
def test_d42_d43_a_cancelled_run_leaves_a_history_that_can_be_gone_on_from(sibling):
    async def main():
        @tool
        async def quick() -> str:
            """Be quick."""
            return "quick"

        @tool
        async def hang() -> str:
            """Hang."""
            await asyncio.sleep(1000)
            return ""

        calls = [ToolCall("a", "quick", "{}"), ToolCall("b", "hang", "{}")][0 if sibling else 1 :]
        agent = Thinker("Answer.", tools=[quick, hang], model=ScriptedModel([calls, ANSWER]), output=Answer)
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(agent.job("?"))
            waiting = asyncio.ensure_future(asyncio.wait_for(_awaited(handle), 1))
            with pytest.raises(TimeoutError):
                await waiting
            last = handle.transcript[-1]
            assert isinstance(last, ToolResultsMessage)
            assert [result.content for result in last.results] == (["quick"] if sibling else []) + [INTERRUPTED]
            with pytest.raises(JobCancelledException):
                await handle
            assert (await dispatcher.submit(agent.job("and now?", history=handle.transcript))).text == "done"

    async def _awaited(handle):
        return await handle

    run(main())


def test_d44_a_tools_own_cancel_is_its_failure_and_the_callers_passes():
    @tool
    async def own() -> str:
        """Cancel itself."""
        raise asyncio.CancelledError

    async def main():
        handle, _ = await think([ToolCall("1", "own", "{}"), ANSWER], [own])
        assert (await handle).text == "done"

    run(main())


def test_d46_a_job_that_cancels_itself_has_failed():
    class Cancels(Job[None]):
        async def run(self, resources, context):
            raise asyncio.CancelledError

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(Cancels())
            with pytest.raises(SystemException) as caught:
                await handle
            assert "CancelledError itself" in caught.value.technical_message

    run(main())


def test_d49_a_timeout_is_a_timeout_although_it_is_an_os_error():
    assert "time limit" in wrap_with_context(TimeoutError(), "shop", "x", 1, "fetch").llm_message
    missing = unwrap(FileNotFoundError("/etc/x"))
    assert isinstance(missing, SystemException)


def test_d50_a_bug_in_a_model_client_is_never_an_answer():
    async def main():
        handle, _ = await think([TypeError("bug")])
        with pytest.raises(SystemException):
            await handle
        assert [type(message) for message in handle.transcript] == [UserMessage]

    run(main())


@pytest.mark.parametrize(
    ("case", "status", "body", "kind"),
    [
        (
            "D52",
            400,
            {"error": {"message": "Unknown parameter: '_rate_limit_x'", "code": "unknown_parameter"}},
            InvalidInputException,
        ),
        (
            "D53",
            400,
            {"error": {"code": 400, "message": "bad"}, "prompt_token_ids": [9906, 429, 1234]},
            InvalidInputException,
        ),
        (
            "D55",
            400,
            {"error": {"message": "The input token count exceeds the maximum number of tokens allowed"}},
            TokenEstimateExceedsLimitException,
        ),
        (
            "D55",
            400,
            {"error": {"message": "bad role 'prompt is too long'", "code": "invalid_value"}},
            InvalidInputException,
        ),
        (
            "D81",
            429,
            {"error": "INSUFFICIENT QUOTA", "message": "You exceeded your current limit of concurrent requests."},
            UpstreamThrottleException,
        ),
        (
            "D81",
            429,
            {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}},
            QuotaExhaustedException,
        ),
    ],
)
def test_d52_d53_d55_d81_an_answer_means_what_its_evidence_says(case, status, body, kind):
    assert isinstance(http_failure("provider", "/v1", status, json.dumps(body), operation="llm"), kind)


def test_d66_a_group_is_opened_and_a_cancel_in_it_passes():
    failure = InvalidInputException("id", "x", "bad id")
    assert unwrap(ExceptionGroup("one", [failure])) is failure
    with pytest.raises(asyncio.CancelledError):
        unwrap(BaseExceptionGroup("mixed", [failure, asyncio.CancelledError()]))


def test_d71_a_payment_whose_answer_never_came_is_made_once_and_said_to_be_unknown():
    paid = []

    @tool
    async def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        raise ExternalServiceException("the bank", "no answer within the time limit", outcome_unknown=True)

    async def main():
        handle, model = await think([ToolCall("1", "pay", '{"amount": 5}'), ANSWER], [pay])
        await handle
        assert paid == [5]
        assert "Check before repeating" in model.requests[1].messages[-1].results[0].content

    run(main())


def test_d75_d76_a_model_that_runs_in_circles_is_stopped():
    ran = []

    @tool
    async def fail(x: int) -> str:
        """Fail."""
        ran.append(x)
        raise InvalidInputException("x", x, "must be even")

    async def main():
        handle, model = await think(lambda request: ToolCall(str(len(request.messages)), "fail", '{"x": 1}'), [fail])
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert ran == [1, 1]
        assert "not run again" in model.requests[3].messages[-1].results[0].content
        handle, _ = await think(lambda request: ToolCall("", f"made_up_{len(request.messages)}", "{}"), [fail])
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle

    run(main())


def test_d79_a_tool_that_runs_out_of_time_is_cancelled_and_says_how_long_it_had():
    @tool(timeout=0.2)
    async def slow() -> str:
        """Be slow."""
        await asyncio.sleep(5)
        return ""

    result = called(Palette([slow]), "{}", name="slow")
    assert isinstance(result.failure, JobTimeoutException)
    assert "0.2" in result.content


def test_an_answer_that_never_is_one_ends_typed():
    async def main():
        handle, _ = await think(["no", "no", "no"])
        with pytest.raises(JsonParseException):
            await handle

    run(main())
