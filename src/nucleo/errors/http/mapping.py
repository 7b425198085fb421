"""From an answer to a failure: the one place where an answer gets its meaning.

The status is the last word only when nothing more specific speaks. The order, each step on structured evidence before
free text:

1. a failure inside a good status: the error envelope of a known shape or service;
2. what is particular about the service (`quirks`);
3. a specific code (`codes`); coarse ones are skipped;
4. money, under any status;
5. on a model call: overflow, refusal, unknown model;
6. throttle: 429, or the evidence of one under another status;
7. credentials; not found; a wrong address;
8. input; then the table of statuses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from nucleo.errors.accounts import ModelNotFoundException, ProviderRefusalException, QuotaExhaustedException
from nucleo.errors.http import failures
from nucleo.errors.http.answer import Answer, read_answer
from nucleo.errors.http.codes import Meaning
from nucleo.errors.http.detail import BODY_LIMIT, HttpErrorDetail, path_of
from nucleo.errors.http.envelopes import hides_failure
from nucleo.errors.http.evidence import meaning_of
from nucleo.errors.http.headers import RawHeaders, kept_headers
from nucleo.errors.http.said import said_of
from nucleo.errors.masking import mask
from nucleo.errors.root import LLMReadableException
from nucleo.errors.work import TokenEstimateExceedsLimitException

_IDEMPOTENT: Final = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"})
_BETWEEN: Final = frozenset({502, 504})
"""Statuses that something between us and the service gives; the service may have done its work."""

_FIGURE: Final = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3}){1,3}|\d{4,9})(?![\w.]\d)", re.ASCII)
_MODEL_NAME: Final = re.compile(
    r"model[`'\": ]{1,3}([\w./:@-]{2,120})[`'\"]|(?:not found|unknown model): ?([\w./:@-]{2,120})", re.IGNORECASE
)

_REDIRECTION: Final = 300
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500


def inspect_response(
    service: str,
    endpoint: str,
    status_code: int,
    body: str | bytes,
    *,
    headers: RawHeaders | None = None,
    operation: str = "fetch",
    method: str | None = None,
    now: datetime | float | None = None,
    secrets: Iterable[str] = (),
) -> LLMReadableException | None:
    """Say what an answer means, also one that hides a failure in a good status.

    Args:
        service: The service, as a person would call it.
        endpoint: The path or the whole URL that was asked. The host of a URL selects known quirks; a failure keeps
            only the path.
        status_code: The status.
        body: The raw body, or its text; at most 64 KiB of it are read.
        headers: The headers, as a mapping or as pairs.
        operation: What was being done: ``fetch`` (by id), ``search``, ``write`` or ``llm``.
        method: The method of the request, when known: a write that something in between answered for may have been
            carried out.
        now: When the answer came: an aware datetime or seconds since 1970; None for this moment.
        secrets: What the caller itself sent to prove who it is, masked wherever it comes back.

    Returns:
        The failure, or None for an answer that is none.
    """
    answer = read_answer(service, endpoint, status_code, body, headers=headers, operation=operation, now=now)
    if status_code < _REDIRECTION and not hides_failure(answer):
        return None
    return _failure(answer, endpoint, body, method, tuple(secrets))


def http_failure(
    service: str,
    endpoint: str,
    status_code: int,
    body: str | bytes,
    *,
    headers: RawHeaders | None = None,
    operation: str = "fetch",
    method: str | None = None,
    now: datetime | float | None = None,
    secrets: Iterable[str] = (),
) -> LLMReadableException:
    """Give the failure that an answer is. For a status from 300 up; arguments as in `inspect_response`."""
    answer = read_answer(service, endpoint, status_code, body, headers=headers, operation=operation, now=now)
    return _failure(answer, endpoint, body, method, tuple(secrets))


def raise_for_status(
    service: str,
    endpoint: str,
    status_code: int,
    body: str | bytes,
    *,
    headers: RawHeaders | None = None,
    operation: str = "fetch",
    method: str | None = None,
    now: datetime | float | None = None,
    secrets: Iterable[str] = (),
) -> None:
    """Raise the failure that an answer is; return for a status below 400. Arguments as in `inspect_response`.

    Raises:
        LLMReadableException: The answer is a failure.
    """
    if status_code < _CLIENT_ERROR:
        return
    raise http_failure(
        service,
        endpoint,
        status_code,
        body,
        headers=headers,
        operation=operation,
        method=method,
        now=now,
        secrets=secrets,
    )


def _failure(
    answer: Answer, endpoint: str, raw: str | bytes, method: str | None, secrets: tuple[str, ...]
) -> LLMReadableException:
    meaning = meaning_of(answer)
    text = raw[:BODY_LIMIT] if isinstance(raw, str) else answer.body.text or raw[:BODY_LIMIT].decode("utf-8", "replace")
    # A 5xx whose code blames the caller is quoted like a 4xx: the words are what the caller can act on.
    quotes = answer.status < _SERVER_ERROR or meaning in {Meaning.INPUT, Meaning.NOT_FOUND}
    quotes = quotes or (answer.quirk is not None and answer.quirk.quotes_5xx)
    detail = HttpErrorDetail(
        status_code=answer.status,
        service=answer.service,
        endpoint=mask(path_of(endpoint), secrets=secrets) if secrets else endpoint,
        response_body=text,
        headers=kept_headers(answer.headers),
        retry_after_seconds=answer.wait,
        said=said_of(
            answer.body,
            status_code=answer.status,
            headers=answer.headers,
            operation=answer.operation,
            secrets=secrets,
            fault=answer.fault,
            quote=quotes,
        ),
    )
    unknown = answer.status in _BETWEEN and method is not None and method.upper() not in _IDEMPOTENT
    return _made(meaning, detail, outcome_unknown=unknown)


def _made(meaning: Meaning, detail: HttpErrorDetail, *, outcome_unknown: bool) -> LLMReadableException:
    plain = _PLAIN.get(meaning)
    if plain is not None:
        return plain(detail)
    match meaning:
        case Meaning.INPUT:
            kinds = {413: failures.Http413Exception, 422: failures.Http422Exception}
            return kinds.get(detail.status_code, failures.Http400Exception)(detail)
        case Meaning.QUOTA:
            return QuotaExhaustedException(detail.service, "ours", None, detail.sentence, http=detail)
        case Meaning.OVERFLOW:
            tokens, limit = _token_figures(detail.said or "")
            return TokenEstimateExceedsLimitException(tokens, limit, detail.service, http=detail)
        case Meaning.REFUSAL:
            return ProviderRefusalException(detail.service, None, detail.sentence, http=detail)
        case Meaning.MODEL_NOT_FOUND:
            return ModelNotFoundException(_model_in(detail), http=detail)
        case _:
            return _service_failure(detail, outcome_unknown=outcome_unknown)


_PLAIN: Final[dict[Meaning, Callable[[HttpErrorDetail], LLMReadableException]]] = {
    Meaning.NOT_FOUND: failures.Http404Exception,
    Meaning.UNAUTHORIZED: failures.Http401Exception,
    Meaning.FORBIDDEN: failures.Http403Exception,
    Meaning.THROTTLE: failures.Http429Exception,
}


def _service_failure(detail: HttpErrorDetail, *, outcome_unknown: bool) -> LLMReadableException:
    match detail.status_code:
        case 500:
            return failures.Http500Exception(detail, outcome_unknown=outcome_unknown)
        case 502:
            return failures.Http502Exception(detail, outcome_unknown=outcome_unknown)
        case 503:
            return failures.Http503Exception(detail, outcome_unknown=outcome_unknown)
        case _:
            return failures.HttpUnmappedStatusException(detail, outcome_unknown=outcome_unknown)


def _token_figures(said: str) -> tuple[int | None, int | None]:
    """Find what was asked for and the window: the largest and the smallest figure that can be tokens."""
    figures = [int(text.replace(",", "")) for text in _FIGURE.findall(said)]
    return (max(figures), min(figures)) if len(set(figures)) > 1 else (None, None)


def _model_in(detail: HttpErrorDetail) -> str:
    """Find the model that does not exist in the provider's words; the service where they do not name it."""
    match = _MODEL_NAME.search(detail.said or "")
    return match[1] or match[2] if match else f"asked of {detail.service}"
