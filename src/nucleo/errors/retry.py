"""Signals that ask the dispatcher to run a call again. They are no failures, and no model ever hears of one.

They derive from `BaseException`, so that a tool's ``except Exception`` cannot eat one. They are made under a
dispatcher and consumed by it; where nobody can consume one, `readable_twin` says the same to a model.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, SupportsIndex, dataclass_transform

from nucleo.errors.chain import deepest_message, walk_chain
from nucleo.errors.root import LLMReadableException, rebuild
from nucleo.errors.services import ExternalServiceException, UpstreamThrottleException
from nucleo.errors.text import as_text, protect, show_value


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class RetrySignal(BaseException):
    """Whatever asks for another run. Sealed: the runtime knows how to pace exactly these."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__ != __name__:
            raise TypeError(
                f"{cls.__qualname__} cannot be a retry signal: the set of signals is closed. A failure that waiting "
                "can fix is an UpstreamThrottleException or an ExternalServiceException."
            )
        dataclass(eq=False, repr=False)(cls)

    def __str__(self) -> str:
        fields = ", ".join(
            f"{name}={show_value(value)}" for name, value in self.__dict__.items() if name != "__notes__"
        )
        return protect(f"{type(self).__name__}({fields})")

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        from nucleo.errors.pickled import pickled_state  # noqa: PLC0415 - only what crosses a process needs it

        return rebuild, (type(self), *pickled_state(self, protocol))

    def __copy__(self) -> Self:
        return self._with()

    def _with(self, **changes: object) -> Self:
        twin = rebuild(type(self), {**self.__dict__, **changes}, ())
        twin.__cause__ = self.__cause__
        return twin


class UpstreamRetryException(RetrySignal):
    """A call failed by nobody's mistake: waiting and sending the same thing again is what fixes it. Sealed.

    Attributes:
        base_pause: Least and greatest pause in seconds before the first re-run.
        throttle_weight: How strongly the limiters of the model slow down; 0 for not at all.
    """

    base_pause: ClassVar[tuple[float, float]] = (5.0, 30.0)
    throttle_weight: ClassVar[int] = 0

    @property
    def floor_seconds(self) -> float | None:
        """What the server asked to wait, in seconds; None when it did not say."""
        return None

    def with_incremented_attempt(self) -> Self:
        """Give the same signal with only the counter advanced and the cause kept."""
        return self._with(attempt=self.__dict__["attempt"] + 1)


class RateLimitRetryException(UpstreamRetryException):
    """This caller is over its own budget at the provider (429).

    Attributes:
        rate_limit: Which limit, as far as the provider said.
        provider_message: The provider's words.
        suggested_delay_seconds: What it asked to wait, or None.
    """

    throttle_weight: ClassVar[int] = 1

    rate_limit: str
    attempt: int = 1
    provider_message: str = ""
    suggested_delay_seconds: float | None = None

    @property
    def floor_seconds(self) -> float | None:
        """What the provider asked to wait."""
        return self.suggested_delay_seconds


class OverloadRetryException(UpstreamRetryException):
    """The provider's fleet is saturated (529).

    Attributes:
        provider: Who.
        details: Its words.
        suggested_delay_seconds: What it asked to wait, or None.
    """

    base_pause: ClassVar[tuple[float, float]] = (15.0, 90.0)
    throttle_weight: ClassVar[int] = 3

    provider: str
    details: str
    attempt: int = field(default=1, kw_only=True)
    suggested_delay_seconds: float | None = field(default=None, kw_only=True)

    @property
    def floor_seconds(self) -> float | None:
        """What the provider asked to wait."""
        return self.suggested_delay_seconds


class TransientErrorRetryException(UpstreamRetryException):
    """Another 5xx, or a dropped or refused connection.

    Attributes:
        provider: Who.
        details: What happened.
        http_status: The status, or None when no answer came.
        suggested_delay_seconds: What it asked to wait, or None.
    """

    provider: str
    details: str
    http_status: int | None = None
    attempt: int = 1
    suggested_delay_seconds: float | None = field(default=None, kw_only=True)

    @property
    def floor_seconds(self) -> float | None:
        """What the provider asked to wait."""
        return self.suggested_delay_seconds


class ResponseCorrectionRetryException(RetrySignal):
    """A model's reply was unusable, and its request was extended by the explanation. The cause is the failure.

    Attributes:
        model: The model that is asked again.
        attempt: The correction, counted from 1.
    """

    model: str
    attempt: int = 1


class OutputTruncationRetryException(RetrySignal):
    """A model's reply was cut off at the output limit; it is asked once more with a larger one.

    Attributes:
        model: The model that is asked again.
        previous_budget: Tokens of output it had; None for the provider's default.
        new_budget: Tokens of output it gets.
    """

    model: str
    previous_budget: int | None
    new_budget: int


def retry_signal_in(error: BaseException) -> RetrySignal | None:
    """Find a retry signal anywhere in a chain: the error, a cause, a context, a member of a group."""
    return next((link for link in walk_chain(error) if isinstance(link, RetrySignal)), None)


def readable_twin(signal: RetrySignal) -> LLMReadableException:
    """Say to a model what a signal says to the dispatcher, for where no dispatcher can run the call again."""
    match signal:
        case RateLimitRetryException():
            twin: LLMReadableException = UpstreamThrottleException(
                "The model provider",
                signal.provider_message or signal.rate_limit,
                signal.suggested_delay_seconds,
            )
        case OverloadRetryException() | TransientErrorRetryException():
            twin = ExternalServiceException(signal.provider, signal.details)
        case ResponseCorrectionRetryException() if isinstance(signal.__cause__, LLMReadableException):
            return signal.__cause__
        case _:
            twin = ExternalServiceException(
                "The model provider",
                "the reply was cut off or unusable and was not asked for again",
            )
    twin.__cause__ = signal.__cause__
    return twin


def failure_details(error: BaseException) -> str:
    """Render an exception for a log line: its message, then the root cause in brackets when it is another."""
    message = as_text(error) or type(error).__name__
    root = deepest_message(error)
    return protect(message if root == message else f"{message} [{root}]")
