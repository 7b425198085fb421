"""The connections of asynchronous code: one pool for each event loop, which ends with it.

Below httpx2's client on purpose: its cookie jar, its redirects and its log line with the whole address have no place
in connections that many services share.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, final

import httpx2

from nucleo.http.routes import Route

MOST_CONNECTIONS = 100
MOST_IDLE_CONNECTIONS = 20
IDLE_SECONDS = 15.0
"""Well below what servers and load balancers keep: a connection must not be closed over there as we use it."""


def limits() -> httpx2.Limits:
    """The limits of every pool of ours."""
    return httpx2.Limits(
        max_connections=MOST_CONNECTIONS,
        max_keepalive_connections=MOST_IDLE_CONNECTIONS,
        keepalive_expiry=IDLE_SECONDS,
    )


@final
class ConnectionPool:
    """Connections for any number of clients on one event loop.

    A client without a pool of its own uses the loop's, which is closed when the loop is shut down, as ``asyncio.run``
    does, or before by `close_connections`. A pool of one's own is for other lifetimes: use it as an async context
    manager and pass it to the clients.
    """

    def __init__(self) -> None:
        self._transports: dict[Route, httpx2.AsyncHTTPTransport] = {}
        self._closed = False
        self._busy = 0
        self._tenants = 0

    def transport(self, route: Route) -> httpx2.AsyncHTTPTransport:
        """Give the connections of one way out.

        Raises:
            RuntimeError: The pool is closed.
        """
        if self._closed:
            raise RuntimeError("the connection pool is closed")
        found = self._transports.get(route)
        if found is None:
            found = httpx2.AsyncHTTPTransport(
                verify=route.verify, trust_env=route.trust_env, limits=limits(), proxy=route.proxy
            )
            self._transports[route] = found
        return found

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Count a request that is under way."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1

    def enter(self) -> None:
        """Count a client that will say when it leaves."""
        self._tenants += 1

    async def leave(self) -> None:
        """Let such a client go; with the last one the connections end, unless another client is using them."""
        self._tenants -= 1
        if self._tenants == 0 and self._busy == 0:
            await self._close_transports()

    async def aclose(self) -> None:
        """Close all connections, for good."""
        self._closed = True
        await self._close_transports()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _close_transports(self) -> None:
        transports, self._transports = tuple(self._transports.values()), {}
        for transport in transports:
            await transport.aclose()


_lock = threading.Lock()
_of_loops: dict[asyncio.AbstractEventLoop, tuple[ConnectionPool, AsyncGenerator[None]]] = {}


async def pool_of_loop() -> ConnectionPool:
    """Give the pool of the running loop."""
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is not None:
        return found[0]
    pool = ConnectionPool()
    keeper = _keep(loop, pool)
    with _lock:
        # A loop that was closed without being shut down has left its entry, which would keep it alive for ever.
        for closed in [other for other in _of_loops if other.is_closed()]:
            del _of_loops[closed]
        _of_loops[loop] = (pool, keeper)
    await anext(keeper)
    return pool


async def close_connections() -> None:
    """Close the connections of the running loop now; a later request opens new ones."""
    with _lock:
        found = _of_loops.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found[1].aclose()


async def _keep(loop: asyncio.AbstractEventLoop, pool: ConnectionPool) -> AsyncGenerator[None]:
    # A loop ends the asynchronous generators that were begun on it before it closes, the one moment at which sockets
    # can still be closed in order.
    try:
        yield
    finally:
        with _lock:
            entry = _of_loops.get(loop)
            if entry is not None and entry[0] is pool:
                del _of_loops[loop]
        await pool.aclose()
