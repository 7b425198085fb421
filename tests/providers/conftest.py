"""The two wire formats, as loopback servers speak them. One contract is held against both."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from nucleo.models import ModelClient, Reply, Request, TextDelta, UserMessage
from nucleo.providers.anthropic import AnthropicClient
from nucleo.providers.openai import OpenAIClient
from nucleo.testing import Answer, FailingService, run

KEY = "sk-test-0123456789abcdefghij"


def sse(events: list[tuple[str | None, Any]]) -> bytes:
    parts = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        parts.append(f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n")
    return "".join(parts).encode()


def pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


class AnthropicWire:
    name = "anthropic"
    service_name = "Anthropic"
    path = "/v1/messages"
    end, cut, calls_word, refused = "end_turn", "max_tokens", "tool_use", "refusal"

    def client(self, url: str, **options: Any) -> ModelClient:
        return AnthropicClient(**{"api_key": KEY, "base_url": url, **options})

    def blocks(self, text: str, calls: tuple[tuple[str, str, Any], ...]) -> list[dict[str, Any]]:
        said = [{"type": "text", "text": text}] if text else []
        return said + [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]

    def reply(self, text: str = "", *calls: tuple[str, str, Any], stop: str | None = None) -> dict[str, Any]:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": self.blocks(text, calls),
            "stop_reason": stop or (self.calls_word if calls else self.end),
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "output_tokens": 5},
        }

    def truncated_call(self) -> dict[str, Any]:
        return self.reply("Let me look.", ("t1", "find", {}), stop=self.cut)

    def refusal(self, words: str) -> dict[str, Any]:
        body = self.reply("", stop=self.refused)
        return {**body, "stop_details": {"type": "refusal", "category": "bio", "explanation": words}}

    def error(self, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    throttled = property(lambda self: self.error("rate_limit_error", "This request would exceed the rate limit."))
    overloaded = property(lambda self: self.error("overloaded_error", "Overloaded"))
    broken = property(lambda self: self.error("api_error", "Internal server error"))
    bad_key = property(lambda self: self.error("authentication_error", f"invalid x-api-key {KEY}"))
    no_model = property(lambda self: self.error("not_found_error", "model: model-asked-for"))
    too_long = property(
        lambda self: self.error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    )
    bad_request = property(
        lambda self: self.error("invalid_request_error", "temperature: Input should be less than or equal to 1")
    )
    quota = property(
        lambda self: (
            400,
            self.error(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
            ),
        )
    )

    def stream(self, text: str = "", *calls: tuple[str, str, str], stop: str | None = None) -> list[tuple[str, Any]]:
        events: list[tuple[str, Any]] = [
            ("message_start", {"message": {**self.reply(), "stop_reason": None, "content": []}}),
            ("ping", {}),
        ]
        index = 0
        if text:
            events.append(("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}))
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
            events.extend(("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas)
            events.append(("content_block_stop", {"index": 0}))
            index = 1
        for call_id, name, arguments in calls:
            block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            events.append(("content_block_start", {"index": index, "content_block": block}))
            for part in (arguments[:4], arguments[4:]):
                delta = {"type": "input_json_delta", "partial_json": part}
                events.append(("content_block_delta", {"index": index, "delta": delta}))
            events.append(("content_block_stop", {"index": index}))
            index += 1
        stop = stop or (self.calls_word if calls else self.end)
        events.append(("message_delta", {"delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}))
        events.append(("message_stop", {}))
        return [(name, {"type": name, **data}) for name, data in events]

    def error_event(self, body: dict[str, Any]) -> tuple[str | None, Any]:
        return ("error", body)

    def results_in(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        content = body["messages"][-1]["content"]
        return [(item["tool_use_id"], item["content"]) for item in content if item["type"] == "tool_result"]

    def validate(self, body: dict[str, Any]) -> None:
        """What the API refuses: see https://platform.claude.com/docs/en/api/messages."""
        assert isinstance(body["max_tokens"], int)
        assert body["messages"][0]["role"] == "user"
        open_ids: list[str] = []
        for message in body["messages"]:
            assert message["content"], "a message without content"
            kinds = [block["type"] for block in message["content"]]
            for block in message["content"]:
                if block["type"] == "text":
                    assert block["text"].strip()
            if message["role"] == "user":
                answered = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
                assert answered == open_ids
                assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result")
                assert all(block["content"].strip() for block in message["content"] if block["type"] == "tool_result")
                open_ids = []
            else:
                assert not open_ids
                calls = [block for block in message["content"] if block["type"] == "tool_use"]
                open_ids = [call["id"] for call in calls]
                assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", call["id"]) for call in calls)
                assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["name"]) for call in calls)
                assert all(isinstance(call["input"], dict) for call in calls)
                assert kinds[-1] in {"text", "tool_use"}
        assert not open_ids


class OpenAIWire:
    name = "openai"
    service_name = "The model server"
    path = "/v1/chat/completions"
    end, cut, calls_word, refused = "stop", "length", "tool_calls", "content_filter"

    def client(self, url: str, **options: Any) -> ModelClient:
        return OpenAIClient(**{"api_key": KEY, "base_url": f"{url}/v1", **options})

    def reply(self, text: str = "", *calls: tuple[str, str, Any], stop: str | None = None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": i,
                    "type": "function",
                    "function": {"name": n, "arguments": a if isinstance(a, str) else json.dumps(a)},
                }
                for i, n, a in calls
            ]
        finish = stop or (self.calls_word if calls else self.end)
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-test",
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": 13,
                "completion_tokens": 5,
                "total_tokens": 18,
                "prompt_tokens_details": {"cached_tokens": 3},
            },
        }

    def truncated_call(self) -> dict[str, Any]:
        return self.reply("Let me look.", ("t1", "find", '{"order": 10'), stop=self.cut)

    def refusal(self, words: str) -> dict[str, Any]:
        body = self.reply()
        body["choices"][0]["message"]["refusal"] = words
        return body

    def error(self, kind: str, message: str, code: str | None = None) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    throttled = property(lambda self: self.error("requests", "Rate limit reached for gpt-test", "rate_limit_exceeded"))
    overloaded = property(lambda self: self.error("overloaded_error", "The server is overloaded"))
    broken = property(lambda self: self.error("server_error", "The server had an error processing your request"))
    bad_key = property(
        lambda self: self.error("invalid_request_error", f"Incorrect API key provided: {KEY}.", "invalid_api_key")
    )
    no_model = property(
        lambda self: self.error(
            "invalid_request_error",
            "The model `model-asked-for` does not exist or you do not have access to it.",
            "model_not_found",
        )
    )
    too_long = property(
        lambda self: self.error(
            "invalid_request_error",
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
            "context_length_exceeded",
        )
    )
    bad_request = property(
        lambda self: self.error(
            "invalid_request_error", "Invalid 'temperature': decimal above maximum value", "decimal_above_max_value"
        )
    )
    quota = property(
        lambda self: (
            429,
            self.error(
                "insufficient_quota",
                "You exceeded your current quota, please check your plan and billing details.",
                "insufficient_quota",
            ),
        )
    )

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "gpt-test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    def stream(
        self, text: str = "", *calls: tuple[str, str, str], stop: str | None = None
    ) -> list[tuple[str | None, Any]]:
        chunks = [self.chunk({"role": "assistant", "content": ""})]
        chunks += [self.chunk({"content": piece}) for piece in pieces(text)]
        for index, (call_id, name, arguments) in enumerate(calls):
            start = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
            chunks.append(self.chunk({"tool_calls": [start]}))
            for part in (arguments[:4], arguments[4:]):
                chunks.append(self.chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]}))
        chunks.append(self.chunk({}, stop or (self.calls_word if calls else self.end)))
        chunks.append({**self.chunk({}), "choices": [], "usage": self.reply()["usage"]})
        return [(None, each) for each in chunks] + [(None, "[DONE]")]

    def error_event(self, body: dict[str, Any]) -> tuple[str | None, Any]:
        return (None, body)

    def results_in(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        return [(m["tool_call_id"], m["content"]) for m in body["messages"] if m["role"] == "tool"]

    def validate(self, body: dict[str, Any]) -> None:
        """What the API refuses: see https://developers.openai.com/api/reference/resources/chat."""
        open_ids: list[str] = []
        for message in body["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == open_ids.pop(0)
                assert message["content"].strip()
                continue
            assert not open_ids, "a call without a result"
            calls = message.get("tool_calls", [])
            assert message["role"] == "assistant" or message["content"]
            assert message["content"] or calls
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"]) for call in calls)
            assert all(isinstance(call["function"]["arguments"], str) for call in calls)
            open_ids = [call["id"] for call in calls]
        assert not open_ids


class Exchange:
    """One provider's client, against a loopback server that answers as planned."""

    key = KEY

    def __init__(self, wire: Any, service: FailingService) -> None:
        self.wire = wire
        self.service = service

    @staticmethod
    def question(*messages: Any, **fields: Any) -> Request:
        return Request("model-asked-for", messages or (UserMessage("Where is order 1042?"),), **fields)

    @staticmethod
    def streamed(events: list[tuple[str | None, Any]], **more: Any) -> Answer:
        return Answer(headers={"Content-Type": "text/event-stream; charset=utf-8"}, body=sse(events), **more)

    def plan(self, *answers: Any) -> None:
        self.service.on(
            "POST", self.wire.path, *(each if isinstance(each, Answer) else Answer(body=each) for each in answers)
        )

    def ask(self, request: Request | None = None, **options: Any) -> Reply:
        return self.run(lambda client: client.complete(request or self.question()), options)

    def fails(self, answer: Any, request: Request | None = None, **options: Any) -> BaseException:
        self.plan(answer)
        with pytest.raises(BaseException) as caught:
            self.ask(request, **options)
        return caught.value

    def parts(
        self, request: Request | None = None, **options: Any
    ) -> tuple[list[TextDelta | Reply], BaseException | None]:
        async def listen(client: ModelClient) -> tuple[list[TextDelta | Reply], BaseException | None]:
            heard: list[TextDelta | Reply] = []
            try:
                async for part in client.stream(request or self.question()):
                    heard.append(part)  # noqa: PERF401 - what came before a failure is kept
            except Exception as failure:
                return heard, failure
            return heard, None

        return self.run(listen, options)

    @property
    def sent(self) -> dict[str, Any]:
        return self.service.requests[-1].json()

    def run(self, action: Callable[[ModelClient], Awaitable[Any]], options: dict[str, Any] | None = None) -> Any:
        async def act() -> Any:
            async with opened(self.wire.client(self.service.url, **(options or {}))) as client:
                return await action(client)

        return run(act())


@asynccontextmanager
async def opened(client: ModelClient) -> AsyncIterator[ModelClient]:
    try:
        yield client
    finally:
        await client.aclose()


@pytest.fixture(params=[AnthropicWire, OpenAIWire], ids=["anthropic", "openai"])
def wire(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.fixture
def exchange(wire: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exchange]:
    yield from _exchange_of(wire, monkeypatch)


def _exchange_of(wire: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exchange]:
    _no_credentials(monkeypatch)
    with FailingService() as service:
        yield Exchange(wire, service)


@pytest.fixture
def anthropic_exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[Exchange]:
    yield from _exchange_of(AnthropicWire(), monkeypatch)


@pytest.fixture
def openai_exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[Exchange]:
    yield from _exchange_of(OpenAIWire(), monkeypatch)


def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_PROFILE",
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
    ):
        monkeypatch.delenv(name, raising=False)
    # No profile of the person who runs the tests is found.
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", "/nonexistent")
