"""The synchronous client: what `ServiceClient` knows, and the I/O for it."""

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Self, Unpack, cast

import httpx2
from pydantic import TypeAdapter

from nucleo.http.exchange import Answer, Exchange
from nucleo.http.pages import Pages
from nucleo.http.reading import BytesReader, JsonReader, Reader, T, TextReader
from nucleo.http.service_client import Options, Path, ServiceClient
from nucleo.http.stream import SyncAnswerStream
from nucleo.http.sync_pool import SyncConnectionPool, lease


class SyncApiClient(ServiceClient):
    """A client for one HTTP service, whose failures are members of the set.

        class Geocoder(SyncApiClient):
            service_name = "geocoder"
            base_url = "https://geocoder.example.com/v1"

            def decorate(self, request):
                request.headers["Authorization"] = f"Bearer {self.key}"

            def lookup(self, address: str) -> Place:
                return self.get("/lookup", params={"q": address}, into=Place)

    Each request is sent once: nothing is repeated here, ever. Clients share the connections of the process, which are
    closed when the last client is closed or gone; use one as a context manager to say when. Threads may share one.

    All methods that call the service take the `Options` as keywords, and raise a member of the set when the service
    does not do what was asked: the class of its answer, or an `ExternalServiceException` without an answer.

    Args:
        base_url: Another address than the class's.
        pool: Other connections than the process's.
    """

    _pool: SyncConnectionPool | None = None
    _leased: SyncConnectionPool | None = None
    _release: Callable[[], object] | None = None

    def __init__(self, *, base_url: str | None = None, pool: SyncConnectionPool | None = None) -> None:
        if base_url is not None:
            self.base_url = base_url
        self._pool = pool

    def decorate(self, request: httpx2.Request) -> None:
        """Hook: put authentication into a request.

        What is put here is taken for a credential: it never follows a redirect to another server, and is masked in
        everything a model reads.
        """

    def request(
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
        return self._call(method, path, JsonReader(into), options)

    def get(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """GET a path and read its JSON, see `request`."""
        return self._call("GET", path, JsonReader(into), options)

    def get_text(self, path: Path, **options: Unpack[Options]) -> str:
        """GET a path and read its text by the declared charset, else as UTF-8."""
        return self._call("GET", path, TextReader(), options)

    def get_bytes(self, path: Path, **options: Unpack[Options]) -> bytes:
        """GET a path and take its body as it is."""
        return self._call("GET", path, BytesReader(), options)

    def post(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """POST to a path and read its JSON, see `request`."""
        return self._call("POST", path, JsonReader(into), options)

    def put(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """PUT to a path and read its JSON, see `request`."""
        return self._call("PUT", path, JsonReader(into), options)

    def patch(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """PATCH a path and read its JSON, see `request`."""
        return self._call("PATCH", path, JsonReader(into), options)

    def delete(self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]) -> T:
        """DELETE a path and read its JSON, see `request`."""
        return self._call("DELETE", path, JsonReader(into), options)

    def pages(
        self, path: Path, *, into: type[T] | TypeAdapter[T] | None = None, **options: Unpack[Options]
    ) -> Generator[T]:
        """GET a path and the pages after it, as `next_page` finds them; close the generator to stop early.

        Raises:
            ExternalServiceException: There are more than `max_pages`, or a page leads to another server.
        """
        reader, pages = JsonReader(into), Pages(self, path)
        empty = options.get("empty_on_404", False)
        while (address := pages.address) is not None:
            exchange = self._prepare("GET", address, reader.accept, pages.options(options))
            answer = self._exchange(exchange)
            page = exchange.finish(answer, reader, empty_on_404=empty)
            pages.turn(answer, page)
            yield page

    @contextmanager
    def stream(self, path: Path, *, method: str = "GET", **options: Unpack[Options]) -> Generator[SyncAnswerStream]:
        """Call the service and read its body as it comes; an error answer is raised before the block begins.

        Args:
            path: See `ServiceClient.build_url`.
            method: The HTTP method.
            **options: See `Options`. ``empty_on_404`` has no meaning here, and no limit holds for the whole body.
        """
        exchange = self._prepare(method, path, "*/*", options)
        self._authenticate(exchange)
        pool = self._connections()
        answer = None
        while answer is None:
            response = self._round(exchange, pool, whole=False)
            try:
                answer = exchange.take()
                if answer is not None:
                    exchange.check(answer)
                    yield SyncAnswerStream(exchange, response, answer)
            finally:
                response.close()

    def close(self) -> None:
        """Let go of the shared connections; a later call takes them up again."""
        release, self._release, self._leased = self._release, None, None
        if release is not None:
            release()

    def __enter__(self) -> Self:
        self._connections()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, method: str, path: Path, reader: Reader[T], options: Options) -> T:
        empty = options.get("empty_on_404", False)
        if empty:
            # A type that cannot say "nothing found" is a mistake of the code, not of the first search without hits.
            reader.empty()
        exchange = self._prepare(method, path, reader.accept, options)
        return exchange.finish(self._exchange(exchange), reader, empty_on_404=empty)

    def _exchange(self, exchange: Exchange) -> Answer:
        self._authenticate(exchange)
        pool = self._connections()
        answer = None
        while answer is None:
            self._round(exchange, pool)
            answer = exchange.take()
        return answer

    def _authenticate(self, exchange: Exchange) -> None:
        decorate: Callable[[httpx2.Request], object] = self.decorate
        pending = decorate(exchange.request)
        if inspect.isawaitable(pending):
            if inspect.iscoroutine(pending):
                pending.close()
            raise TypeError(f"decorate of {type(self).__name__} must be a plain function: the client is synchronous")
        exchange.authenticated()

    def _connections(self) -> SyncConnectionPool:
        if self._pool is not None:
            return self._pool
        if self._leased is None or not self._leased.is_of_this_process:
            self._leased, self._release = lease(self)
        return self._leased

    def _round(self, exchange: Exchange, pool: SyncConnectionPool, *, whole: bool = True) -> httpx2.Response:
        """Send one request and collect its answer; a good one only when its whole body is wanted."""
        transport = pool.transport(self._route(exchange.request.url))
        response: httpx2.Response | None = None
        try:
            response = transport.handle_request(exchange.request)
            good = exchange.began(response)
            if whole or not good:
                _collect(response, exchange)
        except Exception as error:  # noqa: BLE001 - the seam: whatever a library raises here gets its meaning
            if response is not None:
                response.close()
            exchange.broke_off(error)
        return cast("httpx2.Response", response)


def _collect(response: httpx2.Response, exchange: Exchange) -> None:
    collector = exchange.expect()
    try:
        for piece in response.iter_raw():
            if not collector.add(piece):
                return
            exchange.timeouts.check()
    finally:
        response.close()
    collector.finish()
