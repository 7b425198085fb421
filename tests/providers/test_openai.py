"""What is particular about chat completions, and the liberties that compatible servers take."""

import pytest

from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    ProviderRefusalException,
    TokenEstimateExceedsLimitException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.models import AssistantMessage, Reply, TextBlock, ThinkingBlock, UserMessage, retry_signal
from nucleo.providers.openai import OpenAIClient
from nucleo.testing import Answer, run


def test_arguments_are_kept_as_the_model_wrote_them(openai_exchange):
    openai_exchange.plan(openai_exchange.wire.reply("", ("t1", "find", '{"order" : 1}')))
    assert openai_exchange.ask().message.tool_calls[0].arguments == '{"order" : 1}'


def test_no_choices_is_an_unreadable_answer(openai_exchange):
    failure = openai_exchange.fails({**openai_exchange.wire.reply(), "choices": []})
    assert isinstance(failure, ExternalServiceException)
    assert retry_signal(failure, provider="OpenAI") is not None


@pytest.mark.parametrize("choice", [{}, {"message": None}, {"message": "text"}])
def test_a_choice_without_a_message_is_an_unreadable_answer(openai_exchange, choice):
    assert isinstance(openai_exchange.fails({"choices": [choice]}), ExternalServiceException)


def test_an_error_in_the_place_of_a_choice_means_what_it_says(openai_exchange):
    choice = {"finish_reason": "error", "message": {"content": ""}, "error": openai_exchange.wire.throttled["error"]}
    failure = openai_exchange.fails({**openai_exchange.wire.reply(), "choices": [choice]})
    assert isinstance(failure, UpstreamThrottleException)


def test_an_error_in_the_place_of_a_streamed_choice_means_what_it_says(openai_exchange):
    exchange = openai_exchange
    chunk = exchange.wire.chunk({}, "error")
    chunk["choices"][0]["error"] = exchange.wire.throttled["error"]
    exchange.plan(exchange.streamed([(None, chunk), (None, "[DONE]")]))
    heard, failure = exchange.parts()
    assert heard == []
    assert isinstance(failure, UpstreamThrottleException)


def test_a_filter_that_names_its_categories_is_quoted(openai_exchange):
    body = openai_exchange.wire.reply("", stop="content_filter")
    body["choices"][0]["content_filter_results"] = {"hate": {"filtered": False}, "violence": {"filtered": True}}
    failure = openai_exchange.fails(body)
    assert isinstance(failure, ProviderRefusalException)
    assert failure.category == "violence"


def test_calls_that_all_have_one_number_are_told_apart(openai_exchange):
    exchange = openai_exchange
    parts = [
        {"index": 0, "id": "a", "function": {"name": "find", "arguments": '{"order"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
        {"index": 0, "id": "b", "function": {"name": "ship", "arguments": '{"order": 2}'}},
    ]
    chunks = [exchange.wire.chunk({"tool_calls": [part]}) for part in parts] + [exchange.wire.chunk({}, "stop")]
    exchange.plan(exchange.streamed([(None, chunk) for chunk in chunks] + [(None, "[DONE]")]))
    heard, failure = exchange.parts()
    assert failure is None
    (reply,) = heard
    assert isinstance(reply, Reply)
    assert [(c.id, c.name, c.arguments_object) for c in reply.message.tool_calls] == [
        ("a", "find", {"order": 1}),
        ("b", "ship", {"order": 2}),
    ]
    assert reply.stop_reason.name == "TOOL_CALLS"


def test_arguments_that_are_an_object_already_are_kept(openai_exchange):
    body = openai_exchange.wire.reply("", ("t1", "find", {}))
    body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"order": 1}
    openai_exchange.plan(body)
    assert openai_exchange.ask().message.tool_calls[0].arguments == {"order": 1}


def test_the_old_form_of_a_call_is_read(openai_exchange):
    body = openai_exchange.wire.reply("", stop="function_call")
    body["choices"][0]["message"]["function_call"] = {"name": "find", "arguments": "{}"}
    openai_exchange.plan(body)
    (call,) = openai_exchange.ask().message.tool_calls
    assert call.name == "find"
    assert call.id


def test_text_in_parts_is_joined(openai_exchange):
    body = openai_exchange.wire.reply()
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "It "}, {"type": "text", "text": "works."}]
    openai_exchange.plan(body)
    assert openai_exchange.ask().message.text == "It works."


def test_thoughts_are_kept_and_not_sent_back(openai_exchange):
    exchange = openai_exchange
    body = exchange.wire.reply("Yes.")
    body["choices"][0]["message"]["reasoning_content"] = "Let me think."
    exchange.plan(body, exchange.wire.reply("Sure."))
    first = exchange.ask()
    assert first.message == AssistantMessage((ThinkingBlock("Let me think."), TextBlock("Yes.")))
    exchange.ask(exchange.question(UserMessage("Go."), first.message, UserMessage("Sure?")))
    assert exchange.sent["messages"][1] == {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            True,
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False},
            False,
        ),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, False),
        (
            {
                "type": "object",
                "properties": {"a": {"anyOf": [{"type": "object", "properties": {}}]}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
    ],
    ids=["closed", "optional", "open", "open-inside"],
)
def test_a_schema_is_enforced_only_where_the_api_can(openai_exchange, schema, strict):
    openai_exchange.plan(openai_exchange.wire.reply("{}"))
    openai_exchange.ask(openai_exchange.question(output_schema=schema))
    form = openai_exchange.sent["response_format"]
    assert form["json_schema"]["strict"] is strict
    assert form["json_schema"]["schema"] == schema


def test_the_limit_has_the_name_the_server_knows(openai_exchange):
    exchange = openai_exchange
    exchange.plan(exchange.wire.reply("Yes."))
    exchange.ask(exchange.question(max_output_tokens=9))
    assert exchange.sent["max_tokens"] == 9
    exchange.ask(exchange.question(max_output_tokens=9), limit_field="max_completion_tokens")
    assert exchange.sent["max_completion_tokens"] == 9


def test_a_local_server_needs_no_key(openai_exchange):
    openai_exchange.plan(openai_exchange.wire.reply("Yes."))
    openai_exchange.ask(api_key=None)
    assert openai_exchange.service.requests[-1].headers["authorization"] == "Bearer none"


def test_an_administrators_key_in_the_environment_is_never_sent(openai_exchange, monkeypatch):
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-0123456789abcdef")
    openai_exchange.plan(openai_exchange.wire.reply("Yes."))
    openai_exchange.ask()
    assert openai_exchange.service.requests[-1].headers["authorization"] == f"Bearer {openai_exchange.key}"


def test_openai_itself_is_called_by_its_name_and_its_field(openai_exchange):
    client = OpenAIClient(api_key="sk-test")
    assert client._channel.reader.service == "OpenAI"
    assert client._limit_field == "max_completion_tokens"
    run(client.aclose())


def test_another_server_is_called_by_its_host(openai_exchange):
    client = OpenAIClient(base_url="https://models.example.com/v1")
    assert client._channel.reader.service == "models.example.com"
    run(client.aclose())


def test_there_is_no_counter_of_tokens(openai_exchange):
    assert openai_exchange.run(lambda client: client.count_tokens(openai_exchange.question())) is None


def test_without_a_key_the_failure_names_the_variable(openai_exchange):
    with pytest.raises(UnauthorizedException, match="OPENAI_API_KEY"):
        OpenAIClient()


def test_the_answer_to_a_throttle_is_read_by_its_headers(openai_exchange):
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2m59.56s"}
    failure = openai_exchange.fails(Answer(status=429, headers=headers, body=openai_exchange.wire.throttled))
    assert failure.retry_after_seconds == pytest.approx(179.56)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "context_length_exceeded", "message": "too long", "type": "invalid_request_error"}},
        {
            "error": {
                "code": "context_length_exceeded",
                "message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 309034 tokens.",
            }
        },
        {
            "error": {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            }
        },
        {"message": "Input is too long for requested model."},
        {
            "object": "error",
            "type": "BadRequestError",
            "code": 400,
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.",
        },
    ],
    ids=["openai", "azure", "gemini", "bedrock", "vllm"],
)
def test_every_servers_word_for_too_long_is_understood(openai_exchange, body):
    failure = openai_exchange.fails(Answer(status=400, body=body))
    assert isinstance(failure, TokenEstimateExceedsLimitException)
    assert failure.model_name == "model-asked-for"


def test_words_of_the_caller_that_come_back_are_no_overflow(openai_exchange):
    error = {
        "message": "Invalid value: 'prompt is too long'.",
        "type": "invalid_request_error",
        "param": "user",
        "code": "invalid_value",
    }
    failure = openai_exchange.fails(Answer(status=400, body={"error": error}))
    assert isinstance(failure, InvalidInputException)
