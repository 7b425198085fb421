"""What the Messages API of Anthropic answers, whole or event by event.

Source: https://platform.claude.com/docs/en/api/messages and https://platform.claude.com/docs/en/api/messages-streaming.
"""

from typing import Any, Final

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


def reply_of(message: dict[str, Any], *, model: str) -> Reply:
    """Read a message.

    Args:
        message: The object the API sent.
        model: The model that was asked.

    Raises:
        ProviderRefusalException: The model declined.
    """
    stop_reason = normalise_stop_reason(message.get("stop_reason"))
    answered_by = text(message.get("model")) or model
    reply = assemble_reply(
        [block for item in tables(message.get("content")) for block in _blocks(item)],
        stop_reason,
        usage=_usage(table(message.get("usage"))),
        model=answered_by,
    )
    if stop_reason is StopReason.REFUSAL:
        details = table(message.get("stop_details"))
        raise ProviderRefusalException(
            answered_by,
            text(details.get("category")) or None,
            text(details.get("explanation")) or reply.message.text or None,
        )
    return reply


class MessageStream:
    """A message as it is written: takes the events in order and knows the message so far."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the API has said why the model stopped."""
        return self.message.get("stop_reason") is not None

    def take(self, event: dict[str, Any]) -> TextDelta | None:
        """Take an event; give the text it brought, if it brought any. Unknown events change nothing."""
        match event.get("type"):
            case "message_start":
                self.message = dict(table(event.get("message")))
            case "content_block_start":
                self._blocks[number(event.get("index"))] = dict(table(event.get("content_block")))
                return _delta(text(table(event.get("content_block")).get("text")))
            case "content_block_delta":
                return self._grow(number(event.get("index")), table(event.get("delta")))
            case "message_delta":
                self.message |= table(event.get("delta"))
                self.message["usage"] = {**table(self.message.get("usage")), **_stated(event.get("usage"))}
            case _:
                pass
        return None

    def whole(self) -> dict[str, Any]:
        """Give the message, as the API would have sent it in one piece.

        The arguments of a tool stay as the model wrote them: whoever checks them sees what is wrong with them.
        """
        content: list[dict[str, Any]] = []
        for index in sorted(self._blocks):
            block = dict(self._blocks[index])
            for name, pieces in self._pieces.get(index, {}).items():
                written = "".join(pieces)
                block[name] = written if name == "input" else text(block.get(name)) + written
            content.append(block)
        return {**self.message, "content": content}

    def _grow(self, index: int, delta: dict[str, Any]) -> TextDelta | None:
        field = _FIELD_OF_DELTA.get(text(delta.get("type")))
        if field is None:
            return None
        target, source = field
        piece = text(delta.get(source))
        self._blocks.setdefault(index, {"type": "text"})
        if piece:
            self._pieces.setdefault(index, {}).setdefault(target, []).append(piece)
        return _delta(piece) if target == "text" else None


# What a delta is called: the member of the block it belongs to, and its own member that holds the piece.
_FIELD_OF_DELTA: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}


def _blocks(item: dict[str, Any]) -> list[Block]:
    """Read a block of content; kinds that were not asked for are left out."""
    match item.get("type"):
        case "text":
            return [TextBlock(text(item.get("text")))] if item.get("text") else []
        case "thinking":
            return [ThinkingBlock(text(item.get("thinking")), text(item.get("signature")) or None)]
        case "redacted_thinking":
            return [ThinkingBlock("", None, text(item.get("data")))]
        case "tool_use":
            arguments = item.get("input")
            written = arguments if isinstance(arguments, str) else table(arguments)
            return [ToolCall(text(item.get("id")), text(item.get("name")), written)]
        case _:
            return []


def _usage(usage: dict[str, Any]) -> Usage:
    cached = number(usage.get("cache_read_input_tokens"))
    written = number(usage.get("cache_creation_input_tokens"))
    return Usage(number(usage.get("input_tokens")) + cached + written, number(usage.get("output_tokens")), cached)


def _stated(usage: object) -> dict[str, Any]:
    """Keep the figures that are there: the last event repeats only some of the first one's."""
    return {name: figure for name, figure in table(usage).items() if figure is not None}


def _delta(piece: str) -> TextDelta | None:
    return TextDelta(piece) if piece else None
