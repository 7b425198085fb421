"""What an error body says: its codes, its message, and which field it is about.

One reader for the shapes that services use: RFC 9457, ``{"error": {...}}``, ``{"errors": [...]}`` of JSON:API and
GraphQL, FastAPI's ``detail`` list, Google, AWS, Azure and OData, PubChem's ``Fault``, Salesforce's list, OAuth,
Elasticsearch, Kubernetes, Okta, Atlassian, and XML faults. Mapping takes the codes from it, the wording the message.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, cast
from urllib.parse import unquote

from nucleo.errors.http.body import Body
from nucleo.errors.http.members import CODE_LIMIT, CODE_RANK, CODE_SHAPE, Parts, about_of, canonical, sorted_out

_DEPTH: Final = 6
_ITEMS: Final = 8
_XML_ELEMENT: Final = re.compile(
    r"<(?:[\w-]{1,40}:)?(code|message|faultstring|faultcode|value|description|reason|error|text|subcode|errortext|exception)"
    r"\b[^>]{0,200}>([^<]{1,4000}|<!\[CDATA\[.{1,4000}?\]\]>)</?",
    re.IGNORECASE | re.DOTALL,
)
_YAML_LINE: Final = re.compile(r"^\s*(message|error|detail|code):[ \t]+(\S.{0,500})$", re.MULTILINE)
_WORD: Final = re.compile(r"[^a-z0-9]+")
_SPOKEN_CODE: Final = re.compile(r"([A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8})(?:\s?:|\.?$)")
"""A code where a message belongs, as Firebase writes it: ``EMAIL_NOT_FOUND`` or ``INVALID_EMAIL : why``."""
_CHALLENGE: Final = re.compile(r"\berror=\"?([\w.-]{1,60})")


@dataclass
class Fault:
    """What an answer says of its own failure.

    Attributes:
        codes: Its codes, normalised to lower-case letters and digits, the most specific first.
        message: Its main message; empty when there is none.
        details: Further messages, with the fields they are about.
        fields: Fields it is about.
        code: The first code as it was written, for a reader.
    """

    codes: list[str] = field(default_factory=list[str])
    message: str = ""
    details: list[str] = field(default_factory=list[str])
    fields: list[str] = field(default_factory=list[str])
    code: str = ""

    @cached_property
    def words(self) -> str:
        """Everything it says, in lower case; to be asked for when the reading is done."""
        return " ".join([self.message, *self.details]).lower()


def read_fault(body: Body, headers: Mapping[str, str]) -> Fault:
    """Read what an answer says of its failure. Never raises.

    Args:
        body: The body, read.
        headers: Headers with lower-case names.
    """
    fault = Fault()
    _from_headers(fault, headers)
    if body.kind == "json":
        _from_value(fault, body.value, _DEPTH)
        if not fault.message and _is_field_map(body.value):
            _from_list(fault, body.value, 1)
    elif body.kind == "xml":
        _from_xml(fault, body.text)
    elif body.kind == "text":
        _from_text(fault, body.text)
    _from_last_headers(fault, headers)
    return fault


def say_more(fault: Fault, body: Body, places: Iterable[str]) -> None:
    """Read the members in which one service alone puts its message; `places` names them as `canonical` does."""
    members: Any = body.value
    if isinstance(members, dict):
        for name, value in cast("dict[str, Any]", members).items():
            if isinstance(value, str) and canonical(name) in places:
                _say(fault, value)


def normal_code(code: object) -> str:
    """Bring a code to one form: ``com.amazonaws.x#ThrottlingException`` and ``throttling`` are the same."""
    return _normal(str(code)[:CODE_LIMIT])


@lru_cache(maxsize=1024)
def _normal(text: str) -> str:
    if text[:1] == "-" and text[1:].isdigit():
        return text
    text = (
        text.rpartition("#")[2].partition(":")[0]
        if "://" not in text
        else text.rstrip("/").rpartition("/")[2].rpartition("#")[2]
    )
    plain = _WORD.sub("", text.lower())
    return plain.removesuffix("exception") or plain


def _from_headers(fault: Fault, headers: Mapping[str, str]) -> None:
    for name in _CODE_HEADERS:
        if name in headers:
            _add_code(fault, headers[name].strip("[] ").partition(" ")[0])
    if "x-amzn-query-error" in headers:
        _add_code(fault, headers["x-amzn-query-error"].partition(";")[0])
    if "www-authenticate" in headers:
        challenge = _CHALLENGE.search(headers["www-authenticate"][:1000])
        if challenge:
            _add_code(fault, challenge[1])


_CODE_HEADERS: Final = (
    "x-amzn-errortype",
    "x-error-code",
    "x-rejection-reason",
    "x-ms-error-code",
    "mediawiki-api-error",
    "x-mashery-error-code",
    "x-vercel-error",
    "ngrok-error-code",
)


def _from_last_headers(fault: Fault, headers: Mapping[str, str]) -> None:
    """Read what counts only when the body says nothing better: the number of gRPC, and messages in headers."""
    status = headers.get("grpc-status", "").strip()
    if status.isdigit() and status != "0":
        _add_code(fault, f"grpc{status}")
    if not fault.message:
        _say(fault, unquote(headers.get("grpc-message", "")[:2000]) or headers.get("x-error-message", ""))


def _add_code(fault: Fault, code: object) -> None:
    if isinstance(code, bool) or not isinstance(code, str | int):
        return
    plain = normal_code(code)
    if plain and plain not in fault.codes:
        fault.codes.append(plain)
        if (
            not fault.code
            and isinstance(code, str)
            and len(code) <= CODE_LIMIT
            and "://" not in code
            and " " not in code
        ):
            fault.code = code


def _say(fault: Fault, text: str, about: str = "") -> None:
    text = text.strip()
    if not text:
        return
    if about and about not in fault.fields:
        fault.fields.append(about)
    line = f"{about}: {text}" if about and about.lower() not in text.lower() else text
    if not fault.message:
        fault.message = line
    elif line not in fault.details and text != fault.message and len(fault.details) < _ITEMS:
        fault.details.append(line)


def _from_value(fault: Fault, value: Any, depth: int) -> None:
    if depth <= 0:
        return
    if isinstance(value, dict):
        _from_object(fault, cast("dict[str, Any]", value), depth)
    elif isinstance(value, list):
        for item in cast("list[Any]", value)[:_ITEMS]:
            _from_value(fault, item, depth - 1)
    elif isinstance(value, str):
        _say(fault, value)


def _from_object(fault: Fault, fields: dict[str, Any], depth: int, *, is_entry: bool = False) -> None:
    if depth <= 0:
        return
    parts = sorted_out(fields)
    # The inner object is the more specific one: its codes and its message come first.
    for _, inner in sorted(parts.nests, key=_rank) if parts.nests else ():
        _from_object(fault, inner, depth - 1)
    # The entries of a list have the specific codes; the object around them often only a coarse one.
    listed = _listed(parts, depth)
    for code in listed.codes:
        _add_code(fault, code)
    for _, own in sorted(parts.codes, key=_rank):
        _add_code(fault, own)
    if not is_entry and CODE_SHAPE.fullmatch(parts.name) and (parts.messages or parts.lists):
        _add_code(fault, parts.name)
    about = about_of(parts) if parts.fields else ""
    if is_entry and not about:
        # In an entry of a list the name is that of the field: RFC 9457's predecessor has it so.
        about = parts.name
    _say_parts(fault, parts, about)
    if listed.message:
        # A field whose messages are a list has none of its own.
        for text in (listed.message, *listed.details):
            _say(fault, text, "" if parts.messages else about)


_NOTHING: Final = Fault()


def _listed(parts: Parts, depth: int) -> Fault:
    if not parts.lists:
        return _NOTHING
    listed = Fault()
    for _, entries in sorted(parts.lists, key=_rank):
        _from_list(listed, entries, depth - 1)
    return listed


def _say_parts(fault: Fault, parts: Parts, about: str) -> None:
    if parts.title and not (parts.messages and fault.message):
        _say(fault, parts.title, about)
    for _, message in sorted(parts.messages, key=_rank):
        _say(fault, message, about)
        spoken = _SPOKEN_CODE.match(message)
        if spoken:
            _add_code(fault, spoken[1])
    if parts.error:
        if " " not in parts.error:
            _add_code(fault, parts.error)
        if not parts.messages or " " in parts.error:
            _say(fault, parts.error, about)
    if about and not (parts.messages or parts.title or parts.error) and len(parts.others) == 1:
        # A field and one text beside it, whatever that is called, is what is wrong with the field.
        _say(fault, parts.others[0], about)


def _rank(part: tuple[int, object]) -> int:
    return part[0]


def _from_list(fault: Fault, value: Any, depth: int) -> None:
    if depth <= 0:
        return
    if isinstance(value, dict):
        for name, content in list(cast("dict[str, Any]", value).items())[:_ITEMS]:
            for text in _texts(content, depth):
                _say(fault, text, str(name) if not str(name).isdigit() else "")
        inner = cast("dict[str, Any]", value)
        if any(canonical(key) in CODE_RANK for key in list(inner)[: 4 * _ITEMS]):
            _from_object(fault, inner, depth)
        return
    for item in cast("list[Any]", value)[:_ITEMS]:
        if isinstance(item, dict):
            entry = cast("dict[str, Any]", item)
            if isinstance(entry.get("value"), str) and isinstance(entry.get("message"), str):
                _say(fault, entry["message"], entry["value"])
            _from_object(fault, entry, depth, is_entry=True)
        elif isinstance(item, str):
            _say(fault, item)


def _is_field_map(value: Any) -> bool:
    """Tell whether the whole body is messages by field, as Django REST framework writes it."""
    if not isinstance(value, dict):
        return False
    entries = list(cast("dict[str, Any]", value).values())[:_ITEMS]
    return bool(entries) and all(isinstance(entry, list) and _begins_with_text(entry) for entry in entries)


def _begins_with_text(items: Any) -> bool:
    return bool(items) and isinstance(items[0], str)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > 0 and isinstance(value, list | dict):
        items = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for item in list(items)[:_ITEMS]:
            yield from _texts(item, depth - 1)


def _from_xml(fault: Fault, text: str) -> None:
    for match in _XML_ELEMENT.finditer(text[:16_384]):
        name, content = match[1].lower(), match[2]
        if content.startswith("<![CDATA["):
            content = content[9:-3]
        content = html.unescape(content).strip()
        if name == "faultcode" or (name == "value" and ":" in content):
            _add_code(fault, f"soap_{content.rpartition(':')[2]}")
        elif name in {"code", "subcode"}:
            _add_code(fault, content)
        elif content and name != "value":
            _say(fault, content)
    root = re.match(r"(?:<\?xml[^>]{0,200}>\s*)?<(?:\w{1,40}:)?([A-Za-z]{3,80}Exception)\b", text[:1000])
    if root:
        _add_code(fault, root[1])
    if not fault.message:
        # Not well-formed, or of no known shape: the text between the tags is all there is.
        plain = " ".join(re.sub(r"<[^<>]{0,400}>", " ", text[:4096]).split())
        _say(fault, html.unescape(plain))


def _from_text(fault: Fault, text: str) -> None:
    part = text[:8192]
    found = {match[1]: match[2] for match in _YAML_LINE.finditer(part)}
    if "message" in found or "detail" in found:
        _say(fault, found.get("message") or found["detail"])
        return
    brace = part.find("{")
    if brace > 0 and part.startswith(("error:", "--", "Error:")):
        from nucleo.errors.http.body import read_body  # noqa: PLC0415 - the rare body that wraps another

        inner = read_body(part[brace : part.rfind("}") + 1], {})
        if inner.kind == "json":
            _from_value(fault, inner.value, _DEPTH)
            return
    _say(fault, part)
