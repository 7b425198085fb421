"""From a function's signature to what a model sees of it and to the check of what a model sends."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, cast, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from nucleo.jobs import JobContext, Resources
from nucleo.tools.secret import is_secret

Choices = Mapping[str, Callable[[], Iterable[Any]]]
"""By parameter, a function that gives the values it may have, asked each time a model is shown the tool."""

_INJECTED: Final = {Resources: "resources", JobContext: "context"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters of a tool.

    Attributes:
        adapter: Checks all arguments of a call at once.
        schema: JSON Schema of the arguments, an object.
        names: The parameters a model gives, in order.
        resources: The parameter that gets the resources, or None.
        context: The parameter that gets the context, or None.
        secrets: The parameters whose values are never shown.
        positional: Parameters that can only be given by position, in order.
    """

    adapter: TypeAdapter[dict[str, Any]]
    schema: dict[str, Any]
    names: tuple[str, ...]
    resources: str | None
    context: str | None
    secrets: frozenset[str]
    positional: tuple[str, ...]

    def bound(self, values: dict[str, Any], resources: Resources, context: JobContext | None) -> dict[str, Any]:
        """Give the keyword arguments of the body: those of the model and those that are injected."""
        if self.resources is not None:
            values[self.resources] = resources
        if self.context is not None:
            values[self.context] = context
        return values


def read_signature(
    function: Callable[..., Any], *, name: str, descriptions: Mapping[str, str], skip_self: bool = False
) -> Signature:
    """Read the signature of a tool's body.

    Args:
        function: The body.
        name: The tool, for refusals.
        descriptions: What the docstring says of each parameter.
        skip_self: The body is a method of a class.

    Raises:
        TypeError: A parameter has no annotation, or one that has no JSON Schema; or the body takes ``*args`` or
            ``**kwargs``, which no model can be shown.
    """
    hints = _hints(function, name)
    parameters = list(inspect.signature(function).parameters.values())[1 if skip_self else 0 :]
    injected: dict[str, str] = {}
    fields: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise TypeError(
                f"tool {name}: {parameter} takes any number of arguments, which no schema can say; name them"
            )
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: annotate the parameter {parameter.name!r}, such as {parameter.name}: str")
        kind = _INJECTED.get(_plain(hints[parameter.name]))
        if kind is None:
            fields[parameter.name] = _field(parameter, hints[parameter.name], descriptions)
        else:
            injected[kind] = parameter.name
    adapter = _adapter(fields, name)
    return Signature(
        adapter=adapter,
        schema=_schema(adapter, name),
        names=tuple(fields),
        resources=injected.get("resources"),
        context=injected.get("context"),
        secrets=frozenset(each for each in fields if is_secret(hints[each])),
        positional=tuple(each.name for each in parameters if each.kind is each.POSITIONAL_ONLY),
    )


def with_choices(schema: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """Give the schema with the values that parameters may have at this moment."""
    properties = dict(schema["properties"])
    for parameter, values in choices.items():
        properties[parameter] = {**properties[parameter], "enum": list(values())}
    return {**schema, "properties": properties}


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"tool {name}: an annotation names {error.name!r}, which is not there when the tool is made"
        ) from error


def _plain(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return parts[0] if len(parts) == 1 and parts[0] in _INJECTED else annotation


def _field(parameter: inspect.Parameter, annotation: Any, descriptions: Mapping[str, str]) -> Any:
    """Make a parameter a field: a text in ``Annotated`` describes it, else a ``Field``, else the docstring does."""
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    described = next((mark for mark in marks if isinstance(mark, str)), None)
    has_own = any(isinstance(mark, FieldInfo) and mark.description for mark in marks)
    text = described or (None if has_own else descriptions.get(parameter.name))
    extra: dict[str, Any] = {}
    if parameter.default is not parameter.empty and not isinstance(parameter.default, FieldInfo):
        extra["default"] = parameter.default
    if text is not None or extra:
        annotation = Annotated[annotation, Field(description=text, json_schema_extra=_default_of(extra))]
    return annotation if parameter.default is parameter.empty else NotRequired[annotation]


def _default_of(extra: dict[str, Any]) -> dict[str, Any] | None:
    value = extra.get("default")
    return extra if isinstance(value, bool | int | float | str) else None


def _adapter(fields: dict[str, Any], name: str) -> TypeAdapter[dict[str, Any]]:
    arguments = cast("Any", TypedDict)("Arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True)
    try:
        return TypeAdapter(arguments)
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        faulty = next((each for each, annotation in fields.items() if not _has_schema(annotation)), None)
        which = "a parameter" if faulty is None else f"the parameter {faulty!r}"
        raise TypeError(
            f"tool {name}: the annotation of {which} has no JSON Schema, so no model can be asked for it. Use a type "
            "of the standard library, a pydantic model, a dataclass or a TypedDict"
        ) from error


def _has_schema(annotation: Any) -> bool:
    if get_origin(annotation) is NotRequired:
        annotation = get_args(annotation)[0]
    try:
        TypeAdapter(annotation).json_schema()
    except Exception:  # noqa: BLE001 - any refusal of pydantic's means that it has none
        return False
    return True


def _schema(adapter: TypeAdapter[dict[str, Any]], name: str) -> dict[str, Any]:
    try:
        schema = adapter.json_schema()
    except PydanticUserError as error:
        raise TypeError(f"tool {name}: a parameter has no JSON Schema: {error.message}") from error
    schema.pop("title", None)
    for part in schema.get("properties", {}).values():
        part.pop("title", None)
    schema.setdefault("properties", {})
    return schema
