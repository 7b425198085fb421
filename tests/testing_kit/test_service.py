"""The failing service, seen by real clients over real sockets."""

import asyncio
import gc
import socket
import ssl
import threading

import httpx2
import pytest
import trustme

from nucleo.testing import Answer, FailingService, Received, run


@pytest.fixture
def service():
    with FailingService() as running:
        yield running


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def get(url, **keywords):
    with httpx2.Client(trust_env=False) as client:
        return client.get(url, **keywords)


def test_a_planned_answer_arrives_with_its_headers_and_body(service):
    service.on("GET", "/thing", Answer(404, headers={"X-One": "1"}, body={"error": "no"}))
    answer = get(f"{service.url}/thing")
    assert (answer.status_code, answer.headers["x-one"], answer.json()) == (404, "1", {"error": "no"})
    assert answer.headers["content-type"] == "application/json"


def test_answers_come_in_turn_and_the_last_one_repeats(service):
    service.on("GET", "/thing", Answer(503), Answer(200))
    assert [get(f"{service.url}/thing").status_code for _ in range(3)] == [503, 200, 200]


def test_a_later_plan_goes_before_an_earlier_one(service):
    service.on("*", lambda path: path.startswith("/a"), Answer(200)).on("GET", "/a/b", Answer(404))
    assert get(f"{service.url}/a/b").status_code == 404
    assert get(f"{service.url}/a/c").status_code == 200


def test_a_request_without_a_plan_says_so(service):
    answer = get(f"{service.url}/nowhere")
    assert answer.status_code == 501
    assert "GET /nowhere" in answer.text


def test_what_was_received_is_kept(service):
    service.on("POST", "/thing", Answer(201))
    with httpx2.Client(trust_env=False) as client:
        client.post(f"{service.url}/thing?q=a%20b&q=c", json={"x": 1}, headers={"X-Key": "k"})
    (received,) = service.requests
    assert (received.method, received.path, received.query) == ("POST", "/thing", "q=a%20b&q=c")
    assert received.parameters == {"q": ["a b", "c"]}
    assert received.headers["x-key"] == "k"
    assert received.json() == {"x": 1}


def test_a_body_sent_in_chunks_is_read_whole(service):
    service.on("POST", "/thing", Answer(200))
    with httpx2.Client(trust_env=False) as client:
        client.post(f"{service.url}/thing", content=iter([b"a" * 70_000, b"b"]))
    assert service.requests[0].body == b"a" * 70_000 + b"b"


def test_an_answer_may_be_made_from_the_request(service):
    service.on("GET", "/thing", lambda received: Answer(200, body=received.query))
    assert get(f"{service.url}/thing?x=1").text == "x=1"


def test_a_connection_is_kept_alive_and_counted(service):
    service.on("GET", "/thing", Answer(200, body="ok"))
    with httpx2.Client(trust_env=False) as client:
        for _ in range(3):
            client.get(f"{service.url}/thing")
    assert service.connections == 1
    assert {received.connection for received in service.requests} == {1}


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_a_body_sends_none(service, status):
    service.on("GET", "/thing", Answer(status, body="never seen"))
    service.on("GET", "/next", Answer(200, body="clean"))
    with httpx2.Client(trust_env=False) as client:
        assert client.get(f"{service.url}/thing").content == b""
        assert client.get(f"{service.url}/next").text == "clean"


def test_a_head_request_gets_no_body(service):
    service.on("HEAD", "/thing", Answer(200, body="12345")).on("GET", "/thing", Answer(200, body="12345"))
    with httpx2.Client(trust_env=False) as client:
        assert client.head(f"{service.url}/thing").headers["content-length"] == "5"
        assert client.get(f"{service.url}/thing").text == "12345"


@pytest.mark.parametrize("body", [b"abc", "abc", (b"a", b"bc")])
def test_a_chunked_answer_arrives_whole(service, body):
    service.on("GET", "/thing", Answer(200, body=body, chunked=True))
    answer = get(f"{service.url}/thing")
    assert answer.content == b"abc"
    assert answer.headers["transfer-encoding"] == "chunked"


def test_a_repeated_header_is_sent_as_often(service):
    service.on("GET", "/thing", Answer(200, headers=[("Link", "<a>"), ("Link", "<b>")]))
    assert get(f"{service.url}/thing").headers.get_list("link") == ["<a>", "<b>"]


def test_raw_bytes_go_out_as_they_are(service):
    service.on("GET", "/thing", Answer(raw=b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 299 Odd\r\n\r\nrest"))
    answer = get(f"{service.url}/thing")
    assert (answer.status_code, answer.text) == (299, "rest")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("reset", httpx2.ReadError),
        ("reset_in_body", httpx2.ReadError),
        ("close", httpx2.RemoteProtocolError),
        ("truncated", httpx2.RemoteProtocolError),
        ("bad_chunk", httpx2.RemoteProtocolError),
        ("hang", httpx2.ReadTimeout),
        ("hang_in_body", httpx2.ReadTimeout),
    ],
)
def test_each_fault_reaches_a_client_as_what_it_is(service, fault, expected):
    service.on("GET", "/thing", Answer(200, body="part", fault=fault))
    with pytest.raises(expected):
        get(f"{service.url}/thing", timeout=httpx2.Timeout(0.3))
    assert len(service.requests) == 1


def test_an_early_reset_meets_a_client_that_still_writes(service):
    service.on("POST", "/thing", Answer(fault="reset_early"))
    with httpx2.Client(trust_env=False) as client, pytest.raises((httpx2.NetworkError, httpx2.RemoteProtocolError)):
        client.post(f"{service.url}/thing", content=b"x" * 20_000_000)
    assert service.requests[0].body == b""


def test_a_truncated_chunked_body_ends_without_its_last_chunk(service):
    service.on("GET", "/thing", Answer(200, body=(b"part",), fault="truncated"))
    with pytest.raises(httpx2.RemoteProtocolError):
        get(f"{service.url}/thing")


def test_a_body_may_come_in_drops(service):
    service.on("GET", "/thing", Answer(200, body=(b"a", b"b", b"c"), pace=0.02))
    with httpx2.Client(trust_env=False) as client, client.stream("GET", f"{service.url}/thing") as answer:
        assert list(answer.iter_raw()) == [b"a", b"b", b"c"]


def test_a_refusing_service_holds_its_port():
    with FailingService(refuse=True) as service, pytest.raises(httpx2.ConnectError):
        get(service.url)


def test_a_delay_is_jumped_by_the_loop_of_the_kit(service):
    service.on("GET", "/thing", Answer(200, delay=3_600.0))

    async def call():
        async with httpx2.AsyncClient(trust_env=False, timeout=httpx2.Timeout(60.0)) as client:
            await client.get(f"{service.url}/thing")

    with pytest.raises(httpx2.ReadTimeout):
        run(call(), patience=0.2)


def test_tls_is_real(authority, tls):
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with FailingService(tls=tls) as service:
        service.on("GET", "/thing", Answer(200, body="over tls"))
        assert service.url.startswith("https://")
        with httpx2.Client(verify=trusting, trust_env=False) as client:
            assert client.get(f"{service.url}/thing").text == "over tls"
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            get(f"{service.url}/thing")


def test_a_client_that_speaks_no_http_does_no_harm(service):
    service.on("GET", "/thing", Answer(200))
    with socket.create_connection(("127.0.0.1", service.port)) as stranger:
        stranger.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert stranger.recv(10) == b""
    assert get(f"{service.url}/thing").status_code == 200


def test_a_defect_in_the_plan_is_raised_where_the_test_leaves():
    def broken(received: Received) -> Answer:
        raise LookupError(received.path)

    service = FailingService()
    with pytest.raises(LookupError, match="/thing"), service:
        service.on("GET", "/thing", broken)
        with pytest.raises(httpx2.RemoteProtocolError):
            get(f"{service.url}/thing")


def test_a_plan_without_an_answer_is_refused():
    with pytest.raises(ValueError, match="no answer"):
        FailingService().on("GET", "/thing")


def test_a_service_that_does_not_run_has_no_url():
    with pytest.raises(RuntimeError, match="not running"):
        _ = FailingService().url


@pytest.mark.filterwarnings("error::ResourceWarning")
@pytest.mark.parametrize("fault", [None, "hang", "hang_in_body"])
def test_nothing_is_left_behind(fault):
    before = threading.active_count()
    with FailingService() as service:
        port = service.port
        service.on("GET", "/thing", Answer(200, body="x", fault=fault))
        with httpx2.Client(trust_env=False) as client:
            if fault is None:
                client.get(f"{service.url}/thing")
            else:
                with pytest.raises(httpx2.ReadTimeout):
                    client.get(f"{service.url}/thing", timeout=httpx2.Timeout(0.2))
    gc.collect()
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_many_connections_are_served_at_once(service):
    service.on("GET", "/thing", Answer(200, body="ok"))

    async def crowd():
        async with httpx2.AsyncClient(trust_env=False) as client:
            return await asyncio.gather(*(client.get(f"{service.url}/thing") for _ in range(50)))

    assert {answer.status_code for answer in asyncio.run(crowd())} == {200}
    assert len(service.requests) == 50
