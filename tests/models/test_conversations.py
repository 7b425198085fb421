import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nucleo.errors import SystemException
from nucleo.models import (
    AnswerTurn,
    AssistantMessage,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallResult,
    ToolResultsMessage,
    Usage,
    UserMessage,
    assemble_reply,
    turns,
    with_distinct_ids,
)


def results(*ids):
    return ToolResultsMessage(tuple(ToolCallResult(each, "find", "found") for each in ids))


def calls(*ids):
    return AssistantMessage(tuple(ToolCall(each, "find", {}) for each in ids))


def test_a_message_of_the_model_gives_its_text_and_its_calls():
    call = ToolCall("1", "find", "{}")
    message = AssistantMessage((ThinkingBlock("hm"), TextBlock("Let me "), call, TextBlock("look.")))
    assert message.text == "Let me look."
    assert message.tool_calls == (call,)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("", None), ("[]", None), ("{", None), ("[" * 100_000, None)],
)
def test_arguments_are_an_object_or_none(arguments, value):
    assert ToolCall("1", "find", arguments).arguments_object == value


def test_arguments_have_a_text_whatever_they_were():
    assert ToolCall("1", "find", "{ }").arguments_text == "{ }"
    assert json.loads(ToolCall("1", "find", {"a": "é"}).arguments_text) == {"a": "é"}


@pytest.mark.parametrize(
    ("content", "is_error", "read"),
    [("ok", False, "ok"), ("", False, "(no output)"), (" \n", True, "The tool failed and gave no details.")],
)
def test_a_result_is_never_blank(content, is_error, read):
    assert ToolCallResult("1", "find", content, is_error).readable_content == read


def test_turns_put_results_before_texts():
    conversation = [UserMessage("Go."), calls("a", "b"), UserMessage("Hurry."), results("a", "b"), AssistantMessage(())]
    first, said, answered, empty = turns(conversation)
    assert first == AnswerTurn(results=(), texts=("Go.",))
    assert said == calls("a", "b")
    assert answered == AnswerTurn(results=results("a", "b").results, texts=("Hurry.",))
    assert empty == AssistantMessage(())


@pytest.mark.parametrize(
    "conversation",
    [
        [calls("a")],
        [calls("a"), UserMessage("Well?")],
        [calls("a", "b"), results("a")],
        [calls("a"), results("a", "a")],
        [calls("a"), results("b")],
        [results("a")],
        [calls("a"), results("a"), AssistantMessage((TextBlock("Done."),)), results("a")],
        [calls("a", "a"), results("a")],
    ],
)
def test_a_conversation_with_a_call_or_a_result_too_many_is_refused(conversation):
    with pytest.raises(SystemException, match="exactly one result"):
        list(turns(conversation))


@given(st.lists(st.sampled_from(["", "a", "b", "a_2", "call", "call_1"]), max_size=8))
def test_distinct_ids_are_distinct_and_keep_what_was_good(ids):
    given_ = tuple(ToolCall(each, "find", {}) for each in ids)
    kept = with_distinct_ids(given_)
    found = [call.id for call in kept]
    assert len(set(found)) == len(found)
    assert all(found)
    assert [call.name for call in kept] == ["find"] * len(ids)
    assert with_distinct_ids(kept) == kept
    if len(set(ids)) == len(ids) and all(ids):
        assert kept == given_


@pytest.mark.parametrize("reason", [StopReason.MAX_TOKENS, StopReason.CONTEXT_OVERFLOW])
def test_a_reply_that_was_cut_off_holds_no_call_that_may_be_half(reason):
    whole, half, last = ToolCall("1", "find", '{"a": 1}'), ToolCall("2", "find", '{"a": '), ToolCall("3", "find", "{}")
    reply = assemble_reply([TextBlock("So."), whole, half, last], reason, usage=Usage(), model="m")
    assert reply.message.tool_calls == (whole,)
    assert reply.incomplete_calls == (half, last)
    assert reply.stop_reason is reason


def test_a_call_before_the_place_of_the_cut_is_whole():
    call = ToolCall("1", "find", {"a": 1})
    reply = assemble_reply([call, TextBlock("And then")], StopReason.MAX_TOKENS, usage=Usage(), model="m")
    assert reply.message.tool_calls == (call,)


def test_a_reply_with_calls_waits_for_them_whatever_the_word():
    reply = assemble_reply([ToolCall("1", "find", {})], StopReason.END, usage=Usage(), model="m")
    assert reply.stop_reason is StopReason.TOOL_CALLS


def test_usage_adds_up():
    assert Usage(1, 2, 3) + Usage(10, 20, 30) == Usage(11, 22, 33)
