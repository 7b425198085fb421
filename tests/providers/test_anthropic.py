"""What is particular about the Messages API."""

import pytest

from nucleo.errors import ExternalServiceException, InvalidInputException, UnauthorizedException
from nucleo.models import (
    AssistantMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallResult,
    ToolResultsMessage,
    UserMessage,
)
from nucleo.providers.anthropic import AnthropicClient
from nucleo.testing import Answer

PATH = "/v1/messages/count_tokens"


def test_thoughts_come_back_unchanged_and_in_their_place(anthropic_exchange):
    exchange = anthropic_exchange
    body = exchange.wire.reply("", ("t1", "find", {"order": 1}))
    body["content"][:0] = [
        {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
    ]
    exchange.plan(body, exchange.wire.reply("Here."))
    first = exchange.ask()
    assert first.message.blocks[:2] == (ThinkingBlock("", "c2lnbmVk"), ThinkingBlock("", None, "ZW5jcnlwdGVk"))
    result = ToolResultsMessage((ToolCallResult("t1", "find", "found"),))
    exchange.ask(exchange.question(UserMessage("Go."), first.message, result))
    assert exchange.sent["messages"][1]["content"] == body["content"]


def test_a_streamed_thought_keeps_its_signature(anthropic_exchange):
    exchange = anthropic_exchange
    deltas = [
        {"type": "thinking_delta", "thinking": "First "},
        {"type": "thinking_delta", "thinking": "look."},
        {"type": "signature_delta", "signature": "c2ln"},
    ]
    thought = [
        (
            "content_block_start",
            {"type": "content_block_start", "index": 7, "content_block": {"type": "thinking", "thinking": ""}},
        )
    ]
    thought += [
        ("content_block_delta", {"type": "content_block_delta", "index": 7, "delta": delta}) for delta in deltas
    ]
    events = exchange.wire.stream("Done.")
    exchange.plan(exchange.streamed([events[0], *thought, *events[1:]]))
    heard, failure = exchange.parts()
    assert failure is None
    assert heard[-1].message.blocks == (TextBlock("Done."), ThinkingBlock("First look.", "c2ln"))


def test_a_thought_of_another_provider_is_left_out(anthropic_exchange):
    exchange = anthropic_exchange
    exchange.plan(exchange.wire.reply("I see."))
    said = AssistantMessage((ThinkingBlock("no signature"), TextBlock("Hello.")))
    exchange.ask(exchange.question(UserMessage("Go."), said, UserMessage("And?")))
    assert exchange.sent["messages"][1]["content"] == [{"type": "text", "text": "Hello."}]


def test_a_failed_result_is_flagged(anthropic_exchange):
    exchange = anthropic_exchange
    exchange.plan(exchange.wire.reply("I see."))
    calls = AssistantMessage((ToolCall("a", "find", {}), ToolCall("b", "find", {})))
    results = ToolResultsMessage(
        (ToolCallResult("a", "find", "here"), ToolCallResult("b", "find", "gone", is_error=True))
    )
    exchange.ask(exchange.question(UserMessage("Go."), calls, results))
    assert [block["is_error"] for block in exchange.sent["messages"][-1]["content"]] == [False, True]


def test_a_schema_for_the_answer_is_sent_as_the_output_format(anthropic_exchange):
    exchange = anthropic_exchange
    exchange.plan(exchange.wire.reply("{}"))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    exchange.ask(exchange.question(output_schema=schema))
    assert exchange.sent["output_config"] == {"format": {"type": "json_schema", "schema": schema}}


def test_the_reply_has_a_limit_even_when_nobody_said_one(anthropic_exchange):
    exchange = anthropic_exchange
    exchange.plan(exchange.wire.reply("Yes."))
    exchange.ask()
    assert exchange.sent["max_tokens"] == 8_192
    exchange.ask(max_output_tokens=99)
    assert exchange.sent["max_tokens"] == 99


def test_a_window_that_is_full_is_no_end(anthropic_exchange):
    exchange = anthropic_exchange
    body = exchange.wire.reply("Half", ("t1", "find", {}), stop="model_context_window_exceeded")
    exchange.plan(body)
    reply = exchange.ask()
    assert reply.stop_reason.name == "CONTEXT_OVERFLOW"
    assert reply.message.tool_calls == ()


def test_a_category_of_a_refusal_is_kept(anthropic_exchange):
    failure = anthropic_exchange.fails(anthropic_exchange.wire.refusal("Not this."))
    assert (failure.category, failure.explanation) == ("bio", "Not this.")


def test_tokens_are_counted_by_the_api(anthropic_exchange):
    exchange = anthropic_exchange
    exchange.service.on("POST", PATH, Answer(body={"input_tokens": 123}))
    assert exchange.run(lambda client: client.count_tokens(exchange.question(system="Be brief."))) == 123
    assert exchange.sent.keys() == {"model", "messages", "system"}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(body={}), ExternalServiceException),
        (Answer(body=b"{"), ExternalServiceException),
        (Answer(body=b"[" * 100_000), ExternalServiceException),
        (Answer(status=500), ExternalServiceException),
        (
            Answer(
                status=400, body={"type": "error", "error": {"type": "invalid_request_error", "message": "tools: bad"}}
            ),
            InvalidInputException,
        ),
    ],
    ids=["no-figure", "broken", "deep", "500", "400"],
)
def test_a_count_that_fails_is_typed(anthropic_exchange, answer, kind):
    anthropic_exchange.service.on("POST", PATH, answer)
    with pytest.raises(kind):
        anthropic_exchange.run(lambda client: client.count_tokens(anthropic_exchange.question()))


def test_without_a_key_the_failure_names_the_variable(anthropic_exchange):
    with pytest.raises(UnauthorizedException, match="ANTHROPIC_API_KEY"):
        AnthropicClient()
