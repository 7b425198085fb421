"""The branches of the set: two ways to fail, and for each whether the model can put it right.

*Checked* failures carry two messages, one for the model and one for the log. Python has no checked exceptions: here
the promise that nothing else leaves a tool is kept at run time, by the tool boundary. *Runtime* failures are for
places with no room for two messages: comprehensions, validators, callbacks. A model reads both alike.
"""

from dataclasses import field
from typing import ClassVar, Final, cast

from nucleo.errors.root import LLMReadableException
from nucleo.errors.text import as_text


class _RenderedMessage:
    """The `message` of a runtime failure that is made from other fields: rendered when somebody reads it."""

    def __get__(self, failure: LLMReadableException | None, owner: type) -> "str | _RenderedMessage":
        return self if failure is None else failure.llm_message


RENDERED_MESSAGE: Final = cast("str", _RenderedMessage())
"""The default of a `message` that is no argument of the constructor."""


class LLMReadableCheckedException(LLMReadableException, abstract=True):
    """A failure with two messages: one for the model, one for the log. Sealed."""


class CorrectableLLMException(LLMReadableCheckedException, abstract=True):
    """The call was wrong: the model may fix its arguments and call again. Open, and abstract.

    Extend it for a meaning of your application that none of the shipped classes has, never to have one class per
    service. Declare the fields by annotation and define `llm_message`:

        class SeatTaken(CorrectableLLMException):
            seat: str

            @property
            def llm_message(self) -> str:
                return f"Seat {self.seat} is taken. Choose another one."
    """

    is_correctable: ClassVar[bool] = True


class UncorrectableLLMException(LLMReadableCheckedException, abstract=True):
    """This cannot be done now, whatever the arguments: the model should try something else. Open, and abstract.

    Extend it for a meaning of your application that none of the shipped classes has, never to have one class per
    service. Declare the fields by annotation and define `llm_message`.
    """

    is_correctable: ClassVar[bool] = False


class LLMReadableRuntimeException(LLMReadableException, abstract=True):
    """A failure with one message for both readers. Sealed."""


class CorrectableRuntimeLLMException(LLMReadableRuntimeException):
    """One message, for the model and the log; other arguments, or another call, can help. Open."""

    is_correctable: ClassVar[bool] = True
    message: str

    @property
    def llm_message(self) -> str:
        """The message."""
        return as_text(self.message)


class UncorrectableRuntimeLLMException(LLMReadableRuntimeException):
    """One message, for the model and the log; no arguments can help now. Open.

    Attributes:
        retry_after_seconds: How long somebody asked to wait before the next call, when that is known.
    """

    is_correctable: ClassVar[bool] = False
    message: str
    retry_after_seconds: float | None = field(default=None, kw_only=True)

    @property
    def llm_message(self) -> str:
        """The message."""
        return as_text(self.message)
