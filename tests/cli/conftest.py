"""The real command in a process of its own, and model servers that speak a provider's wire format."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nucleo.models import (
    AssistantMessage,
    Request,
    ToolCall,
    ToolCallResult,
    ToolDefinition,
    ToolResultsMessage,
    UserMessage,
)
from nucleo.testing import Answer, FailingService

Policy = Callable[[Request], Any]


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without anybody's key or address of a provider."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("ANTHROPIC_", "OPENAI_", "PYTHONIOENCODING"))}
    return {**kept, "ANTHROPIC_CONFIG_DIR": "/nonexistent", **variables}


@pytest.fixture
def bare_environment() -> dict[str, str]:
    return environment()


@pytest.fixture(scope="session")
def nucleo() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    def command(*words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "nucleo", *words],
            input=stdin,
            capture_output=True,
            timeout=100,
            check=False,
            env=environment(**variables),
        )

    return command


@pytest.fixture(scope="session")
def explained(nucleo: Any) -> Callable[..., Any]:
    def report(stdin: bytes, *words: str, **variables: str) -> Any:
        done = nucleo("explain", "--json", *words, stdin=stdin, **variables)
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        return json.loads(done.stdout)["failure"]

    return report


class OpenAIWire:
    path = "/v1/chat/completions"

    def variables(self, url: str) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-loopback-0123456789abcdef", "OPENAI_BASE_URL": f"{url}/v1"}

    def results_in(self, body: dict[str, Any]) -> list[str]:
        return [message["content"] for message in body["messages"] if message["role"] == "tool"]

    def request(self, body: dict[str, Any]) -> Request:
        messages: list[Any] = []
        for message in body["messages"]:
            if message["role"] == "user":
                messages.append(UserMessage(message["content"]))
            elif message["role"] == "assistant":
                calls = [
                    ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                    for call in message.get("tool_calls", [])
                ]
                messages.append(AssistantMessage(tuple(calls)))
            elif message["role"] == "tool":
                name = next(
                    c.name for m in messages for c in getattr(m, "tool_calls", ()) if c.id == message["tool_call_id"]
                )
                messages.append(
                    ToolResultsMessage((ToolCallResult(message["tool_call_id"], name, message["content"], False),))
                )
        tools = [each["function"] for each in body["tools"]]
        return Request(
            body["model"],
            tuple(messages),
            tools=tuple(ToolDefinition(t["name"], t["description"], t["parameters"]) for t in tools),
        )

    def reply(self, said: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else None}
        if not isinstance(said, str):
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in said
            ]
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-test",
            "choices": [
                {"index": 0, "message": message, "finish_reason": "stop" if isinstance(said, str) else "tool_calls"}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


class AnthropicWire:
    path = "/v1/messages"

    def variables(self, url: str) -> dict[str, str]:
        return {"ANTHROPIC_API_KEY": "sk-ant-loopback-0123456789abcdef", "ANTHROPIC_BASE_URL": url}

    def results_in(self, body: dict[str, Any]) -> list[str]:
        blocks = [block for message in body["messages"] for block in self._blocks(message)]
        return [block["content"] for block in blocks if block["type"] == "tool_result"]

    def _blocks(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        content = message["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    def request(self, body: dict[str, Any]) -> Request:
        messages: list[Any] = []
        names: dict[str, str] = {}
        for message in body["messages"]:
            blocks = self._blocks(message)
            calls = [ToolCall(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]
            names.update({call.id: call.name for call in calls})
            results = [b for b in blocks if b["type"] == "tool_result"]
            if message["role"] == "assistant":
                messages.append(AssistantMessage(tuple(calls)))
            elif results:
                read = [ToolCallResult(b["tool_use_id"], names[b["tool_use_id"]], b["content"], False) for b in results]
                messages.append(ToolResultsMessage(tuple(read)))
            else:
                messages.append(UserMessage(blocks[0]["text"]))
        tools = body["tools"]
        return Request(
            body["model"],
            tuple(messages),
            tools=tuple(ToolDefinition(t["name"], t["description"], t["input_schema"]) for t in tools),
        )

    def reply(self, said: Any) -> dict[str, Any]:
        content = (
            [{"type": "text", "text": said}]
            if isinstance(said, str)
            else [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
                for call in said
            ]
        )
        return {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": content,
            "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


class ModelServer:
    """A provider on loopback, its model a policy."""

    def __init__(self, wire: Any, service: FailingService) -> None:
        self.wire = wire
        self.service = service
        self.variables = wire.variables(service.url)

    def follow(self, policy: Policy) -> None:
        self.service.on(
            "POST",
            self.wire.path,
            lambda received: Answer(body=self.wire.reply(policy(self.wire.request(json.loads(received.body))))),
        )

    @property
    def results_read(self) -> list[str]:
        """Every tool result that the model was sent, once, in order."""
        seen: list[str] = []
        last: list[str] = []
        for received in self.service.requests:
            results = self.wire.results_in(json.loads(received.body))
            seen += results[len(last) :] if results[: len(last)] == last else results
            last = results
        return seen


@pytest.fixture(params=[OpenAIWire, AnthropicWire], ids=["openai", "anthropic"])
def either_server(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    with FailingService() as service:
        yield ModelServer(request.param(), service)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with FailingService() as service:
        yield ModelServer(OpenAIWire(), service)
