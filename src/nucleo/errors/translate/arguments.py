"""The faults of a model's arguments, as the one failure that names them all.

Apart from the tables because it is no translation of an exception that escaped: only the argument stage of a tool calls
it, and there a ``pydantic.ValidationError`` is what the model got wrong.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from nucleo.errors.calls import InvalidInputException
from nucleo.errors.secret_names import secret_name
from nucleo.errors.text import brief
from nucleo.errors.translate.foreign import attribute
from nucleo.errors.translate.locations import dotted
from nucleo.errors.translate.rules import is_not_given, rule_of

_RULES_BYTES = 2200
"""Bytes of the list of faults. With the names and the values, 200 characters each, the whole stays below 4 KB."""
_NAMES_SHOWN = 5
_VALUES_SHOWN = 10
_VALUE_LIMIT = 80
"""Characters of a value that count as short; a longer one is described instead."""
_NUMBER_BITS = 200
"""Bits of a whole number that counts as short."""
_WHOLE: Final = "arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    path: str
    rule: str
    given: object
    has_value: bool


def invalid_arguments(
    error: BaseException, *, parameter: str | None = None, secrets: Collection[str] = ()
) -> InvalidInputException:
    """Make one failure of every fault that pydantic found in the arguments of a call.

    Every fault is named by its dotted path, ``items.3.id``, with the way to get it right. A value is shown once, and
    only when it is short; of lists and objects, of long texts and of secrets only the kind is said or nothing. The
    text that the model reads stays below 4 KB, however many faults there are, and then says how many more.

    Args:
        error: A ``pydantic.ValidationError``, of version 1 or 2: anything with an ``errors()`` like theirs.
        parameter: The parameter that was validated, when it was one alone: every path is below it. None when all
            arguments of the call were validated together and the paths begin with the parameters' own names.
        secrets: Paths of secret parameters; what is below them is secret too. Values of a ``Secret...`` type, and of
            parameters whose name says so (``api_key``, ``password``, ``token``), are never shown anyway.

    Returns:
        The failure: about the one faulty parameter with its value, or about several, with their values by path.

    Raises:
        TypeError: The error has no ``errors()``.
    """
    found = _errors_of(error)
    faults = [_fault(entry, parameter, secrets) for entry in found]
    if not faults:
        return InvalidInputException(parameter or _WHOLE, None, "it was not accepted")
    if len(faults) == 1:
        only = faults[0]
        return InvalidInputException(only.path, only.given, only.rule)
    shown = [fault for fault in faults if fault.has_value][:_VALUES_SHOWN]
    return InvalidInputException(_names(faults), {fault.path: fault.given for fault in shown} or None, _rules(faults))


def _errors_of(error: BaseException) -> Sequence[Mapping[str, Any]]:
    errors = attribute(error, "errors")
    if not callable(errors):
        raise TypeError(f"{type(error).__name__} is no validation error: it has no errors()")
    try:
        return cast("Sequence[Mapping[str, Any]]", errors(include_url=False, include_input=True))
    except TypeError:
        return cast("Sequence[Mapping[str, Any]]", errors())


def _fault(entry: Mapping[str, Any], parameter: str | None, secrets: Collection[str]) -> _Fault:
    steps: Sequence[object] = entry.get("loc") or ()
    path = dotted(steps, below=parameter or "") or _WHOLE
    value: object = entry.get("input")
    secret = _is_secret(path, value, secrets)
    has_value = not (secret or is_not_given(entry) or "input" not in entry)
    return _Fault(
        path=path,
        rule=rule_of(entry, secret=secret),
        given=_shown(value) if has_value else _withheld(entry, secret=secret),
        has_value=has_value,
    )


def _is_secret(path: str, value: object, secrets: Collection[str]) -> bool:
    if any(path == secret or path.startswith(f"{secret}.") for secret in secrets):
        return True
    if hasattr(value, "get_secret_value"):
        return True
    return any(secret_name(step) for step in path.split("."))


def _withheld(entry: Mapping[str, Any], *, secret: bool) -> str | None:
    return "<secret>" if secret and not is_not_given(entry) else None


def _shown(value: object) -> object:
    """Give the value itself where it is short and simple, else what kind of thing it is."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        short = len(value) <= _VALUE_LIMIT
        return value if short else f"<text of {len(value):,} characters>"
    if isinstance(value, int):
        # The text of a huge number is refused by Python itself.
        return value if value.bit_length() <= _NUMBER_BITS else "<a very large number>"
    return _described(value)


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        return f"<object with {len(cast('Mapping[object, object]', value)):,} fields>"
    if isinstance(value, list | tuple | set | frozenset):
        return f"<list of {len(cast('Collection[object]', value)):,} items>"
    return f"<{brief(type(value).__name__)}>"


def _names(faults: Sequence[_Fault]) -> str:
    paths = list(dict.fromkeys(fault.path for fault in faults))
    more = len(paths) - _NAMES_SHOWN
    tail = f" and {more} more" if more > 0 else ""
    return ", ".join(paths[:_NAMES_SHOWN]) + tail


def _rules(faults: Sequence[_Fault]) -> str:
    lines = ["each of these must be put right:"]
    room = _RULES_BYTES
    for count, fault in enumerate(faults):
        line = f"- {fault.path}: {fault.rule}"
        room -= len(line.encode()) + 1
        if room < 0:
            lines.append(f"... and {len(faults) - count} more")
            break
        lines.append(line)
    return "\n".join(lines)
