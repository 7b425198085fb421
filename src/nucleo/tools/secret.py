"""Arguments that are never told back: `Secret[str]` in an annotation.

A secret is known by the JSON Schema (``writeOnly``, which pydantic's own secret types have too), so one deep inside a
model or a list counts like a parameter. It is looked for only when a call has failed.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast, get_args, get_origin

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

T = TypeVar("T")

Path = tuple[str, ...]

_SHORTEST: Final = 3
"""A secret of a character or two would mask half of any text and is none."""
_DEEPEST: Final = 64
"""Levels of a document that are searched. Pydantic reads 200, and nobody hides a secret below the first few."""


class SecretMark:
    """Marks an annotation as secret; see `Secret`."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), "writeOnly": True}


Secret: TypeAlias = Annotated[T, SecretMark()]
"""``Secret[str]``: a parameter, or a field of one, whose value no failure ever shows. The body gets the plain value."""


def is_secret(annotation: Any, schema: object, definitions: Mapping[str, Any]) -> bool:
    """Tell whether a parameter is secret or has a secret anywhere in it.

    Args:
        annotation: Its annotation.
        schema: Its JSON Schema.
        definitions: The ``$defs`` of the document that the schema stands in.
    """
    if _is_marked(annotation):
        return True
    if '"writeOnly": true' in json.dumps(schema):
        return True
    seen: set[str] = set()
    pending = list(_references(schema))
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        part = definitions.get(name)
        if '"writeOnly": true' in json.dumps(part):
            return True
        pending.extend(_references(part))
    return False


def given_secrets(schema: Mapping[str, Any], raw: object) -> list[str]:
    """Give the texts that stand at secret places of what a model sent.

    Args:
        schema: JSON Schema of all arguments.
        raw: The arguments as they came, read or not.
    """
    for _ in range(2):
        if isinstance(raw, str | bytes):
            try:
                raw = json.loads(raw)
            except (ValueError, RecursionError):
                return []
    definitions = schema.get("$defs", {})
    return [text for text in _found(schema, raw, definitions, _DEEPEST) if len(text) >= _SHORTEST]


def secret_texts(value: object) -> list[str]:
    """Give the texts of one secret argument as the body got it, which may differ from what was sent."""
    return [text for text in _leaves(value, _DEEPEST) if len(text) >= _SHORTEST]


def mask_all(text: str, secrets: Collection[str]) -> str:
    """Mask secrets in a text; the longest first, so that no part of one is left when one contains another."""
    from nucleo.errors.masking import mask  # noqa: PLC0415 - loads with the first text that is read

    return mask(text, secrets=sorted(secrets, key=len, reverse=True))


def _is_marked(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return any(isinstance(mark, SecretMark) for mark in marks) or _is_marked(inner)
    if hasattr(annotation, "get_secret_value"):
        return True
    return any(_is_marked(part) for part in get_args(annotation) if not isinstance(part, str))


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for name, part in cast("dict[str, object]", schema).items():
            if name == "$ref" and isinstance(part, str):
                yield part.rpartition("/")[2]
            else:
                yield from _references(part)
    elif isinstance(schema, list):
        for part in cast("list[object]", schema):
            yield from _references(part)


def _found(schema: object, value: object, definitions: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Walk a value beside its schema and give what is secret in it."""
    if not isinstance(schema, dict) or depth <= 0:
        return
    node = cast("dict[str, Any]", schema)
    if node.get("writeOnly") is True:
        yield from _leaves(value, depth)
        return
    parts: list[tuple[object, object]] = [
        (each, value) for key in ("anyOf", "oneOf", "allOf") for each in node.get(key, ())
    ]
    reference = node.get("$ref")
    if isinstance(reference, str):
        parts.append((definitions.get(reference.rpartition("/")[2]), value))
    if hasattr(value, "__pydantic_fields__"):
        # Python code gives models where a model gives objects.
        value = vars(value)
    if isinstance(value, Mapping):
        own = node.get("properties", {})
        rest = node.get("additionalProperties")
        fields = cast("Mapping[str, object]", value)
        parts.extend((own.get(name, rest), inner) for name, inner in fields.items())
    elif isinstance(value, list | tuple):
        first = node.get("prefixItems", ())
        items = cast("list[object]", value)
        parts.extend((first[at] if at < len(first) else node.get("items"), inner) for at, inner in enumerate(items))
    for part, inner in parts:
        yield from _found(part, inner, definitions, depth - 1)


def _leaves(value: object, depth: int) -> Iterator[str]:
    reveal = getattr(value, "get_secret_value", None)
    if callable(reveal):
        value = cast("Callable[[], object]", reveal)()
    if value is None or isinstance(value, bool) or depth <= 0:
        return
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, Mapping):
        for inner in cast("Mapping[object, object]", value).values():
            yield from _leaves(inner, depth - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in cast("Collection[object]", value):
            yield from _leaves(inner, depth - 1)
    elif isinstance(value, str | int | float):
        yield str(value)
