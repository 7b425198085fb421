"""Connections are shared, kept no longer than their loop or their clients, and never leaked."""

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

from nucleo.http import ApiClient, ConnectionPool, SyncApiClient, SyncConnectionPool, close_connections
from nucleo.http import pool as pools
from nucleo.http import sync_pool as sync_pools
from nucleo.testing import Answer, FailingService

pytestmark = pytest.mark.filterwarnings("error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning")


class Atlas(ApiClient):
    service_name = "Atlas"


class SyncAtlas(SyncApiClient):
    service_name = "Atlas"


@pytest.fixture
def service():
    with FailingService() as running:
        running.on("*", "/x", Answer(body="1"))
        yield running


@pytest.fixture(autouse=True)
def nothing_is_left():
    gc.collect()
    before = open_sockets()
    yield
    gc.collect()
    assert open_sockets() <= before
    assert not [loop for loop in pools._of_loops if loop.is_closed()]


def open_sockets():
    return sum(_is_socket(entry) for entry in Path("/proc/self/fd").iterdir())


def _is_socket(entry):
    try:
        return str(entry.readlink()).startswith("socket:")
    except OSError:
        return False


def test_clients_of_one_loop_share_its_connections(service):
    async def scenario():
        for _ in range(3):
            await Atlas(base_url=service.url).get("/x")

    asyncio.run(scenario())
    assert service.connections == 1


def test_each_loop_has_its_own_and_closes_it(service):
    client = Atlas(base_url=service.url)
    for _ in range(3):
        assert asyncio.run(client.get("/x")) == 1
    assert service.connections == 3
    assert not pools._of_loops


def test_loops_in_threads_do_not_meet(service):
    client, found = Atlas(base_url=service.url), []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(client.get("/x")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8


def test_the_last_client_that_leaves_closes_the_connections(service):
    async def scenario():
        before = open_sockets()
        async with Atlas(base_url=service.url) as one:
            async with Atlas(base_url=service.url) as other:
                await other.get("/x")
            await one.get("/x")
            assert open_sockets() > before
        # The server notices a moment later; our own end is what is counted.
        assert not (await pools.pool_of_loop())._transports
        await one.get("/x")

    asyncio.run(scenario())
    assert service.connections == 2


def test_connections_are_closed_on_demand_and_opened_again(service):
    async def scenario():
        client = Atlas(base_url=service.url)
        await client.get("/x")
        await close_connections()
        await close_connections()
        await client.get("/x")

    asyncio.run(scenario())
    assert service.connections == 2


def test_a_client_in_use_elsewhere_keeps_the_connections_open(service):
    service.on("GET", "/slow", Answer(body="1", delay=0.2))

    async def scenario():
        slow = asyncio.create_task(Atlas(base_url=service.url).get("/slow"))
        while not service.requests:
            await asyncio.sleep(0.001)
        async with Atlas(base_url=service.url) as client:
            await client.get("/x")
        return await slow

    assert asyncio.run(scenario()) == 1


def test_an_own_pool_is_used_and_closed_by_its_owner(service):
    async def scenario():
        async with ConnectionPool() as own:
            async with Atlas(base_url=service.url, pool=own) as client:
                await client.get("/x")
            await client.get("/x")
        with pytest.raises(RuntimeError, match="closed"):
            await client.get("/x")

    asyncio.run(scenario())
    assert service.connections == 1
    with SyncConnectionPool() as own:
        with SyncAtlas(base_url=service.url, pool=own) as client:
            client.get("/x")
        client.get("/x")
    with pytest.raises(RuntimeError, match="closed"):
        client.get("/x")
    assert service.connections == 2


def test_a_loop_that_was_never_shut_down_is_forgotten_with_the_next(service):
    async def scenario():
        await Atlas(base_url=service.url).get("/x")
        await (await pools.pool_of_loop())._close_transports()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(scenario())
    loop.close()
    assert loop in pools._of_loops
    asyncio.run(Atlas(base_url=service.url).get("/x"))
    assert loop not in pools._of_loops


def test_a_cancelled_loop_leaves_nothing_open(service):
    service.on("GET", "/hang", Answer(fault="hang"))

    async def scenario():
        task = asyncio.create_task(Atlas(base_url=service.url).get("/hang"))
        while not service.requests:
            await asyncio.sleep(0.001)
        assert not task.done()

    asyncio.run(scenario())


def test_sync_clients_share_connections_until_the_last_is_closed(service):
    with SyncAtlas(base_url=service.url) as one:
        with SyncAtlas(base_url=service.url) as other:
            other.get("/x")
        one.get("/x")
        assert service.connections == 1
    assert not sync_pools._shared
    assert one.get("/x") == 1
    one.close()
    one.close()
    assert service.connections == 2


def test_a_sync_client_that_is_forgotten_lets_go(service):
    SyncAtlas(base_url=service.url).get("/x")
    gc.collect()
    assert not sync_pools._shared


def test_threads_share_one_sync_client(service):
    found = []
    with SyncAtlas(base_url=service.url) as client:
        threads = [threading.Thread(target=lambda: found.append(client.get("/x"))) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [1] * 16


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_use_its_parents_connections(service):
    with SyncAtlas(base_url=service.url) as client:
        client.get("/x")
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if client.get("/x") == 1 else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        client.get("/x")
    assert service.connections == 2


class TestEnvironment:
    def test_its_proxy_is_not_used_unless_asked(self, kit, service, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
        assert kit.call(kit.client(service.url), "get", "/x") == 1

    def test_its_proxy_is_used_when_asked(self, kit, service, monkeypatch):
        monkeypatch.setenv("http_proxy", service.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        service.on("GET", "http://somewhere.invalid/x", Answer(body="2"))
        assert kit.call(kit.client("http://somewhere.invalid", trust_env=True), "get", "/x") == 2

    def test_its_exceptions_are_heeded(self, kit, service, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert kit.call(kit.client(service.url, trust_env=True), "get", "/x") == 1

    def test_a_proxy_that_is_not_there_never_happened(self, kit, service, monkeypatch):
        with FailingService(refuse=True) as dead:
            monkeypatch.setenv("http_proxy", dead.url.removeprefix("http://"))
            monkeypatch.delenv("no_proxy", raising=False)
            monkeypatch.delenv("NO_PROXY", raising=False)
            failure = kit.failure(kit.client("http://somewhere.invalid", trust_env=True), "post", "/x", json={})
        assert failure.http is None
        assert failure.outcome_unknown is False

    def test_no_netrc_and_no_cookie_is_sent(self, kit, service, monkeypatch, tmp_path):
        netrc = tmp_path / ".netrc"
        netrc.write_text("machine 127.0.0.1 login ada password secret-word\n")
        netrc.chmod(0o600)
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.setenv("HOME", str(tmp_path))
        service.on("GET", "/cookie", Answer(headers={"Set-Cookie": "session=1; Path=/"}, body="1"))

        client = kit.client(service.url)

        def scenario():
            yield client.get("/cookie")
            return (yield client.get("/x"))

        kit.run(scenario)
        assert "cookie" not in service.requests[1].headers
        assert "authorization" not in service.requests[1].headers


def test_the_library_underneath_logs_no_address(service, caplog):
    caplog.set_level("INFO")
    asyncio.run(Atlas(base_url=service.url).get("/x", params={"q": "private"}))
    assert "private" not in caplog.text
