"""Code as a user writes it, for the type checkers to read; a marked line must be an error, and no other may be."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, assert_type

from nucleo.errors import (
    CorrectableLLMException,
    ExternalServiceException,
    Http429Exception,
    HttpErrorDetail,
    HttpErrorResponse,
    InvalidInputException,
    LLMReadable,
    LLMReadableException,
    LLMReadableRuntimeException,
    ModelNotFoundException,
    QuotaExhaustedException,
    SpendCapExceededException,
    UncorrectableLLMException,
    UpstreamThrottleException,
    explain,
    failure_from_dict,
    readable,
    register_translation,
    unwrap,
    unwrap_runtime,
    wrap_with_context,
)


class SeatTaken(CorrectableLLMException):
    seat: str
    rows: Sequence[int] = ()
    hall: str = field(default="main", kw_only=True)

    @property
    def llm_message(self) -> str:
        return f"Seat {self.seat} is taken."


class InvoiceWrong(InvalidInputException):
    invoice: str


taken = SeatTaken("12A", [1, 2], hall="north")
assert_type(taken.seat, str)
assert_type(taken.rows, Sequence[int])
assert_type(taken.http, HttpErrorDetail | None)
assert_type(taken.llm_message, str)
assert_type(taken.explain_to_llm(), str)
assert_type(taken.is_correctable, bool)
assert_type(SeatTaken.is_correctable, bool)
assert_type(taken.to_dict(), dict[str, Any])

SeatTaken()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
SeatTaken(12)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
SeatTaken("12A", (), "north")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]

InvalidInputException("cid", 5, "must be text", http=None)
InvalidInputException(parameter_name="cid", invalid_value=None, validation_rule="must be text")
InvalidInputException("cid", 5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
InvoiceWrong("number", "12", "must have 6 digits", "INV-1")
InvoiceWrong("number", "12", "must have 6 digits")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

ExternalServiceException("PubChem", "down", True)
UpstreamThrottleException("PubChem", "slow down", 30)
UpstreamThrottleException("PubChem", "slow down", "30")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
SpendCapExceededException("No more.", cap=None)
QuotaExhaustedException("Anthropic", "research")
ModelNotFoundException("scout-9", ["scout-1"])
assert_type(ModelNotFoundException("scout-9").message, str)
assert_type(Http429Exception(HttpErrorDetail(429, "S", "/x")).status_code, int)
assert_type(Http429Exception(HttpErrorDetail(429, "S", "/x")).retry_after_seconds, float | None)
Http429Exception()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


class OfTheService(UncorrectableLLMException):
    @property
    def llm_message(self) -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return 1


def call(error: Exception, value: object) -> str:
    try:
        with readable("PubChem", parameter="cid", value=value, step="fetch"):
            return "done"
    except HttpErrorResponse as answered:
        assert_type(answered.endpoint, str)
    except LLMReadableException as failure:
        shown: LLMReadable = failure
        assert_type(shown.llm_message, str)
    assert_type(unwrap(error), LLMReadableException)
    assert_type(wrap_with_context(error, "S", "p", value, "step"), LLMReadableException)
    assert_type(unwrap_runtime(error, "fallback"), LLMReadableRuntimeException)
    assert_type(failure_from_dict({}), LLMReadableException)
    raise unwrap(error)


def meaning(error: Exception, service: str | None) -> LLMReadableException | None:
    return SeatTaken("1A") if service else None


register_translation("seats.SeatGone", meaning)
assert_type(explain(ValueError(), component="search"), str)
