"""What an answer of an HTTP service means, in members of the set.

Pure: the standard library only, and no client. The HTTP client, the translations, the model providers and
``nucleo explain`` all come here; there is one place where an answer gets its meaning.
"""

from typing import TYPE_CHECKING, Any

from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.http.failures import (
    Http400Exception,
    Http401Exception,
    Http403Exception,
    Http404Exception,
    Http413Exception,
    Http422Exception,
    Http429Exception,
    Http500Exception,
    Http502Exception,
    Http503Exception,
    HttpErrorResponse,
    HttpUnmappedStatusException,
)

if TYPE_CHECKING:
    from nucleo.errors.http.mapping import http_failure, inspect_response, raise_for_status
    from nucleo.errors.http.retry_after import parse_retry_after

__all__ = [
    "Http400Exception",
    "Http401Exception",
    "Http403Exception",
    "Http404Exception",
    "Http413Exception",
    "Http422Exception",
    "Http429Exception",
    "Http500Exception",
    "Http502Exception",
    "Http503Exception",
    "HttpErrorDetail",
    "HttpErrorResponse",
    "HttpUnmappedStatusException",
    "http_failure",
    "inspect_response",
    "parse_retry_after",
    "raise_for_status",
]

# The tables of codes and quirks load with the first answer that is read, not with the failure set.
_LATER = {
    "http_failure": "mapping",
    "inspect_response": "mapping",
    "raise_for_status": "mapping",
    "parse_retry_after": "retry_after",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - needed at most once a name

    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
