"""The wire form of a failure, in JSON values: for MCP, durable engines and logs.

It is ``{"v": 1, "type", "message", "llm_message", "correctable", "fields": {...}, "http": {...}?}``. Reading it back
gives the same class with the same fields; an unknown type becomes the runtime class of the same verdict with the same
message, so that nothing is lost between two versions or two applications.
"""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from math import isfinite
from typing import Any, cast

from nucleo.errors.branches import CorrectableRuntimeLLMException, UncorrectableRuntimeLLMException
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.root import LLMReadableException, known_type, rebuild, wire_type
from nucleo.errors.secret_names import MASK, secret_name
from nucleo.errors.text import TEXT_LIMIT, Opaque, as_text, cut, masked, show_value

VERSION = 1
_OPAQUE = "__opaque__"
_DEEPEST = 40
_LARGEST_INTEGER = 2**1024


def failure_to_dict(failure: LLMReadableException) -> dict[str, Any]:
    """Give the wire form of a failure. Texts are masked; a value JSON cannot hold is left as its description."""
    cls = type(failure)
    values = {item.name: _to_json(getattr(failure, item.name, None)) for item in _fields(cls)}
    # The texts are those of the failure as it will be read back, so that the two ends always say the same.
    twin = _made(cls, values, failure.http) or failure
    record: dict[str, Any] = {
        "v": VERSION,
        "type": wire_type(cls),
        "message": str(twin),
        "llm_message": twin.llm_message,
        "correctable": failure.is_correctable,
        "fields": values,
    }
    if failure.http is not None:
        record["http"] = failure.http.to_dict()
    return record


def failure_from_dict(record: Mapping[str, Any]) -> LLMReadableException:
    """Read a wire form.

    Args:
        record: What `LLMReadableException.to_dict` gave, perhaps in another process, language or version.

    Returns:
        The failure: of the same class when it is known here, else the runtime class of the same verdict with the
        same message.

    Raises:
        ValueError: The record is no wire form of a failure, or of a version that is not known here.
    """
    if record.get("v") != VERSION:
        raise ValueError(f"not a failure record of version {VERSION}: v is {record.get('v')!r}")
    kind, values = record.get("type"), record.get("fields")
    if not isinstance(kind, str) or not isinstance(values, Mapping):
        raise ValueError("a failure record needs 'type' (text) and 'fields' (object)")  # noqa: TRY004 - one refusal
    http = record.get("http")
    answer = HttpErrorDetail.from_dict(cast("Mapping[str, Any]", http)) if isinstance(http, Mapping) else None
    cls = known_type(kind)
    failure = None if cls is None else _made(cls, cast("Mapping[str, Any]", values), answer)
    return failure or _unknown(record, answer)


def _fields(cls: type[LLMReadableException]) -> list["Field[Any]"]:
    """The fields a class is made of, without the answer."""
    return [item for item in fields(cls) if item.init and item.name != "http"]


def _made(
    cls: type[LLMReadableException], values: Mapping[str, Any], answer: HttpErrorDetail | None
) -> LLMReadableException | None:
    """Make a failure of values from the wire; None when they are not enough, or its class refuses them."""
    state: dict[str, Any] = {"http": answer}
    for item in _fields(cls):
        if item.name in values:
            state[item.name] = _from_json(values[item.name])
        elif item.default_factory is not MISSING:
            state[item.name] = item.default_factory()
        elif item.default is MISSING:
            return None
    failure = rebuild(cls, state, ())
    normalise = getattr(failure, "__post_init__", None)
    try:
        if normalise is not None:
            normalise()
    except Exception:  # noqa: BLE001 - an application's own check of what came over the wire
        return None
    return failure


def _unknown(record: Mapping[str, Any], answer: HttpErrorDetail | None) -> LLMReadableException:
    message = record.get("llm_message")
    text = message if isinstance(message, str) else as_text(record.get("message"))
    if record.get("correctable") is True:
        return CorrectableRuntimeLLMException(text, http=answer)
    return UncorrectableRuntimeLLMException(text, http=answer)


def _to_json(value: object, depth: int = 0) -> Any:
    try:
        return _plain(value, depth)
    except Exception:  # noqa: BLE001 - a value may be anything, and its failure must still travel
        return _opaque(value)


def _plain(value: object, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return masked(str.__str__(value).encode("utf-8", "replace").decode())
    if isinstance(value, int | float):
        return _figure(value)
    if depth == _DEEPEST:
        return _opaque(value)
    if isinstance(value, list | tuple):
        return [_to_json(item, depth + 1) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return _object(cast("dict[object, object]", value), depth + 1)
    return str(value) if _is_decimal(value) else _opaque(value)


def _figure(value: float) -> Any:
    if isinstance(value, int):
        return int(value) if abs(value) < _LARGEST_INTEGER else _opaque(value)
    # JSON has no infinity, and no figure that is none.
    return float(value) if isfinite(value) else _opaque(value)


def _object(value: dict[object, object], depth: int) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError("JSON has only texts as names")
        secret = isinstance(item, str) and secret_name(key) == "strong"
        content[_to_json(key)] = MASK if secret else _to_json(item, depth)
    return content


def _opaque(value: object) -> dict[str, str]:
    return {_OPAQUE: masked(show_value(value)), "text": cut(masked(as_text(value)), TEXT_LIMIT)}


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        content = cast("dict[str, Any]", value)
        if set(content) == {_OPAQUE, "text"}:
            return Opaque(as_text(content[_OPAQUE]), as_text(content["text"]))
        return {name: _from_json(item) for name, item in content.items()}
    return [_from_json(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _is_decimal(value: object) -> bool:
    return type(value).__module__ in {"decimal", "_decimal", "_pydecimal"}
