"""Which parts of a request are secret, found by what they are called and by who put them there."""

import base64
import binascii
from collections.abc import Iterable

import httpx2

from nucleo.errors.secret_names import secret_name

_LONG = 16
"""Characters from which a value that `decorate` added counts as a credential whatever it is called."""

_NO_WORD = 6
"""Characters from which the value of a name like ``key`` or ``token`` is a credential: a sort key is a short word."""

_HARMLESS = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "content-length",
        "content-type",
        "host",
        "if-modified-since",
        "if-none-match",
        "user-agent",
    }
)

Pairs = frozenset[tuple[str, str]]
"""Headers and parameters of a request, by name and value."""


def pairs_of(request: httpx2.Request) -> Pairs:
    """Give the headers and the parameters that a request has at this moment."""
    return frozenset(_pairs(request))


def secrets_of(request: httpx2.Request, *, before: Pairs) -> tuple[str, ...]:
    """Find the secrets a request carries.

    Args:
        request: The request as it will be sent.
        before: What it had before authentication; what was added since is a credential when it is long.
    """
    found: list[str] = []
    for name, value in _pairs(request):
        added = (name, value) not in before and len(value) >= _LONG and " " not in value.strip()
        named = secret_name(name)
        if name not in _HARMLESS and (added or named == "strong" or (named and len(value) >= _NO_WORD)):
            found.extend(_cookies(value) if name == "cookie" else _forms(value))
    return tuple(each for each in found if each)


def _pairs(request: httpx2.Request) -> Iterable[tuple[str, str]]:
    yield from ((name.lower(), value) for name, value in request.headers.multi_items())
    yield from request.url.params.multi_items()


def _cookies(value: str) -> Iterable[str]:
    yield value
    for cookie in value.split(";"):
        yield cookie.partition("=")[2].strip()


def _forms(value: str) -> Iterable[str]:
    yield value
    scheme, blank, rest = value.partition(" ")
    if blank:
        yield rest.strip()
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair
        yield pair.partition(":")[2]
