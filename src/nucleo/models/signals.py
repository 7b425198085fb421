"""Which failures of a model call waiting can fix.

One function for all providers, apart from them because it is a decision of the runtime: a provider says what happened,
this says whether the dispatcher runs the call again.
"""

import json
from typing import Final, TypeVar, cast

from nucleo.errors import (
    ExternalServiceException,
    HttpErrorDetail,
    LLMReadableException,
    OverloadRetryException,
    RateLimitRetryException,
    TransientErrorRetryException,
    UpstreamRetryException,
    UpstreamThrottleException,
)
from nucleo.errors.chain import walk_chain

_OVERLOADED: Final = 529
_SERVER_ERROR: Final = 500
_STATUS_END: Final = 600
_REDIRECTION: Final = 300
_CLIENT_ERROR: Final = 400

# What an error is called where no status says it. https://docs.anthropic.com/en/api/errors; what is not here counts as
# a failure of the server.
_STATUS_OF_TYPE: Final = {
    "invalid_request_error": 400,
    "not_found_error": 404,
    "overloaded": 529,
    "overloaded_error": 529,
    "request_too_large": 413,
}

Failure = TypeVar("Failure", bound=LLMReadableException)


class AnswerBrokeOff(Exception):
    """Stands in the chain of a failure that came after a part of the answer had been given on.

    Attributes:
        characters: Characters of text that had been given on.
    """

    def __init__(self, characters: int) -> None:
        super().__init__(f"{characters:,} characters of the answer had been given on before it broke off")
        self.characters = characters


def mark_final(failure: Failure, *, characters: int) -> Failure:
    """Mark a failure of a stream as final: whoever listened has heard a part of the answer already.

    Args:
        failure: The failure, its cause set. It is changed and given back.
        characters: Characters of text that had been given on.
    """
    mark = AnswerBrokeOff(characters)
    mark.__cause__ = failure.__cause__
    failure.__cause__ = mark
    failure.add_note(str(mark))
    return failure


def is_final_failure(error: BaseException) -> bool:
    """Tell whether a failure came after a part of the answer had been given on, so that it is never re-run."""
    return any(isinstance(link, AnswerBrokeOff) for link in walk_chain(error))


def retry_signal(failure: BaseException, *, provider: str, attempt: int = 1) -> UpstreamRetryException | None:
    """Turn a failure of a model call into the signal that has it run again, where waiting can fix it.

    * A throttle: `RateLimitRetryException` with the wait that was asked for.
    * 529: `OverloadRetryException`.
    * Any other 5xx, and no readable answer at all: `TransientErrorRetryException`.
    * Everything else, a name that does not resolve, a certificate that is not trusted, and whatever came after a
      part of the answer had been given on: None.

    Args:
        failure: What the provider's client raised.
        provider: The provider, for the words of the signal.
        attempt: Which run of the call this was, counted from 1.

    Returns:
        The signal, with the failure as its cause; or None: the failure is final.
    """
    links = list(walk_chain(failure))
    if any(isinstance(link, AnswerBrokeOff) for link in links) or _is_lasting(links):
        return None
    signal: UpstreamRetryException | None = None
    if isinstance(failure, UpstreamThrottleException):
        signal = RateLimitRetryException(
            rate_limit=provider,
            attempt=attempt,
            provider_message=failure.llm_message,
            suggested_delay_seconds=_wait_of(failure),
        )
    elif isinstance(failure, ExternalServiceException):
        signal = _service_signal(failure, provider, attempt)
    if signal is not None:
        signal.__cause__ = failure
    return signal


def _is_lasting(links: list[BaseException]) -> bool:
    """A name that does not resolve and a certificate that is not trusted stay so, as long as anyone would wait."""
    # Both load with the first failure: the values of a conversation need no network.
    from socket import gaierror  # noqa: PLC0415
    from ssl import SSLCertVerificationError  # noqa: PLC0415

    lasting = (gaierror, SSLCertVerificationError)
    # HTTP clients keep the fault of the system as the argument of their own exception.
    return any(isinstance(fault, lasting) for link in links for fault in (link, *link.args))


def _service_signal(failure: ExternalServiceException, provider: str, attempt: int) -> UpstreamRetryException | None:
    status = None if failure.http is None else failure.http.status_code
    if status is not None and status < _REDIRECTION:
        status = _status_inside(failure.http)
    if status == _OVERLOADED:
        return OverloadRetryException(
            provider,
            failure.llm_message,
            attempt=attempt,
            suggested_delay_seconds=_wait_of(failure),
        )
    if status is None or _SERVER_ERROR <= status < _STATUS_END:
        return TransientErrorRetryException(
            provider,
            failure.llm_message,
            status,
            attempt,
            suggested_delay_seconds=_wait_of(failure),
        )
    return None


def _status_inside(answer: HttpErrorDetail | None) -> int:
    """Give the status that an error inside a good status, such as an event of a stream, would have had outside."""
    try:
        body: object = json.loads(answer.response_body if answer is not None else "")
    except (ValueError, RecursionError):
        return _SERVER_ERROR
    envelope = cast("dict[str, object]", body) if isinstance(body, dict) else {}
    error = envelope.get("error", envelope)
    fields = cast("dict[str, object]", error) if isinstance(error, dict) else {}
    words = (fields.get("code"), fields.get("type"))
    for word in words:
        if isinstance(word, int) and _CLIENT_ERROR <= word < _STATUS_END:
            return word
        if isinstance(word, str) and word in _STATUS_OF_TYPE:
            return _STATUS_OF_TYPE[word]
    return _SERVER_ERROR


def _wait_of(failure: ExternalServiceException) -> float | None:
    if isinstance(failure, UpstreamThrottleException) and failure.retry_after_seconds is not None:
        return failure.retry_after_seconds
    return None if failure.http is None else failure.http.retry_after_seconds
