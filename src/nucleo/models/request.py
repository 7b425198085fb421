"""One call of a model, in no provider's format."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from nucleo.models.messages import Message


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model is offered it.

    Attributes:
        name: What the model calls it by.
        description: What it does, for the model.
        input_schema: JSON Schema of its arguments, an object.
    """

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    Attributes:
        model: The model, by the name the provider has for it.
        messages: The conversation so far, the oldest message first.
        system: What stands above the conversation.
        tools: The tools that are offered.
        max_output_tokens: Tokens the reply may have; None for the provider's default.
        output_schema: JSON Schema the text of the reply must follow, where the provider can enforce one.
        temperature: Spread of the sampling; None for the provider's default.
        timeout: Seconds of silence from the provider after which the call fails; None for the client's own.
    """

    model: str
    messages: tuple[Message, ...]
    _: KW_ONLY
    system: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    max_output_tokens: int | None = None
    output_schema: dict[str, Any] | None = None
    temperature: float | None = None
    timeout: float | None = None
