"""What a model is told of a body: the message, not the page.

From a 4xx the service's own message is quoted, as what it said, with its code and the fields it is about. From a 5xx
and from unknown shapes: the request's id, and the message only when a known shape has a short, clean one.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from nucleo.errors.http.body import Body
from nucleo.errors.http.fault import Fault, read_fault
from nucleo.errors.http.headers import request_id
from nucleo.errors.http.inside import is_internal
from nucleo.errors.http.page import lines_of
from nucleo.errors.http.wording import clean_lines, one_line
from nucleo.errors.secret_names import MASK, personal_name, secret_name
from nucleo.errors.text import cut

LIMIT: Final = 1_000
"""Characters of all that is told of a body."""
PART_LIMIT: Final = 400
"""Characters of any one message in it."""
DETAILS: Final = 8
_SHORT: Final = 200
_SERVER_ERROR: Final = 500
_ALLOWED: Final = ("allowed", "allowed_values", "expected", "enum", "supported", "valid_values")
_REQUEST_KEYS: Final = ("request_id", "requestId", "RequestId", "request-id", "correlation_id", "correlationId")
# A failed call is never told to have succeeded, whatever its body says.
_WORTHLESS: Final = frozenset(
    {"ok", "success", "successful", "succeeded", "done", "completed", "created", "accepted", "true", "false", "null"}
    | {"none", "undefined", "error", "failed", "failure", "fail", "nil", "0", "1", "{}", "[]"}
)
_LOOKED_AT: Final = 800
"""Characters of any one message that are cleaned and masked; twice what is shown of it."""
_LAST_WORD: Final = 300
"""Characters before that in which the last whole word is looked for."""
_IDENTIFIER: Final = re.compile(r"[\w.:/=+@-]{1,120}", re.ASCII)
_CLASS: Final = re.compile(r"\b(?:[a-z]\w{0,40}+\.){2,8}+([A-Z]\w{0,80}(?:Exception|Error))(?::\s?|\b)")
_SENTENCES: Final = re.compile(r"(?<=[.;:!?])\s+")
_STATUS_WORDS: Final = (
    *(
        "bad gateway",
        "unavailable",
        "gateway time",
        "server error",
        "unknown error",
        "timed out",
        "timeout",
        "time-out",
    ),
    *("unreachable", "ssl certificate", "handshake", "maintenance", "too many requests", "overload", "not responding"),
    *("server is down", "could not be satisfied", "capacity", "not implemented", "insufficient storage", "busy"),
)
"""What a page of a broken service may say of itself; anything else in its title is not passed on."""

EMPTY: Final = "the answer was empty"
WEB_PAGE: Final = "a web page"


def said_of(
    body: Body,
    *,
    status_code: int,
    headers: Mapping[str, str],
    operation: str = "fetch",
    secrets: Iterable[str] = (),
    limit: int = LIMIT,
    fault: Fault | None = None,
    quote: bool | None = None,
) -> str:
    """Say what an answer said, for a reader who must act. Never raises.

    Args:
        body: The body, read.
        status_code: The status of the answer.
        headers: Headers with lower-case names.
        operation: What was being done.
        secrets: What the caller itself sent to prove who it is, masked wherever it comes back.
        limit: Characters that are told.
        fault: What `read_fault` found in the body, when somebody has read it already.
        quote: Whether the service's own words are quoted; None to tell by the status.
    """
    del operation
    secrets = tuple(secrets)
    if quote is None:
        quote = status_code < _SERVER_ERROR
    trace = _trace_id(body, headers)
    if body.kind == "binary":
        return _with_id(f"the answer was not text ({body.size:,} bytes)", trace)
    if body.kind == "html":
        return cut(_with_id(_page(body.text, secrets, quote=quote), trace), limit)
    fault = fault or read_fault(body, headers)
    if body.kind == "empty" and not fault.message:
        text = _empty(fault, secrets, quote=quote)
    else:
        text = _quoted(fault, body, secrets, limit) if quote else _plain(fault, secrets)
    return cut(_with_id(text, trace), limit)


def _empty(fault: Fault, secrets: tuple[str, ...], *, quote: bool) -> str:
    """Tell of an answer without a body; some services put a code, or even their message, in a header alone."""
    code = one_line(fault.code, secrets=secrets) if quote else ""
    return f"{EMPTY} (code {code})" if code else EMPTY


def _quoted(fault: Fault, body: Body, secrets: tuple[str, ...], limit: int) -> str:
    texts = _outside_lines(_told(fault, limit))
    code, allowed = fault.code, _allowed_values(body.value)
    *lines, code, allowed = clean_lines([*texts, code, allowed], secrets=secrets)
    # Of the details only as many were looked at as can be told.
    message, *details = [_line(line, raw) for line, raw in zip(lines, (fault.message, *fault.details), strict=False)]
    details = [line for line in details if line and line != message and not _is_worthless(line)]
    if not message and not details:
        return _without_message(code, body, secrets, limit)
    if _is_worthless(message):
        message = ""
        if not details:
            return _without_message(code, body, secrets, 0)
    parts = [f'"{message}"'] if message else []
    if details:
        parts.append("; ".join(f'"{line}"' for line in details))
    if code and len(code) <= PART_LIMIT and code.lower() not in message.lower():
        parts.append(f"(code {code})")
    if allowed:
        parts.append(f"(allowed: {allowed})")
    return " ".join(parts)


def _without_message(code: str, body: Body, secrets: tuple[str, ...], limit: int) -> str:
    if code and not _is_worthless(code):
        return f"no message, only the code {code}"
    return _compact(body, secrets, limit) if limit and not code else "no reason was given"


def _is_worthless(text: str) -> bool:
    return text.lower().strip(".! ") in _WORTHLESS


def _told(fault: Fault, limit: int) -> list[str]:
    """Take as many of the messages as can be told, each no longer than need be looked at."""
    told = [_beginning(fault.message)]
    total = len(told[0])
    for detail in fault.details[:DETAILS]:
        if total > limit:
            break
        told.append(_beginning(detail))
        total += len(detail)
    return told


def _beginning(text: str) -> str:
    if len(text) <= _LOOKED_AT:
        return text
    # The word at the end is dropped whole: half a secret matches no mask.
    end = text.rfind(" ", _LOOKED_AT - _LAST_WORD, _LOOKED_AT)
    return text[: end if end > 0 else _LOOKED_AT - _LAST_WORD]


def _line(line: str, raw: str) -> str:
    if '"' in line:
        line = line.replace('"', "'")
    return line if len(line) <= PART_LIMIT else cut(line, PART_LIMIT, len(raw))


def _outside_lines(texts: list[str]) -> list[str]:
    if not is_internal("\n".join(texts) if len(texts) > 1 else texts[0]):
        return texts
    return [_outside(text) for text in texts]


def _plain(fault: Fault, secrets: tuple[str, ...]) -> str:
    """Tell of a broken service: its own word only when it is short and of no inside."""
    raw = fault.message
    if raw and len(raw) <= _SHORT and fault.code and not is_internal(raw):
        message = one_line(raw, secrets=secrets)
        plain = message.lower()
        kept = not any(mark in plain for mark in _SUSPICIOUS)
        if message and kept and not _is_worthless(plain):
            return f'"{message.replace(chr(34), chr(39))}"'
    return "it gave no reason that helps"


_SUSPICIOUS: Final = (
    *("[masked]", "[path]", "[host]", "[link]", "{", "}", "=", "<", ">", "::", "()", "instruction", "prompt", "ignore"),
    *("assistant", "success", "exception", "null pointer", "nullpointer", "undefined", "errno", "econn", "password"),
)


def _outside(text: str) -> str:
    """Give what of a message is not of the service's inside; of a stack the line that says what was wrong may stay."""
    if not is_internal(text):
        return text
    text = _CLASS.sub("", text)
    lines = [line for line in text.strip().splitlines() if line.strip() and not is_internal(line)]
    if "traceback (most" in text.lower():
        # The frames of Python precede what happened, and have the text of their lines beneath.
        last = text.strip().splitlines()[-1]
        return "" if is_internal(last) else last
    if len(lines) > 1 or "\n" in text.strip():
        return lines[0] if lines else ""
    return " ".join(part for part in _SENTENCES.split(text) if part and not is_internal(part))


def _page(text: str, secrets: tuple[str, ...], *, quote: bool) -> str:
    lines = lines_of(text)
    if not quote:
        lines = [line for line in lines[:1] if any(word in line.lower() for word in _STATUS_WORDS)]
    found: list[str] = []
    for line in clean_lines([line for line in lines if not is_internal(line)], secrets=secrets) if lines else ():
        short = cut(line.replace('"', "'"), _SHORT)
        if short and not any(short in each or each in short for each in found):
            found.append(short)
    if not found:
        return WEB_PAGE
    quoted = "; ".join(f'"{line}"' for line in found)
    return f"{WEB_PAGE} that says {quoted}"


def _compact(body: Body, secrets: tuple[str, ...], limit: int) -> str:
    """Show JSON of an unknown shape compactly."""
    if body.kind != "json" or body.value in ({}, [], None, ""):
        return "no reason was given"
    try:
        text = json.dumps(_pruned(body.value, 4), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "no reason was given"
    line = one_line(text, secrets=secrets).replace('"', "'")
    return f'"{cut(line, min(limit, PART_LIMIT))}"'


_DROPPED: Final = frozenset(
    {"request", "headers", "env", "environment", "trace", "stack", "traceback", "stacktrace", "config", "settings"}
    | {"debug", "server", "host", "hostname", "sql", "innererror", "cookies", "locals", "input"}
)


def _pruned(value: Any, depth: int) -> Any:
    """Take out of an unknown value what is somebody's request, environment, secret or inside, and what is too deep."""
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return dict(_pruned_fields(cast("dict[str, Any]", value), depth))
    if isinstance(value, list):
        return [_pruned(item, depth - 1) for item in cast("list[Any]", value)[:10]]
    if isinstance(value, str):
        return "" if is_internal(value) else value[:300]
    return value


def _pruned_fields(fields: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for key, item in list(fields.items())[:10]:
        name = key.strip()[:80]
        if name.lower() in _DROPPED or personal_name(name):
            continue
        if isinstance(item, str) and secret_name(name) == "weak":
            # A `key` may be the one that was not found; the masks judge it by its look.
            yield name, _pruned(item, depth - 1)
        else:
            yield name, MASK if secret_name(name) == "strong" else _pruned(item, depth - 1)


def _allowed_values(value: Any, depth: int = 3) -> str:
    if depth == 0 or not isinstance(value, dict):
        return ""
    fields = cast("dict[str, Any]", value)
    for name in _ALLOWED:
        if isinstance(fields.get(name), list):
            values = [str(item) for item in cast("list[Any]", fields[name])[:12] if isinstance(item, str | int | float)]
            if values:
                return ", ".join(values)
    return next((text for item in fields.values() if (text := _allowed_values(item, depth - 1))), "")


def _trace_id(body: Body, headers: Mapping[str, str]) -> str:
    found = request_id(headers)
    fields = body.fields
    if found is None and fields is not None:
        found = next((str(fields[key]) for key in _REQUEST_KEYS if isinstance(fields.get(key), str)), None)
    return found if found is not None and _IDENTIFIER.fullmatch(found) else ""


def _with_id(text: str, trace: str) -> str:
    return f"{text} (request id {trace})" if trace else text
