"""The connections of synchronous code: one pool for the process, which ends with the last client that uses it."""

import os
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Self, final

import httpx2

from nucleo.http.pool import limits
from nucleo.http.routes import Route


@final
class SyncConnectionPool:
    """Connections for any number of clients in any threads.

    A client without a pool of its own shares one with all such clients of the process. A pool of one's own is for
    other lifetimes: use it as a context manager and pass it to the clients.
    """

    def __init__(self) -> None:
        self._transports: dict[Route, httpx2.HTTPTransport] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._process = os.getpid()

    def transport(self, route: Route) -> httpx2.HTTPTransport:
        """Give the connections of one way out.

        Raises:
            RuntimeError: The pool is closed.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the connection pool is closed")
            found = self._transports.get(route)
            if found is None:
                found = httpx2.HTTPTransport(
                    verify=route.verify, trust_env=route.trust_env, limits=limits(), proxy=route.proxy
                )
                self._transports[route] = found
            return found

    @property
    def is_of_this_process(self) -> bool:
        """Whether it was not inherited by a fork, when its connections belong to the parent."""
        return self._process == os.getpid()

    def close(self) -> None:
        """Close all connections, for good."""
        with self._lock:
            self._closed = True
            transports, self._transports = tuple(self._transports.values()), {}
        for transport in transports:
            transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _Shared:
    """The process's pool while a client uses it."""

    def __init__(self) -> None:
        self.pool = SyncConnectionPool()
        self.tenants = 0


# Re-entrant: the collector may end a client, and so its use, on a thread that is just here.
_lock = threading.RLock()
_shared: list[_Shared] = []


def lease(tenant: object) -> tuple[SyncConnectionPool, Callable[[], object]]:
    """Let a client use the process's pool until it says so, is collected, or the process ends.

    Args:
        tenant: The client.

    Returns:
        The pool, and the function that ends the use.
    """
    with _lock:
        # A forked child must not write into its parent's connections, and closing them would end the parent's TLS.
        if not _shared or not _shared[-1].pool.is_of_this_process:
            _shared[:] = [_Shared()]
        shared = _shared[-1]
        shared.tenants += 1
    return shared.pool, weakref.finalize(tenant, _release, shared)


def _release(shared: _Shared) -> None:
    with _lock:
        shared.tenants -= 1
        if shared.tenants > 0:
            return
        if shared in _shared:
            _shared.remove(shared)
    if shared.pool.is_of_this_process:
        shared.pool.close()
