"""Redirects are followed, a bounded number of times, and nothing secret goes along to another server."""

import httpx2
import pytest

from nucleo.errors import ExternalServiceException, UnauthorizedException
from nucleo.testing import Answer, FailingService

KEY = "k-1234567890abcdef"


def guarded(kit, url, **members):
    def decorate(self, request: httpx2.Request) -> None:
        request.headers["Authorization"] = f"Bearer {KEY}"
        request.headers["X-Session-Thing"] = KEY
        request.url = request.url.copy_merge_params({"api_key": KEY})

    return kit.client(url, decorate=decorate, **members)


def to(url, status=302):
    return Answer(status, headers={"Location": url})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_on_the_same_server_keeps_the_credentials(kit, service, status):
    service.on("GET", "/old", to("/new?page=2", status)).on("GET", "/new", Answer(body="1"))
    assert kit.call(guarded(kit, service.url), "get", "/old") == 1
    assert service.requests[1].headers["authorization"] == f"Bearer {KEY}"
    assert service.requests[1].query == "page=2"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_carries_no_credential(kit, service, elsewhere, status):
    service.on("GET", "/old", to(f"{elsewhere.url}/new", status))
    elsewhere.on("GET", "/new", Answer(body="1"))
    client = guarded(kit, service.url)
    assert kit.call(client, "get", "/old", headers={"X-Caller": "me", "Cookie": "a=b"}) == 1
    (received,) = elsewhere.requests
    assert KEY not in repr(received)
    assert set(received.headers) <= {"accept", "accept-encoding", "user-agent", "host", "connection"}
    assert received.headers["host"] == elsewhere.url.removeprefix("http://")


def test_another_port_is_another_server(kit, service):
    with FailingService() as neighbour:
        service.on("GET", "/old", to(f"{neighbour.url}/new"))
        neighbour.on("GET", "/new", Answer(body="1"))
        assert kit.call(guarded(kit, service.url), "get", "/old") == 1
        assert "authorization" not in neighbour.requests[0].headers


def test_a_hop_over_another_host_does_not_bring_the_credentials_back(kit, service, elsewhere):
    service.on("GET", "/old", to(f"{elsewhere.url}/there")).on("GET", "/back", Answer(body="1"))
    elsewhere.on("GET", "/there", to(f"{service.url}/back"))
    assert kit.call(guarded(kit, service.url), "get", "/old") == 1
    assert "authorization" not in service.requests[1].headers


@pytest.mark.parametrize("place", ["/new?key={}", "/{}/new", "/new?q=%6b{}"])
def test_an_address_with_a_secret_in_it_is_not_called_elsewhere(kit, service, elsewhere, place):
    secret = KEY[1:] if "%6b" in place else KEY
    service.on("GET", "/old", to(elsewhere.url + place.format(secret)))
    failure = kit.failure(guarded(kit, service.url), "get", "/old")
    assert "redirected the request to an address that cannot be called" in failure.llm_message
    assert KEY not in failure.llm_message
    assert not elsewhere.requests


def test_a_body_with_a_secret_in_it_does_not_go_elsewhere(kit, service, elsewhere):
    service.on("POST", "/old", to(f"{elsewhere.url}/new", 307))
    failure = kit.failure(guarded(kit, service.url), "post", "/old", json={"client_secret": KEY})
    assert isinstance(failure, ExternalServiceException)
    assert not elsewhere.requests


def test_a_body_without_one_goes_along_where_the_method_stays(kit, service, elsewhere):
    service.on("POST", "/old", to(f"{elsewhere.url}/new", 308))
    elsewhere.on("POST", "/new", Answer(201, body="1"))
    assert kit.call(guarded(kit, service.url), "post", "/old", json={"n": 1}) == 1
    assert elsewhere.requests[0].json() == {"n": 1}
    assert elsewhere.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_the_method_after_a_redirected_post(kit, service, status, method):
    service.on("POST", "/old", to("/new", status)).on("*", "/new", Answer(body="1"))
    kit.call(kit.client(service.url), "post", "/old", json={"n": 1})
    followed = service.requests[1]
    assert followed.method == method
    assert followed.body == (b'{"n":1}' if method == "POST" else b"")
    assert ("content-type" in followed.headers) is (method == "POST")


def test_a_write_that_was_sent_elsewhere_for_its_result_was_taken(kit, service, short):
    service.on("POST", "/orders", to("/orders/7", 303)).on("GET", "/orders/7", Answer(fault="reset"))
    failure = kit.failure(kit.client(service.url, timeouts=short), "post", "/orders", json={})
    assert failure.outcome_unknown is True


def test_a_write_whose_result_lies_where_nobody_answers_was_taken(kit, service):
    with FailingService(refuse=True) as dead:
        service.on("POST", "/orders", to(f"{dead.url}/orders/7", 303))
        failure = kit.failure(kit.client(service.url), "post", "/orders", json={})
    assert "refused" in failure.llm_message
    assert failure.outcome_unknown is True


def test_a_write_that_was_sent_elsewhere_unread_was_not_taken(kit, service):
    with FailingService(refuse=True) as dead:
        service.on("POST", "/orders", to(f"{dead.url}/orders", 307))
        failure = kit.failure(kit.client(service.url), "post", "/orders", json={})
    assert "refused" in failure.llm_message
    assert failure.outcome_unknown is False


def test_redirects_in_a_circle_end(kit, service):
    service.on("GET", "/a", to("/b")).on("GET", "/b", to("/a"))
    failure = kit.failure(kit.client(service.url), "get", "/a")
    assert "redirected the request too many times" in failure.llm_message
    assert len(service.requests) == 6


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/passwd", "http://u:p@127.0.0.1/", "http://[::"])
def test_an_address_that_is_none_is_not_followed(kit, service, target):
    service.on("GET", "/a", to(target))
    failure = kit.failure(kit.client(service.url), "get", "/a")
    assert failure.http is None
    assert "to an address that cannot be called" in failure.llm_message
    assert "passwd" not in failure.llm_message


def test_the_way_to_a_login_page_means_that_we_were_refused(kit, service):
    service.on("GET", "/data", to("/login?next=/data")).on("GET", "/login", Answer(body="<html>Sign in</html>"))
    failure = kit.failure(kit.client(service.url), "get", "/data")
    assert isinstance(failure, UnauthorizedException)
    assert failure.http.status_code == 302
    assert len(service.requests) == 1


def test_a_redirect_without_an_address_is_an_unmapped_status(kit, service):
    service.on("GET", "/a", Answer(302))
    assert kit.failure(kit.client(service.url), "get", "/a").http.status_code == 302


def test_the_failure_names_the_address_that_answered(kit, service):
    service.on("GET", "/a", to("/b")).on("GET", "/b", Answer(404))
    assert kit.failure(kit.client(service.url), "get", "/a").http.endpoint == "/b"


def test_every_answer_on_the_way_is_heard_of(kit, service):
    service.on("GET", "/a", to("/b")).on("GET", "/b", Answer(body="1"))
    heard = []
    client = kit.client(service.url, on_response=lambda self, status, headers, body: heard.append(status))
    kit.call(client, "get", "/a")
    assert heard == [302, 200]
