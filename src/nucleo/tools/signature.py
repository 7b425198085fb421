"""From a function's signature to what a model sees of it and to the check of what a model sends."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, cast, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from nucleo.jobs import JobContext, Resources
from nucleo.tools.choices import Choices, check_choices, choice_validator
from nucleo.tools.secret import is_secret

_INJECTED: Final = {Resources: "resources", JobContext: "context"}
_REQUIRED: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters of a tool.

    Attributes:
        validate_json: Checks all arguments of a call at once, as JSON text.
        validate_python: The same for an object.
        schema: JSON Schema of the arguments, an object.
        shown: For each parameter that a model gives the name it has in the schema, in order.
        injects: Whether any parameter gets something that is not the model's to give.
        resources: The parameter that gets the resources, or None.
        context: The parameter that gets the context, or None.
        secrets: The parameters that are secret or have secrets in them.
        positional: Parameters that can only be given by position, in order, each with its default.
    """

    validate_json: Callable[[str | bytes], dict[str, Any]]
    validate_python: Callable[[Any], dict[str, Any]]
    schema: dict[str, Any]
    shown: Mapping[str, str]
    injects: bool
    resources: str | None
    context: str | None
    secrets: frozenset[str]
    positional: tuple[tuple[str, Any], ...]

    def bound(self, values: dict[str, Any], resources: Resources, context: JobContext | None) -> dict[str, Any]:
        """Give the keyword arguments of the body: those of the model and those that are injected."""
        if self.resources is not None:
            values[self.resources] = resources
        if self.context is not None:
            values[self.context] = context
        return values


def read_signature(
    function: Callable[..., Any], *, name: str, descriptions: Mapping[str, str], choices: object = None
) -> tuple[Signature, Choices]:
    """Read the signature of a tool's body.

    Args:
        function: The body.
        name: The tool, for refusals.
        descriptions: What the docstring says of each parameter.
        choices: By parameter, a function that gives the values it may have.

    Raises:
        TypeError: A parameter has no annotation, or one that has no JSON Schema; or the body takes ``*args`` or
            ``**kwargs``, which no model can be shown; or choices is no mapping of functions.
        ValueError: The choices name a parameter that it has not.
    """
    hints = _hints(function, name)
    parameters = list(inspect.signature(function).parameters.values())
    injected: dict[str, str] = {}
    given: list[inspect.Parameter] = []
    for parameter in parameters:
        kind = _INJECTED.get(_plain(_hint(parameter, hints, name)))
        if kind is None:
            given.append(parameter)
        elif kind in injected:
            raise TypeError(f"tool {name}: {injected[kind]!r} and {parameter.name!r} both ask for the {kind}")
        else:
            injected[kind] = parameter.name
    checked = check_choices(choices, tool=name, parameters=[each.name for each in given])
    fields: dict[str, Any] = {}
    for parameter in given:
        annotation = hints[parameter.name]
        if parameter.name in checked:
            annotation = Annotated[annotation, choice_validator(checked[parameter.name])]
        fields[parameter.name] = _field(parameter, annotation, descriptions.get(parameter.name))
    adapter, schema = _adapter(fields, name)
    shown = dict(zip(fields, schema["properties"], strict=True))
    definitions = schema.get("$defs", {})
    secrets = {each for each in fields if is_secret(hints[each], schema["properties"][shown[each]], definitions)}
    for each in secrets:
        schema["properties"][shown[each]].pop("default", None)
    signature = Signature(
        validate_json=adapter.validator.validate_json,
        validate_python=adapter.validator.validate_python,
        schema=schema,
        shown=shown,
        injects=bool(injected),
        resources=injected.get("resources"),
        context=injected.get("context"),
        secrets=frozenset(secrets),
        positional=tuple((each.name, each.default) for each in parameters if each.kind is each.POSITIONAL_ONLY),
    )
    return signature, checked


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    annotated = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(annotated, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"tool {name}: an annotation names {error.name!r}, which is not there when the tool is made"
        ) from error
    except (AttributeError, SyntaxError, TypeError) as error:
        raise TypeError(f"tool {name}: an annotation cannot be read: {error}") from error


def _hint(parameter: inspect.Parameter, hints: Mapping[str, Any], name: str) -> Any:
    if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
        raise TypeError(f"tool {name}: {parameter} takes any number of arguments, which no schema can say; name them")
    if parameter.name in hints:
        return hints[parameter.name]
    if parameter.name == "self":
        raise TypeError(f"tool {name}: a method is no tool before it is bound: write tool(instance.{name})")
    raise TypeError(f"tool {name}: annotate the parameter {parameter.name!r}, such as {parameter.name}: str")


def _plain(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    parts = [part for part in get_args(annotation) if part is not type(None)]
    plain = parts[0] if len(parts) == 1 and parts[0] in _INJECTED else annotation
    return plain if isinstance(plain, type) else None


def _field(parameter: inspect.Parameter, annotation: Any, in_docstring: str | None) -> Any:
    """Make a parameter a field: a text in ``Annotated`` describes it, else a ``Field``, else the docstring does."""
    default = _REQUIRED if parameter.default is parameter.empty else parameter.default
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    if isinstance(default, FieldInfo):
        marks = (*marks, default)
        annotation = Annotated[annotation, default]
        default = _REQUIRED if default.is_required() else None
    elif default is not _REQUIRED:
        annotation = _with_default(annotation, default)
    described = next((mark for mark in marks if isinstance(mark, str)), None)
    has_own = any(isinstance(mark, FieldInfo) and mark.description for mark in marks)
    text = described or (None if has_own else in_docstring)
    if text is not None:
        annotation = Annotated[annotation, Field(description=text)]
    return annotation if default is _REQUIRED else NotRequired[annotation]


def _with_default(annotation: Any, default: object) -> Any:
    """Show the default in the schema where JSON can hold it. The body itself applies it, unchecked, as Python does."""
    try:
        shown = to_jsonable_python(default)
    except (PydanticSerializationError, ValueError, TypeError):
        return annotation
    return Annotated[annotation, Field(json_schema_extra={"default": shown})]


def _adapter(fields: dict[str, Any], name: str) -> tuple[TypeAdapter[dict[str, Any]], dict[str, Any]]:
    arguments = cast("Any", TypedDict)("Arguments", fields)
    # JSON has no NaN, and a figure that compares with nothing is no argument that a model means.
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)
    try:
        adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(arguments)
        schema = adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        faulty = next((each for each, annotation in fields.items() if not _has_schema(annotation)), None)
        which = "a parameter" if faulty is None else f"the parameter {faulty!r}"
        raise TypeError(
            f"tool {name}: the annotation of {which} has no JSON Schema, so no model can be asked for it. Use a type "
            "of the standard library, a pydantic model, a dataclass or a TypedDict"
        ) from error
    schema.pop("title", None)
    for part in schema.setdefault("properties", {}).values():
        part.pop("title", None)
    return adapter, schema


def _has_schema(annotation: Any) -> bool:
    if get_origin(annotation) is NotRequired:
        annotation = get_args(annotation)[0]
    try:
        TypeAdapter(annotation).json_schema()
    except Exception:  # noqa: BLE001 - any refusal of pydantic's means that it has none
        return False
    return True
