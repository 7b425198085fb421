"""What an answer means: one function for each kind of evidence, and the order in which they are asked.

The order is in the docstring of `nucleo.errors.http.mapping`.
"""

import re
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
from nucleo.errors.http.quirk import Quirk
from nucleo.errors.http.retry_after import exhausted_bucket

# Whole words of a path or a host: /authors is a place like any other.
_LOGIN: Final = re.compile(
    r"(?:^|[/.?&=_-])(?:log[-_]?in|sign[-_]?in|auth|oauth2?|sso|saml2?|openid|authorize|authenticate)(?![a-z])"
)
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
    return found


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
        if code in _SHARED and not _SHARED[code](answer):
            continue
        return found
    return None


def _is_quota(answer: Answer) -> bool:
    """Tell whether a code of quota means money: beside a short window, or with a wait under 429, it means a rate."""
    if answer.status != _TOO_MANY:
        return True
    # RFC 9457 problem types name the windows that were exceeded, which all pass.
    has_window = answer.wait is not None or "violated-policies" in answer.body.text[:4096].lower()
    return not has_window and not RATE_WINDOW.search(answer.fault.words)


def _is_rate(answer: Answer) -> bool:
    return not (answer.operation == "llm" and REQUEST_TOO_LARGE.search(answer.fault.words))


def _is_under_good(answer: Answer) -> bool:
    return answer.status < _REDIRECTION


# Codes that services use for different things, each with what it holds beside.
_SHARED: Final[dict[str, Callable[[Answer], bool]]] = {
    "quotaexceeded": _is_quota,
    "insufficientquota": _is_quota,
    "ratelimitexceeded": _is_rate,
    # A code that only repeats the status says nothing more specific than it.
    "notfound": lambda answer: answer.status != _MISSING,
    "overloadederror": _is_under_good,
    "overloaded": _is_under_good,
    "serviceunavailable": _is_under_good,
    "internalerror": _is_under_good,
}


def _by_money(answer: Answer) -> Meaning | None:
    status, words = answer.status, answer.fault.words
    if status == _PAYMENT_REQUIRED:
        return Meaning.QUOTA
    if status >= _SERVER_ERROR:
        return None
    if status == _TOO_MANY and _is_allowance(answer):
        return Meaning.QUOTA
    if not words or RATE_WINDOW.search(words) or _is_rule(answer):
        return None
    if MONEY.search(words):
        return Meaning.QUOTA
    # The allowance of a day with a stated reset is a throttle with a long wait; without one it is money.
    return Meaning.QUOTA if answer.wait is None and ALLOWANCE.search(words) else None


def _is_allowance(answer: Answer) -> bool:
    codes, words = answer.fault.codes, answer.fault.words
    if answer.operation == "llm" and LIMIT_ZERO.search(words):
        return True
    if "limitexceeded" in codes and words.strip() == "limit exceeded":
        # API Gateway: "Limit Exceeded" is the plan's quota, "Too Many Requests" the rate.
        return True
    return answer.wait is None and any(code.startswith("generate") and "perday" in code for code in codes)


def _is_rule(answer: Answer) -> bool:
    """Tell whether an answer is about a rule for the input: then its words about limits are what the rule is about."""
    if answer.status not in _ABOUT_INPUT:
        return False
    return bool(answer.fault.fields) or DEMAND.search(answer.fault.words)


_ABOUT_INPUT: Final = frozenset({400, 403, 404, 409, 413, 414, 415, 422})


def _by_model_call(answer: Answer) -> Meaning | None:
    if answer.operation != "llm" or answer.status >= _SERVER_ERROR:
        return None
    words = answer.fault.words
    if REQUEST_TOO_LARGE.search(words):
        return Meaning.OVERFLOW
    if answer.status == _TOO_MANY:
        return Meaning.SERVICE if CAPACITY.search(words) else None
    if REFUSAL.search(words) and not ACCOUNT_BLOCKED.search(words):
        return Meaning.REFUSAL
    if OVERFLOW.search(words) and not _is_echo(answer):
        return Meaning.OVERFLOW
    if answer.status == _TOO_LARGE and answer.body.kind in {"html", "empty"}:
        return Meaning.OVERFLOW
    return Meaning.MODEL_NOT_FOUND if _is_unknown_model(answer) else None


def _is_unknown_model(answer: Answer) -> bool:
    words, fields = answer.fault.words, answer.fault.fields
    if answer.status not in {200, 400, 403, 404, 422} or (fields and "model" not in fields):
        return False
    if MODEL.search(words):
        return True
    # The whole of some messages is the name: "model: claude-x".
    return answer.status == _MISSING and ("model" in words or "deployment" in words) and not ROUTE.search(words)


_ECHOING: Final = frozenset({"invalidvalue", "outofrange", "invalidtype", "stringabovemaxlength"})


def _is_echo(answer: Answer) -> bool:
    """Tell whether overflow words may only be the caller's own text, quoted: a code speaks of something else."""
    return not _ECHOING.isdisjoint(answer.fault.codes)


def _by_throttle(answer: Answer) -> Meaning | None:
    status = answer.status
    if status == _TOO_MANY:
        return Meaning.THROTTLE
    words = answer.fault.words or answer.body.text[:2048].lower()
    if status in {401, 403}:
        has_wait = answer.wait is not None and ("retry-after" in answer.headers or "retry-after-ms" in answer.headers)
        if has_wait or exhausted_bucket(answer.headers) or (THROTTLE.search(words) and not _is_rule(answer)):
            return Meaning.THROTTLE
    if status < _REDIRECTION and THROTTLE.search(words):
        return Meaning.THROTTLE
    return Meaning.THROTTLE if status == _UNAVAILABLE and QUEUE_FULL.search(words) else None


def _by_quirk_of_status(answer: Answer) -> Meaning | None:
    return None if answer.quirk is None else answer.quirk.statuses.get(answer.status)


def _by_credentials(answer: Answer) -> Meaning | None:
    status, words = answer.status, answer.fault.words
    if status in {401, 407}:
        return Meaning.UNAUTHORIZED
    if status == _FORBIDDEN:
        return Meaning.FORBIDDEN if answer.fault.message and not CREDENTIALS.search(words) else _forbidden(answer)
    if status in {200, 400, 422} and not answer.fault.fields and CREDENTIALS.search(words):
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
    return _LOGIN.search(location[:2048].lower()) is not None


def _by_coarse_code(answer: Answer) -> Meaning | None:
    """Under a good status the coarse codes are all there is."""
    if answer.status >= _REDIRECTION:
        return None
    return next((found for code in answer.fault.codes if (found := coarse_meaning(code)) is not None), None)


def _by_not_found(answer: Answer) -> Meaning | None:
    if answer.status not in {_MISSING, _GONE}:
        return None
    words = answer.fault.words or answer.body.text[:4096].lower()
    if answer.operation == "llm" or ROUTE.search(words):
        return Meaning.SERVICE
    if answer.operation == "write":
        # A write to an address that does not exist is the tool's defect; one that names a missing record is not.
        coded = any(meaning_of_code(code) is Meaning.NOT_FOUND for code in answer.fault.codes)
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
    _by_quirk_of_status,
    _by_credentials,
    _by_coarse_code,
    _by_not_found,
    _by_input,
)
