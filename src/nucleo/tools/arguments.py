"""From what a model sent to the arguments of a tool: parsing, then all rules at once."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import ValidationError

from nucleo.errors import InvalidInputException
from nucleo.errors.text import brief
from nucleo.errors.translate.arguments import invalid_arguments
from nucleo.tools.signature import Signature

_KINDS: Final[dict[type, str]] = {
    str: "a string",
    list: "a list",
    bool: "true or false",
    int: "a number",
    float: "a number",
}
_NAMES_LIMIT: Final = 500
_NAMES_CORRECTED: Final = 5


class ParsingFault(Exception):
    """The arguments are no JSON object.

    Attributes:
        failure: What the model reads.
    """

    def __init__(self, failure: InvalidInputException) -> None:
        super().__init__(failure)
        self.failure = failure


def read_arguments(raw: object, signature: Signature) -> dict[str, Any]:
    """Read the arguments of a call.

    Args:
        raw: An object, its JSON text, or that text encoded once more; nothing at all for no arguments. Of a key that
            stands twice in one object the last counts, as everywhere in Python.
        signature: The tool's parameters.

    Returns:
        The arguments, of the types of the signature.

    Raises:
        ParsingFault: It is no JSON object.
        InvalidInputException: A parameter is missing, unknown or wrong; every fault is named.
    """
    try:
        return _validated(raw, signature)
    except ValidationError as error:
        faults = error
    # Outside the handler, so that pydantic's report, which holds the input, is not the failure's context.
    raise _failure_of(faults, signature)


def _validated(raw: object, signature: Signature) -> dict[str, Any]:
    if not isinstance(raw, str | bytes):
        if raw is None:
            return signature.validate_python({})
        if isinstance(raw, Mapping):
            return signature.validate_python(dict(cast("Mapping[str, Any]", raw)))
        raise ParsingFault(_not_an_object(raw, signature))
    try:
        return signature.validate_json(raw)
    except ValidationError as error:
        kind = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if kind["loc"]:
            raise
    return _second_reading(raw, signature, str(kind["msg"]))


def _second_reading(raw: str | bytes, signature: Signature, reason: str) -> dict[str, Any]:
    """Read a text that is no JSON object: perhaps it was encoded twice, which loses nothing, or says nothing."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    value = _decoded(text) if text.strip() else None
    if isinstance(value, str) and value is not text:
        once = value
        value = _decoded(once) if once.strip() else None
        if isinstance(value, dict):
            return signature.validate_json(once)
    if value is None:
        return signature.validate_python({})
    if value is text or isinstance(value, dict):
        # No JSON at all, or what only Python takes for JSON.
        rule = f"the arguments must be one JSON object: {reason}"
        raise ParsingFault(InvalidInputException("arguments", _shown(text, signature), rule))
    raise ParsingFault(_not_an_object(value, signature))


def _decoded(text: str) -> Any:
    """Read JSON; give the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _not_an_object(value: object, signature: Signature) -> InvalidInputException:
    kind = _KINDS.get(type(value), f"a value of the type {type(value).__name__}")
    if isinstance(value, str):
        kind = "a string that contains no JSON object"
    return InvalidInputException("arguments", _shown(value, signature), f"arguments must be an object, you sent {kind}")


def _shown(value: object, signature: Signature) -> object:
    """Give what is shown of arguments that could not be read: nobody knows where in them a secret is."""
    if signature.secrets:
        return None if value is None else "<not shown>"
    return brief(value) if isinstance(value, str) else value


def _failure_of(error: ValidationError, signature: Signature) -> InvalidInputException:
    failure = invalid_arguments(error, secrets=[signature.shown[name] for name in signature.secrets])
    unknown = [
        str(fault["loc"][0])
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
        if fault["type"] in {"extra_forbidden", "invalid_key"} and len(fault["loc"]) == 1
    ]
    if unknown:
        failure.validation_rule = f"{failure.validation_rule}\n{_names_hint(unknown, signature)}"
    return failure


def _names_hint(unknown: list[str], signature: Signature) -> str:
    known = list(signature.shown.values())
    if not known:
        return "The tool takes no parameters."
    meant = [
        f"'{close[0]}' for '{brief(name)}'" for name in unknown[:_NAMES_CORRECTED] if (close := _close(name, known))
    ]
    hint = f"Perhaps you meant {', '.join(meant)}. " if meant else ""
    return f"{hint}The parameters are: {brief(', '.join(known), limit=_NAMES_LIMIT)}"


def _close(name: str, known: list[str]) -> list[str]:
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name pays for it

    return get_close_matches(name[:100], known, n=1)
