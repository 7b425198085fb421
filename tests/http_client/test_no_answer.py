"""No answer came: what the model is told, and whether a write may have happened."""

import ssl

import pytest

from nucleo.errors import ExternalServiceException, HttpErrorResponse
from nucleo.testing import Answer, FailingService

WRITES = [("post", True), ("patch", True), ("put", False), ("delete", False), ("get", False)]
MAYBE = "Check before repeating it."


def assert_never_answered(failure, words):
    assert type(failure) is ExternalServiceException
    assert not isinstance(failure, HttpErrorResponse)
    assert failure.http is None
    assert failure.service_name == "Atlas"
    assert words in failure.llm_message
    assert not failure.is_correctable


@pytest.mark.parametrize(("method", "unknown"), WRITES)
@pytest.mark.parametrize("fault", ["reset", "close", "hang", "bad_chunk"])
def test_a_write_that_began_and_was_never_answered_may_have_happened(kit, service, short, method, unknown, fault):
    answer = Answer(500, fault=fault) if fault != "bad_chunk" else Answer(raw=b"\x00\x01 this is no HTTP\r\n\r\n")
    service.on("*", "/v1/orders", answer)
    client = kit.client(service.url + "/v1", timeouts=short)
    body = {"json": {"n": 1}} if method in {"post", "patch", "put"} else {}
    failure = kit.failure(client, method, "/orders", **body)
    assert_never_answered(failure, "(at /v1/orders)")
    assert failure.outcome_unknown is unknown
    assert (MAYBE in failure.llm_message) is unknown
    assert len(service.requests) == 1


def test_a_reset_while_the_body_is_being_sent_may_have_happened(kit, service, short):
    service.on("POST", "/upload", Answer(fault="reset_early"))
    failure = kit.failure(kit.client(service.url, timeouts=short), "post", "/upload", content=b"x" * 30_000_000)
    assert_never_answered(failure, "connection broke")
    assert failure.outcome_unknown is True


def test_a_refused_connection_never_happened(kit):
    with FailingService(refuse=True) as service:
        failure = kit.failure(kit.client(service.url), "post", "/orders", json={})
    assert_never_answered(failure, "the connection was refused")
    assert failure.outcome_unknown is False


def test_a_name_that_cannot_be_looked_up_never_happened(kit):
    failure = kit.failure(kit.client("http://no-such-host.invalid/v1"), "post", "/orders", json={})
    assert_never_answered(failure, "name could not be looked up")
    assert failure.outcome_unknown is False
    assert "invalid" not in failure.llm_message


def test_a_certificate_nobody_vouches_for_never_happened(kit, server_tls):
    with FailingService(tls=server_tls) as service:
        failure = kit.failure(kit.client(service.url), "post", "/orders", json={})
        assert not service.requests
    assert_never_answered(failure, "TLS certificate is not trusted")
    assert failure.outcome_unknown is False


def test_a_certificate_of_another_host_never_happened(kit, server_tls, trusting):
    with FailingService(tls=server_tls, host="127.0.0.2") as service:
        failure = kit.failure(kit.client(service.url, ssl_context=trusting), "post", "/orders", json={})
    assert_never_answered(failure, "TLS certificate is not trusted")
    assert failure.outcome_unknown is False


def test_a_server_without_tls_never_happened(kit, service):
    failure = kit.failure(kit.client(service.url.replace("http://", "https://")), "post", "/orders", json={})
    assert_never_answered(failure, "it could not be reached")
    assert failure.outcome_unknown is False


def test_tls_that_is_trusted_works(kit, server_tls, trusting):
    with FailingService(tls=server_tls) as service:
        service.on("GET", "/x", Answer(body={"ok": True}))
        assert kit.call(kit.client(service.url, ssl_context=trusting), "get", "/x") == {"ok": True}


def test_a_service_that_accepts_and_never_speaks_tls_never_happened(kit, short):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        client = kit.client(f"https://127.0.0.1:{port}", timeouts=short)
        failure = kit.failure(client, "post", "/orders", json={})
    assert_never_answered(failure, "no connection within the time limit")
    assert failure.outcome_unknown is False


@pytest.mark.parametrize("fault", ["truncated", "reset_in_body", "hang_in_body", "bad_chunk"])
def test_a_write_whose_good_answer_broke_off_was_taken(kit, service, short, fault):
    service.on("POST", "/orders", Answer(201, body=b'{"order": 17, "private": 1', fault=fault))
    failure = kit.failure(kit.client(service.url, timeouts=short), "post", "/orders", json={})
    assert_never_answered(failure, "it answered HTTP 201, but")
    assert failure.outcome_unknown is False
    assert "private" not in failure.llm_message


@pytest.mark.parametrize("fault", ["truncated", "reset_in_body", "hang_in_body", "bad_chunk"])
def test_an_error_whose_body_broke_off_is_still_that_error(kit, service, short, fault):
    service.on("GET", "/orders", Answer(503, headers={"Retry-After": "7"}, body=b"busy", fault=fault))
    failure = kit.failure(kit.client(service.url, timeouts=short), "get", "/orders")
    assert failure.http.status_code == 503
    assert failure.http.retry_after_seconds == 7


@pytest.mark.parametrize("status", [502, 504])
@pytest.mark.parametrize(("method", "unknown"), WRITES)
def test_a_gateway_that_lost_the_answer_to_a_write_leaves_it_unknown(kit, service, method, unknown, status):
    service.on("*", "/orders", Answer(status))
    failure = kit.failure(kit.client(service.url), method, "/orders")
    assert failure.http.status_code == status
    assert failure.outcome_unknown is unknown


@pytest.mark.parametrize("status", [500, 503, 418])
def test_any_other_error_leaves_nothing_unknown(kit, service, status):
    service.on("*", "/orders", Answer(status))
    assert kit.failure(kit.client(service.url), "post", "/orders").outcome_unknown is False


@pytest.mark.parametrize("operation", ["search", "fetch", "llm"])
def test_a_post_that_writes_nothing_leaves_nothing_unknown(kit, service, short, operation):
    service.on("POST", "/search", Answer(fault="reset"), Answer(504))
    client = kit.client(service.url, timeouts=short)
    for _ in range(2):
        failure = kit.failure(client, "post", "/search", json={}, operation=operation)
        assert failure.outcome_unknown is False


def test_a_pool_without_a_free_connection_never_happened(monkeypatch, service):
    import asyncio

    import httpx2

    from nucleo.http import ApiClient, ConnectionPool, Timeouts, pool

    monkeypatch.setattr(pool, "limits", lambda: httpx2.Limits(max_connections=1))
    service.on("*", "/slow", Answer(fault="hang")).on("*", "/fast", Answer())

    class Client(ApiClient):
        service_name = "Atlas"
        timeouts = Timeouts(pool=0.2, read=5.0)

    async def scenario():
        async with ConnectionPool() as connections:
            client = Client(base_url=service.url, pool=connections)
            slow = asyncio.create_task(client.get("/slow"))
            while not service.requests:
                await asyncio.sleep(0.001)
            with pytest.raises(ExternalServiceException) as caught:
                await client.post("/fast", json={})
            slow.cancel()
            await asyncio.gather(slow, return_exceptions=True)
            return caught.value

    failure = asyncio.run(scenario())
    assert_never_answered(failure, "no connection became free")
    assert failure.outcome_unknown is False


def test_the_cause_is_kept_for_the_developer(kit):
    with FailingService(refuse=True) as service:
        failure = kit.failure(kit.client(service.url), "get", "/x")
    assert type(failure.__cause__).__name__ == "ConnectError"


def test_the_request_was_sent_exactly_once_whatever_happened(kit, service, short):
    for status in (429, 500, 502, 503, 504):
        service.on("GET", f"/{status}", Answer(status, headers={"Retry-After": "0"}))
        kit.failure(kit.client(service.url, timeouts=short), "get", f"/{status}")
    assert len(service.requests) == 5


def test_a_context_without_verification_is_the_callers_own_choice(kit, server_tls):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with FailingService(tls=server_tls) as service:
        service.on("GET", "/x", Answer(body="1"))
        assert kit.call(kit.client(service.url, ssl_context=context), "get", "/x") == 1
