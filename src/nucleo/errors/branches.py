"""The branches of the set: two ways to fail, and for each whether the model can put it right.

*Checked* failures carry two messages, one for the model and one for the log. Python has no checked exceptions: here
the promise that nothing else leaves a tool is kept at run time, by the tool boundary. *Runtime* failures are for
places with no room for two messages: comprehensions, validators, callbacks. A model reads both alike.
"""

from dataclasses import field
from typing import ClassVar

from nucleo.errors.root import LLMReadableException
from nucleo.errors.text import as_text


class LLMReadableCheckedException(LLMReadableException, abstract=True):
    """A failure with two messages: one for the model, one for the log. Sealed."""

    permits: ClassVar[frozenset[str] | None] = frozenset(
        {
            "nucleo.errors.branches.CorrectableLLMException",
            "nucleo.errors.branches.UncorrectableLLMException",
        }
    )


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

    permits: ClassVar[frozenset[str] | None] = frozenset(
        {
            "nucleo.errors.branches.CorrectableRuntimeLLMException",
            "nucleo.errors.branches.UncorrectableRuntimeLLMException",
        }
    )


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

    def __post_init__(self) -> None:
        # A subclass made from other fields leaves `message` out of its constructor; a reader still finds it.
        if "message" not in self.__dict__:
            self.message = self.llm_message

    @property
    def llm_message(self) -> str:
        """The message."""
        return as_text(self.message)
