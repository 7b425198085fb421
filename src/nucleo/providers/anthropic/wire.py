"""What the Messages API of Anthropic is sent.

Source: https://platform.claude.com/docs/en/api/messages.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from nucleo.models import AnswerTurn, AssistantMessage, Message, Request, ThinkingBlock, ToolCall, turns

_UNSAFE: Final = re.compile(r"[^a-zA-Z0-9_-]")


def request_body(request: Request, *, max_tokens: int) -> dict[str, Any]:
    """Render a request.

    Args:
        request: The request.
        max_tokens: Tokens the reply may have where the request does not say; the API demands a figure.

    Raises:
        SystemException: A tool call of the conversation lacks its result, or the other way round.
    """
    body = prompt_body(request)
    body["max_tokens"] = request.max_output_tokens or max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def prompt_body(request: Request) -> dict[str, Any]:
    """Render what goes into the model, which is also what its tokens are counted of."""
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request.messages)}
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
        ]
    if request.output_schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.output_schema}}
    return body


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    rendered: list[dict[str, Any]] = []
    for turn in turns(messages):
        said_to_it = isinstance(turn, AnswerTurn)
        content = _answer_blocks(turn) if isinstance(turn, AnswerTurn) else _assistant_blocks(turn)
        if content:
            rendered.append({"role": "user" if said_to_it else "assistant", "content": content})
    return rendered


def _answer_blocks(turn: AnswerTurn) -> list[dict[str, Any]]:
    """Results come first: the API refuses them behind a text."""
    results: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool_use_id": _safe_id(result.call_id),
            "content": result.readable_content,
            "is_error": result.is_error,
        }
        for result in turn.results
    ]
    return results + [{"type": "text", "text": text} for text in turn.texts]


def _assistant_blocks(message: AssistantMessage) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            blocks.append(_tool_use(block))
        elif isinstance(block, ThinkingBlock):
            blocks.extend(_thinking(block))
        elif block.text.strip():
            # A text of blanks alone is refused.
            blocks.append({"type": "text", "text": block.text})
    says_something = any(block["type"] in {"text", "tool_use"} for block in blocks)
    return blocks if says_something else []


def _thinking(block: ThinkingBlock) -> list[dict[str, Any]]:
    if block.redacted is not None:
        return [{"type": "redacted_thinking", "data": block.redacted}]
    # A thought of another provider has no signature, and only the API's own are accepted.
    return [{"type": "thinking", "thinking": block.text, "signature": block.signature}] if block.signature else []


def _tool_use(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments_object
    if arguments is None:
        # The model is shown what it wrote; the API takes nothing but an object.
        arguments = {"unreadable_arguments": call.arguments_text}
    return {"type": "tool_use", "id": _safe_id(call.id), "name": call.safe_name, "input": arguments}


def _safe_id(call_id: str) -> str:
    """Give an id the form the API accepts; ids of other providers hold dots and colons."""
    return _UNSAFE.sub(lambda found: f"_{ord(found[0])}_", call_id)
