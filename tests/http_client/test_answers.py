"""An answer came: its hooks in their order, its meaning, and what is read from it."""

from dataclasses import dataclass

import httpx2
import pytest
from pydantic import BaseModel, TypeAdapter

from nucleo import errors
from nucleo.errors import ExternalServiceException, UpstreamThrottleException
from nucleo.testing import Answer


class Place(BaseModel):
    name: str
    population: int = 0


@dataclass
class Point:
    x: float
    y: float


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.Http400Exception),
        (401, errors.Http401Exception),
        (403, errors.Http403Exception),
        (404, errors.Http404Exception),
        (413, errors.Http413Exception),
        (422, errors.Http422Exception),
        (429, errors.Http429Exception),
        (500, errors.Http500Exception),
        (502, errors.Http502Exception),
        (503, errors.Http503Exception),
        (418, errors.HttpUnmappedStatusException),
        (304, errors.HttpUnmappedStatusException),
        (300, errors.HttpUnmappedStatusException),
    ],
)
def test_every_status_from_300_up_has_its_class(kit, service, status, kind):
    service.on("GET", "/v1/place", Answer(status, body={"message": "because of that"} if status != 304 else b""))
    failure = kit.failure(kit.client(service.url + "/v1"), "get", "/place?q=secret-argument")
    assert type(failure) is kind
    assert failure.http.status_code == status
    assert (failure.http.service, failure.http.endpoint) == ("Atlas", "/v1/place")
    assert "secret-argument" not in failure.explain_to_llm()
    assert "127.0.0.1" not in failure.explain_to_llm()


def test_the_message_of_a_bad_request_is_quoted(kit, service):
    service.on("GET", "/place", Answer(422, body={"detail": [{"loc": ["query", "q"], "msg": "must not be blank"}]}))
    assert "must not be blank" in kit.failure(kit.client(service.url), "get", "/place").llm_message


def test_a_throttle_carries_its_wait(kit, service):
    service.on("GET", "/place", Answer(429, headers={"Retry-After": "12"}))
    failure = kit.failure(kit.client(service.url), "get", "/place")
    assert isinstance(failure, UpstreamThrottleException)
    assert failure.retry_after_seconds == 12


def test_a_failure_inside_a_200_is_found(kit, service):
    body = {"errors": [{"message": "no such field", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}], "data": None}
    service.on("POST", "/graphql", Answer(200, body=body))
    failure = kit.failure(kit.client(service.url), "post", "/graphql", json={}, operation="search")
    assert failure.http.status_code == 200


def test_a_web_page_where_json_was_due_is_a_failure(kit, service):
    page = Answer(200, headers={"Content-Type": "text/html"}, body="<html><title>Proxy</title><p>Sorry</p></html>")
    service.on("GET", "/place", page)
    failure = kit.failure(kit.client(service.url), "get", "/place")
    assert not failure.is_correctable
    assert "<p>" not in failure.llm_message


def test_a_web_page_where_text_was_asked_for_is_the_answer(kit, service):
    service.on("GET", "/page", Answer(200, headers={"Content-Type": "text/html"}, body="<html><p>Hello</p></html>"))
    assert kit.call(kit.client(service.url), "get_text", "/page") == "<html><p>Hello</p></html>"
    assert kit.call(kit.client(service.url), "get_bytes", "/page") == b"<html><p>Hello</p></html>"


@pytest.mark.parametrize(
    ("into", "body", "expected"),
    [
        (Place, {"name": "Oslo"}, Place(name="Oslo")),
        (Point, {"x": 1, "y": 2}, Point(1.0, 2.0)),
        (list[Place], [{"name": "Oslo"}], [Place(name="Oslo")]),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (TypeAdapter(Place | None), {"name": "Oslo"}, Place(name="Oslo")),
        (None, {"a": [1, None]}, {"a": [1, None]}),
        (int, "7", 7),
    ],
)
def test_a_body_is_read_into_its_type(kit, service, into, body, expected):
    service.on("GET", "/place", Answer(200, body=body))
    assert kit.call(kit.client(service.url), "get", "/place", into=into) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"name": "Os', "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b'{"population": 5, "private": "data"}', "it does not have the form it should"),
        (b"", "it is empty"),
        (b"[" * 100_000, "it is not JSON"),
        (b"9" * 100_000, "it is not JSON"),
    ],
)
def test_a_good_status_whose_body_will_not_parse_is_no_answer(kit, service, body, reason):
    service.on("POST", "/place", Answer(201, headers={"Content-Type": "application/json"}, body=body))
    failure = kit.failure(kit.client(service.url), "post", "/place", json={}, into=Place)
    assert type(failure) is ExternalServiceException
    assert failure.http is None
    assert failure.outcome_unknown is False
    assert failure.llm_message == (
        "Atlas could not complete the call: it answered HTTP 201, but the answer could not be read: "
        f"{reason} (at /place)"
    )


@pytest.mark.parametrize("status", [200, 204])
def test_an_empty_answer_is_none_where_nothing_is_asked_of_it(kit, service, status):
    service.on("DELETE", "/place", Answer(status))
    client = kit.client(service.url)
    assert kit.call(client, "delete", "/place") is None
    assert kit.call(client, "delete", "/place", into=TypeAdapter(Place | None)) is None


def test_a_head_request_reads_no_body(kit, service):
    service.on("HEAD", "/place", Answer(200, headers={"Content-Length": "99999999999"}))
    seen = []
    client = kit.client(service.url, on_response=lambda self, status, headers, body: seen.append((status, body)))
    assert kit.call(client, "request", "HEAD", "/place") is None
    assert seen == [(200, b"")]


class TestSearch:
    @pytest.mark.parametrize(
        ("into", "empty"), [(list[Place], []), (TypeAdapter(Place | None), None), (dict[str, int], {}), (None, None)]
    )
    def test_a_404_is_its_empty_result_when_told(self, kit, service, into, empty):
        service.on("GET", "/search", Answer(404, body={"error": "not found"}))
        assert kit.call(kit.client(service.url), "get", "/search", into=into, empty_on_404=True) == empty

    def test_text_and_bytes_are_empty_too(self, kit, service):
        service.on("GET", "/search", Answer(404))
        assert kit.call(kit.client(service.url), "get_text", "/search", empty_on_404=True) == ""
        assert kit.call(kit.client(service.url), "get_bytes", "/search", empty_on_404=True) == b""

    def test_a_404_of_a_fetch_is_correctable(self, kit, service):
        service.on("GET", "/place", Answer(404, body={"error": "not found"}))
        assert kit.failure(kit.client(service.url), "get", "/place").is_correctable

    def test_another_status_is_no_empty_result(self, kit, service):
        service.on("GET", "/search", Answer(503))
        failure = kit.failure(kit.client(service.url), "get", "/search", into=list[Place], empty_on_404=True)
        assert failure.http.status_code == 503

    def test_a_type_that_cannot_be_empty_is_refused_before_anything_is_sent(self, kit, service):
        with pytest.raises(TypeError, match="empty_on_404"):
            kit.call(kit.client(service.url), "get", "/search", into=Place, empty_on_404=True)
        assert not service.requests


class TestHooks:
    def test_they_are_asked_in_the_stated_order(self, kit, service):
        asked = []
        service.on("GET", "/v1/x", Answer(404, body={"error": "no"}))

        class Client(kit.base):
            service_name = "Atlas"

            def build_url(self, path):
                asked.append(("build_url", path))
                return super().build_url(path)

            def decorate(self, request):
                asked.append(("decorate", request.url.path))

            def on_response(self, status, headers, body):
                asked.append(("on_response", status, headers["content-type"], body))

            def classify(self, endpoint, status, headers, body):
                asked.append(("classify", endpoint, status, headers["content-type"], body))

        failure = kit.failure(Client(base_url=service.url + "/v1"), "get", "/x")
        assert type(failure) is errors.Http404Exception
        answer = ("application/json", b'{"error": "no"}')
        assert asked == [
            ("build_url", "/x"),
            ("decorate", "/v1/x"),
            ("on_response", 404, *answer),
            ("classify", "/v1/x", 404, *answer),
        ]

    def test_decorate_may_be_async_in_the_async_client(self, service):
        import asyncio

        from nucleo.http import ApiClient

        class Client(ApiClient):
            service_name = "Atlas"

            async def decorate(self, request: httpx2.Request) -> None:
                await asyncio.sleep(0)
                request.headers["Authorization"] = "Bearer fetched-token"

        service.on("GET", "/x", Answer(body="1"))
        asyncio.run(Client(base_url=service.url).get("/x"))
        assert service.requests[0].headers["authorization"] == "Bearer fetched-token"

    def test_an_async_decorate_of_a_sync_client_is_refused(self, service):
        from nucleo.http import SyncApiClient

        class Client(SyncApiClient):
            service_name = "Atlas"

            async def decorate(self, request: httpx2.Request) -> None:
                request.headers["X"] = "y"

        with Client(base_url=service.url) as client, pytest.raises(TypeError, match="plain function"):
            client.get("/x")
        assert not service.requests

    def test_a_failure_of_decorate_comes_out_as_it_is(self, kit, service):
        def decorate(self, request):
            raise errors.UnauthorizedException("Atlas", "the token server refused")

        failure = kit.failure(kit.client(service.url, decorate=decorate), "get", "/x")
        assert "token server" in failure.llm_message
        assert not service.requests

    def test_on_response_hears_of_good_answers_too(self, kit, service):
        service.on("GET", "/x", Answer(200, headers={"X-Throttling-Control": "Yellow"}, body="1"))
        heard = []
        client = kit.client(service.url, on_response=lambda self, status, headers, body: heard.append(dict(headers)))
        kit.call(client, "get", "/x")
        assert heard[0]["x-throttling-control"] == "Yellow"

    def test_classify_beats_the_mapping_also_under_a_good_status(self, kit, service):
        def classify(self, endpoint, status, headers, body):
            if b"RobotDetected" in body:
                return UpstreamThrottleException("Atlas", "it took us for a robot", 60.0)
            return None

        service.on("GET", "/bad", Answer(403, body="CLIENT.RobotDetected"))
        service.on("GET", "/good", Answer(200, body={"code": "CLIENT.RobotDetected"}))
        service.on("GET", "/other", Answer(403, body={"message": "You may not see this."}))
        client = kit.client(service.url, classify=classify)
        assert kit.failure(client, "get", "/bad").retry_after_seconds == 60.0
        assert kit.failure(client, "get", "/good").retry_after_seconds == 60.0
        assert type(kit.failure(client, "get", "/other")) is errors.Http403Exception

    def test_headers_that_are_not_ascii_arrive(self, kit, service):
        service.on("GET", "/x", Answer(200, headers={"X-City": "Malmö", "X-Far": "東京"}, body="1"))
        heard = []
        client = kit.client(service.url, on_response=lambda self, status, headers, body: heard.append(dict(headers)))
        assert kit.call(client, "get", "/x") == 1
        assert heard[0]["x-city"] in {"Malmö", "MalmÃ¶"}


class TestOddAnswers:
    def test_informational_answers_before_the_answer_are_skipped(self, kit, service):
        early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        service.on("GET", "/x", Answer(raw=early + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n7"))
        assert kit.call(kit.client(service.url), "get", "/x") == 7

    def test_huge_headers_are_no_http_answer(self, kit, service):
        service.on("GET", "/x", Answer(200, headers={"X-Huge": "x" * 300_000}))
        failure = kit.failure(kit.client(service.url), "get", "/x")
        assert failure.http is None
        assert "not a valid HTTP answer" in failure.llm_message
        assert "xxxx" not in failure.llm_message

    def test_an_unknown_status_is_unmapped(self, kit, service):
        service.on("GET", "/x", Answer(799, body="?"))
        assert type(kit.failure(kit.client(service.url), "get", "/x")) is errors.HttpUnmappedStatusException

    def test_a_protocol_switch_nobody_asked_for_is_no_answer(self, kit, service, short):
        service.on("GET", "/x", Answer(raw=b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: ws\r\n\r\n"))
        failure = kit.failure(kit.client(service.url, timeouts=short), "get", "/x")
        assert isinstance(failure, ExternalServiceException)
