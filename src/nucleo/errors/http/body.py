"""Reading a body: what kind of thing it is, whatever its Content-Type says, and the JSON in it."""

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

Kind = Literal["empty", "json", "xml", "html", "text", "binary"]

READ_LIMIT: Final = 64 * 1024
"""Bytes of a body that are read."""

_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_JSONP: Final = re.compile(r"\s*[\w$.]{1,100}\s*\(")
_PREFIXES: Final = (")]}',", ")]}'", "for(;;);", "while(1);", "/**/")
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NESTING: Final = 4
"""JSON inside a JSON string is followed so deep."""
_BROKEN_FIELD: Final = re.compile(
    r"\"(code|type|message|reason|status|retryDelay|error|detail)\"\s*:\s*\"((?:[^\"\\]|\\.){0,400}+)\""
)
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Body:
    """A body, read.

    Attributes:
        kind: What it is by its looks.
        text: Its text, at most 64 KiB of it; empty for a binary one.
        value: The JSON value; None unless `kind` is ``json``.
        size: Its whole length, in bytes (or characters, when it came as text).
    """

    kind: Kind
    text: str
    value: Any
    size: int

    @property
    def fields(self) -> dict[str, Any] | None:
        """The value when it is an object, else None."""
        value: object = self.value
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def read_body(body: str | bytes, headers: Mapping[str, str]) -> Body:
    """Read a body. Never raises, and looks at no more than 64 KiB.

    Args:
        body: The bytes, or the text somebody decoded already.
        headers: Lower-case headers; only the charset of the Content-Type is used, if anything is.
    """
    text = _decoded(body, headers) if isinstance(body, bytes) else body[:READ_LIMIT]
    size = len(body)
    stripped = text.lstrip("\ufeff \t\r\n\x00")
    if not stripped.strip():
        return Body("empty", "", None, size)
    first = stripped[0]
    if first in '{["':
        value = _json(stripped)
        if value is not _ABSENT:
            return Body("json", stripped, _unwrapped(value, _NESTING), size)
    if first == "<":
        return _markup(stripped, size)
    value = _embedded_json(stripped)
    if value is not _ABSENT:
        return Body("json", stripped, _unwrapped(value, _NESTING), size)
    if _is_binary(stripped):
        return Body("binary", "", None, size)
    broken = _broken_json(stripped)
    if broken:
        return Body("json", stripped, broken, size)
    return Body("text", stripped, None, size)


def _decoded(body: bytes, headers: Mapping[str, str]) -> str:
    part = body[:READ_LIMIT]
    for bom, encoding in _BOMS:
        if part.startswith(bom):
            return part[len(bom) :].decode(encoding, "replace")
    if part[:2] == b"\x1f\x8b":
        # Compressed and nobody unpacked it. Unpacking here would need a bound that the client should have set.
        return "\x00\x01" * 8
    if part[1:2] == b"\x00" and part[3:4] == b"\x00":
        return part.decode("utf-16-le", "replace")
    if part[:1] == b"\x00" and part[2:3] == b"\x00":
        return part.decode("utf-16-be", "replace")
    match = _CHARSET.search(headers.get("content-type", ""))
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return part.decode(match[1] if match else "utf-8", "replace")
    except (LookupError, ValueError):
        return part.decode("utf-8", "replace")


def _json(text: str) -> Any:
    """Parse JSON, also with something behind it; an int of thousands of digits or a nest of lists is no JSON here."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return _ABSENT
    rest = text[end:].lstrip(" \t\r\n,;)")
    if rest[:1] in {"{", "["} and isinstance(value, dict):
        # One JSON value a line: the one that tells of an error is the one that counts.
        for line in rest.splitlines()[:200]:
            try:
                other = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(other, dict) and "error" in other:
                return cast("dict[str, Any]", other)
    return cast("Any", value)


def _embedded_json(text: str) -> Any:
    """Find the JSON behind what guards, wraps or precedes it."""
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return _json(text[len(prefix) :].lstrip())
    if text.startswith(("event:", "data:", "id:", ":")):
        return _event_stream(text)
    match = _JSONP.match(text)
    if match:
        return _json(text[match.end() :].lstrip())
    start = text.find("{")
    if 0 < start < 4096 and ("\n{" in text[: start + 1] or text.startswith(("<br", "Warning", "Notice", "PHP"))):  # noqa: PLR2004 - a few warnings
        return _json(text[start:])
    return _ABSENT


def _event_stream(text: str) -> Any:
    """Take the error event out of server-sent events, else the last event that is JSON."""
    event = ""
    last: Any = _ABSENT
    for line in text.splitlines()[:2000]:
        if line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            value = _json(line[5:].strip())
            if value is _ABSENT:
                continue
            if event == "error" or (isinstance(value, dict) and "error" in value):
                return cast("Any", value)
            last = cast("Any", value)
    return last


def _markup(text: str, size: int) -> Body:
    start = text[:2048].lower()
    if any(mark in start for mark in ("<!doctype html", "<html", "<head", "<body", "<title", "<h1", "<center", "<p>")):
        return Body("html", text, None, size)
    if start.startswith(("<br", "<b>")):
        value = _embedded_json(text[text.find("\n{") + 1 :]) if "\n{" in text else _ABSENT
        brace = text.find("{")
        value = _json(text[brace:]) if value is _ABSENT and brace >= 0 else value
        if value is not _ABSENT:
            return Body("json", text, _unwrapped(value, _NESTING), size)
        return Body("html", text, None, size)
    return Body("xml", text, None, size)


def _unwrapped(value: Any, depth: int) -> Any:
    """Take a value out of a list of one and out of strings that hold JSON, to a fixed depth."""
    while depth > 0:
        depth -= 1
        if isinstance(value, list) and len(cast("list[Any]", value)) == 1:
            value = cast("list[Any]", value)[0]
        elif isinstance(value, str) and value.lstrip()[:1] in {"{", "[", '"'}:
            inner = _json(value.strip())
            if inner is _ABSENT:
                break
            value = inner
        else:
            break
    return cast("Any", value)


def _broken_json(text: str) -> dict[str, str]:
    """Save the telling fields of JSON that was cut or damaged."""
    if text[0] not in '{["':
        return {}
    fields: dict[str, str] = {}
    for match in _BROKEN_FIELD.finditer(text[:8192]):
        fields.setdefault(match[1], match[2].replace('\\"', '"').replace("\\n", " "))
    return fields


def _is_binary(text: str) -> bool:
    sample = text[:512]
    odd = sum(1 for char in sample if (char < " " and char not in "\t\r\n\x1b") or char == "\ufffd")
    return odd * 10 > len(sample)
