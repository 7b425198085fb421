"""The real clients, each asked to make one call and to hand over the exception it raised."""

import asyncio
import contextlib
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import anthropic
import httpx
import httpx2
import openai
import pytest
import requests
import urllib3

from nucleo.testing import Answer, FailingService


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a client is asked to do."""

    url: str
    method: str = "GET"
    timeout: float = 5.0
    trust: ssl.SSLContext | None = None
    read_json: bool = False


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client, and what its exceptions are known to tell."""

    library: str
    perform: Callable[[Call], object]
    raises_on_status: bool = True
    # Which faults come with their method: "answer", "silence" (no byte of an answer), "body" (a broken one).
    tells_method: frozenset[str] = frozenset({"answer", "silence", "body"})
    tells_body: bool = True
    tells_host: frozenset[str] = frozenset({"answer", "connect", "silence", "body"})

    def error(self, url: str, **wanted: Any) -> Exception:
        with pytest.raises(Exception) as caught:
            self.perform(Call(url=url, **wanted))
        return caught.value


def _httpx(module: Any) -> Callable[[Call], object]:
    def perform(call: Call) -> object:
        with module.Client(timeout=call.timeout, verify=_context(call), follow_redirects=True) as client:
            response = client.request(call.method, call.url)
            response.raise_for_status()
            return response.json() if call.read_json else response.text

    return perform


def _httpx_async(module: Any) -> Callable[[Call], object]:
    async def ask(call: Call) -> object:
        async with module.AsyncClient(timeout=call.timeout, verify=_context(call), follow_redirects=True) as client:
            response = await client.request(call.method, call.url)
            response.raise_for_status()
            return response.json() if call.read_json else response.text

    return lambda call: asyncio.run(ask(call))


def _requests(call: Call) -> object:
    with requests.Session() as session:
        response = session.request(call.method, call.url, timeout=call.timeout)
        response.raise_for_status()
        return response.json() if call.read_json else response.content


def _urllib3(call: Call) -> object:
    with urllib3.PoolManager(timeout=call.timeout, ssl_context=_context(call)) as pool:
        response = pool.request(call.method, call.url, retries=urllib3.Retry(3, connect=0, read=0))
        return response.json() if call.read_json else response.data


def _urllib(call: Call) -> object:
    request = urllib.request.Request(call.url, method=call.method)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=call.timeout) as response:  # noqa: S310
            return response.read()
    except urllib.error.HTTPError as error:
        # The test looks at it after the block; only the socket has to be closed.
        error.fp.close()
        raise


def _aiohttp(call: Call) -> object:
    async def ask() -> object:
        timeout = aiohttp.ClientTimeout(sock_connect=call.timeout, sock_read=call.timeout)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(call.method, call.url) as response,
        ):
            response.raise_for_status()
            return await response.json() if call.read_json else await response.read()

    return asyncio.run(ask())


def _sdk(module: Any) -> Callable[[Call], object]:
    def perform(call: Call) -> object:
        kind = module.OpenAI if module is openai else module.Anthropic
        with kind(
            api_key="sk-planted-key-0123456789",
            base_url="http://unused.invalid",
            timeout=call.timeout,
            max_retries=0,
        ) as client:
            if call.method == "GET":
                return client.get(call.url, cast_to=object)
            return client.post(call.url, cast_to=object, body={"model": "m"})

    return perform


def _context(call: Call) -> ssl.SSLContext:
    return call.trust or ssl.create_default_context()


CLIENTS = {
    "httpx": Client(library="httpx", perform=_httpx(httpx)),
    "httpx-async": Client(library="httpx", perform=_httpx_async(httpx)),
    "httpx2": Client(library="httpx2", perform=_httpx(httpx2)),
    "httpx2-async": Client(library="httpx2", perform=_httpx_async(httpx2)),
    "requests": Client(
        library="requests",
        perform=_requests,
        tells_method=frozenset({"answer", "silence"}),
        tells_host=frozenset({"answer", "connect", "silence"}),
    ),
    "urllib3": Client(
        library="urllib3",
        perform=_urllib3,
        raises_on_status=False,
        tells_method=frozenset(),
        tells_body=False,
        tells_host=frozenset({"connect", "silence"}),
    ),
    "urllib": Client(
        library="urllib",
        perform=_urllib,
        tells_method=frozenset(),
        tells_body=False,
        tells_host=frozenset({"answer"}),
    ),
    "aiohttp": Client(
        library="aiohttp",
        perform=_aiohttp,
        tells_method=frozenset({"answer"}),
        tells_body=False,
        tells_host=frozenset({"answer", "connect"}),
    ),
    "openai": Client(library="openai", perform=_sdk(openai)),
    "anthropic": Client(library="anthropic", perform=_sdk(anthropic)),
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(params=sorted(CLIENTS))
def client(request: pytest.FixtureRequest) -> Client:
    return CLIENTS[request.param]


@pytest.fixture(params=sorted(name for name, client in CLIENTS.items() if client.raises_on_status))
def status_client(request: pytest.FixtureRequest) -> Client:
    return CLIENTS[request.param]


def _params(accepts: Callable[[Client], bool]) -> list[str]:
    return sorted(name for name, client in CLIENTS.items() if accepts(client))


@pytest.fixture(params=_params(lambda client: "silence" in client.tells_method))
def telling_client(request: pytest.FixtureRequest) -> Client:
    """A client whose exceptions tell the method of a request that got no answer."""
    return CLIENTS[request.param]


@pytest.fixture(params=_params(lambda client: "silence" not in client.tells_method))
def reticent_client(request: pytest.FixtureRequest) -> Client:
    """A client whose exceptions do not."""
    return CLIENTS[request.param]


@pytest.fixture(params=_params(lambda client: client.library != "aiohttp"))
def client_that_checks_chunks(request: pytest.FixtureRequest) -> Client:
    """A client that notices a chunk without a size: aiohttp 3.14 waits for ever after one."""
    return CLIENTS[request.param]


@pytest.fixture(params=_params(lambda client: client.tells_body and client.raises_on_status))
def reading_client(request: pytest.FixtureRequest) -> Client:
    """A client whose exceptions hold the body of the answer."""
    return CLIENTS[request.param]


@pytest.fixture(params=_params(lambda client: client.raises_on_status and not client.tells_body))
def unread_client(request: pytest.FixtureRequest) -> Client:
    """A client that raises before anybody has read the body."""
    return CLIENTS[request.param]


@pytest.fixture
def plain_server() -> Any:
    """The address of a server that greets whoever connects in plain text, and then listens."""
    listener = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"220 ready to serve, in plain text only" + bytes(64))
                while connection.recv(4096):
                    pass

    thread = threading.Thread(target=greet)
    thread.start()
    host, port = listener.getsockname()
    yield f"{host}:{port}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.fixture
def clients() -> dict[str, Client]:
    return CLIENTS


@pytest.fixture
def answering() -> Any:
    """A running service that gives one answer to everything; closed when the test ends."""
    running: list[FailingService] = []

    def start(answer: Answer, **options: Any) -> FailingService:
        service = FailingService(**options).on("*", lambda _: True, answer)
        running.append(service)
        return service.__enter__()

    yield start
    for service in running:
        service.__exit__(None, None, None)
