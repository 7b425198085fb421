"""What a model is told of a body: the message, not the page.

From a 4xx the service's own message is quoted, as what it said, with its code and the fields it is about. From a 5xx
and from unknown shapes: the request's id, and the message only when a known shape has a short, clean one.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from nucleo.errors.http.body import Body
from nucleo.errors.http.fault import Fault, read_fault
from nucleo.errors.http.headers import request_id
from nucleo.errors.http.wording import clean_lines, is_internal, one_line
from nucleo.errors.text import cut

LIMIT: Final = 1_000
"""Characters of all that is told of a body."""
PART_LIMIT: Final = 400
"""Characters of any one message in it."""
DETAILS: Final = 8
_SHORT: Final = 200
_SERVER_ERROR: Final = 500
_ALLOWED: Final = ("allowed", "allowed_values", "expected", "enum", "supported", "valid_values")
_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{1,600})", re.IGNORECASE)
_HEADING: Final = re.compile(r"<h[12][^>]{0,200}>((?:[^<]|<(?!/h[12])){1,600})", re.IGNORECASE)
_PARAGRAPH: Final = re.compile(r"<p[^>]{0,200}>((?:[^<]|<(?!/p)){1,600})", re.IGNORECASE)
_REQUEST_KEYS: Final = ("request_id", "requestId", "RequestId", "request-id", "correlation_id", "correlationId")
_WORTHLESS: Final = frozenset({"ok", "success", "done", "true", "false", "null", "none"})

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
    if body.kind == "empty":
        return _with_id(EMPTY, trace)
    if body.kind == "binary":
        return _with_id(f"the answer was not text ({body.size:,} bytes)", trace)
    if body.kind == "html":
        return cut(_with_id(_page(body.text, secrets, quote=quote), trace), limit)
    fault = fault or read_fault(body, headers)
    text = _quoted(fault, body, secrets, limit) if quote else _plain(fault, secrets)
    return cut(_with_id(text, trace), limit)


def _quoted(fault: Fault, body: Body, secrets: tuple[str, ...], limit: int) -> str:
    texts = [_outside(text) for text in (fault.message, *fault.details[:DETAILS])]
    code, allowed = fault.code, _allowed_values(body.value)
    *lines, code, allowed = clean_lines([*texts, code, allowed], secrets=secrets)
    message, *details = [cut(line.replace('"', "'"), PART_LIMIT) for line in lines]
    details = [line for line in details if line and line != message]
    if not message and not details:
        return f"no message, only the code {code}" if code else _compact(body, secrets, limit)
    if message.lower().strip(".!") in _WORTHLESS:
        message = ""
    parts = [f'"{message}"'] if message else []
    if details:
        parts.append("; ".join(f'"{line}"' for line in details))
    if code and len(code) <= PART_LIMIT and code.lower() not in message.lower():
        parts.append(f"(code {code})")
    if allowed:
        parts.append(f"(allowed: {allowed})")
    return " ".join(parts) or "no reason was given"


def _plain(fault: Fault, secrets: tuple[str, ...]) -> str:
    """Tell of a broken service: its own word only when it is short and of no inside."""
    raw = fault.message
    if raw and len(raw) <= _SHORT and not is_internal(raw):
        message = one_line(raw, secrets=secrets)
        masked = any(mark in message for mark in ("[masked]", "[path]", "[host]", "[link]"))
        suspicious = any(mark in message for mark in ("{", "}", "=", "<", ">", "::", "instruction", "()"))
        if message and not masked and not suspicious and message.lower().strip(".!") not in _WORTHLESS and fault.code:
            return f'"{message}"'
    return "it gave no reason that helps"


def _outside(text: str) -> str:
    """Give what of a message is not of the service's inside: of a stack under a 4xx its last line may stay."""
    if not is_internal(text):
        return text
    lines = text.strip().splitlines()
    return "" if len(lines) < 2 or is_internal(lines[-1]) else lines[-1]  # noqa: PLR2004 - one line has no last line


def _page(text: str, secrets: tuple[str, ...], *, quote: bool) -> str:
    found: list[str] = []
    title = _TITLE.search(text[:32_768])
    heading = _HEADING.search(text[:32_768])
    paragraph = _PARAGRAPH.search(text[:32_768]) if quote else None
    for match in (title, heading, paragraph):
        if match is not None and not is_internal(match[1]):
            line = cut(one_line(match[1], secrets=secrets).replace('"', "'"), _SHORT)
            if line and not any(line in each or each in line for each in found):
                found.append(line)
    if not quote:
        found = found[:1]
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


def _pruned(value: Any, depth: int) -> Any:
    """Take out of an unknown value what is somebody's request, environment or inside, and what is too deep."""
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        dropped = {"request", "headers", "env", "environment", "trace", "stack", "traceback", "stacktrace", "config"}
        return {key: _pruned(item, depth - 1) for key, item in list(fields.items())[:10] if key.lower() not in dropped}
    if isinstance(value, list):
        return [_pruned(item, depth - 1) for item in cast("list[Any]", value)[:10]]
    if isinstance(value, str):
        return "" if is_internal(value) else value[:300]
    return value


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
    return "" if found is None else cut(one_line(found), 80)


def _with_id(text: str, trace: str) -> str:
    return f"{text} (request id {trace})" if trace and trace != "[masked]" else text
