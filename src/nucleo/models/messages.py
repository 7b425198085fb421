"""What a conversation with a model is made of, in no provider's format.

Apart from the request because conversations outlive it: they are stored, shortened and sent again, also to another
provider.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, cast

NO_OUTPUT = "(no output)"
"""What a model reads of a tool that gave nothing back."""
NO_FAILURE_TEXT = "The tool failed and gave no details."
"""What a model reads of a failure without words. An error without text is refused by some providers."""

# What both Anthropic and OpenAI allow in the name of a tool.
_UNSAFE: Final = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text that the model wrote.

    Attributes:
        text: The text, as it came.
    """

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """What the model thought before it answered. The provider that made it wants it back unchanged, in its place.

    Attributes:
        text: The thought; empty when the provider hides it.
        signature: The provider's proof that the thought is its own.
        redacted: The encrypted thought, when it came in that form.
    """

    text: str
    signature: str | None = None
    redacted: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call, as the model asked for it: nothing of it has been checked.

    Attributes:
        id: The provider's id of the call, which its result repeats.
        name: The tool that is asked for; it may not exist.
        arguments: The raw arguments: the text as the model wrote it, or the value the provider made of it.
    """

    id: str
    name: str
    arguments: str | dict[str, Any]

    @property
    def safe_name(self) -> str:
        """The name as every provider accepts it: one that a model made up may hold anything, and is sent again."""
        return _UNSAFE.sub("_", self.name)[:_NAME_LIMIT] or "unnamed"

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)

    @property
    def arguments_object(self) -> dict[str, Any] | None:
        """The arguments as an object; None when they are none."""
        if not isinstance(self.arguments, str):
            return self.arguments
        try:
            value = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None


Block: TypeAlias = TextBlock | ThinkingBlock | ToolCall


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person, or the runtime in a person's place, says to the model.

    Attributes:
        text: The text.
        automatic: The runtime wrote it, such as the explanation of an unusable answer.
    """

    text: str
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said.

    Attributes:
        blocks: Texts, thoughts and tool calls in the order in which they came.
    """

    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The texts, joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolCallResult:
    """The result of one tool call.

    Attributes:
        call_id: The id of the call.
        name: The tool.
        content: What the model reads.
        is_error: The call failed; the content says how.
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False

    @property
    def readable_content(self) -> str:
        """The content, never blank: providers refuse an error without text, and a model learns nothing from it."""
        if self.content.strip():
            return self.content
        return NO_FAILURE_TEXT if self.is_error else NO_OUTPUT


@dataclass(frozen=True, slots=True)
class ToolResultsMessage:
    """The results of the tool calls of one turn.

    Attributes:
        results: One for every call, in the order of the calls.
    """

    results: tuple[ToolCallResult, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultsMessage


def with_distinct_ids(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Give every tool call an id of its own where a provider gave one twice, or none.

    A result names its call by id alone, so two calls of one id could never both be answered.
    """
    taken: set[str] = set()
    distinct: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            block = replace(block, id=_free_id(block.id, taken))  # noqa: PLW2901 - the same block, renamed
            taken.add(block.id)
        distinct.append(block)
    return tuple(distinct)


def _free_id(wanted: str, taken: set[str]) -> str:
    if wanted and wanted not in taken:
        return wanted
    stem = wanted or "call"
    number = len(taken) + 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"
