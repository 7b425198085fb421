"""Both clients behind one face, over real sockets: a test says `call(client, ...)` and runs for each."""

import asyncio
import inspect
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import trustme

from nucleo.http import ApiClient, SyncApiClient, Timeouts
from nucleo.testing import FailingService

SHORT = Timeouts(connect=0.5, read=0.2, write=0.2, pool=0.2)


@pytest.fixture
def service():
    with FailingService() as running:
        yield running


@pytest.fixture
def elsewhere():
    with FailingService(host="127.0.0.2") as running:
        yield running


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture(scope="session")
def server_tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture(scope="session")
def trusting(authority):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@dataclass(frozen=True)
class Kit:
    """One of the two clients."""

    base: type
    is_async: bool

    def client(self, url: str, **members: Any) -> Any:
        """Make a client of a fresh subclass with these members."""
        kind = type("Client", (self.base,), {"service_name": "Atlas", **members})
        return kind(base_url=url)

    def run(self, scenario: Callable[..., Any], *arguments: Any) -> Any:
        """Run a scenario whose steps are written `yield client.get(...)`, for either client."""
        if not self.is_async:
            return _drive_sync(scenario(*arguments))
        return asyncio.run(_drive_async(scenario(*arguments)))

    def call(self, client: Any, method: str, *arguments: Any, **keywords: Any) -> Any:
        """Make one call and close the connections after it."""

        def scenario():
            return (yield getattr(client, method)(*arguments, **keywords))

        return self.run(scenario)

    def failure(self, client: Any, method: str, *arguments: Any, **keywords: Any) -> Any:
        """Make one call that fails, and give the failure."""
        from nucleo.errors import LLMReadableException

        with pytest.raises(LLMReadableException) as caught:
            self.call(client, method, *arguments, **keywords)
        return caught.value


@pytest.fixture(params=["async", "sync"])
def kit(request):
    return Kit(ApiClient, True) if request.param == "async" else Kit(SyncApiClient, False)


async def _drive_async(steps):
    try:
        step = next(steps)
        while True:
            try:
                value = await step if inspect.isawaitable(step) else step
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(value)
    except StopIteration as end:
        return end.value


def _drive_sync(steps):
    try:
        step = next(steps)
        while True:
            step = steps.send(step)
    except StopIteration as end:
        return end.value


@pytest.fixture
def short():
    return SHORT
