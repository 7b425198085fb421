"""The eleven classes an answered status becomes, each placed under the failure whose meaning it has.

What to do about a 400 has nothing to do with what to do about a 503, so they share a value and a mixin, not a parent.
There is never a class for one service.
"""

from nucleo.errors.calls import InvalidInputException, ResourceNotFoundException
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.services import (
    OUTCOME_UNKNOWN,
    ExternalServiceException,
    UnauthorizedException,
    UpstreamThrottleException,
    wait_sentence,
)
from nucleo.errors.text import sentence

_STATUSES = (400, 401, 403, 404, 413, 422, 429, 500, 502, 503, "UnmappedStatus")
_CARRIERS = frozenset(f"Http{status}Exception" for status in _STATUSES)


class HttpErrorResponse(Exception):
    """The mixin of every failure made from an answer, so that ``except HttpErrorResponse`` works. Sealed."""

    def __init_subclass__(cls) -> None:
        if cls.__module__ != __name__ or cls.__qualname__ not in _CARRIERS:
            raise TypeError(
                f"{cls.__qualname__} cannot carry HttpErrorResponse: the classes of answered statuses are closed. "
                "Map a service's quirk onto an existing failure in its client's classify()."
            )
        super().__init_subclass__()

    @property
    def status_code(self) -> int:
        """The status the server really sent."""
        return self._answer.status_code

    @property
    def service(self) -> str:
        """The service that answered."""
        return self._answer.service

    @property
    def endpoint(self) -> str:
        """The path that was asked."""
        return self._answer.endpoint

    @property
    def response_body(self) -> str:
        """The raw body, at most 64 KiB; never for a model."""
        return self._answer.response_body

    @property
    def llm_message(self) -> str:
        """Who answered what where, what was said, and how long it asked to wait."""
        return _sentence(self)

    def __str__(self) -> str:
        return _sentence(self)

    @property
    def _answer(self) -> HttpErrorDetail:
        answer = _answer_in(self)
        if answer is None:
            raise AttributeError("this failure has no answer: it was read from a record without one")
        return answer


class Http400Exception(HttpErrorResponse, InvalidInputException):
    """The service refused the input (400, 414, 415, or a code that says so)."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.parameter_name = detail.endpoint
        self.invalid_value = None
        self.validation_rule = detail.sentence


class Http413Exception(HttpErrorResponse, InvalidInputException):
    """What was sent is too large for the service."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.parameter_name = detail.endpoint
        self.invalid_value = None
        self.validation_rule = detail.sentence


class Http422Exception(HttpErrorResponse, InvalidInputException):
    """The service understood the input and refused it."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.parameter_name = detail.endpoint
        self.invalid_value = None
        self.validation_rule = detail.sentence


class Http404Exception(HttpErrorResponse, ResourceNotFoundException):
    """What was asked for by its identifier does not exist (404, 410, or a code that says so)."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.resource_type = detail.service
        self.identifier = detail.endpoint


class Http401Exception(HttpErrorResponse, UnauthorizedException):
    """The service does not accept our credentials."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.service_name = detail.service
        self.reason = detail.sentence


class Http403Exception(HttpErrorResponse, UnauthorizedException):
    """The service knows us and does not let us."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.service_name = detail.service
        self.reason = detail.sentence


class Http429Exception(HttpErrorResponse, UpstreamThrottleException):
    """The service says that it is called too fast, under 429 or any other status."""

    def __init__(self, detail: HttpErrorDetail) -> None:
        self.http = detail
        self.service_name = detail.service
        self.error_details = detail.sentence
        self.outcome_unknown = False
        self.retry_after_seconds = detail.retry_after_seconds


class Http500Exception(HttpErrorResponse, ExternalServiceException):
    """The service failed."""

    def __init__(self, detail: HttpErrorDetail, *, outcome_unknown: bool = False) -> None:
        self.http = detail
        self.service_name = detail.service
        self.error_details = detail.sentence
        self.outcome_unknown = outcome_unknown


class Http502Exception(HttpErrorResponse, ExternalServiceException):
    """Something before the service got no good answer from it."""

    def __init__(self, detail: HttpErrorDetail, *, outcome_unknown: bool = False) -> None:
        self.http = detail
        self.service_name = detail.service
        self.error_details = detail.sentence
        self.outcome_unknown = outcome_unknown


class Http503Exception(HttpErrorResponse, ExternalServiceException):
    """The service is not available for now."""

    def __init__(self, detail: HttpErrorDetail, *, outcome_unknown: bool = False) -> None:
        self.http = detail
        self.service_name = detail.service
        self.error_details = detail.sentence
        self.outcome_unknown = outcome_unknown


class HttpUnmappedStatusException(HttpErrorResponse, ExternalServiceException):
    """Any other error status."""

    def __init__(self, detail: HttpErrorDetail, *, outcome_unknown: bool = False) -> None:
        self.http = detail
        self.service_name = detail.service
        self.error_details = detail.sentence
        self.outcome_unknown = outcome_unknown


def _sentence(failure: HttpErrorResponse) -> str:
    detail = _answer_in(failure)
    if detail is None:
        return "A service answered with an error."
    text = detail.sentence
    if isinstance(failure, ExternalServiceException) and failure.outcome_unknown:
        text = f"{sentence(text)} {OUTCOME_UNKNOWN}"
    return text + wait_sentence(detail.retry_after_seconds, after=text)


def _answer_in(failure: HttpErrorResponse) -> HttpErrorDetail | None:
    # The mixin does not declare the field: the root does, and a second declaration would be a second field.
    answer: HttpErrorDetail | None = getattr(failure, "http", None)
    return answer
