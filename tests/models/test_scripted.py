import pytest

from nucleo.errors import ExternalServiceException, ProviderRefusalException, SystemException
from nucleo.models import (
    AssistantMessage,
    ModelClient,
    Reply,
    Request,
    ScriptedModel,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ToolCall,
    ToolCallResult,
    ToolResultsMessage,
    Usage,
    UserMessage,
    is_final_failure,
    open_model,
)
from nucleo.testing import run


def ask(model, *messages):
    return run(model.complete(Request("m", messages or (UserMessage("Go."),))))


def listen(model):
    async def act():
        heard = []
        try:
            async for part in model.stream(Request("m", (UserMessage("Go."),))):
                heard.append(part)  # noqa: PERF401 - what came before a failure is kept
        except Exception as failure:
            return heard, failure
        return heard, None

    return run(act())


def test_it_is_a_model_client():
    assert isinstance(ScriptedModel([]), ModelClient)


def test_it_gives_its_answers_in_order_and_remembers_what_it_was_asked():
    model = ScriptedModel(["One.", ToolCall("1", "find", {}), [ToolCall("a", "x", "{}"), ToolCall("b", "y", "{}")]])
    first, second, third = ask(model), ask(model), ask(model)
    assert first.message.text == "One."
    assert first.stop_reason is StopReason.END
    assert second.stop_reason is StopReason.TOOL_CALLS
    assert [call.name for call in third.message.tool_calls] == ["x", "y"]
    assert len(model.requests) == 3
    assert model.requests[0].messages == (UserMessage("Go."),)


def test_a_reply_is_given_as_it_is():
    reply = Reply(
        AssistantMessage((ThinkingBlock("hm", "sig"), TextBlock("Yes."))), StopReason.UNKNOWN, Usage(1, 2, 0), "own"
    )
    assert ask(ScriptedModel([reply])) == reply


def test_a_policy_decides_by_what_it_is_asked():
    model = ScriptedModel(lambda request: request.messages[-1].text.upper())
    assert ask(model, UserMessage("loud")).message.text == "LOUD"
    assert ask(model, UserMessage("again")).message.text == "AGAIN"


def test_a_script_may_hold_functions():
    model = ScriptedModel(["One.", lambda request: f"{len(request.messages)} messages."])
    ask(model)
    assert ask(model).message.text == "1 messages."


def test_it_raises_what_the_script_says():
    failure = ExternalServiceException("Provider", "down")
    with pytest.raises(ExternalServiceException) as caught:
        ask(ScriptedModel([failure]))
    assert caught.value is failure


def test_a_script_at_its_end_says_which_call_it_lacks():
    model = ScriptedModel(["One."])
    ask(model)
    with pytest.raises(AssertionError, match="call 2"):
        ask(model)


@pytest.mark.parametrize("single", ["text", ToolCall("1", "find", {}), Reply(AssistantMessage(())), ValueError("x")])
def test_a_single_answer_is_no_script(single):
    with pytest.raises(TypeError, match=r"write \[answer\]"):
        ScriptedModel(single)


def test_a_reply_that_declines_is_a_refusal():
    reply = Reply(AssistantMessage((TextBlock("No."),)), StopReason.REFUSAL)
    with pytest.raises(ProviderRefusalException, match="No"):
        ask(ScriptedModel([reply]))


def test_a_reply_that_was_cut_off_holds_no_half_call():
    reply = Reply(AssistantMessage((ToolCall("1", "find", '{"a": '),)), StopReason.MAX_TOKENS)
    given = ask(ScriptedModel([reply]))
    assert given.message.tool_calls == ()
    assert len(given.incomplete_calls) == 1


def test_it_refuses_the_conversations_a_provider_would_refuse():
    call = AssistantMessage((ToolCall("1", "find", {}),))
    with pytest.raises(SystemException):
        ask(ScriptedModel(["?"]), UserMessage("Go."), call)
    results = ToolResultsMessage((ToolCallResult("1", "find", "x"),))
    assert ask(ScriptedModel(["Good."]), UserMessage("Go."), call, results).message.text == "Good."


def test_a_stream_gives_words_and_then_the_reply():
    heard, failure = listen(ScriptedModel(["It is  here."]))
    assert failure is None
    assert heard[:-1] == [TextDelta("It "), TextDelta("is  "), TextDelta("here.")]
    assert heard[-1].message.text == "It is  here."


def test_a_stream_that_breaks_off_is_final_and_one_that_never_began_is_not():
    down = ExternalServiceException("Provider", "down")
    heard, failure = listen(ScriptedModel([["Half of", down]]))
    assert heard == [TextDelta("Half "), TextDelta("of")]
    assert failure is down
    assert is_final_failure(failure)
    heard, failure = listen(ScriptedModel([ExternalServiceException("Provider", "down")]))
    assert heard == []
    assert not is_final_failure(failure)


def test_opening_a_client_leaves_it_open_and_names_it():
    model = ScriptedModel(["Yes."], model="my-model")

    async def act():
        async with open_model(model) as opened:
            return opened

    opened = run(act())
    assert opened.client is model
    assert (opened.provider, opened.wire_name) == ("scripted", "my-model")


def test_it_has_no_counter():
    assert run(ScriptedModel([]).count_tokens(Request("m", ()))) is None


def test_a_long_conversation_is_not_read_again_at_every_call():
    """The work of a call depends on the last turn alone."""
    import sys

    def work_of(turns):
        history = [UserMessage("Go.")]
        for number in range(turns):
            history.append(AssistantMessage((ToolCall(str(number), "find", {}),)))
            history.append(ToolResultsMessage((ToolCallResult(str(number), "find", "x"),)))
        request, model, calls = Request("m", tuple(history)), ScriptedModel(["Done."]), 0

        def count(frame, event, argument):
            nonlocal calls
            calls += event == "call"

        coroutine = model.complete(request)
        sys.setprofile(count)
        try:
            coroutine.send(None)
        except StopIteration:
            pass
        finally:
            sys.setprofile(None)
        return calls

    assert work_of(200) == work_of(3)
