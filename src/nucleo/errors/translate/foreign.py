"""Looking at exceptions of libraries that are not imported: their names, their attributes, what they hide inside.

Apart from the tables because every table needs it, and because a foreign object must be looked at with care: its
properties may raise, and its causes may hang in places that Python's own chain does not know.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar, cast
from urllib.parse import urlsplit

from nucleo.errors.translate.registry import qualified_name

_NESTED_LIMIT = 40
_INSIDE = ("reason", "original_error", "os_error", "certificate_error")

Entry = TypeVar("Entry")


def attribute(thing: object, path: str) -> object:
    """Read a dotted attribute of a foreign object; None where it is absent or its property raises."""
    for name in path.split("."):
        try:
            thing = getattr(thing, name, None)
        except Exception:  # noqa: BLE001 - a property of somebody else's may raise anything (httpx's `request` does)
            return None
        if thing is None:
            return None
    return thing


def text_attribute(thing: object, path: str) -> str | None:
    """Read a dotted attribute that must be a non-empty text; None for anything else."""
    value = attribute(thing, path)
    return value if isinstance(value, str) and value else None


def entry_of(error: BaseException, table: Mapping[str, Entry], *, packages: frozenset[str]) -> Entry | None:
    """Find what a table says of an exception, by the most specific of its classes that has an entry.

    Args:
        error: The exception.
        table: What is known, by the bare name of the class. An application may have subclassed it.
        packages: The top-level packages whose classes these are; equal names elsewhere mean nothing.
    """
    for kind in type(error).__mro__:
        if kind.__qualname__ in table and kind.__module__.partition(".")[0] in packages:
            return table[kind.__qualname__]
    return None


def package_of(error: BaseException, packages: frozenset[str]) -> str:
    """Name the library that an exception is of: the top-level package of its most specific class among these."""
    tops = (kind.__module__.partition(".")[0] for kind in type(error).__mro__)
    return next((top for top in tops if top in packages), type(error).__module__)


def is_kind(error: BaseException, *names: str) -> bool:
    """Tell whether an exception is of one of the classes of these qualified names."""
    return any(qualified_name(kind) in names for kind in type(error).__mro__)


def nested(error: BaseException) -> Iterator[BaseException]:
    """Give the exceptions that an exception was made from, itself first, each once and at most forty.

    Beside ``__cause__`` and the members of groups these are the places where network libraries keep them: ``args``,
    ``reason`` and the like. Not ``__context__``: what somebody was handling when the call broke is not why it broke.
    """
    seen: set[int] = set()
    pending: list[object] = [error]
    while pending and len(seen) < _NESTED_LIMIT:
        current = pending.pop(0)
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        pending.extend(attribute(current, name) for name in _INSIDE)
        pending.extend(current.args)
        pending.append(current.__cause__)
        if isinstance(current, BaseExceptionGroup):
            pending.extend(cast("BaseExceptionGroup[BaseException]", current).exceptions)


def host_of(url: object) -> str | None:
    """Give the host of a URL by its name; None when there is none, or only an address, which names nobody."""
    try:
        host = urlsplit(str(url)).hostname
    except Exception:  # noqa: BLE001 - a foreign __str__, or text that is no URL
        return None
    return host_name(host)


def host_name(host: object) -> str | None:
    """Give a host by its name; None for an IP address and for what is no text."""
    if not isinstance(host, str) or ":" in host or not host.strip("0123456789."):
        return None
    return host
