"""What a pydantic fault means, written as the way to get it right.

Apart from `arguments` because it is a table. The names are pydantic's published error types; its own sentence is used
where the table has none. Source: https://docs.pydantic.dev/latest/errors/validation_errors/.
"""

from collections.abc import Mapping
from typing import Final, cast

from nucleo.errors.text import brief

_RULE_LIMIT = 240
_NOT_ACCEPTED: Final = "it was not accepted"

_NUMBER = "give a number"
_WHOLE = "give a whole number"
_TEXT = "give a text"
_LIST = "give a list"
_OBJECT = "give an object"
_REQUIRED = "it is required and was not given"
_UNKNOWN = "there is no such parameter: leave it out"
_ONE_OF = "give one of {expected}"
_DATE = "give a date, such as 2026-01-31"
_DATETIME = "give a date and time, such as 2026-01-31T12:00:00Z"
_TIME = "give a time of day, such as 12:30:00"
_DURATION = "give a duration, such as PT1H30M, or a number of seconds"
_UUID = "give a UUID"
_URL = "give a complete URL, such as https://example.com/page"

_RULES: Final[Mapping[str, str]] = {
    "bool_parsing": "give true or false",
    "bool_type": "give true or false",
    "dataclass_type": _OBJECT,
    "date_from_datetime_parsing": _DATE,
    "date_parsing": _DATE,
    "date_type": _DATE,
    "datetime_from_date_parsing": _DATETIME,
    "datetime_parsing": _DATETIME,
    "datetime_type": _DATETIME,
    "decimal_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "dict_type": _OBJECT,
    "enum": _ONE_OF,
    "extra_forbidden": _UNKNOWN,
    "finite_number": "give a finite number",
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "frozen_set_type": _LIST,
    "greater_than": "give a value greater than {gt}",
    "greater_than_equal": "give a value of at least {ge}",
    "int_from_float": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "give a smaller whole number",
    "int_type": _WHOLE,
    "less_than": "give a value less than {lt}",
    "less_than_equal": "give a value of at most {le}",
    "list_type": _LIST,
    "literal_error": _ONE_OF,
    "missing": _REQUIRED,
    "missing_argument": _REQUIRED,
    "missing_keyword_only_argument": _REQUIRED,
    "model_attributes_type": _OBJECT,
    "model_type": _OBJECT,
    "multiple_of": "give a multiple of {multiple_of}",
    "none_required": "give null",
    "set_type": _LIST,
    "string_pattern_mismatch": "give a text that matches the pattern {pattern}",
    "string_too_long": "give at most {max_length} characters",
    "string_too_short": "give at least {min_length} characters",
    "string_type": _TEXT,
    "time_delta_parsing": _DURATION,
    "time_delta_type": _DURATION,
    "time_parsing": _TIME,
    "time_type": _TIME,
    "too_long": "give at most {max_length} items",
    "too_short": "give at least {min_length} items",
    "tuple_type": _LIST,
    "unexpected_keyword_argument": _UNKNOWN,
    "url_parsing": _URL,
    "url_scheme": "give a URL whose scheme is one of {expected_schemes}",
    "url_type": _URL,
    "uuid_parsing": _UUID,
    "uuid_type": _UUID,
}

_NOT_GIVEN: Final = frozenset({"missing", "missing_argument", "missing_keyword_only_argument"})
# pydantic puts these before the words of whoever wrote the validator.
_PREFIXES: Final = ("Value error, ", "Assertion failed, ")


def rule_of(fault: Mapping[str, object], *, secret: bool) -> str:
    """Say in words how the fault is put right, in at most 240 characters.

    Args:
        fault: One entry of pydantic's ``errors()``.
        secret: The value must not be shown, so neither are words that somebody's validator may have made from it.
    """
    rule = _RULES.get(str(fault.get("type")))
    if rule is not None:
        return brief(_filled(rule, fault.get("ctx")), limit=_RULE_LIMIT)
    if secret:
        return _NOT_ACCEPTED
    words = str(fault.get("msg", "")).strip()
    for prefix in _PREFIXES:
        words = words.removeprefix(prefix)
    if words.startswith("Input should"):
        words = "it" + words.removeprefix("Input")
    return brief(words, limit=_RULE_LIMIT) or _NOT_ACCEPTED


def is_not_given(fault: Mapping[str, object]) -> bool:
    """Tell whether the parameter was left out: then the input of the fault is what it was missing from."""
    return fault.get("type") in _NOT_GIVEN


def _filled(rule: str, context: object) -> str:
    if "{" not in rule:
        return rule
    try:
        return rule.format_map(cast("Mapping[str, object]", context or {}))
    except (KeyError, ValueError, TypeError, AttributeError):
        # An older pydantic may name the figure otherwise; the words before it are still right.
        return rule.partition("{")[0].rstrip() + " what the schema allows"
