"""The asynchronous client: what `ServiceClient` knows, and the I/O for it."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, asynccontextmanager
from types import TracebackType
from typing import Self, Unpack, cast

import httpx2
from pydantic import TypeAdapter

from nucleo.http.exchange import Answer, Exchange
from nucleo.http.pages import Pages
from nucleo.http.pool import ConnectionPool, pool_of_loop
from nucleo.http.reading import BytesReader, JsonReader, Reader, T, TextReader
from nucleo.http.service_client import Options, Path, ServiceClient
from nucleo.http.stream import AnswerStream


class ApiClient(ServiceClient):
    """A client for one HTTP service, whose failures are members of the set.

        class Geocoder(ApiClient):
            service_name = "geocoder"
            base_url = "https://geocoder.example.com/v1"

            def decorate(self, request):
                request.headers["Authorization"] = f"Bearer {self.key}"

            async def lookup(self, address: str) -> Place:
                return await self.get("/lookup", params={"q": address}, into=Place)

    Each request is sent once: nothing is repeated here, ever. Clients share the connections of their event loop; use
    one as an async context manager to close them before the loop ends.

    All methods that call the service take the `Options` as keywords, and raise a member of the set when the service
    does not do what was asked: the class of its answer, or an `ExternalServiceException` without an answer.

    Args:
        base_url: Another address than the class's.
        pool: Other connections than the loop's.
    """

    _pool: ConnectionPool | None = None
    _entered: ConnectionPool | None = None

    def __init__(self, *, base_url: str | None = None, pool: ConnectionPool | None = None) -> None:
        if base_url is not None:
            self.base_url = base_url
        self._pool = pool

    def decorate(self, request: httpx2.Request) -> Awaitable[None] | None:  # noqa: ARG002 - for those who override it
        """Hook: put authentication into a request. May be ``async def``, for a token that must be fetched first.

        What is put here is taken for a credential: it never follows a redirect to another server, and is masked in
        everything a model reads.
        """
        return None

    async def request(
        self, method: str, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]
    ) -> T:
        """Call the service and read its JSON.

        Args:
            method: The HTTP method.
            path: See `ServiceClient.build_url`.
            into: A pydantic model, a dataclass or any type pydantic knows; a `TypeAdapter` where a type checker
                cannot take the type itself. Without it plain JSON values come back; None for an empty body.
            **options: See `Options`.
        """
        return await self._call(method, path, JsonReader(into), options)

    async def get(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """GET a path and read its JSON, see `request`."""
        return await self._call("GET", path, JsonReader(into), options)

    async def get_text(self, path: Path, **options: Unpack[Options]) -> str:
        """GET a path and read its text by the declared charset, else as UTF-8."""
        return await self._call("GET", path, TextReader(), options)

    async def get_bytes(self, path: Path, **options: Unpack[Options]) -> bytes:
        """GET a path and take its body as it is."""
        return await self._call("GET", path, BytesReader(), options)

    async def post(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """POST to a path and read its JSON, see `request`."""
        return await self._call("POST", path, JsonReader(into), options)

    async def put(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """PUT to a path and read its JSON, see `request`."""
        return await self._call("PUT", path, JsonReader(into), options)

    async def patch(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """PATCH a path and read its JSON, see `request`."""
        return await self._call("PATCH", path, JsonReader(into), options)

    async def delete(
        self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]
    ) -> T:
        """DELETE a path and read its JSON, see `request`."""
        return await self._call("DELETE", path, JsonReader(into), options)

    async def pages(
        self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]
    ) -> AsyncGenerator[T]:
        """GET a path and the pages after it, as `next_page` finds them; close the generator to stop early.

        Raises:
            ExternalServiceException: There are more than `max_pages`, or a page leads to another server.
        """
        reader, pages = JsonReader(into), Pages(self, path)
        empty = options.get("empty_on_404", False)
        while (address := pages.address) is not None:
            exchange = self._prepare("GET", address, reader.accept, pages.options(options))
            answer = await self._exchange(exchange)
            page = exchange.finish(answer, reader, empty_on_404=empty)
            pages.turn(answer, page)
            yield page

    @asynccontextmanager
    async def stream(
        self, path: Path, *, method: str = "GET", **options: Unpack[Options]
    ) -> AsyncGenerator[AnswerStream]:
        """Call the service and read its body as it comes; an error answer is raised before the block begins.

        Args:
            path: See `ServiceClient.build_url`.
            method: The HTTP method.
            **options: See `Options`. ``empty_on_404`` has no meaning here, and no limit holds for the whole body.
        """
        exchange = self._prepare(method, path, "*/*", options)
        await self._authenticate(exchange)
        pool = await self._connections()
        with pool.in_use():
            answer = None
            while answer is None:
                response = await self._round(exchange, pool, whole=False)
                try:
                    answer = exchange.take()
                    if answer is not None:
                        exchange.check(answer)
                        yield AnswerStream(exchange, response, answer)
                finally:
                    await response.aclose()

    async def __aenter__(self) -> Self:
        if self._pool is None:
            self._entered = await pool_of_loop()
            self._entered.enter()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        entered, self._entered = self._entered, None
        if entered is not None:
            await entered.leave()

    async def _call(self, method: str, path: Path, reader: Reader[T], options: Options) -> T:
        empty = options.get("empty_on_404", False)
        if empty:
            # A type that cannot say "nothing found" is a mistake of the code, not of the first search without hits.
            reader.empty()
        exchange = self._prepare(method, path, reader.accept, options)
        return exchange.finish(await self._exchange(exchange), reader, empty_on_404=empty)

    async def _exchange(self, exchange: Exchange) -> Answer:
        await self._authenticate(exchange)
        pool = await self._connections()
        answer = None
        with pool.in_use():
            while answer is None:
                await self._round(exchange, pool)
                answer = exchange.take()
        return answer

    async def _authenticate(self, exchange: Exchange) -> None:
        pending = self.decorate(exchange.request)
        if inspect.isawaitable(pending):
            await pending
        exchange.authenticated()

    async def _connections(self) -> ConnectionPool:
        return self._pool if self._pool is not None else await pool_of_loop()

    async def _round(self, exchange: Exchange, pool: ConnectionPool, *, whole: bool = True) -> httpx2.Response:
        """Send one request and collect its answer; a good one only when its whole body is wanted."""
        transport = pool.transport(self._route(exchange.request.url))
        response: httpx2.Response | None = None
        try:
            async with asyncio.timeout(exchange.timeouts.share_seconds()):
                response = await transport.handle_async_request(exchange.request)
                good = exchange.began(response)
                if whole or not good:
                    await _collect(response, exchange)
        except Exception as error:  # noqa: BLE001 - the seam: whatever a library raises here gets its meaning
            if response is not None:
                await response.aclose()
            exchange.broke_off(error)
        return cast("httpx2.Response", response)


async def _collect(response: httpx2.Response, exchange: Exchange) -> None:
    collector = exchange.expect()
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            if not collector.add(piece):
                return
    collector.finish()
