"""What a call gives back to a model: a text, whether it is an error, and for code the value or the failure."""

from dataclasses import dataclass
from enum import Enum
from inspect import isawaitable, iscoroutine
from typing import Any, Final, Self

from pydantic_core import to_json

from nucleo.errors import LLMReadableException
from nucleo.errors.text import alter_verdicts, cut

CONTENT_LIMIT: Final = 100_000
"""Characters of a result that a model is given; the rest is counted."""
NO_OUTPUT: Final = "(no output)"


class Stage(Enum):
    """Where in the boundary a call failed."""

    LOOKUP = "lookup"
    """There is no tool of that name."""
    PARSING = "parsing"
    """The arguments are not a JSON object."""
    VALIDATION = "validation"
    """The arguments do not fit the signature."""
    BODY = "body"
    """The tool itself failed."""
    RESULT = "result"
    """What the tool gave back cannot be serialised."""
    TIMEOUT = "timeout"
    """The time budget ran out."""
    REPETITION = "repetition"
    """The same call had failed in the same way before and was not run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The one result of a call.

    Attributes:
        content: What the model reads; never empty.
        is_error: Whether the call failed.
        failure: The failure, for code; None when the call succeeded.
        value: What the tool gave back; None when it failed.
        stage: Where it failed; None when it succeeded.
    """

    content: str
    is_error: bool = False
    failure: LLMReadableException | None = None
    value: Any = None
    stage: Stage | None = None

    @classmethod
    def succeeded(cls, value: object) -> Self:
        """Make the result of a value.

        Raises:
            ValueError: The value cannot be serialised.
            TypeError: It is awaitable.
        """
        content = to_text(value)
        if not content or content.isspace():
            # Some providers refuse a request in which a result is blank.
            content = NO_OUTPUT
        elif not content.isascii():
            content = _encodable(content)
        if "correctable" in content:
            content = alter_verdicts(content)
        return cls(content=cut(content, CONTENT_LIMIT) if len(content) > CONTENT_LIMIT else content, value=value)

    @classmethod
    def failed(cls, failure: LLMReadableException, *, stage: Stage) -> Self:
        """Make the result of a failure.

        Args:
            failure: The failure.
            stage: Where the call failed.
        """
        return cls(content=failure.explain_to_llm(), is_error=True, failure=failure, stage=stage)

    def for_anthropic(self, call_id: str) -> dict[str, Any]:
        """Give the content block ``tool_result`` of Anthropic's Messages API."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": self.content}
        return {**block, "is_error": True} if self.is_error else block

    def for_openai(self, call_id: str) -> dict[str, Any]:
        """Give the ``tool`` message of OpenAI's chat completions. It has no error flag: the verdict line tells."""
        return {"role": "tool", "tool_call_id": call_id, "content": self.content}


def to_text(value: object) -> str:
    """Give a value as the text a model reads: a text as it stands, anything else as JSON.

    Raises:
        ValueError: JSON cannot hold it.
        TypeError: It is awaitable: a body that is not async gave back what only an async one may.
    """
    if isinstance(value, str):
        # Of an enumeration of texts the text, not its name.
        return value if type(value) is str else str.__str__(value)
    if value is None:
        return ""
    try:
        return to_json(value, inf_nan_mode="strings").decode()
    except ValueError:
        if not isawaitable(value):
            raise
        if iscoroutine(value):
            value.close()
    raise TypeError("it is awaitable: define the tool with async def, or wait for it in the body")


def _encodable(text: str) -> str:
    """Replace lone surrogates, with which no request could be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
