"""What an answer means: one function for each kind of evidence, and the order in which they are asked.

The order is in the docstring of `nucleo.errors.http.mapping`.
"""

from collections.abc import Callable
from typing import Final

from nucleo.errors.http.answer import Answer
from nucleo.errors.http.codes import (
    LLM_CODES,
    SOAP_CALLER,
    UNDER_5XX,
    Meaning,
    coarse_meaning,
    meaning_of_code,
)
from nucleo.errors.http.fault import Fault
from nucleo.errors.http.phrases import (
    ACCOUNT_BLOCKED,
    ALLOWANCE,
    CAPACITY,
    CREDENTIALS,
    DEMAND,
    LIMIT_ZERO,
    MODEL,
    MONEY,
    OVERFLOW,
    QUEUE_FULL,
    RATE_WINDOW,
    REFUSAL,
    REQUEST_TOO_LARGE,
    ROUTE,
    THROTTLE,
)
from nucleo.errors.http.quirks import Quirk
from nucleo.errors.http.retry_after import exhausted_bucket

_REDIRECTION: Final = 300
_CLIENT_ERROR: Final = 400
_PAYMENT_REQUIRED: Final = 402
_FORBIDDEN: Final = 403
_MISSING: Final = 404
_GONE: Final = 410
_TOO_LARGE: Final = 413
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_UNAVAILABLE: Final = 503


def meaning_of(answer: Answer) -> Meaning:
    """Say what an answer means, by the first evidence that speaks."""
    for step in _STEPS:
        found = step(answer)
        if found is not None:
            return found
    return Meaning.SERVICE


def _by_quirk(answer: Answer) -> Meaning | None:
    quirk = answer.quirk
    if quirk is None:
        return None
    found = by_quirk(quirk, answer.fault)
    if found is None and answer.body.kind == "html":
        page = answer.body.text[:4096].lower()
        found = next((meaning for phrase, meaning in quirk.words.items() if phrase in page), None)
    return found or quirk.statuses.get(answer.status)


def by_quirk(quirk: Quirk, fault: Fault) -> Meaning | None:
    """Say what the codes and the words of an answer mean at this service alone."""
    for code in fault.codes:
        if code in quirk.codes:
            return quirk.codes[code]
    words = fault.words
    return next((meaning for phrase, meaning in quirk.words.items() if phrase in words), None)


def _by_code(answer: Answer) -> Meaning | None:
    for code in answer.fault.codes:
        found = LLM_CODES.get(code) if answer.operation == "llm" else None
        found = found or meaning_of_code(code)
        if found is None or (answer.status >= _SERVER_ERROR and found not in UNDER_5XX and code not in SOAP_CALLER):
            continue
        if answer.operation == "llm" and found is Meaning.NOT_FOUND:
            # What is missing on a model call is told by words: the model, or the whole address.
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


def _shared_holds(code: str, answer: Answer) -> bool:
    words = answer.fault.words
    match code:
        case "quotaexceeded" | "insufficientquota":
            # A phrase or a code of quota beside a short window is a rate: see the retry step.
            return not (answer.status == _TOO_MANY and (RATE_WINDOW.search(words) or _has_day_window(answer)))
        case "ratelimitexceeded":
            return not (answer.operation == "llm" and REQUEST_TOO_LARGE.search(words))
        case "notfound":
            # A code that only repeats the status says nothing more specific than it.
            return answer.status != _MISSING and answer.operation != "llm"
        case "requesttoolarge":
            return answer.operation == "llm"
        case "overloadederror" | "overloaded" | "serviceunavailable" | "internalerror":
            return answer.status < _REDIRECTION
        case _:
            return True


def _has_day_window(answer: Answer) -> bool:
    return answer.wait is not None or "violatedpolicies" in answer.body.text.lower().replace("-", "")


def _by_money(answer: Answer) -> Meaning | None:
    words = answer.fault.words
    if answer.status == _PAYMENT_REQUIRED:
        return Meaning.QUOTA
    if answer.status == _TOO_MANY and answer.operation == "llm" and LIMIT_ZERO.search(words):
        return Meaning.QUOTA
    if answer.status < _SERVER_ERROR and MONEY.search(words) and not RATE_WINDOW.search(words):
        return Meaning.QUOTA
    if answer.status == _TOO_MANY and "limitexceeded" in answer.fault.codes and words.strip() == "limit exceeded":
        # API Gateway: "Limit Exceeded" is the plan's quota, "Too Many Requests" the rate.
        return Meaning.QUOTA
    return None


def _by_model_call(answer: Answer) -> Meaning | None:
    if answer.operation != "llm" or (answer.status >= _SERVER_ERROR):
        return None
    words = answer.fault.words
    if REQUEST_TOO_LARGE.search(words):
        return Meaning.OVERFLOW
    if answer.status == _TOO_MANY:
        return Meaning.SERVICE if CAPACITY.search(words) else None
    if REFUSAL.search(words) and "violate" not in words:
        return Meaning.REFUSAL
    if OVERFLOW.search(words) and not _is_echo(answer):
        return Meaning.OVERFLOW
    if answer.status == _TOO_LARGE and answer.body.kind in {"html", "empty"}:
        return Meaning.OVERFLOW
    if MODEL.search(words) and answer.status in {400, 404, 200, 422}:
        return Meaning.MODEL_NOT_FOUND
    if answer.status == _MISSING and words.startswith("model"):
        # Anthropic's whole message is the name: "model: claude-x".
        return Meaning.MODEL_NOT_FOUND
    return None


def _is_echo(answer: Answer) -> bool:
    """Tell whether overflow words may only be the caller's own text, quoted: a code speaks of something else."""
    return any(
        code in {"invalidvalue", "outofrange", "invalidtype", "stringabovemaxlength"} for code in answer.fault.codes
    )


def _by_throttle(answer: Answer) -> Meaning | None:
    status = answer.status
    if status == _TOO_MANY:
        return Meaning.THROTTLE
    words = answer.fault.words or answer.body.text[:2048].lower()
    if status in {401, 403}:
        has_wait = answer.wait is not None and ("retry-after" in answer.headers or "retry-after-ms" in answer.headers)
        if has_wait or exhausted_bucket(answer.headers) or THROTTLE.search(words):
            return Meaning.THROTTLE
    if status < _REDIRECTION and THROTTLE.search(words):
        return Meaning.THROTTLE
    return Meaning.THROTTLE if status == _UNAVAILABLE and QUEUE_FULL.search(words) else None


def _by_credentials(answer: Answer) -> Meaning | None:
    status, words = answer.status, answer.fault.words
    if status in {401, 407}:
        return Meaning.UNAUTHORIZED
    if status == _FORBIDDEN:
        return Meaning.FORBIDDEN if answer.fault.message and not CREDENTIALS.search(words) else _forbidden(answer)
    if status in {400, 200, 404, 422} and CREDENTIALS.search(words) and answer.status != _MISSING:
        return Meaning.UNAUTHORIZED
    if _REDIRECTION <= status < _CLIENT_ERROR and leads_to_login(answer.headers.get("location", "")):
        return Meaning.UNAUTHORIZED
    if status < _REDIRECTION and "_incapsula_resource" in answer.body.text[:4096].lower():
        return Meaning.FORBIDDEN
    return None


def _forbidden(answer: Answer) -> Meaning:
    return Meaning.FORBIDDEN if answer.body.kind == "html" else Meaning.UNAUTHORIZED


def leads_to_login(location: str) -> bool:
    """Tell whether a redirect leads to a page where a person logs in."""
    target = location[:2048].lower()
    return any(mark in target for mark in ("login", "log-in", "signin", "sign-in", "/auth", "/sso", "oauth"))


def _by_not_found(answer: Answer) -> Meaning | None:
    status = answer.status
    if status not in {404, 410}:
        return None
    words = answer.fault.words
    if answer.operation == "llm":
        return Meaning.SERVICE
    if status == _GONE and ROUTE.search(words):
        return Meaning.SERVICE
    if answer.operation == "write":
        # A write to an address that does not exist is the tool's defect; one that names a missing record is not.
        coded = any(CODES.get(code) is Meaning.NOT_FOUND for code in answer.fault.codes)
        named = answer.body.kind in {"json", "xml"} and "not found" in words and words.strip() != "not found"
        return Meaning.NOT_FOUND if coded or named else Meaning.SERVICE
    return Meaning.NOT_FOUND


def _by_input(answer: Answer) -> Meaning | None:
    if answer.status in {400, 413, 414, 415, 422} and not _is_page_of_service(answer):
        return Meaning.INPUT
    return None


def _is_page_of_service(answer: Answer) -> bool:
    return answer.status == _CLIENT_ERROR and answer.body.kind == "xml" and answer.body.text.startswith("<pre>")


_STEPS: Final[tuple[Callable[[Answer], Meaning | None], ...]] = (
    _by_quirk,
    _by_code,
    _by_money,
    _by_model_call,
    _by_throttle,
    _by_credentials,
    _by_not_found,
    _by_input,
)
