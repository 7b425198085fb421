"""What an error body says: its codes, its message, and which field it is about.

One reader for the shapes that services use: RFC 9457, ``{"error": {...}}``, ``{"errors": [...]}`` of JSON:API and
GraphQL, FastAPI's ``detail`` list, Google, AWS, Azure and OData, PubChem's ``Fault``, Salesforce's list, OAuth,
Elasticsearch, Kubernetes, Okta, Atlassian, and XML faults. Mapping takes the codes from it, the wording the message.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

from nucleo.errors.http.body import Body

_CODE_KEYS: Final = (
    "reason",
    "code",
    "type",
    "__type",
    "errorCode",
    "error_code",
    "errorType",
    "status",
    "tag",
    "Code",
)
_MESSAGE_KEYS: Final = (
    "message",
    "Message",
    "detail",
    "error_description",
    "error_message",
    "errorSummary",
    "info",
    "description",
    "explanation",
    "error_msg",
    "status_msg",
    "msg",
    "errorMessage",
    "display_message",
    "details",
)
_TITLE_KEYS: Final = ("title", "error_summary")
_FIELD_KEYS: Final = ("field", "param", "parameter", "pointer", "path", "loc", "property", "target")
_NESTS: Final = ("error", "Error", "Fault", "fault", "base_resp", "extensions", "detail", "message", "innererror")
_LISTS: Final = (
    "details",
    "errors",
    "errorCauses",
    "fieldViolations",
    "violations",
    "Details",
    "messages",
    "errorMessages",
    "special_errors",
    "invalid-params",
    "invalid_params",
    "root_cause",
    "message",
    "detail",
    "response_metadata",
)
_DEPTH: Final = 6
_ITEMS: Final = 8
_CODE_LIMIT: Final = 120
_XML_ELEMENT: Final = re.compile(
    r"<(?:[\w-]{1,40}:)?(code|message|faultstring|faultcode|description|reason|error|text|subcode|errortext|exception)"
    r"\b[^>]{0,200}>([^<]{1,4000}|<!\[CDATA\[.{1,4000}?\]\]>)</?",
    re.IGNORECASE | re.DOTALL,
)
_YAML_LINE: Final = re.compile(r"^\s*(message|error|detail|code):[ \t]+(\S.{0,500})$", re.MULTILINE)
_WORD: Final = re.compile(r"[^a-z0-9]+")
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
    elif body.kind == "xml":
        _from_xml(fault, body.text)
    elif body.kind == "text":
        _from_text(fault, body.text)
    return fault


def normal_code(code: object) -> str:
    """Bring a code to one form: ``com.amazonaws.x#ThrottlingException`` and ``throttling`` are the same."""
    text = str(code)[:_CODE_LIMIT]
    text = (
        text.rpartition("#")[2].partition(":")[0]
        if "://" not in text
        else text.rstrip("/").rpartition("/")[2].rpartition("#")[2]
    )
    plain = _WORD.sub("", text.lower())
    return plain.removesuffix("exception") or plain


def _from_headers(fault: Fault, headers: Mapping[str, str]) -> None:
    for name in ("x-amzn-errortype", "x-error-code", "x-rejection-reason", "x-ms-error-code", "mediawiki-api-error"):
        if name in headers:
            _add_code(fault, headers[name].strip("[] ").partition(" ")[0])
    query_error = headers.get("x-amzn-query-error", "").partition(";")[0]
    if query_error:
        _add_code(fault, query_error)
    challenge = _CHALLENGE.search(headers.get("www-authenticate", "")[:1000])
    if challenge:
        _add_code(fault, challenge[1])


def _add_code(fault: Fault, code: object) -> None:
    if isinstance(code, bool) or not isinstance(code, str | int):
        return
    plain = normal_code(code)
    if plain and plain not in fault.codes:
        fault.codes.append(plain)
        if (
            not fault.code
            and isinstance(code, str)
            and len(code) <= _CODE_LIMIT
            and "://" not in code
            and " " not in code
        ):
            fault.code = code


def _say(fault: Fault, text: str, about: str = "") -> None:
    text = text.strip()
    if not text:
        return
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


def _from_object(fault: Fault, fields: dict[str, Any], depth: int) -> None:
    if depth <= 0:
        return
    parts = _sorted_out(fields)
    # The inner object is the more specific one: its codes and its message come first.
    for _, inner in sorted(parts.nests, key=_rank) if parts.nests else ():
        _from_object(fault, inner, depth - 1)
    # The entries of a list have the specific codes; the object around them often only a coarse one.
    listed = _listed(parts, depth)
    for code in listed.codes:
        _add_code(fault, code)
    for _, own in sorted(parts.codes, key=_rank):
        _add_code(fault, own)
    _say_parts(fault, parts, _about(fields) if parts.has_field else "")
    if listed.message:
        for text in (listed.message, *listed.details):
            _say(fault, text)


_NOTHING: Final = Fault()


def _listed(parts: "_Parts", depth: int) -> Fault:
    if not parts.lists:
        return _NOTHING
    listed = Fault()
    for _, entries in sorted(parts.lists, key=_rank):
        _from_list(listed, entries, depth - 1)
    return listed


def _say_parts(fault: Fault, parts: "_Parts", about: str) -> None:
    if parts.title and not (parts.messages and fault.message):
        _say(fault, parts.title, about)
    for _, message in sorted(parts.messages, key=_rank):
        _say(fault, message, about)
    if parts.error:
        if " " not in parts.error:
            _add_code(fault, parts.error)
        if not parts.messages or " " in parts.error:
            _say(fault, parts.error, about)
    if about and not (parts.messages or parts.title or parts.error) and len(parts.others) == 1:
        # A field and one text beside it, whatever that is called, is what is wrong with the field.
        _say(fault, parts.others[0], about)


class _Parts:
    """The members of an object by what they are, gone through once: an error may list hundreds."""

    __slots__ = ("codes", "error", "has_field", "lists", "messages", "nests", "others", "title")

    def __init__(self) -> None:
        self.codes: list[tuple[int, str | int]] = []
        self.messages: list[tuple[int, str]] = []
        self.nests: list[tuple[int, dict[str, Any]]] = []
        self.lists: list[tuple[int, Any]] = []
        self.others: list[str] = []
        self.title = ""
        self.error = ""
        self.has_field = False


_CODE_RANK: Final = {name: rank for rank, name in enumerate(_CODE_KEYS)}
_MESSAGE_RANK: Final = {name: rank for rank, name in enumerate(_MESSAGE_KEYS)}
_NEST_RANK: Final = {name: rank for rank, name in enumerate(_NESTS)}
_LIST_RANK: Final = {name: rank for rank, name in enumerate(_LISTS)}
_FIELDS: Final = frozenset({*_FIELD_KEYS, "source"})


def _sorted_out(fields: Mapping[str, Any]) -> _Parts:
    parts = _Parts()
    for raw, value in fields.items():
        name = raw.strip()
        if name in _FIELDS:
            parts.has_field = True
        if isinstance(value, str):
            _sort_text(parts, name, value)
        elif isinstance(value, dict):
            if name in _NEST_RANK:
                parts.nests.append((_NEST_RANK[name], cast("dict[str, Any]", value)))
            elif name in _LIST_RANK:
                parts.lists.append((_LIST_RANK[name], cast("Any", value)))
        elif isinstance(value, list):
            if name in _LIST_RANK:
                parts.lists.append((_LIST_RANK[name], cast("Any", value)))
        elif isinstance(value, int) and name in _CODE_RANK:
            parts.codes.append((_CODE_RANK[name], value))
    return parts


def _sort_text(parts: _Parts, name: str, value: str) -> None:
    if name in _CODE_RANK:
        parts.codes.append((_CODE_RANK[name], value))
        if " " in value:
            # A sentence where a code belongs, as Elasticsearch's reason is.
            parts.messages.append((len(_MESSAGE_RANK), value))
    elif name in _MESSAGE_RANK:
        parts.messages.append((_MESSAGE_RANK[name], value))
    elif name == "error":
        parts.error = value
    elif name in _TITLE_KEYS:
        parts.title = parts.title or value
    elif name not in _FIELDS:
        parts.others.append(value)


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
        if any(key in inner for key in _CODE_KEYS):
            _from_object(fault, inner, depth)
        return
    for item in cast("list[Any]", value)[:_ITEMS]:
        if isinstance(item, dict):
            entry = cast("dict[str, Any]", item)
            if isinstance(entry.get("value"), str) and isinstance(entry.get("message"), str):
                _say(fault, entry["message"], entry["value"])
            _from_object(fault, entry, depth)
        elif isinstance(item, str):
            _say(fault, item)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > 0 and isinstance(value, list | dict):
        items = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for item in list(items)[:_ITEMS]:
            yield from _texts(item, depth - 1)


def _about(fields: Mapping[str, Any]) -> str:
    source = fields.get("source")
    if isinstance(source, dict):
        fields = {**fields, **cast("dict[str, Any]", source)}
    for name in _FIELD_KEYS:
        value = fields.get(name)
        if isinstance(value, list):
            parts = [str(part) for part in cast("list[Any]", value)[:8] if isinstance(part, str | int)]
            value = ".".join(part for part in parts if part not in {"body", "query", "path"}) or ".".join(parts)
        if (
            isinstance(value, str)
            and value
            and len(value) <= _CODE_LIMIT
            and not value.startswith(("http", "/v", "/api"))
        ):
            return value
    return ""


def _from_xml(fault: Fault, text: str) -> None:
    for match in _XML_ELEMENT.finditer(text[:16_384]):
        name, content = match[1].lower(), match[2]
        if content.startswith("<![CDATA["):
            content = content[9:-3]
        content = html.unescape(content).strip()
        if name in {"code", "faultcode", "subcode"}:
            _add_code(fault, content.rpartition(":")[2] if name == "faultcode" else content)
        elif content:
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
