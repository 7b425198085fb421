"""Walking what hangs behind an exception: causes, contexts and groups."""

import sys
from collections.abc import Iterator
from typing import cast

from nucleo.errors.text import as_text


def walk_chain(error: BaseException) -> Iterator[BaseException]:
    """Give every exception of a chain once, the error itself first.

    From each exception the walk goes into every member of a group, depth first and in order, then on through
    ``__cause__``, else through ``__context__`` unless that is suppressed. Cycles end the walk.
    """
    seen: set[int] = set()
    pending: list[BaseException] = [error]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        behind = next_link(current)
        if behind is not None:
            pending.append(behind)
        pending.extend(reversed(group_members(current)))


def next_link(error: BaseException) -> BaseException | None:
    """Give what stands directly behind an exception: its cause, else its context unless suppressed."""
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def group_members(error: BaseException) -> tuple[BaseException, ...]:
    """Give the members of an exception group in order; nothing for any other exception."""
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return cast("BaseExceptionGroup[BaseException]", error).exceptions


def deepest_message(error: BaseException) -> str:
    """Give the message of the deepest exception of the chain that has one, else the class name of the deepest."""
    message, name = "", type(error).__name__
    for link in walk_chain(error):
        if not isinstance(link, BaseExceptionGroup):
            message, name = as_text(link).strip() or message, type(link).__name__
    return message or name


def keep_context(error: BaseException) -> BaseException:
    """Make what stands behind an exception its cause, because raising it again would put something else there."""
    if error.__cause__ is None and not error.__suppress_context__ and error.__context__ is not None:
        error.__cause__ = error.__context__
    return error


def interpreter_signal(error: BaseException) -> BaseException | None:
    """Find a cancel or an exit that must pass untouched: the error itself, or a member of a group.

    Never somebody's cause or context: every `asyncio.timeout` leaves a ``CancelledError`` behind its ``TimeoutError``.
    """
    signals = _signal_types()
    pending = [error]
    while pending:
        current = pending.pop()
        if isinstance(current, signals):
            return current
        pending.extend(reversed(group_members(current)))
    return None


def is_cancelled_error(error: BaseException) -> bool:
    """Tell whether this is `asyncio.CancelledError`, without importing asyncio."""
    cancelled = _cancelled_error()
    return cancelled is not None and isinstance(error, cancelled)


def _signal_types() -> tuple[type[BaseException], ...]:
    exits = (KeyboardInterrupt, SystemExit, GeneratorExit)
    cancelled = _cancelled_error()
    return exits if cancelled is None else (*exits, cancelled)


def _cancelled_error() -> type[BaseException] | None:
    # Where asyncio was never imported, nobody can have raised its CancelledError.
    module = sys.modules.get("asyncio.exceptions")
    return None if module is None else module.CancelledError
