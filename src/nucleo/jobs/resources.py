"""What a leaf has in its hands while its body runs: opened before it, closed after it, on every way out."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, TypeVar, final, overload

logger = logging.getLogger("nucleo.jobs")

_R = TypeVar("_R")

Opener = Callable[[], AbstractAsyncContextManager[Any]]
"""Makes a fresh context manager for each attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What a leaf needs, all of it at once, for each run of its body.

    Attributes:
        resources: For each name the opener of an async context manager. They are opened in this order and closed in
            the reverse order. A job that needs any must have a timeout.
    """

    resources: Mapping[str, Opener] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_nothing(self) -> bool:
        """Whether the body can run without anything being opened."""
        return not self.resources


NOTHING = Requirements()
"""The requirements of a job that needs nothing."""


@final
class Resources:
    """What is open for one run: ``resources["database"]``, or typed, ``resources.get("database", Connection)``."""

    __slots__ = ("_managers", "_on_timeout", "_opened")

    def __init__(self) -> None:
        self._opened: dict[str, Any] | None = None
        self._managers: list[AbstractAsyncContextManager[Any]] | None = None
        self._on_timeout: list[Callable[[], object]] | None = None

    def __getitem__(self, name: str) -> Any:
        opened = self._opened or {}
        if name not in opened:
            known = ", ".join(sorted(opened)) or "none"
            raise KeyError(f"no resource {name!r} was asked for in requirements(); there are: {known}")
        return opened[name]

    @overload
    def get(self, name: str) -> Any: ...
    @overload
    def get(self, name: str, kind: type[_R]) -> _R: ...
    def get(self, name: str, kind: type[Any] = object) -> Any:
        """Give an opened resource and check its type.

        Raises:
            KeyError: When `requirements()` did not ask for it.
            TypeError: When it is of another type.
        """
        value = self[name]
        if not isinstance(value, kind):
            raise TypeError(f"the resource {name!r} is a {type(value).__name__}, not a {kind.__name__}")
        return value

    def on_timeout(self, close: Callable[[], object]) -> None:
        """Name what to close when the time budget runs out, so that what the body awaits then fails cleanly.

        Args:
            close: Called without arguments, last named first; it may return an awaitable.
        """
        if self._on_timeout is None:
            self._on_timeout = []
        self._on_timeout.append(close)

    async def open(self, requirements: Requirements) -> None:
        """Open what is required, in order. What was opened before a failure is closed by `close`."""
        self._opened = {}
        self._managers = []
        for name, opener in requirements.resources.items():
            manager = opener()
            self._opened[name] = await manager.__aenter__()
            self._managers.append(manager)

    async def close(self, error: BaseException | None, *, patience: float) -> BaseException | None:
        """Leave every context manager, last first, each told how the body ended.

        Args:
            error: What the body raised, or ``None``.
            patience: Seconds that each may take; what hangs is given up, and the next is closed.

        Returns:
            What the body raised, else the first failure to close. A resource does not undo a failure.
        """
        managers, self._managers = self._managers, None
        for manager in reversed(managers or ()):
            try:
                async with asyncio.timeout(patience):
                    await manager.__aexit__(
                        None if error is None else type(error), error, None if error is None else error.__traceback__
                    )
            except (Exception, asyncio.CancelledError) as failed:  # the others must still be closed
                if error is None:
                    error = failed
                elif failed is not error:
                    logger.warning("a resource could not be closed", exc_info=failed)
        return error

    async def interrupt(self) -> None:
        """Close the connections under a body whose time is up: its own, never a shared pool."""
        closers = list(reversed(self._on_timeout or ()))
        for value in reversed(list((self._opened or {}).values())):
            close = getattr(value, "aclose", None) or getattr(value, "close", None)
            if callable(close):
                closers.append(close)
        await _call_each(closers)

    def abort(self) -> None:
        """Drop the connections of a body that did not use its grace."""
        for value in reversed(list((self._opened or {}).values())):
            abort = getattr(value, "abort", None)
            if callable(abort):
                try:
                    abort()
                except Exception as failed:
                    logger.warning("a resource could not be aborted", exc_info=failed)

    @property
    def can_be_interrupted(self) -> bool:
        """Whether there is anything to close at the time budget."""
        return bool(self._opened) or bool(self._on_timeout)


async def _call_each(closers: list[Callable[[], object]]) -> None:
    for close in closers:
        try:
            result = close()
            if isawaitable(result):
                await result
        except asyncio.CancelledError:
            raise
        except Exception as failed:
            logger.warning("a resource could not be closed at the time budget", exc_info=failed)
