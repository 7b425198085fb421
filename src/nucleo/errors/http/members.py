"""The members of an error object by what they are: under which names services put codes, messages and fields.

Apart from the reading in `nucleo.errors.http.fault`, because this is what grows when another service is met.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, cast

# Names of members without case and separators: `error_code`, `errorCode` and `ErrorCode` are one.
_CODE_KEYS: Final = (
    "reason",
    "errorsubcode",
    "code",
    "type",
    "errorcode",
    "errcode",
    "errortype",
    "errorname",
    "infocode",
    "status",
    "statuscode",
    "tag",
    "issue",
    "category",
    "policyname",
    "quotaid",
    "blockreason",
    "stopreason",
)
_MESSAGE_KEYS: Final = (
    "message",
    "detail",
    "errordescription",
    "errormessage",
    "errorsummary",
    "info",
    "description",
    "hydradescription",
    "explanation",
    "errormsg",
    "errmsg",
    "errmessage",
    "statusmsg",
    "statustext",
    "msg",
    "displaymessage",
    "usermessage",
    "faultstring",
    "details",
)
_TITLE_KEYS: Final = ("title",)
_FIELD_KEYS: Final = (
    "field",
    "param",
    "parameter",
    "pointer",
    "path",
    "loc",
    "property",
    "target",
    "fieldname",
    "propertypath",
)
_NESTS: Final = (
    "error",
    "err",
    "fault",
    "baseresp",
    "extensions",
    "detail",
    "message",
    "innererror",
    "status",
    "sys",
    "serviceerror",
    "errorresponse",
    "promptfeedback",
    "path",
)
_LISTS: Final = (
    "details",
    "errors",
    "errorcauses",
    "fieldviolations",
    "violations",
    "messages",
    "errormessages",
    "specialerrors",
    "invalidparams",
    "rootcause",
    "message",
    "detail",
    "responsemetadata",
    "error",
    "elements",
    "validationerrors",
    "fielderrors",
    "issues",
    "params",
    "data",
)
CODE_LIMIT: Final = 120
"""Characters of a code, or of the name of a field, that is one."""
_SEPARATORS: Final = re.compile(r"[^a-z0-9]+")
_NAME_LIMIT: Final = 40
CODE_SHAPE: Final = re.compile(
    r"[a-z]{2,30}(?:_[a-z]{2,30}){1,6}|[A-Z]{2,30}(?:_[A-Z]{2,30}){1,6}|unauthorized|forbidden"
)


@lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """Give the name of a member without case and separators; empty when it is too long to be a known one."""
    return _SEPARATORS.sub("", name.lower()) if len(name) <= _NAME_LIMIT else ""


class Parts:
    """The members of an object by what they are, each with its rank: the lower, the more specific."""

    __slots__ = ("codes", "error", "fields", "lists", "messages", "name", "nests", "others", "title")

    def __init__(self) -> None:
        self.fields: list[tuple[int, Any]] = []
        self.codes: list[tuple[int, str | int]] = []
        self.messages: list[tuple[int, str]] = []
        self.nests: list[tuple[int, dict[str, Any]]] = []
        self.lists: list[tuple[int, Any]] = []
        self.others: list[str] = []
        self.title = ""
        self.error = ""
        self.name = ""


CODE_RANK: Final = {name: rank for rank, name in enumerate(_CODE_KEYS)}
_MESSAGE_RANK: Final = {name: rank for rank, name in enumerate(_MESSAGE_KEYS)}
_NEST_RANK: Final = {name: rank for rank, name in enumerate(_NESTS)}
_LIST_RANK: Final = {name: rank for rank, name in enumerate(_LISTS)}
_FIELD_RANK: Final = {name: rank for rank, name in enumerate(_FIELD_KEYS)}


def sorted_out(fields: Mapping[str, Any]) -> Parts:
    """Sort the members of an object by what they are, in one pass: an error may list hundreds."""
    parts = Parts()
    for raw, value in fields.items():
        name = canonical(raw)
        if name in _FIELD_RANK:
            parts.fields.append((_FIELD_RANK[name], value))
        if isinstance(value, str):
            _sort_text(parts, name, value)
        elif isinstance(value, dict):
            _sort_object(parts, name, cast("dict[str, Any]", value))
        elif isinstance(value, list):
            if name in _LIST_RANK:
                parts.lists.append((_LIST_RANK[name], cast("Any", value)))
        elif isinstance(value, int) and (name in CODE_RANK or name == "error"):
            parts.codes.append((CODE_RANK.get(name, len(CODE_RANK)), value))
    return parts


def _sort_object(parts: Parts, name: str, value: dict[str, Any]) -> None:
    if name == "source":
        for key in list(value)[:8]:
            parts.fields.append((_FIELD_RANK.get(canonical(key), len(_FIELD_RANK)), value[key]))
    elif name == "message" and isinstance(value.get("value"), str):
        # OData 2: the message with its language.
        parts.messages.append((_MESSAGE_RANK[name], value["value"]))
    elif name in _NEST_RANK:
        parts.nests.append((_NEST_RANK[name], value))
    elif name in _LIST_RANK:
        parts.lists.append((_LIST_RANK[name], value))


def _sort_text(parts: Parts, name: str, value: str) -> None:
    if name in CODE_RANK:
        parts.codes.append((CODE_RANK[name], value))
        if " " in value:
            # A sentence where a code belongs, as Elasticsearch's reason is.
            parts.messages.append((len(_MESSAGE_RANK), value))
    elif name in _MESSAGE_RANK:
        parts.messages.append((_MESSAGE_RANK[name], value))
    elif name in {"error", "err"}:
        parts.error = value
    elif name in _TITLE_KEYS:
        parts.title = parts.title or value
    elif (name == "name" and len(value) <= CODE_LIMIT) or (name == "id" and CODE_SHAPE.fullmatch(value)):
        parts.name = value
    elif name not in _FIELD_RANK:
        parts.others.append(value)


def about_of(parts: Parts) -> str:
    """Name the field that an entry is about; empty when it names none."""
    for _, value in sorted(parts.fields, key=_rank):
        if isinstance(value, list):
            steps = [str(step) for step in cast("list[Any]", value)[:8] if isinstance(step, str | int)]
            name = ".".join(step for step in steps if step not in {"body", "query", "path"}) or ".".join(steps)
        else:
            name = value if isinstance(value, str) else ""
        if 0 < len(name) <= CODE_LIMIT and not name.startswith(("http", "/v", "/api")):
            return name
    return ""


def _rank(part: tuple[int, object]) -> int:
    return part[0]
