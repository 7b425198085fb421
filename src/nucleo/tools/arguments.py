"""From what a model sent to the arguments of a tool: parsing, then all rules at once."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import ValidationError

from nucleo.errors import InvalidInputException
from nucleo.errors.accounts import nearest
from nucleo.errors.text import brief
from nucleo.errors.translate.arguments import invalid_arguments
from nucleo.tools.signature import Choices, Signature

_KINDS: Final[dict[type, str]] = {
    str: "a string",
    list: "a list",
    bool: "true or false",
    int: "a number",
    float: "a number",
}
_SAID_LIMIT: Final = 20


class ParsingFault(Exception):
    """The arguments are no JSON object.

    Attributes:
        failure: What the model reads.
    """

    def __init__(self, failure: InvalidInputException) -> None:
        super().__init__(failure)
        self.failure = failure


def read_arguments(raw: object, signature: Signature, choices: Choices) -> dict[str, Any]:
    """Read the arguments of a call.

    Args:
        raw: An object, its JSON text, or that text encoded once more; nothing at all for no arguments.
        signature: The tool's parameters.
        choices: Values that some parameters may have at this moment.

    Returns:
        The arguments, of the types of the signature.

    Raises:
        ParsingFault: It is no JSON object.
        InvalidInputException: A parameter is missing, unknown or wrong; every fault is named.
    """
    try:
        values = _validated(raw, signature)
    except ValidationError as error:
        faults = error
    else:
        for parameter, allowed in choices.items():
            if parameter in values:
                _check_choice(parameter, values[parameter], list(allowed()))
        return values
    # Outside the handler, so that pydantic's report, which holds the input, is not the failure's context.
    raise _failure_of(faults, signature)


def _validated(raw: object, signature: Signature) -> dict[str, Any]:
    adapter = signature.adapter
    if isinstance(raw, Mapping):
        return adapter.validate_python(dict(cast("Mapping[str, Any]", raw)))
    if raw is None or raw == "":
        return adapter.validate_python({})
    if not isinstance(raw, str | bytes):
        raise ParsingFault(_not_an_object(raw))
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        kind = error.errors(include_url=False, include_input=False)[0]
        if kind["loc"] or kind["type"] not in {"dict_type", "json_invalid"}:
            raise
        return _second_reading(raw, signature, str(kind["msg"]))


def _second_reading(raw: str | bytes, signature: Signature, reason: str) -> dict[str, Any]:
    """Read a text that is no JSON object: perhaps it was encoded twice, which loses nothing."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    if not text.strip():
        return signature.adapter.validate_python({})
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        rule = f"the arguments must be one JSON object: {reason}"
        raise ParsingFault(InvalidInputException("arguments", brief(text), rule)) from None
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            inner = value
        if isinstance(inner, dict):
            return signature.adapter.validate_json(value)
        if isinstance(inner, str) and inner == value:
            rule = "arguments must be an object, you sent a string that contains no JSON object"
            raise ParsingFault(InvalidInputException("arguments", brief(value), rule))
        value = inner
    raise ParsingFault(_not_an_object(value))


def _not_an_object(value: object) -> InvalidInputException:
    kind = "null" if value is None else _KINDS.get(type(value), f"a value of the type {type(value).__name__}")
    return InvalidInputException("arguments", value, f"arguments must be an object, you sent {kind}")


def _check_choice(parameter: str, value: object, allowed: list[Any]) -> None:
    if value in allowed:
        return
    texts = [str(each) for each in allowed]
    shown = texts if len(texts) <= _SAID_LIMIT else nearest(str(value), texts)
    more = f" and {len(texts) - len(shown)} others" if len(shown) < len(texts) else ""
    raise InvalidInputException(parameter, value, f"give one of {', '.join(map(brief, shown)) or 'nothing'}{more}")


def _failure_of(error: ValidationError, signature: Signature) -> InvalidInputException:
    failure = invalid_arguments(error, secrets=signature.secrets)
    unknown = [
        str(fault["loc"][0])
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
        if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1
    ]
    if unknown:
        known = ", ".join(signature.names) or "none"
        failure.validation_rule = f"{failure.validation_rule}\nThe parameters are: {brief(known, limit=1000)}"
    return failure
