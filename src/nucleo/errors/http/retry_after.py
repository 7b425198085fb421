"""How long an answer asks to wait: every form services use, in the order in which they count.

Sources: RFC 9110 (10.2.3 Retry-After, 5.6.7 the three date forms), the IETF draft on RateLimit headers in its older and
newer form, google.rpc.RetryInfo, and the documentation of the services whose home-made headers are listed here.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, cast

from nucleo.errors.http.body import Body, read_body
from nucleo.errors.http.headers import RawHeaders, lower_headers

LONGEST_SECONDS: Final = 10 * 365 * 86_400.0
"""Ten years: a longer wait is nonsense and counts as none."""

_DIGITS: Final = re.compile(r"0{0,64}+[0-9]{1,15}(?:\.[0-9]{1,15})?|0{1,64}(?:\.[0-9]{1,15})?", re.ASCII)
_DURATION: Final = re.compile(r"(?:([0-9]+(?:\.[0-9]+)?)(ms|d|h|m|s))", re.ASCII)
_WHOLE_DURATION: Final = re.compile(r"(?:[0-9]{1,10}(?:\.[0-9]{1,12})?(?:ms|d|h|m|s)){1,5}", re.ASCII)
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?", re.ASCII)
_ITEM: Final = re.compile(r"(?:^|[;,\s])(r|t|remaining|reset)\s*=\s*([0-9.]{1,15})", re.ASCII | re.IGNORECASE)
_EPOCH: Final = 1_000_000_000
_EPOCH_MS_DIGITS: Final = 12
_NEAR_EPOCH: Final = 5 * 365 * 86_400

_OWN_HEADERS: Final = ("x-rate-limit-retry-after-seconds", "x-retry-after", "x-ratelimit-retry-after", "x-retry-in")
_RESETS: Final = re.compile(r"(?:x-)?(?:anthropic-)?rate-?limit-(?:[a-z-]*-)?reset(?:-[a-z-]+)?$|x-rate-limit-reset$")
_LONGEST_NAME: Final = 100
_UNITS: Final = {
    "ms": 0.001,
    "millisecond": 0.001,
    "milliseconds": 0.001,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "second": 1.0,
    "seconds": 1.0,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minute": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hour": 3600.0,
    "hours": 3600.0,
    "d": 86_400.0,
    "day": 86_400.0,
    "days": 86_400.0,
}
_SENTENCE: Final = re.compile(
    r"(?:try again in|retry (?:again )?(?:in|after)|reset(?:s)? (?:after|in)|wait(?: for)?(?: at least)?|available in)"
    r"\s{1,3}(?:about\s|approximately\s)?((?:[0-9]{1,9}(?:\.[0-9]{1,12})?\s?[a-z]{0,12}[ ,]{0,2}(?:and )?){1,4})",
    re.IGNORECASE | re.ASCII,
)
_WAITING: Final = ("try again in", "retry", "reset", "wait", "available in")
_DATE_MARKS: Final = frozenset("-:/")
"""What follows the first number of a date or a time of day, which is no length of time."""
_PART: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?)\s?([a-z]{0,12})", re.IGNORECASE | re.ASCII)

_BODY_SECONDS: Final = (
    "retry_after",
    "retryAfter",
    "retry_after_seconds",
    "retryAfterSeconds",
    "retry_after_secs",
    "retryAfterSecs",
    "estimated_time",
)
_BODY_MS: Final = ("retry_after_ms", "retryAfterMs", "retryAfterMilliseconds")
_BODY_NESTS: Final = ("error", "details", "parameters", "detail", "extensions", "meta", "metadata", "data")
_BODY_KNOWN: Final = frozenset({"retryDelay", *_BODY_SECONDS, *_BODY_MS, *_BODY_NESTS})
_DEPTH: Final = 4


def parse_retry_after(
    headers: RawHeaders | None,
    *,
    now: datetime | float | None = None,
    body: Body | str | bytes | None = None,
    milliseconds: bool = False,
) -> float | None:
    """Find how long an answer asks to wait. Never raises.

    The first form that yields a number wins: the millisecond headers, Retry-After, fields of the body, reset headers of
    a bucket that is exhausted (of several the longest), and last the words of the message.

    Args:
        headers: Headers as a mapping or as pairs, names in any case.
        now: When the answer came: an aware datetime or seconds since 1970. The answer's own ``Date`` counts before it;
            None for this moment.
        body: The body, when it may say something.
        milliseconds: The service's Retry-After is known to be in milliseconds.

    Returns:
        Seconds, 0 for a moment that has passed; None when nothing was asked for.
    """
    names = lower_headers(headers)
    moment = _moment(names, now)
    wait = _from_headers(names, moment, milliseconds=milliseconds)
    if wait is None and body is not None:
        read = body if isinstance(body, Body) else read_body(body, names)
        wait = wait_in_value(read.value) if read.value is not None else None
        if wait is None:
            wait = _from_resets(names, moment)
        if wait is None:
            wait = wait_in_words(message_text(read))
        return wait
    return wait if wait is not None else _from_resets(names, moment)


def _moment(headers: Mapping[str, str], now: datetime | float | None) -> float:
    date = _http_date(headers.get("date", ""))
    if date is not None:
        return date
    if isinstance(now, datetime):
        return now.timestamp()
    return datetime.now(UTC).timestamp() if now is None else float(now)


def _from_headers(headers: Mapping[str, str], now: float, *, milliseconds: bool) -> float | None:
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        wait = _number(headers.get(name, ""))
        if wait is not None:
            return _sane(wait / 1000)
    value = headers.get("retry-after")
    if value is not None:
        wait = _number(value)
        if wait is not None:
            return _sane(wait / 1000) if milliseconds else _delta_or_epoch(wait, now)
        date = _http_date(value)
        if date is not None:
            return _sane(max(0.0, date - now))
    for name in _OWN_HEADERS:
        wait = _number(headers.get(name, ""))
        if wait is not None:
            return _sane(wait)
    return None


def _delta_or_epoch(value: float, now: float) -> float | None:
    """Read a whole number of seconds, which some services write as the moment itself."""
    if value >= _EPOCH and abs(value - now) < _NEAR_EPOCH:
        return _sane(max(0.0, value - now))
    return _sane(value)


def _number(text: str) -> float | None:
    text = text.strip(" \t")
    return float(text) if _DIGITS.fullmatch(text) else None


def _sane(wait: float) -> float | None:
    return wait if math.isfinite(wait) and 0 <= wait <= LONGEST_SECONDS else None


def _http_date(text: str) -> float | None:
    """Read an HTTP date in any of its three forms, with the liberties that servers take."""
    text = text.strip()
    if not 10 < len(text) < 64 or not text.isascii() or not text[:3].isalpha():  # noqa: PLR2004 - no date is shorter or longer
        return None
    try:
        parsed = parsedate_to_datetime(text)
        year = _two_digit_year(text)
        if year is not None and parsed.year != year:
            parsed = parsed.replace(year=year)
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=UTC)
        return parsed.timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None


def _two_digit_year(text: str) -> int | None:
    """Of a two-digit year more than 50 years ahead RFC 9110 says that it lies in the past century."""
    match = re.search(r"-[A-Za-z]{3}-(\d\d) ", text)
    if match is None:
        return None
    this = datetime.now(UTC).year
    year = this // 100 * 100 + int(match[1])
    return year - 100 if year > this + 50 else year


def _from_resets(headers: Mapping[str, str], now: float) -> float | None:
    """Read the resets of buckets that are exhausted; a bucket with something left says nothing."""
    waits = [*_from_draft(headers)]
    for name, value in headers.items():
        if "reset" in name and len(name) <= _LONGEST_NAME and _RESETS.fullmatch(name) and _is_exhausted(name, headers):
            wait = _reset_value(value, now)
            if wait is not None:
                waits.append(wait)
    return max(waits, default=None)


def _is_exhausted(reset: str, headers: Mapping[str, str]) -> bool:
    # `x-ratelimit-reset-after` is of the bucket `x-ratelimit-remaining`.
    bucket = headers.get(reset.removesuffix("-after").replace("reset", "remaining"))
    return bucket is not None and _number(bucket) == 0


def exhausted_bucket(headers: Mapping[str, str]) -> bool:
    """Tell whether the headers (lower-case names) show a bucket that has nothing left."""
    if any("remaining" in name and _number(value) == 0 and "limit" in name for name, value in headers.items()):
        return True
    return bool(_from_draft(headers))


def _from_draft(headers: Mapping[str, str]) -> list[float]:
    waits: list[float] = []
    for policy in headers.get("ratelimit", "")[:4096].split(","):
        items = {match[1].lower()[:3]: match[2] for match in _ITEM.finditer(policy)}
        remaining = items.get("r", items.get("rem"))
        wait = _number(items.get("t", items.get("res", "")))
        if remaining is not None and _number(remaining) == 0 and wait is not None:
            waits.append(wait)
    if not waits and "remaining" in headers.get("ratelimit", ""):
        whole = {match[1].lower(): match[2] for match in _ITEM.finditer(headers["ratelimit"])}
        wait = _number(whole.get("reset", ""))
        if _number(whole.get("remaining", "")) == 0 and wait is not None:
            waits.append(wait)
    return waits


def _reset_value(text: str, now: float) -> float | None:
    text = text.strip()
    number = _number(text)
    if number is not None:
        whole = text.partition(".")[0].lstrip("0")
        if len(whole) >= _EPOCH_MS_DIGITS:
            return _sane(max(0.0, number / 1000 - now))
        return _sane(max(0.0, number - now)) if number >= _EPOCH else _sane(number)
    duration = read_duration(text)
    if duration is not None:
        return duration
    moment = _instant(text)
    return None if moment is None else _sane(max(0.0, moment - now))


def read_duration(text: str) -> float | None:
    """Read a duration such as ``6m0s``, ``34.07s`` or ``120ms`` in seconds; None for anything else."""
    text = text.strip()
    if not _WHOLE_DURATION.fullmatch(text):
        return None
    return _sane(sum(float(amount) * _UNITS[unit] for amount, unit in _DURATION.findall(text)))


def _instant(text: str) -> float | None:
    if _ISO.fullmatch(text):
        try:
            parsed = datetime.fromisoformat(text)
        except ValueError:
            return None
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return _http_date(text)


def wait_in_value(value: Any, depth: int = _DEPTH) -> float | None:
    """Find the wait in the known fields of a JSON body, in seconds."""
    if depth == 0:
        return None
    if isinstance(value, list):
        return next(
            (w for item in cast("list[Any]", value)[:20] if (w := wait_in_value(item, depth - 1)) is not None), None
        )
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    # By what is there, not by what might be: an error may list hundreds of objects.
    known = _BODY_KNOWN.intersection(fields)
    if not known:
        return None
    wait = _own_wait(fields, known)
    if wait is not None:
        return wait
    for name in _BODY_NESTS:
        wait = wait_in_value(fields[name], depth - 1) if name in known else None
        if wait is not None:
            return wait
    return None


def _own_wait(fields: dict[str, Any], known: frozenset[str]) -> float | None:
    wait = _retry_delay(fields.get("retryDelay"))
    for names, scale in ((_BODY_MS, 0.001), (_BODY_SECONDS, 1.0)):
        for name in names:
            if wait is None and name in known:
                wait = _field_seconds(fields[name], scale)
    return wait


def _field_seconds(value: Any, scale: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _sane(float(value) * scale) if abs(value) < 1e15 else None  # noqa: PLR2004 - no float loses that
    if not isinstance(value, str):
        return None
    number = _number(value)
    return _sane(number * scale) if number is not None else read_duration(value)


def _retry_delay(value: Any) -> float | None:
    """Read google.rpc.RetryInfo.retryDelay: ``34.07s`` or seconds and nanos."""
    if isinstance(value, str):
        return read_duration(value)
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        amounts = [_field_seconds(parts.get("seconds", 0), 1.0), _field_seconds(parts.get("nanos", 0), 1e-9)]
        return None if None in amounts else sum(part for part in amounts if part is not None)
    return None


def message_text(body: Body) -> str:
    """Give the part of a body in which a wait may be said in words."""
    return body.text[:8192] if body.kind in {"json", "text", "xml"} else ""


def wait_in_words(text: str) -> float | None:
    """Find ``try again in 1.2s`` and its kin, in seconds."""
    match = None
    lower = text.lower()
    for hint in _WAITING:
        if hint in lower:
            match = _SENTENCE.search(text)
            break
    if match is None or text[match.end() : match.end() + 1] in _DATE_MARKS:
        return None
    total, found = 0.0, False
    for amount, unit in _PART.findall(match[1]):
        word = unit.lower()
        scale = _UNITS.get(word, 1.0 if not word else None)
        if scale is None:
            break
        total += float(amount) * scale
        found = True
        if not word:
            break
    return _sane(total) if found else None
