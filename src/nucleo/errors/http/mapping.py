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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import urlsplit

from nucleo.errors.accounts import ModelNotFoundException, ProviderRefusalException, QuotaExhaustedException
from nucleo.errors.http import failures
from nucleo.errors.http.body import Body, read_body
from nucleo.errors.http.codes import CODES, LLM_CODES, UNDER_5XX, Meaning
from nucleo.errors.http.detail import BODY_LIMIT, HttpErrorDetail
from nucleo.errors.http.fault import Fault, read_fault
from nucleo.errors.http.headers import RawHeaders, kept_headers, lower_headers
from nucleo.errors.http.phrases import (
    CAPACITY,
    CREDENTIALS,
    LIMIT_ZERO,
    MODEL,
    MONEY,
    OVERFLOW,
    RATE_WINDOW,
    REFUSAL,
    REQUEST_TOO_LARGE,
    ROUTE,
    THROTTLE,
)
from nucleo.errors.http.quirks import Quirk, quirk_of
from nucleo.errors.http.retry_after import exhausted_bucket, parse_retry_after
from nucleo.errors.http.said import said_of
from nucleo.errors.root import LLMReadableException
from nucleo.errors.work import TokenEstimateExceedsLimitException

_IDEMPOTENT: Final = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"})
_BETWEEN: Final = frozenset({502, 504})
"""Statuses that something between us and the service gives; the service may have done its work."""

_REDIRECTION: Final = 300
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500


@dataclass(slots=True)
class _Answer:
    """An answer, read once, and what is known of its circumstances."""

    service: str
    status: int
    body: Body
    fault: Fault
    headers: dict[str, str]
    quirk: Quirk | None
    operation: str
    host: str
    wait: float | None


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
    answer = _read(service, endpoint, status_code, body, headers, operation, now)
    if status_code < _REDIRECTION and not _hides_failure(answer):
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
    answer = _read(service, endpoint, status_code, body, headers, operation, now)
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


def _read(
    service: str,
    endpoint: str,
    status: int,
    body: str | bytes,
    headers: RawHeaders | None,
    operation: str,
    now: datetime | float | None,
) -> _Answer:
    names = lower_headers(headers)
    read = read_body(body, names)
    host = _host(endpoint)
    quirk = quirk_of(host)
    wait = parse_retry_after(names, now=now, body=read, milliseconds=quirk is not None and quirk.milliseconds)
    return _Answer(service, status, read, read_fault(read, names), names, quirk, operation, host, wait)


def _host(endpoint: str) -> str:
    if "://" not in endpoint[:40]:
        return ""
    try:
        return urlsplit(endpoint[:4096]).netloc
    except ValueError:
        return ""


def _failure(
    answer: _Answer, endpoint: str, raw: str | bytes, method: str | None, secrets: tuple[str, ...]
) -> LLMReadableException:
    meaning = _meaning(answer)
    text = raw[:BODY_LIMIT] if isinstance(raw, str) else answer.body.text or raw[:BODY_LIMIT].decode("utf-8", "replace")
    quotes = answer.status < _SERVER_ERROR or (answer.quirk is not None and answer.quirk.quotes_5xx)
    detail = HttpErrorDetail(
        status_code=answer.status,
        service=answer.service,
        endpoint=endpoint,
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
            quote=quotes and meaning is not Meaning.SERVICE or (quotes and answer.status < _SERVER_ERROR),
        ),
    )
    unknown = answer.status in _BETWEEN and method is not None and method.upper() not in _IDEMPOTENT
    return _made(meaning, detail, outcome_unknown=unknown)


def _meaning(answer: _Answer) -> Meaning:
    for step in _STEPS:
        found = step(answer)
        if found is not None:
            return found
    return Meaning.SERVICE


def _by_quirk(answer: _Answer) -> Meaning | None:
    quirk = answer.quirk
    if quirk is None:
        return None
    for code in answer.fault.codes:
        if code in quirk.codes:
            return quirk.codes[code]
    words = answer.fault.words or (answer.body.text[:4096].lower() if answer.body.kind == "html" else "")
    for phrase, meaning in quirk.words.items():
        if phrase in words:
            return meaning
    return quirk.statuses.get(answer.status)


def _by_code(answer: _Answer) -> Meaning | None:
    for code in answer.fault.codes:
        found = LLM_CODES.get(code) if answer.operation == "llm" else None
        found = found or CODES.get(code)
        if found is None or (answer.status >= _SERVER_ERROR and found not in UNDER_5XX):
            continue
        if code in _SHARED and not _shared_holds(code, answer):
            continue
        return found
    return None


# Codes that services use for different things; each holds only beside what `_shared_holds` asks for.
_SHARED: Final = frozenset(
    {
        "quotaexceeded",
        "insufficientquota",
        "ratelimitexceeded",
        "rate",
        "notfound",
        "unauthorized",
        "oauth",
        "invalidrequest",
        "requestdenied",
        "accessdenied",
        "internalerror",
        "requesttoolarge",
        "limitexceeded",
        "serverbusy",
        "overloadederror",
        "overloaded",
        "serviceunavailable",
        "transactioninprogress",
        "safety",
    }
)


def _shared_holds(code: str, answer: _Answer) -> bool:
    words = answer.fault.words
    match code:
        case "quotaexceeded" | "insufficientquota":
            # A phrase or a code of quota beside a short window is a rate: see the retry step.
            return not (answer.status == 429 and (RATE_WINDOW.search(words) or _has_day_window(answer)))  # noqa: PLR2004
        case "ratelimitexceeded":
            return not (answer.operation == "llm" and REQUEST_TOO_LARGE.search(words))
        case "notfound":
            # A code that only repeats the status says nothing more specific than it.
            return answer.status != 404 and answer.operation != "llm"  # noqa: PLR2004
        case "requesttoolarge":
            return answer.operation == "llm"
        case "overloadederror" | "overloaded" | "serviceunavailable" | "internalerror":
            return answer.status < _REDIRECTION
        case _:
            return True


def _has_day_window(answer: _Answer) -> bool:
    return answer.wait is not None or "violatedpolicies" in answer.body.text.lower().replace("-", "")


def _by_money(answer: _Answer) -> Meaning | None:
    words = answer.fault.words
    if answer.status == 402:  # noqa: PLR2004 - Payment Required
        return Meaning.QUOTA
    if answer.status == 429 and answer.operation == "llm" and LIMIT_ZERO.search(words):  # noqa: PLR2004
        return Meaning.QUOTA
    if answer.status < _SERVER_ERROR and MONEY.search(words) and not RATE_WINDOW.search(words):
        return Meaning.QUOTA
    if answer.status == 429 and "limitexceeded" in answer.fault.codes and words.strip() == "limit exceeded":  # noqa: PLR2004
        # API Gateway: "Limit Exceeded" is the plan's quota, "Too Many Requests" the rate.
        return Meaning.QUOTA
    return None


def _by_model_call(answer: _Answer) -> Meaning | None:
    if answer.operation != "llm" or (answer.status >= _SERVER_ERROR):
        return None
    words = answer.fault.words
    if REQUEST_TOO_LARGE.search(words):
        return Meaning.OVERFLOW
    if answer.status == 429:  # noqa: PLR2004
        return Meaning.SERVICE if CAPACITY.search(words) else None
    if REFUSAL.search(words) and "violate" not in words:
        return Meaning.REFUSAL
    if OVERFLOW.search(words) and not _is_echo(answer):
        return Meaning.OVERFLOW
    if answer.status == 413 and answer.body.kind in {"html", "empty"}:  # noqa: PLR2004
        return Meaning.OVERFLOW
    if MODEL.search(words) and answer.status in {400, 404, 200, 422}:
        return Meaning.MODEL_NOT_FOUND
    return None


def _is_echo(answer: _Answer) -> bool:
    """Tell whether overflow words may only be the caller's own text, quoted: a code speaks of something else."""
    return any(
        code in {"invalidvalue", "outofrange", "invalidtype", "stringabovemaxlength"} for code in answer.fault.codes
    )


def _by_throttle(answer: _Answer) -> Meaning | None:
    status = answer.status
    if status == 429:  # noqa: PLR2004 - Too Many Requests
        return Meaning.THROTTLE
    words = answer.fault.words or answer.body.text[:2048].lower()
    if status in {401, 403}:
        has_wait = answer.wait is not None and ("retry-after" in answer.headers or "retry-after-ms" in answer.headers)
        if has_wait or exhausted_bucket(answer.headers) or THROTTLE.search(words):
            return Meaning.THROTTLE
    if (status < _REDIRECTION or status == 503) and THROTTLE.search(words):  # noqa: PLR2004
        return Meaning.THROTTLE
    return None


def _by_credentials(answer: _Answer) -> Meaning | None:
    status, words = answer.status, answer.fault.words
    if status in {401, 407}:
        return Meaning.UNAUTHORIZED
    if status == 403:  # noqa: PLR2004
        return Meaning.FORBIDDEN if answer.fault.message and not CREDENTIALS.search(words) else _forbidden(answer)
    if status in {400, 200, 404, 422} and CREDENTIALS.search(words) and answer.status != 404:  # noqa: PLR2004
        return Meaning.UNAUTHORIZED
    if _REDIRECTION <= status < _CLIENT_ERROR and _to_login(answer):
        return Meaning.UNAUTHORIZED
    if status < _REDIRECTION and "_incapsula_resource" in answer.body.text[:4096].lower():
        return Meaning.FORBIDDEN
    return None


def _forbidden(answer: _Answer) -> Meaning:
    return Meaning.FORBIDDEN if answer.body.kind == "html" else Meaning.UNAUTHORIZED


def _to_login(answer: _Answer) -> bool:
    location = answer.headers.get("location", "").lower()
    return any(mark in location for mark in ("login", "signin", "sign-in", "/auth", "sso", "oauth"))


def _by_not_found(answer: _Answer) -> Meaning | None:
    status = answer.status
    if status not in {404, 410}:
        return None
    words = answer.fault.words
    if answer.operation == "llm":
        return Meaning.SERVICE
    if status == 410 and ROUTE.search(words):  # noqa: PLR2004
        return Meaning.SERVICE
    if answer.operation == "write":
        # A write to an address that does not exist is the tool's defect; one that names a missing record is not.
        coded = any(CODES.get(code) is Meaning.NOT_FOUND for code in answer.fault.codes)
        named = answer.body.kind in {"json", "xml"} and "not found" in words and words.strip() != "not found"
        return Meaning.NOT_FOUND if coded or named else Meaning.SERVICE
    return Meaning.NOT_FOUND


def _by_input(answer: _Answer) -> Meaning | None:
    if answer.status in {400, 413, 414, 415, 422} and not _is_page_of_service(answer):
        return Meaning.INPUT
    return None


def _is_page_of_service(answer: _Answer) -> bool:
    return answer.status == 400 and answer.body.kind == "xml" and answer.body.text.startswith("<pre>")  # noqa: PLR2004


_STEPS: Final[tuple[Callable[[_Answer], Meaning | None], ...]] = (
    _by_quirk,
    _by_code,
    _by_money,
    _by_model_call,
    _by_throttle,
    _by_credentials,
    _by_not_found,
    _by_input,
)


def _hides_failure(answer: _Answer) -> bool:
    """Tell whether a good status holds a failure: only known envelopes do, a field called error alone does not."""
    body = answer.body
    if answer.headers.get("grpc-status", "0").strip() not in {"", "0"}:
        return True
    if body.kind == "html":
        declared = answer.headers.get("content-type", "").lower()
        return "json" in declared or "_incapsula_resource" in body.text[:4096].lower()
    if body.kind == "text":
        start = body.text[:200].lower()
        return start.startswith("error code: 1015") or (answer.operation == "llm" and start.startswith("error:"))
    if body.kind == "xml":
        return _xml_fault(body.text[:4096])
    if body.kind != "json":
        return False
    if not body.text.startswith(("{", "[", '"')) and body.text.startswith(("<br", "<b>")):
        return True
    return isinstance(body.value, dict) and _json_fault(cast("dict[str, Any]", body.value), answer)


def _xml_fault(text: str) -> bool:
    lower = text.lower()
    return any(
        mark in lower for mark in ("<faultcode", ":fault>", "<fault>", "<error>", "<errorlist>", "<errorresponse")
    )


def _json_fault(fields: Mapping[str, Any], answer: _Answer) -> bool:
    if fields.get("ok") is False:
        return True
    errors = fields.get("errors")
    if isinstance(errors, list) and errors and not fields.get("data"):
        return any(isinstance(item, dict) for item in cast("list[Any]", errors))
    base = fields.get("base_resp")
    if isinstance(base, dict):
        return cast("dict[str, Any]", base).get("status_code", 0) not in {0, None}
    error = fields.get("error")
    if isinstance(error, dict):
        inner = cast("dict[str, Any]", error)
        return any(key in inner for key in ("code", "type", "message", "info"))
    if isinstance(error, str) and error and answer.operation == "llm":
        return True
    if "error_message" in fields and isinstance(fields.get("status"), str) and not fields.get("results"):
        return str(fields["status"]).lower().replace("_", "") not in (answer.quirk.good if answer.quirk else {"ok"})
    quirk = answer.quirk
    return quirk is not None and any(phrase in answer.fault.words for phrase in quirk.words)


def _made(meaning: Meaning, detail: HttpErrorDetail, *, outcome_unknown: bool) -> LLMReadableException:
    status = detail.status_code
    match meaning:
        case Meaning.INPUT:
            kinds = {413: failures.Http413Exception, 422: failures.Http422Exception}
            return kinds.get(status, failures.Http400Exception)(detail)
        case Meaning.NOT_FOUND:
            return failures.Http404Exception(detail)
        case Meaning.UNAUTHORIZED:
            return failures.Http401Exception(detail)
        case Meaning.FORBIDDEN:
            return failures.Http403Exception(detail)
        case Meaning.THROTTLE:
            return failures.Http429Exception(detail)
        case Meaning.QUOTA:
            return QuotaExhaustedException(detail.service, "ours", None, failures.answer_of(detail), http=detail)
        case Meaning.OVERFLOW:
            tokens, limit = _token_figures(detail.response_body)
            return TokenEstimateExceedsLimitException(tokens, limit, detail.service, http=detail)
        case Meaning.REFUSAL:
            return ProviderRefusalException(detail.service, None, failures.answer_of(detail), http=detail)
        case Meaning.MODEL_NOT_FOUND:
            return ModelNotFoundException(_model_in(detail), http=detail)
        case Meaning.SERVICE:
            return _service_failure(detail, outcome_unknown=outcome_unknown)


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


def _token_figures(text: str) -> tuple[int | None, int | None]:
    return None, None


def _model_in(detail: HttpErrorDetail) -> str:
    return detail.service
