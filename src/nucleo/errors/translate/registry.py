"""The translations an application has registered, and how they are found by the names of a class.

Apart from the built-in tables because an application's word beats ours.
"""

import logging
import sys
from collections.abc import Callable
from typing import TypeAlias, cast

from nucleo.errors.root import LLMReadableException

Translation: TypeAlias = Callable[[Exception, str | None], LLMReadableException | None]
"""From an exception and the name of the service, if one was given, to a failure; None when it does not know."""

_log = logging.getLogger("nucleo.failures")
_registered: dict[str, Translation] = {}


def register_translation(qualified_name: str, function: Translation) -> Callable[[], None]:
    """Say what the exceptions of a class mean, for every thread of the process; beats the built-in tables.

    The class is named, not imported, so that a translation can be registered for a library that may not be there:

        def ledger_closed(error: Exception, service: str | None) -> LLMReadableException:
            return ExternalServiceException(service or "ledger", "the ledger is closed for the night")

        register_translation("ledger_client.LedgerClosed", ledger_closed)

    Args:
        qualified_name: Module and class, ``"package.module.Class"``: where the class is defined, or where it is
            imported from. Subclasses are meant too; the most specific registered class is asked first. A second
            registration of the same name replaces the first.
        function: Called with the exception and the name of the service, or None when the caller named none. It
            returns the failure, or None when it does not know; then the next less specific registration and at last
            the built-in tables are asked. When it raises, or returns something else, that is logged and it counts
            as None. It is called wherever an exception becomes a failure, also on the event loop: it must not block.

    Returns:
        A function that takes this registration back; once something else has replaced it, it does nothing.

    Raises:
        ValueError: The name is not that of a module and a class.
        TypeError: The function cannot be called.
    """
    if not _is_dotted_name(qualified_name):
        raise ValueError(
            f"{qualified_name!r} does not name a class: give its module and its name, as 'package.module.Class'"
        )
    if not callable(function):
        raise TypeError(
            f"the translation of {qualified_name} must be a function of the exception and the service name, "
            f"not {type(function).__name__}"
        )
    _registered[qualified_name] = function

    def take_back() -> None:
        if _registered.get(qualified_name) is function:
            del _registered[qualified_name]

    return take_back


def registered_translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Ask the application's translations, the most specific class first."""
    if not _registered:
        return None
    for kind in type(error).__mro__:
        for name, function in _registrations_of(kind):
            failure = ask(function, error, service, name)
            if failure is not None:
                return failure
    return None


def ask(function: Translation, error: Exception, service: str | None, name: str) -> LLMReadableException | None:
    """Call a translation; whatever goes wrong in it is logged and counts as not knowing."""
    try:
        failure = cast("object", function(error, service))
    except Exception:  # noqa: BLE001 - an application's or a table's slip must not hide the failure it was asked about
        _log.exception("The translation of %s raised and was passed over.", name)
        return None
    if failure is None or isinstance(failure, LLMReadableException):
        return failure
    _log.error(
        "The translation of %s returned %s, which is no failure of the set; it was passed over.",
        name,
        type(failure).__name__,
    )
    return None


def qualified_name(kind: type) -> str:
    """Give module and name of a class, as it says itself."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _registrations_of(kind: type) -> list[tuple[str, Translation]]:
    own = qualified_name(kind)
    found = [(own, _registered[own])] if own in _registered else []
    for name, function in tuple(_registered.items()):
        # Somebody may have written the name they import the class by, such as requests.ReadTimeout.
        module, _, attribute = name.rpartition(".")
        if attribute == kind.__name__ and name != own and _holds(module, attribute, kind):
            found.append((name, function))
    return found


def _holds(module: str, attribute: str, kind: type) -> bool:
    loaded = sys.modules.get(module)
    # The module's dict, not getattr: a lazy module would import something.
    return loaded is not None and vars(loaded).get(attribute) is kind


def _is_dotted_name(name: object) -> bool:
    if not isinstance(name, str) or "." not in name:
        return False
    return all(part.isidentifier() or part == "<locals>" for part in name.split("."))
