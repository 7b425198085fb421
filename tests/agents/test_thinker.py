import asyncio

import pytest
from pydantic import BaseModel

from nucleo import Dispatcher, Thinker, tool
from nucleo.conversation import INTERRUPTED, Transcript
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    ExternalServiceException,
    Http503Exception,
    HttpErrorDetail,
    InvalidInputException,
    JobCancelledException,
    JsonParseException,
    ProviderRefusalException,
    ResourceNotFoundException,
    ResponseValidationException,
    SystemException,
    UncorrectableRuntimeLLMException,
)
from nucleo.jobs import ModelCalled, ToolFailed
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
from nucleo.testing import run


class Order(BaseModel):
    number: str
    status: str


@tool
async def find_order(number: str) -> Order:
    """Find an order by its number."""
    if not number.startswith("ORD-"):
        raise InvalidInputException("number", number, "an order number looks like ORD-1234")
    if number == "ORD-0000":
        raise ResourceNotFoundException("order", number)
    return Order(number=number, status="shipped")


@tool
async def broken() -> str:
    """Break."""
    raise RuntimeError("password=hunter2 at db.internal:5432")


@tool
async def unserialisable() -> object:
    """Give back what JSON cannot hold."""
    return object()


def call(name, arguments="{}", id=""):
    return ToolCall(id or f"{name}-{arguments}", name, arguments)


FOUND = call("find_order", '{"number": "ORD-1042"}')
ANSWER = '{"number": "ORD-1042", "status": "shipped"}'


async def think(script, *, task="Where is order 1042?", tools=(find_order,), output=Order, collect=None, **options):
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    agent = Thinker("Answer about orders.", tools=tools, model=model, output=output, **options)
    async with Dispatcher() as dispatcher:
        if collect is not None:
            dispatcher.subscribe(collect.append)
        handle = dispatcher.submit(agent.job(task))
        await asyncio.wait([handle.future()])
        return handle, model


def results_of(handle):
    return [
        result for message in handle.transcript if isinstance(message, ToolResultsMessage) for result in message.results
    ]


def test_a_thinker_answers_in_its_declared_type():
    async def main():
        handle, _ = await think([FOUND, ANSWER])
        assert await handle == Order(number="ORD-1042", status="shipped")
        assert handle.ended_by == "answer"

    run(main())


def test_plain_text_is_an_answer_where_no_type_is_asked_for():
    async def main():
        handle, model = await think(["It is on its way."], output=str)
        assert await handle == "It is on its way."
        assert model.requests[0].output_schema is None

    run(main())


def test_an_answer_in_a_code_fence_is_read():
    async def main():
        handle, _ = await think([f"Here it is:\n```json\n{ANSWER}\n```"])
        assert (await handle).status == "shipped"

    run(main())


def test_a_failed_call_is_read_by_the_model_and_stops_nothing():
    async def main():
        events = []
        handle, model = await think([call("find_order", '{"number": "1042"}'), FOUND, ANSWER], collect=events)
        await handle
        read = model.requests[1].messages[-1].results[0]
        assert read.is_error
        assert read.content == (
            "The value \"1042\" for parameter 'number' is not valid: an order number looks like ORD-1234\n"
            + VERDICT_CORRECTABLE
        )
        failed = [event for event in events if isinstance(event, ToolFailed)]
        assert [event.text for event in failed] == [read.content]
        assert isinstance(failed[0].failure, InvalidInputException)
        assert sum(isinstance(event, ModelCalled) for event in events) == 3

    run(main())


def test_every_call_of_a_turn_has_one_result_in_the_order_asked_and_no_failure_harms_a_sibling():
    async def main():
        calls = [
            call("serch_orders", id="a"),
            call("find_order", '{"number": 7}', id="b"),
            FOUND,
            call("broken", id="c"),
            call("unserialisable", id="d"),
            call("find_order", "[1]", id="e"),
            call("find_order", '{"number": "ORD-0000"}', id="f"),
        ]
        handle, model = await think([calls, ANSWER], tools=(find_order, broken, unserialisable))
        await handle
        results = model.requests[1].messages[-1].results
        assert [result.call_id for result in results] == [each.id for each in calls]
        assert [result.is_error for result in results] == [True, True, False, True, True, True, True]
        verdicts = [result.content.rpartition("\n")[2] for result in results if result.is_error]
        assert verdicts == [
            VERDICT_CORRECTABLE,
            VERDICT_CORRECTABLE,
            VERDICT_UNCORRECTABLE,
            VERDICT_UNCORRECTABLE,
            VERDICT_CORRECTABLE,
            VERDICT_CORRECTABLE,
        ]
        assert "hunter2" not in "".join(result.content for result in results)

    run(main())


def test_calls_with_no_id_or_the_same_id_are_each_answered_once():
    async def main():
        calls = (ToolCall("", "find_order", FOUND.arguments), ToolCall("x", "find_order", FOUND.arguments))
        twice = (*calls, ToolCall("x", "find_order", '{"number": "ORD-7"}'))
        handle, model = await think([Reply(AssistantMessage(twice)), Reply(AssistantMessage(calls)), ANSWER])
        await handle
        ids = [result.call_id for result in results_of(handle)]
        assert len(ids) == 5 == len(set(ids))
        for message, following in zip(list(handle.transcript), list(handle.transcript)[1:], strict=False):
            if isinstance(message, AssistantMessage) and message.tool_calls:
                assert [each.id for each in message.tool_calls] == [r.call_id for r in following.results]
        assert model.requests[-1].messages[-1].results[0].content == '{"number":"ORD-1042","status":"shipped"}'

    run(main())


def test_an_answer_that_is_not_json_is_corrected_by_an_automatic_message():
    async def main():
        handle, model = await think(["It is shipped.", ANSWER])
        assert (await handle).status == "shipped"
        said = model.requests[1].messages[-1]
        assert isinstance(said, UserMessage)
        assert said.automatic
        assert said.text.startswith("This is an automatic message of the application")
        assert said.text.endswith(VERDICT_CORRECTABLE)
        assert [type(message) for message in handle.transcript] == [
            UserMessage,
            AssistantMessage,
            UserMessage,
            AssistantMessage,
        ]

    run(main())


def test_every_fault_of_an_answer_is_named_at_once_and_after_two_corrections_it_is_the_result():
    async def main():
        handle, model = await think(["{}", '{"number": 1}', '{"status": "x"}', ANSWER])
        with pytest.raises(ResponseValidationException) as caught:
            await handle
        assert len(model.requests) == 3
        assert caught.value.validation_errors == ("number: Field required",)
        first = model.requests[1].messages[-1].text
        assert "- number: Field required" in first
        assert "- status: Field required" in first
        assert handle.ended_by == "failure"
        assert handle.transcript[-1].text == '{"status": "x"}'

    run(main())


def test_an_answer_that_never_is_json_ends_in_the_parse_failure():
    async def main():
        handle, _ = await think(["no", "no", "no"])
        with pytest.raises(JsonParseException):
            await handle

    run(main())


def test_an_empty_answer_is_not_a_good_one():
    async def main():
        handle, model = await think(["", " ", ""], output=str)
        with pytest.raises(ResponseValidationException):
            await handle
        assert len(model.requests) == 3

    run(main())


def test_a_run_asks_for_ten_corrections_at_most():
    async def main():
        turn = ["no", "no", FOUND]
        handle, model = await think([*turn * 5, "no"], repeat_limit=50)
        with pytest.raises(JsonParseException):
            await handle
        assert len(model.requests) == 16

    run(main())


def test_a_reply_cut_at_its_limit_is_asked_once_more_with_the_ceiling():
    async def main():
        cut = Reply(AssistantMessage((TextBlock('{"number": "ORD'),)), StopReason.MAX_TOKENS)
        handle, model = await think([cut, ANSWER], max_output_tokens=10, output_ceiling=4000)
        await handle
        assert [request.max_output_tokens for request in model.requests] == [10, 4000]
        assert model.requests[1].messages == model.requests[0].messages

    run(main())


def test_a_reply_cut_at_the_ceiling_is_a_typed_failure_and_its_cut_call_is_never_run():
    async def main():
        ran = []

        @tool
        async def pay(amount: str = "") -> str:
            """Pay."""
            ran.append(amount)
            return "paid"

        cut = Reply(AssistantMessage((ToolCall("1", "pay", '{"amount": "1'),)), StopReason.MAX_TOKENS)
        handle, model = await think([cut, cut], tools=[pay], max_output_tokens=10, output_ceiling=20)
        with pytest.raises(UncorrectableRuntimeLLMException) as caught:
            await handle
        assert "cut off" in caught.value.message
        assert "20 tokens" in caught.value.message
        assert len(model.requests) == 2
        assert ran == []

    run(main())


def test_a_run_that_uses_all_its_turns_fails_and_never_answers_none():
    async def main():
        handle, model = await think(
            lambda request: call("find_order", f'{{"number": "ORD-{len(request.messages)}"}}'), max_turns=5
        )
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert handle.ended_by == "turn_limit"
        assert len(model.requests) == 5
        assert len(handle.transcript) == 11

    run(main())


def test_the_third_identical_failing_call_is_not_run_and_the_fourth_ends_the_run():
    async def main():
        ran = []

        @tool
        async def fragile(x: int) -> str:
            """Fail."""
            ran.append(x)
            raise InvalidInputException("x", x, "must be even")

        handle, model = await think(
            lambda request: call(
                "fragile", ('{"x": 1}', '{ "x":1 }')[len(request.messages) % 4 == 1], id=f"c{len(request.messages)}"
            ),
            tools=[fragile],
        )
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert handle.ended_by == "repeated_failure"
        assert ran == [1, 1]
        assert len(model.requests) == 4
        third = model.requests[3].messages[-1].results[0]
        assert "was not run again" in third.content
        assert third.content.endswith(VERDICT_CORRECTABLE)

    run(main())


def test_a_success_between_two_failures_forgets_the_repetition():
    async def main():
        outcomes = iter([False, True, False, True, False, True])

        @tool
        async def flaky(x: int) -> str:
            """Fail now and then."""
            if next(outcomes):
                return "fine"
            raise ExternalServiceException("shop", "down")

        handle, _ = await think([call("flaky", '{"x": 1}')] * 6 + [ANSWER], tools=[flaky])
        assert await handle

    run(main())


def test_five_unknown_tools_in_a_row_end_the_run():
    async def main():
        handle, _ = await think(lambda request: call(f"tool_{len(request.messages)}"))
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert len(results_of(handle)) == 5

    run(main())


def test_a_refusal_is_not_asked_again():
    async def main():
        handle, model = await think([ProviderRefusalException("m", "safety", "no")])
        with pytest.raises(ProviderRefusalException):
            await handle
        assert handle.ended_by == "refusal"
        assert len(model.requests) == 1

    run(main())


def unavailable():
    return Http503Exception(
        HttpErrorDetail(503, "the provider", "/v1/messages", "deadline exceeded", said="unavailable")
    )


def test_a_model_that_is_unavailable_three_times_is_waited_for():
    async def main():
        handle, model = await think([unavailable(), unavailable(), unavailable(), ANSWER])
        assert (await handle).status == "shipped"
        assert len(model.requests) == 4

    run(main())


def test_a_model_that_stays_unavailable_is_a_typed_failure_with_the_history_kept():
    async def main():
        handle, model = await think([FOUND, *[unavailable()] * 5])
        with pytest.raises(UncorrectableRuntimeLLMException):
            await handle
        assert len(model.requests) == 5
        assert len(handle.transcript) == 3
        assert not handle.transcript.open_calls

    run(main())


def test_a_bug_in_a_model_client_is_raised_and_never_becomes_an_answer():
    async def main():
        handle, _ = await think([TypeError("unhashable")])
        with pytest.raises(SystemException):
            await handle
        assert [type(message) for message in handle.transcript] == [UserMessage]

    run(main())


def test_a_run_cancelled_in_the_middle_of_its_calls_keeps_results_and_closes_the_rest():
    async def main():
        started = asyncio.Event()

        @tool
        async def hang() -> str:
            """Hang."""
            started.set()
            await asyncio.sleep(1000)
            return "late"

        model = ScriptedModel([[FOUND, call("hang", id="h")], ANSWER])
        agent = Thinker("Answer.", tools=[find_order, hang], model=model, output=Order)
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(agent.job("x"))
            await started.wait()
            await asyncio.sleep(0.1)
            handle.cancel("enough")
            with pytest.raises(JobCancelledException):
                await handle
            first, second = results_of(handle)
            assert not first.is_error
            assert (second.call_id, second.content, second.is_error) == ("h", INTERRUPTED, True)
            assert handle.ended_by == "cancelled"
            again = dispatcher.submit(agent.job("and now?", history=handle.transcript))
            assert (await again).status == "shipped"

    run(main())


def test_a_cancelled_child_is_a_failed_result_and_the_run_goes_on():
    async def main():
        @tool
        async def cancels_itself() -> str:
            """Cancel itself."""
            raise asyncio.CancelledError

        handle, model = await think([[call("cancels_itself"), FOUND], ANSWER], tools=[cancels_itself, find_order])
        assert (await handle).status == "shipped"
        assert [result.is_error for result in model.requests[1].messages[-1].results] == [True, False]

    run(main())


def test_calls_of_one_turn_run_at_the_same_time():
    async def main():
        @tool
        async def wait(seconds: float) -> str:
            """Wait."""
            await asyncio.sleep(seconds)
            return "done"

        calls = [call("wait", f'{{"seconds": {n}}}') for n in (3, 2, 1)]
        loop = asyncio.get_running_loop()
        start = loop.time()
        handle, _ = await think([calls, ANSWER], tools=[wait])
        await handle
        assert loop.time() - start == pytest.approx(3, abs=0.01)

    run(main())


def test_a_subclass_declares_everything_as_attributes():
    class OrderAgent(Thinker[str, Order]):
        instructions = "Answer about orders."
        tools = (find_order,)
        model = ScriptedModel([FOUND, ANSWER])

    async def main():
        async with Dispatcher() as dispatcher:
            assert await dispatcher.submit(OrderAgent().job("?")) == Order(number="ORD-1042", status="shipped")

    run(main())


class Opaque:
    """A class that has no JSON Schema."""


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"instructions": " "}, TypeError),
        ({"model": None}, TypeError),
        ({"max_turns": 0}, ValueError),
        ({"repeat_limit": "3"}, TypeError),
        ({"output": Opaque}, TypeError),
        ({"tools": [find_order, find_order]}, ValueError),
        ({"model": "claude"}, UncorrectableRuntimeLLMException),
    ],
)
def test_a_thinker_that_cannot_work_is_refused_when_it_is_made(options, error):
    with pytest.raises(error):
        Thinker(**{"instructions": "Answer.", "model": ScriptedModel([]), **options})


def test_a_transcript_refuses_what_a_provider_would_refuse():
    transcript = Transcript([UserMessage("hi"), AssistantMessage((FOUND,))])
    with pytest.raises(ValueError, match="no result"):
        transcript.add(UserMessage("hello?"))
    with pytest.raises(ValueError, match="open are"):
        transcript.add(ToolResultsMessage(()))
    assert [each.name for each in transcript.open_calls] == ["find_order"]


def test_a_call_that_runs_out_of_time_is_a_failed_result_that_is_announced_once():
    async def main():
        @tool(timeout=1)
        async def slow() -> str:
            """Be slow."""
            await asyncio.sleep(100)
            return "late"

        events = []
        handle, model = await think([call("slow"), ANSWER], tools=[slow], collect=events)
        assert await handle
        read = model.requests[1].messages[-1].results[0]
        assert "1 second" in read.content
        assert [(event.stage, event.text) for event in events if isinstance(event, ToolFailed)] == [
            ("timeout", read.content)
        ]

    run(main())
