"""What a provider answers when all is well, or nearly so. The same for every provider."""

import json

import pytest

from nucleo.errors import ProviderRefusalException
from nucleo.models import (
    AssistantMessage,
    ModelClient,
    Reply,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolCallResult,
    ToolDefinition,
    ToolResultsMessage,
    Usage,
    UserMessage,
)


def test_a_client_is_a_model_client(exchange):
    assert isinstance(exchange.wire.client(exchange.service.url), ModelClient)


def test_a_text_comes_with_its_usage_and_its_end(exchange):
    exchange.plan(exchange.wire.reply("It is on its way."))
    reply = exchange.ask()
    assert reply.message.text == "It is on its way."
    assert reply.stop_reason is StopReason.END
    assert reply.usage == Usage(13, 5, 3)
    assert reply.model.endswith("-test")


def test_the_request_carries_the_key_the_model_and_every_setting(exchange):
    exchange.plan(exchange.wire.reply("Yes."))
    tool = ToolDefinition("find", "Find an order.", {"type": "object", "properties": {"n": {"type": "integer"}}})
    exchange.ask(exchange.question(system="Be brief.", tools=(tool,), max_output_tokens=77, temperature=0.5))
    sent, headers = exchange.sent, exchange.service.requests[-1].headers
    assert exchange.key in (headers.get("x-api-key", ""), headers.get("authorization", "").removeprefix("Bearer "))
    assert sent["model"] == "model-asked-for"
    assert sent["temperature"] == 0.5
    assert 77 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert "Be brief." in json.dumps(sent)
    assert "Find an order." in json.dumps(sent["tools"])
    exchange.wire.validate(sent)


def test_what_was_not_asked_for_is_not_sent(exchange):
    exchange.plan(exchange.wire.reply("Yes."))
    exchange.ask()
    assert exchange.sent.keys() <= {"model", "messages", "max_tokens"}


def test_one_tool_call_comes_with_its_id_and_its_arguments(exchange):
    exchange.plan(exchange.wire.reply("Let me look.", ("t1", "find", {"order": 1042})))
    reply = exchange.ask()
    (call,) = reply.message.tool_calls
    assert (call.id, call.name, call.arguments_object) == ("t1", "find", {"order": 1042})
    assert reply.stop_reason is StopReason.TOOL_CALLS
    assert reply.message.text == "Let me look."


def test_parallel_calls_keep_their_order(exchange):
    exchange.plan(
        exchange.wire.reply("", ("t1", "find", {"order": 1}), ("t2", "find", {"order": 2}), ("t3", "ship", {}))
    )
    calls = exchange.ask().message.tool_calls
    assert [(call.id, call.arguments_object) for call in calls] == [
        ("t1", {"order": 1}),
        ("t2", {"order": 2}),
        ("t3", {}),
    ]


def test_calls_of_one_id_or_none_are_told_apart(exchange):
    exchange.plan(exchange.wire.reply("", ("t1", "find", {}), ("t1", "ship", {}), ("", "pay", {})))
    ids = [call.id for call in exchange.ask().message.tool_calls]
    assert ids[0] == "t1"
    assert len(set(ids)) == 3
    assert all(ids)


def test_a_round_trip_sends_every_result_right_behind_its_call(exchange):
    wire = exchange.wire
    exchange.plan(
        wire.reply("", ("t1", "find", {"order": 1}), ("t2", "find", {"order": 2})), wire.reply("Both are here.")
    )
    first = exchange.ask()
    results = ToolResultsMessage(
        (
            ToolCallResult("t1", "find", '{"state": "shipped"}'),
            ToolCallResult("t2", "find", "There is no order with identifier '2'.", is_error=True),
        )
    )
    messages = (UserMessage("Where are orders 1 and 2?"), first.message, UserMessage("Hurry."), results)
    assert exchange.ask(exchange.question(*messages)).message.text == "Both are here."
    wire.validate(exchange.sent)
    assert wire.results_in(exchange.sent) == [
        ("t1", '{"state": "shipped"}'),
        ("t2", "There is no order with identifier '2'."),
    ]


def test_a_failure_without_words_is_sent_with_some(exchange):
    exchange.plan(exchange.wire.reply("I see."))
    call = AssistantMessage((ToolCall("t1", "find", "{}"),))
    exchange.ask(
        exchange.question(
            UserMessage("Go."), call, ToolResultsMessage((ToolCallResult("t1", "find", "", is_error=True),))
        )
    )
    exchange.wire.validate(exchange.sent)
    ((_, content),) = exchange.wire.results_in(exchange.sent)
    assert "failed" in content


@pytest.mark.parametrize("arguments", ["", "not json", "[1, 2]", '"text"', '{"order": 10'])
def test_unreadable_arguments_and_invented_names_are_sent_in_a_form_that_is_accepted(exchange, arguments):
    exchange.plan(exchange.wire.reply("I see."))
    call = AssistantMessage((TextBlock("  "), ToolCall("functions.find:0", "functions.find order!", arguments)))
    result = ToolResultsMessage((ToolCallResult("functions.find:0", "?", "No such tool.", is_error=True),))
    exchange.ask(exchange.question(UserMessage("Go."), call, result, UserMessage("   ")))
    exchange.wire.validate(exchange.sent)


def test_an_empty_message_of_the_model_is_left_out(exchange):
    exchange.plan(exchange.wire.reply("I see."))
    exchange.ask(exchange.question(UserMessage("Go."), AssistantMessage(()), UserMessage("Well?")))
    exchange.wire.validate(exchange.sent)


def test_a_refusal_is_typed_and_says_what_the_provider_said(exchange):
    failure = exchange.fails(exchange.wire.refusal("I cannot help with that."))
    assert isinstance(failure, ProviderRefusalException)
    assert failure.model_id.endswith("-test")
    assert "I cannot help with that." in failure.llm_message


def test_a_filtered_answer_is_a_refusal(exchange):
    failure = exchange.fails(exchange.wire.reply("Half of", stop=exchange.wire.refused))
    assert isinstance(failure, ProviderRefusalException)


def test_a_text_cut_off_at_the_limit_says_so(exchange):
    exchange.plan(exchange.wire.reply("Once upon a", stop=exchange.wire.cut))
    reply = exchange.ask()
    assert reply.stop_reason is StopReason.MAX_TOKENS
    assert reply.message.text == "Once upon a"


def test_an_empty_reply_cut_off_at_the_limit_is_no_empty_answer(exchange):
    exchange.plan(exchange.wire.reply("", stop=exchange.wire.cut))
    reply = exchange.ask()
    assert reply.stop_reason is StopReason.MAX_TOKENS
    assert reply.message.text == ""


def test_arguments_cut_off_at_the_limit_are_no_call(exchange):
    exchange.plan(exchange.wire.truncated_call())
    reply = exchange.ask()
    assert reply.stop_reason is StopReason.MAX_TOKENS
    assert reply.message.tool_calls == ()
    assert [call.name for call in reply.incomplete_calls] == ["find"]


def test_a_stop_reason_nobody_knows_is_unknown(exchange):
    exchange.plan(exchange.wire.reply("Yes.", stop="cosmic_ray"))
    reply = exchange.ask()
    assert reply.stop_reason is StopReason.UNKNOWN
    assert reply.message.text == "Yes."


def test_a_stream_gives_the_text_piece_by_piece_and_then_the_reply(exchange):
    exchange.plan(exchange.streamed(exchange.wire.stream("It is on its way.")))
    heard, failure = exchange.parts()
    assert failure is None
    *deltas, reply = heard
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["It ", "is ", "on ", "its ", "way."]
    assert isinstance(reply, Reply)
    assert reply.message.text == "It is on its way."
    assert reply.stop_reason is StopReason.END
    assert reply.usage == Usage(13, 5, 3)
    assert exchange.sent["stream"] is True


def test_a_stream_puts_the_arguments_of_calls_together(exchange):
    calls = (("t1", "find", '{"order": 1042}'), ("t2", "ship", '{"order": 7}'))
    exchange.plan(exchange.streamed(exchange.wire.stream("Let me look.", *calls)))
    heard, failure = exchange.parts()
    assert failure is None
    reply = heard[-1]
    assert [(c.id, c.name, c.arguments_object) for c in reply.message.tool_calls] == [
        ("t1", "find", {"order": 1042}),
        ("t2", "ship", {"order": 7}),
    ]
    assert reply.stop_reason is StopReason.TOOL_CALLS


def test_a_stream_cut_off_at_the_limit_has_no_half_call(exchange):
    events = exchange.wire.stream("", ("t1", "find", '{"order": 10'), stop=exchange.wire.cut)
    exchange.plan(exchange.streamed(events))
    heard, failure = exchange.parts()
    assert failure is None
    assert heard[-1].stop_reason is StopReason.MAX_TOKENS
    assert heard[-1].message.tool_calls == ()
    assert len(heard[-1].incomplete_calls) == 1


def test_a_server_that_does_not_stream_is_read_all_the_same(exchange):
    exchange.plan(exchange.wire.reply("All at once."))
    heard, failure = exchange.parts()
    assert failure is None
    assert [part.message.text for part in heard] == ["All at once."]


def test_a_listener_that_leaves_early_closes_the_connection(exchange):
    exchange.plan(exchange.streamed(exchange.wire.stream("one two three")))

    async def leave(client):
        parts = client.stream(exchange.question())
        first = await anext(parts)
        await parts.aclose()
        return first

    assert exchange.run(leave) == TextDelta("one ")
