"""What a limiter hears of a failed call."""

from dataclasses import dataclass
from enum import Enum
from typing import Self

from nucleo.errors import (
    ExternalServiceException,
    HttpErrorDetail,
    LLMReadableException,
    QuotaExhaustedException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.errors.chain import walk_chain
from nucleo.errors.text import as_text, brief, masked, seconds


class UpstreamEffect(Enum):
    """What a failure means for the limiters of the job that met it."""

    THROTTLE = "throttle"
    """They slow down, and count it against the service."""
    FAILURE = "failure"
    """They count it against the service; enough of them open the circuit."""
    HEALTHY = "healthy"
    """The service answered; what was wrong is the call's matter."""
    NO_VERDICT = "no verdict"
    """It says nothing about the service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamFailure:
    """What the server actually said, for limiters to record and to quote.

    Attributes:
        status_code: The status, or 0 when no answer came.
        service: The service.
        detail: Its words, cleaned.
        retry_after_seconds: What it asked to wait, or None.
    """

    status_code: int
    service: str
    detail: str
    retry_after_seconds: float | None = None

    @classmethod
    def from_exception(cls, error: BaseException) -> Self:
        """Read it off a chain.

        Status and words come from the first answer in the chain, the wait from the first throttle, else from that
        answer, and the service from the outermost failure that names one.
        """
        links = list(walk_chain(error))
        answer = _first_answer(links)
        services = (getattr(link, "service_name", None) for link in links)
        service = next((name for name in services if isinstance(name, str)), None)
        wait = next(
            (link.retry_after_seconds for link in links if isinstance(link, UpstreamThrottleException)),
            None,
        )
        if wait is None and answer is not None:
            wait = answer.retry_after_seconds
        details = (getattr(link, "error_details", None) for link in links)
        detail = next((text for text in details if isinstance(text, str)), as_text(error))
        return cls(
            status_code=0 if answer is None else answer.status_code,
            service=brief(service or (answer.service if answer is not None else "the service")),
            detail=brief(masked(detail if answer is None else answer.said or "", personal=True)),
            retry_after_seconds=wait,
        )

    def summary(self) -> str:
        """Give one line: ``HTTP 429 from PubChem: <words> (asked for 30 seconds)``."""
        source = f"HTTP {self.status_code}" if self.status_code else "no response"
        asked = "" if self.retry_after_seconds is None else f" (asked for {seconds(self.retry_after_seconds)})"
        return f"{source} from {self.service}: {self.detail}{asked}"


def effect_of(error: BaseException) -> UpstreamEffect:
    """Say what a failure means for the limiters of its job.

    Only no answer, 5xx and throttles count against a service. A correctable failure or a refused credential *with* an
    answer is a healthy answer; without one it says nothing.
    """
    links = list(walk_chain(error))
    answer = _first_answer(links)
    if any(isinstance(link, UpstreamThrottleException | QuotaExhaustedException) for link in links):
        return UpstreamEffect.THROTTLE
    if answer is not None and answer.retry_after_seconds and answer.status_code == _UNAVAILABLE:
        return UpstreamEffect.THROTTLE
    if any(isinstance(link, ExternalServiceException) for link in links):
        client_side = answer is not None and answer.status_code < _SERVER_ERROR
        return UpstreamEffect.HEALTHY if client_side else UpstreamEffect.FAILURE
    answered = answer is not None and any(
        isinstance(link, UnauthorizedException) or (isinstance(link, LLMReadableException) and link.is_correctable)
        for link in links
    )
    return UpstreamEffect.HEALTHY if answered else UpstreamEffect.NO_VERDICT


_UNAVAILABLE = 503
_SERVER_ERROR = 500


def _first_answer(links: list[BaseException]) -> HttpErrorDetail | None:
    answers = (getattr(link, "http", None) for link in links)
    return next((answer for answer in answers if isinstance(answer, HttpErrorDetail)), None)
