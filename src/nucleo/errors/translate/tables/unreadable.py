"""Answers that could not be read: what the JSON decoder and pydantic raise outside the arguments of a tool.

Without a service nobody can say whose text it was, so it is no more than a defect of the calling code. The arguments of
a tool are `nucleo.errors.translate.arguments`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from nucleo.errors.root import LLMReadableException
from nucleo.errors.services import ExternalServiceException
from nucleo.errors.translate.faults import UNREADABLE
from nucleo.errors.translate.foreign import attribute
from nucleo.errors.translate.locations import dotted

_PLACES_SHOWN = 3


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate a `json.JSONDecodeError` or a ``pydantic.ValidationError``, when a service is named."""
    if service is None:
        return None
    faults = attribute(error, "errors")
    if not callable(faults):
        return ExternalServiceException(service, f"{UNREADABLE.words}: it is not valid JSON")
    places = _places(cast("Sequence[Mapping[str, Any]]", faults()))
    shape = "it does not have the expected shape"
    return ExternalServiceException(service, f"{UNREADABLE.words}: {shape}{places}")


def _places(faults: Sequence[Mapping[str, Any]]) -> str:
    """Name the first places that did not fit, never what stood there: it is the service's data."""
    paths = list(dict.fromkeys(f"'{dotted(fault['loc'])}'" for fault in faults if fault["loc"]))
    if not paths:
        return ""
    more = len(paths) - _PLACES_SHOWN
    tail = f" and {more} more places" if more > 0 else ""
    return f" at {', '.join(paths[:_PLACES_SHOWN])}{tail}"
