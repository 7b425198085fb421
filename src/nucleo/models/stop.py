"""Why a model stopped, in one word for all providers.

Apart from the reply because the table of spellings is data.
"""

from enum import Enum
from typing import Final


class StopReason(Enum):
    """Why a reply ended."""

    END = "end"
    """The model had said what it wanted to say."""
    TOOL_CALLS = "tool_calls"
    """It waits for the results of its tool calls."""
    MAX_TOKENS = "max_tokens"
    """It was cut off at the limit of output tokens: the reply is incomplete."""
    REFUSAL = "refusal"
    """It, or a filter of its provider, declined."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The window was full before the reply was complete."""
    UNKNOWN = "unknown"
    """The provider gave a reason that is not known here, or none."""


# The spellings of: Anthropic Messages; OpenAI chat completions and responses; Gemini and Vertex AI `FinishReason`;
# Amazon Bedrock Converse `stopReason`; Cohere v2 `finish_reason`; Mistral; Ollama `done_reason`; Hugging Face TGI;
# IBM watsonx.ai `stop_reason`; Zhipu. Each as documented in its API reference.
_SPELLINGS: Final = {
    StopReason.END: (
        "complete",
        "completed",
        "end",
        "end_turn",
        "eos",
        "eos_token",
        "finished",
        "stop",
        "stop_sequence",
    ),
    StopReason.TOOL_CALLS: ("function_call", "tool_call", "tool_calls", "tool_use"),
    StopReason.MAX_TOKENS: (
        "incomplete",
        "length",
        "max_completion_tokens",
        "max_length",
        "max_new_tokens",
        "max_output_tokens",
        "max_tokens",
        "token_limit",
    ),
    StopReason.REFUSAL: (
        "blocklist",
        "content_filter",
        "content_filtered",
        "error_toxic",
        "guardrail_intervened",
        "image_safety",
        "model_armor",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "sensitive",
        "spii",
    ),
    StopReason.CONTEXT_OVERFLOW: (
        "context_length_exceeded",
        "error_limit",
        "model_context_window_exceeded",
        "model_length",
    ),
}

_BY_SPELLING: Final = {spelling: reason for reason, spellings in _SPELLINGS.items() for spelling in spellings}


def normalise_stop_reason(spelling: object) -> StopReason:
    """Give the meaning of a provider's stop reason.

    Args:
        spelling: Whatever the provider sent. Case, dashes and the name of an enum in front do not count.

    Returns:
        Its meaning; UNKNOWN for everything else, never an exception.
    """
    if not isinstance(spelling, str):
        return StopReason.UNKNOWN
    word = spelling.strip().rpartition(".")[2].lower().replace("-", "_").replace(" ", "_")
    return _BY_SPELLING.get(word.removeprefix("finish_reason_"), StopReason.UNKNOWN)
