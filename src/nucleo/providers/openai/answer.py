"""What chat completions answer, whole or chunk by chunk, with the liberties that compatible servers take.

Source: https://developers.openai.com/api/reference/resources/chat and the chunks in its section on streaming.
"""

from typing import Any

from nucleo.errors import ProviderRefusalException
from nucleo.models import (
    Block,
    Reply,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ToolCall,
    Usage,
    assemble_reply,
    normalise_stop_reason,
)
from nucleo.providers.sdk import number, table, tables, text


def reply_of(completion: dict[str, Any], *, model: str) -> Reply | None:
    """Read a completion.

    Args:
        completion: The object the server sent.
        model: The model that was asked.

    Returns:
        The reply; None when the object holds none.

    Raises:
        ProviderRefusalException: The model or a filter declined.
    """
    choices = tables(completion.get("choices"))
    if not choices or choices[0].get("error") or not isinstance(choices[0].get("message"), dict):
        return None
    choice, message = choices[0], table(choices[0].get("message"))
    answered_by = text(completion.get("model")) or model
    stop_reason = normalise_stop_reason(choice.get("finish_reason"))
    refusal = text(message.get("refusal"))
    if refusal or stop_reason is StopReason.REFUSAL:
        category = _filtered(choice) or (None if refusal else text(choice.get("finish_reason")))
        raise ProviderRefusalException(answered_by, category, refusal or _content(message) or None)
    return assemble_reply(
        _blocks(message), stop_reason, usage=_usage(table(completion.get("usage"))), model=answered_by
    )


class CompletionStream:
    """A completion as it is written: takes the chunks in order and knows the completion so far."""

    def __init__(self) -> None:
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_GrowingCall] = []
        self._at: dict[object, _GrowingCall] = {}
        self._frame: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the server has said why the model stopped."""
        return self._choice.get("finish_reason") is not None

    def take(self, chunk: dict[str, Any]) -> TextDelta | None:
        """Take a chunk; give the text it brought, if it brought any."""
        for name in ("model", "usage"):
            if chunk.get(name):
                self._frame[name] = chunk[name]
        choice = next((each for each in tables(chunk.get("choices")) if not each.get("index")), None)
        if choice is None:
            return None
        for name in ("finish_reason", "content_filter_results", "error"):
            if choice.get(name) is not None:
                self._choice[name] = choice[name]
        delta = table(choice.get("delta"))
        self._reasoning.append(_reasoning(delta))
        self._refusal.append(text(delta.get("refusal")))
        for part in tables(delta.get("tool_calls")):
            self._call_of(part).take(part)
        piece = _content(delta)
        self._content.append(piece)
        return TextDelta(piece) if piece else None

    def whole(self) -> dict[str, Any]:
        """Give the completion, as the server would have sent it in one piece."""
        message = {
            "content": "".join(self._content),
            "reasoning_content": "".join(self._reasoning),
            "refusal": "".join(self._refusal),
            "tool_calls": [call.whole() for call in self._calls],
        }
        return {**self._frame, "choices": [{**self._choice, "message": message}]}

    def _call_of(self, part: dict[str, Any]) -> "_GrowingCall":
        place, call_id = part.get("index"), text(part.get("id"))
        call = self._at.get(place)
        # Some servers number every call 0, or none at all: a new id then begins a new call.
        if call is None or (call_id and call.id and call_id != call.id):
            call = _GrowingCall()
            self._calls.append(call)
            self._at[place] = call
        return call


class _GrowingCall:
    """A tool call as it is written."""

    def __init__(self) -> None:
        self.id = ""
        self._name = ""
        self._written: list[str] = []
        self._given: dict[str, Any] | None = None

    def take(self, part: dict[str, Any]) -> None:
        function = table(part.get("function"))
        self.id = self.id or text(part.get("id"))
        self._name = self._name or text(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._written.append(arguments)
        elif arguments is not None:
            self._given = table(arguments)

    def whole(self) -> dict[str, Any]:
        arguments = "".join(self._written) if self._given is None else self._given
        return {"id": self.id, "function": {"name": self._name, "arguments": arguments}}


def choice_error(completion: dict[str, Any]) -> dict[str, Any]:
    """Give the error that a gateway put in the place of a reply (OpenRouter); empty when there is none."""
    return table(next((choice.get("error") for choice in tables(completion.get("choices"))), None))


def _blocks(message: dict[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if reasoning := _reasoning(message):
        blocks.append(ThinkingBlock(reasoning))
    if content := _content(message):
        blocks.append(TextBlock(content))
    blocks += [_call(text(call.get("id")), table(call.get("function"))) for call in tables(message.get("tool_calls"))]
    if function := table(message.get("function_call")):
        blocks.append(_call("", function))
    return blocks


def _call(call_id: str, function: dict[str, Any]) -> ToolCall:
    arguments = function.get("arguments")
    written = text(arguments) if arguments is None or isinstance(arguments, str) else table(arguments)
    return ToolCall(call_id, text(function.get("name")), written)


def _content(message: dict[str, Any]) -> str:
    """Give the text of a message; some servers send it in parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in tables(content))


def _reasoning(message: dict[str, Any]) -> str:
    return text(message.get("reasoning_content")) or text(message.get("reasoning"))


def _filtered(choice: dict[str, Any]) -> str | None:
    """Name the categories a filter acted on, where the server tells them (Azure)."""
    results = table(choice.get("content_filter_results"))
    return ", ".join(name for name, result in results.items() if table(result).get("filtered") is True) or None


def _usage(usage: dict[str, Any]) -> Usage:
    cached = number(table(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(number(usage.get("prompt_tokens")), number(usage.get("completion_tokens")), cached)
