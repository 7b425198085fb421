"""How a failure crosses processes: its wire form in JSON values, and what of it is pickled.

The wire form is ``{"v": 1, "type", "message", "llm_message", "correctable", "fields": {...}, "http": {...}?}``.
Reading it back gives the same class with the same fields; an unknown type becomes the runtime class of the same
verdict with the same message, so that nothing is lost between two versions or two applications.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from nucleo.errors.branches import CorrectableRuntimeLLMException, UncorrectableRuntimeLLMException
from nucleo.errors.chain import walk_chain
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.root import LLMReadableException, known_type, rebuild, wire_type
from nucleo.errors.text import TEXT_LIMIT, Opaque, as_text, cut, show_value

VERSION = 1
_OPAQUE = "__opaque__"
_CHAIN_LIMIT = 50


def failure_to_dict(failure: LLMReadableException) -> dict[str, Any]:
    """Give the wire form of a failure. Texts are masked; a value JSON cannot hold is left as its description."""
    record: dict[str, Any] = {
        "v": VERSION,
        "type": wire_type(type(failure)),
        "message": str(failure),
        "llm_message": failure.llm_message,
        "correctable": failure.is_correctable,
        "fields": {name: _to_json(getattr(failure, name, None)) for name in field_names(type(failure))},
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
    names = () if cls is None else field_names(cls)
    if cls is None or any(name not in values for name in names):
        return _unknown(record, answer)
    state = {name: _from_json(values[name]) for name in names}
    failure = rebuild(cls, {**state, "http": answer}, ())
    normalise = getattr(failure, "__post_init__", None)
    if normalise is not None:
        normalise()
    return failure


def field_names(cls: type[LLMReadableException]) -> tuple[str, ...]:
    """Give the names of the fields a class is made of, without the answer."""
    return tuple(item.name for item in fields(cls) if item.init and item.name != "http")


def pickled_state(failure: LLMReadableException) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Give what of a failure is pickled: fields and notes, and the chain of its causes laid out in one line."""
    links: list[Any] = []
    for link in walk_chain(failure):
        if link is failure or isinstance(link, BaseExceptionGroup):
            continue
        if isinstance(link, LLMReadableException):
            links.append((type(link), _picklable(link.__dict__)))
        else:
            name = f"{type(link).__module__}.{type(link).__qualname__}"
            links.append((None, (name, cut(_masked(as_text(link)), TEXT_LIMIT))))
        if len(links) == _CHAIN_LIMIT:
            break
    return _picklable(failure.__dict__), tuple(links)


def _unknown(record: Mapping[str, Any], answer: HttpErrorDetail | None) -> LLMReadableException:
    message = record.get("llm_message")
    text = message if isinstance(message, str) else as_text(record.get("message"))
    if record.get("correctable") is True:
        return CorrectableRuntimeLLMException(text, http=answer)
    return UncorrectableRuntimeLLMException(text, http=answer)


def _to_json(value: object) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _masked(value)
    if isinstance(value, Opaque):
        return {_OPAQUE: value.description}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in cast("list[object]", value)]
    try:
        return json.loads(json.dumps(value))
    except Exception:  # noqa: BLE001 - a value may be anything, and its failure must still travel
        return str(value) if _is_decimal(value) else {_OPAQUE: show_value(value)}


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        content = cast("dict[str, Any]", value)
        return Opaque(str(content[_OPAQUE])) if set(content) == {_OPAQUE} else content
    return [_from_json(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def _is_decimal(value: object) -> bool:
    return type(value).__module__ in {"decimal", "_decimal", "_pydecimal"}


def _picklable(state: Mapping[str, Any]) -> dict[str, Any]:
    import pickle  # noqa: PLC0415 - whoever pickles has it

    kept: dict[str, Any] = {}
    for name, value in state.items():
        try:
            pickle.dumps(value)
            kept[name] = value
        except Exception:  # noqa: BLE001 - a lock in a field must not lose the failure on its way out of a pool
            kept[name] = Opaque(show_value(value))
    return kept


def _masked(text: str) -> str:
    from nucleo.errors.masking import mask  # noqa: PLC0415 - loads with the first text that is masked

    return mask(text)
