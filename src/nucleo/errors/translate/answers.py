"""An answer that an exception of another library holds, on its way to `nucleo.errors.http`.

Apart from the tables so that Retry-After, codes and bodies get the same meaning whichever client met them.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

from nucleo.errors.http import (
    HttpErrorDetail,
    HttpErrorResponse,
    http_failure,
    inspect_response,
)
from nucleo.errors.root import LLMReadableException
from nucleo.errors.services import ExternalServiceException
from nucleo.errors.translate.faults import UNREADABLE, no_answer
from nucleo.errors.translate.foreign import attribute

_REDIRECTION = 300
_NOT_READ = "the text of the answer was not read"
# An empty body means something to the mapping: a bare 403 is the work of something in between.
_UNREAD_BODY = json.dumps({"message": _NOT_READ})
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an exception tells of an answer.

    Attributes:
        service: The service, the host or the library that is named.
        url: The whole URL or the path of the request; only its path is kept.
        status: The status that came.
        headers: The headers as the library holds them; None when it does not tell.
        body: What had been read of the body, or None when nothing had: nothing is read here.
        method: The method of the request; None when it is not known.
        operation: What the call was for, when that is known better than by its method.
    """

    service: str
    url: str
    status: int
    headers: object = None
    body: bytes | str | None = None
    method: str | None = None
    operation: str | None = None

    @property
    def purpose(self) -> str:
        """The operation as `nucleo.errors.http` knows it; a call of unknown method counts as a fetch."""
        if self.operation is not None:
            return self.operation
        reads = self.method is None or self.method.upper() in _READING_METHODS
        return "fetch" if reads else "write"

    @property
    def method_at_risk(self) -> str | None:
        """The method by which a gateway's answer leaves the outcome open: an unknown one counts as a write."""
        if self.operation == "llm":
            return None
        return self.method or "POST"


def answered(answer: Answer) -> LLMReadableException:
    """Give an answer its meaning. A good status that was raised nevertheless is an unreadable answer."""
    if answer.status < _REDIRECTION:
        return hidden_failure(answer) or no_answer(UNREADABLE, service=answer.service, method=answer.method)
    failure = http_failure(
        answer.service,
        answer.url,
        answer.status,
        _UNREAD_BODY if answer.body is None else answer.body,
        headers=pairs(answer.headers),
        operation=answer.purpose,
        method=answer.method_at_risk,
    )
    return _unread(failure) if answer.body is None else failure


def hidden_failure(answer: Answer) -> LLMReadableException | None:
    """Find the failure that an answer with a good status holds in its body."""
    return inspect_response(
        answer.service,
        answer.url,
        answer.status,
        answer.body or b"",
        headers=pairs(answer.headers),
        operation=answer.purpose,
        method=answer.method_at_risk,
    )


def pairs(headers: object) -> list[tuple[str, str]]:
    """Give the headers of any client as pairs of texts, repeated ones repeated; empty when they cannot be read."""
    items = attribute(headers, "multi_items") or attribute(headers, "items")
    try:
        found: object = items() if callable(items) else headers
        return [(_text(name), _text(value)) for name, value in _iterated(found)]
    except Exception:  # noqa: BLE001 - a foreign mapping may raise anything; headers are extra, not the answer
        return []


def _iterated(found: object) -> Iterable[tuple[object, object]]:
    return cast("Iterable[tuple[object, object]]", found) if isinstance(found, Iterable) else ()


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _unread(failure: LLMReadableException) -> LLMReadableException:
    """Say that the body was not read, where the mapping read our stand-in for it."""
    if failure.http is None:
        return failure
    detail = replace(failure.http, said=_NOT_READ, response_body="")
    if not isinstance(failure, HttpErrorResponse):
        failure.http = detail
        return failure
    remake = cast("Callable[[HttpErrorDetail], LLMReadableException]", type(failure))
    twin = remake(detail)
    if isinstance(twin, ExternalServiceException):
        twin.outcome_unknown = bool(getattr(failure, "outcome_unknown", False))
    return twin
