"""Values of a parameter that are known only at run time: `choices` of a tool."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError, to_jsonable_python

from nucleo.errors import unwrap
from nucleo.errors.accounts import nearest
from nucleo.errors.logs import log_failure
from nucleo.errors.text import brief

Choices: TypeAlias = Mapping[str, Callable[[], Iterable[Any]]]
"""By parameter, a function that gives the values it may have, asked each time a model is shown the tool or calls it."""

_ALL_SAID: Final = 20


class ChoicesUnknown(Exception):
    """The function that gives the values broke: no fault of what was sent. The cause says how."""


def check_choices(choices: object, *, tool: str, parameters: Collection[str]) -> Choices:
    """Check what somebody gave as ``choices``.

    Raises:
        TypeError: It is no mapping of parameters to functions.
        ValueError: It names a parameter that the tool has not.
    """
    if choices is None:
        return {}
    if not isinstance(choices, Mapping) or not all(map(callable, cast("Mapping[str, object]", choices).values())):
        raise TypeError(
            f"tool {tool}: choices gives for a parameter the function that gives its values, such as "
            "choices={'colour': known_colours}; values that never change belong in the annotation, Literal['a', 'b']"
        )
    checked = cast("Choices", choices)
    unknown = sorted(set(checked) - set(parameters))
    if unknown:
        raise ValueError(f"tool {tool}: choices for {', '.join(unknown)}, which it has no parameter for")
    return checked


def choice_validator(values: Callable[[], Iterable[Any]]) -> AfterValidator:
    """Make the check of one parameter, so that a wrong choice is one fault among all the faults of a call."""

    def check(value: Any) -> Any:
        if value is None:
            # Only an annotation that allows null lets it come here.
            return value
        try:
            allowed = list(values())
        except Exception as error:
            # As itself it might be a ValueError, which pydantic would hold against the model.
            raise ChoicesUnknown(str(error)) from error
        for each in _each_of(value):
            if each not in allowed:
                raise PydanticCustomError("choice", "give one of {known}", {"known": _said(each, allowed)})
        return value

    return AfterValidator(check)


def _each_of(value: object) -> Collection[Any]:
    if isinstance(value, list | tuple | set | frozenset):
        return cast("Collection[Any]", value)
    return (value,)


def with_choices(schema: dict[str, Any], choices: Choices, *, shown: Mapping[str, str], tool: str) -> dict[str, Any]:
    """Give the schema with the values that parameters have at this moment.

    A function that breaks is logged and its parameter is shown without values: one list that cannot be had must not
    cost a model all its tools.

    Args:
        schema: JSON Schema of the arguments.
        choices: The functions, by parameter.
        shown: The name that each parameter has in the schema.
        tool: The tool, for the log.
    """
    properties = dict(schema["properties"])
    for parameter, values in choices.items():
        try:
            allowed = to_jsonable_python(list(values()))
        except Exception as error:  # noqa: BLE001 - somebody's function; see above
            log_failure(unwrap(error, component=tool), tool=tool)
            continue
        name = shown[parameter]
        properties[name] = _one_of(properties[name], allowed)
    return {**schema, "properties": properties}


def _one_of(part: dict[str, Any], allowed: list[Any]) -> dict[str, Any]:
    if part.get("type") == "array":
        return {**part, "items": {**part.get("items", {}), "enum": allowed}}
    nullable = any(each.get("type") == "null" for each in part.get("anyOf", ()))
    return {**part, "enum": [*allowed, None] if nullable else allowed}


def _said(value: object, allowed: list[Any]) -> str:
    texts = [brief(to_jsonable_python(each, fallback=str)) for each in allowed]
    shown = texts if len(texts) <= _ALL_SAID else nearest(str(value), texts)
    more = f" and {len(texts) - len(shown)} others" if len(shown) < len(texts) else ""
    return f"{', '.join(shown) or 'nothing: there are no values at this moment'}{more}"
