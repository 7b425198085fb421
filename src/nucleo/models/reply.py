"""What a model answered, in no provider's format."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from nucleo.models.messages import AssistantMessage, Block, ToolCall, with_distinct_ids
from nucleo.models.stop import StopReason


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call consumed, in tokens.

    Attributes:
        input_tokens: All of the input, cached or not.
        output_tokens: All of the output, thoughts included.
        cached_tokens: The part of the input that was read from the provider's cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the text of a reply that is still being written.

    Attributes:
        text: The piece; never empty.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        message: What it said. A tool call in it is whole.
        stop_reason: Why it stopped.
        usage: What it consumed.
        model: The model that answered, by the provider's name.
        incomplete_calls: Tool calls that were cut off with the reply. They are here to be seen, never to be run.
    """

    message: AssistantMessage
    stop_reason: StopReason = StopReason.END
    usage: Usage = Usage()
    model: str = ""
    _: KW_ONLY
    incomplete_calls: tuple[ToolCall, ...] = ()


_CUT_OFF = frozenset({StopReason.MAX_TOKENS, StopReason.CONTEXT_OVERFLOW})


def assemble_reply(blocks: Sequence[Block], stop_reason: StopReason, *, usage: Usage, model: str) -> Reply:
    """Make a reply of what a provider sent, by the rules that hold for all of them.

    In a reply that was cut off, the last block and every call whose arguments are no JSON object may be half a call;
    they are set aside. A reply that ended and holds calls waits for their results, whatever word the provider chose.

    Args:
        blocks: Texts, thoughts and calls in order.
        stop_reason: Why the model stopped.
        usage: What the call consumed.
        model: The model that answered.
    """
    distinct = with_distinct_ids(blocks)
    incomplete: tuple[ToolCall, ...] = ()
    if stop_reason in _CUT_OFF:
        incomplete = tuple(
            block
            for place, block in enumerate(distinct)
            if isinstance(block, ToolCall) and (place == len(distinct) - 1 or block.arguments_object is None)
        )
        distinct = tuple(block for block in distinct if block not in incomplete)
    message = AssistantMessage(distinct)
    if stop_reason is StopReason.END and message.tool_calls:
        stop_reason = StopReason.TOOL_CALLS
    return Reply(message, stop_reason, usage, model, incomplete_calls=incomplete)
