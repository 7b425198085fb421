"""What is sent: addresses, parameters, bodies, headers, and what is refused before anything is."""

import pytest
from pydantic import BaseModel

from nucleo.errors import InvalidInputException
from nucleo.testing import Answer


def sent(kit, service, method, *arguments, base="", **keywords):
    service.on("*", lambda path: True, Answer(200, body="1"))
    kit.call(kit.client(service.url + base), method, *arguments, **keywords)
    return service.requests[-1]


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("/v1", "/x", "/v1/x"),
        ("/v1/", "x", "/v1/x"),
        ("", "/x", "/x"),
        ("/v1", "", "/v1"),
        ("/v1", "/x/", "/v1/x/"),
        ("/v1", ("compound", "name", "a/b c?&#ä", 7), "/v1/compound/name/a%2Fb%20c%3F%26%23%C3%A4/7"),
    ],
)
def test_a_path_lies_below_the_base_address(kit, service, base, path, expected):
    assert sent(kit, service, "get", path, base=base).path == expected


def test_a_whole_address_of_the_same_server_is_taken_as_it_is(kit, service):
    received = sent(kit, service, "get", f"{service.url}/v2/x?a=1", base="/v1")
    assert (received.path, received.query) == ("/v2/x", "a=1")


@pytest.mark.parametrize("path", ["http://127.0.0.2/x", "//127.0.0.2/x", "https://user@127.0.0.2/"])
def test_an_address_of_another_server_is_refused(kit, service, path):
    with pytest.raises(ValueError, match="calls its own server only"):
        kit.call(kit.client(service.url), "get", path)


@pytest.mark.parametrize("path", [("a", ".."), ("a", ""), ("a", "."), ("a", " "), "/a/../b", "/a/%2e%2e/b", "..\\b"])
def test_a_path_that_leads_out_of_its_place_is_the_models_to_correct(kit, service, path):
    with pytest.raises(InvalidInputException, match="must not"):
        kit.call(kit.client(service.url), "get", path)
    assert not service.requests


def test_parameters_are_encoded_and_none_is_left_out(kit, service):
    received = sent(
        kit, service, "get", "/x?z=0", params={"q": "a b&c", "n": 2, "t": True, "skip": None, "l": ["1", "2"]}
    )
    assert received.parameters == {"z": ["0"], "q": ["a b&c"], "n": ["2"], "t": ["true"], "l": ["1", "2"]}


def test_a_body_is_sent_as_json(kit, service):
    class Order(BaseModel):
        number: int

    received = sent(kit, service, "post", "/x", json={"order": Order(number=7), "city": "Malmö"})
    assert received.json() == {"order": {"number": 7}, "city": "Malmö"}
    assert received.headers["content-type"] == "application/json"


def test_null_is_a_json_body(kit, service):
    assert sent(kit, service, "put", "/x", json=None).body == b"null"


def test_a_body_is_sent_as_a_form(kit, service):
    received = sent(kit, service, "post", "/x", data={"a": "1 2", "b": None})
    assert received.body == b"a=1+2"
    assert received.headers["content-type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("content", ["Malmö", "Malmö".encode()])
def test_a_body_is_sent_as_it_is(kit, service, content):
    received = sent(kit, service, "patch", "/x", content=content, headers={"Content-Type": "text/csv"})
    assert received.body == "Malmö".encode()
    assert received.headers["content-type"] == "text/csv"


def test_two_bodies_are_refused(kit, service):
    with pytest.raises(TypeError, match="one body"):
        kit.call(kit.client(service.url), "post", "/x", json={}, content=b"")


def test_the_client_introduces_itself_and_asks_for_what_it_can_read(kit, service):
    headers = sent(kit, service, "get", "/x").headers
    assert headers["user-agent"].startswith("nucleo/")
    assert headers["accept"] == "application/json"
    assert headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_each_verb_is_sent_as_itself(kit, service, method):
    assert sent(kit, service, method, "/x").method == method.upper()


@pytest.mark.parametrize("value", ["a\nb", "a\r\nX-Other: b", "a\x00b"])
def test_a_header_that_cannot_be_sent_is_refused_and_never_happened(kit, service, value):
    from nucleo.errors import ExternalServiceException

    service.on("*", "/x", Answer(body="1"))
    failure = kit.failure(kit.client(service.url), "post", "/x", headers={"X-Odd": value})
    assert isinstance(failure, ExternalServiceException)
    assert failure.outcome_unknown is False
    assert not service.requests


def test_a_header_beyond_ascii_is_refused_by_its_name(kit, service):
    with pytest.raises(ValueError, match="the header 'X-City' holds characters beyond ASCII"):
        kit.call(kit.client(service.url), "get", "/x", headers={"X-City": "Malmö"})


def test_a_header_of_the_caller_replaces_ours_in_any_case(kit, service):
    headers = sent(kit, service, "get", "/x", headers={"accept": "text/csv", "user-agent": "me/1"}).headers
    assert (headers["accept"], headers["user-agent"]) == ("text/csv", "me/1")


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"service_name": ""}, "service_name"),
        ({"base_url": "example.com"}, "base_url"),
        ({"base_url": "ftp://example.com"}, "base_url"),
        ({"base_url": "https://user:secret-word@example.com"}, "without user"),
        ({"base_url": "https://example.com/?key=1"}, "without user, query"),
    ],
)
def test_a_client_that_does_not_know_its_service_says_what_is_missing(kit, members, words):
    kind = type("Odd", (kit.base,), {"service_name": "Odd", "base_url": "https://example.com", **members})
    with pytest.raises(ValueError, match=words) as caught:
        kit.call(kind(), "get", "/x")
    assert "secret-word" not in str(caught.value)


def test_a_subclass_need_not_call_the_constructor(kit, service):
    service.on("GET", "/x", Answer(body="1"))

    class Client(kit.base):
        service_name = "Atlas"

        def __init__(self, key):
            self.key = key
            self.base_url = service.url

        def decorate(self, request):
            request.headers["X-Api-Key"] = self.key

    assert kit.call(Client("abc123"), "get", "/x") == 1
    assert service.requests[0].headers["x-api-key"] == "abc123"


@pytest.mark.parametrize("name", ["connect", "read", "write", "pool"])
@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_timeout_is_a_positive_number(name, seconds):
    from nucleo.http import Timeouts

    with pytest.raises(ValueError, match=name):
        Timeouts(**{name: seconds})
