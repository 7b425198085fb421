"""What the client sends to prove who it is never comes back in anything a model reads."""

import base64

import pytest

from nucleo.http.credentials import pairs_of, secrets_of
from nucleo.testing import Answer

KEY = "zq-plain-words-key"


def echo(received):
    return Answer(
        400, body={"error": {"message": f"You sent {received.query} and {dict(received.headers)} at {received.path}"}}
    )


def sends(kit, service, change, **members):
    service.on("*", lambda path: True, echo)

    def decorate(self, request):
        change(request)

    return kit.client(service.url, decorate=decorate, **members)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", f"Bearer {KEY}"),
        ("Authorization", f"Token {KEY}"),
        ("X-Api-Key", KEY),
        ("Ocp-Apim-Subscription-Key", KEY),
        ("X-Whatever-Else", KEY),
        ("Cookie", f"session={KEY}"),
    ],
)
def test_a_credential_in_a_header_is_masked(kit, service, name, value):
    client = sends(kit, service, lambda request: request.headers.__setitem__(name, value))
    failure = kit.failure(client, "get", "/x")
    assert KEY not in failure.explain_to_llm()
    assert KEY not in str(failure)
    assert "You sent" in failure.llm_message


def test_a_basic_credential_is_masked_decoded_too(kit, service):
    service.on("GET", "/x", Answer(403, body={"message": "user ada with password correct-horse may not"}))
    pair = base64.b64encode(b"ada:correct-horse").decode()

    def decorate(self, request):
        request.headers["Authorization"] = f"Basic {pair}"

    failure = kit.failure(kit.client(service.url, decorate=decorate), "get", "/x")
    assert "correct-horse" not in failure.explain_to_llm()


def test_a_credential_in_a_parameter_is_masked(kit, service):
    def change(request):
        request.url = request.url.copy_merge_params({"appid": KEY})

    failure = kit.failure(sends(kit, service, change), "get", "/x")
    assert KEY not in failure.explain_to_llm()


def test_a_credential_that_the_caller_gives_is_masked(kit, service):
    service.on("GET", "/x", echo)
    failure = kit.failure(kit.client(service.url), "get", "/x", headers={"X-Auth-Token": KEY}, params={"api_key": KEY})
    assert KEY not in failure.explain_to_llm()


def test_what_the_secrets_hook_names_is_masked_in_the_path_too(kit, service):
    service.on("GET", "/bot777/send", Answer(400, body={"description": "bot777 is blocked, says bot777-inner"}))
    client = kit.client(service.url, secrets=lambda self: ("bot777",))
    failure = kit.failure(client, "get", "/bot777/send")
    assert "bot777" not in failure.explain_to_llm()
    assert "/[masked]/send" in failure.llm_message


def test_the_path_of_a_call_without_an_answer_is_masked_too(kit, service, short):
    service.on("GET", "/bot777/send", Answer(fault="reset"))
    client = kit.client(service.url, secrets=lambda self: ("bot777",))
    assert "bot777" not in kit.failure(client, "get", "/bot777/send").explain_to_llm()


def test_a_cookie_is_masked_without_its_name(kit, service):
    service.on("GET", "/x", Answer(400, body={"message": f"the visitor {KEY} is unknown"}))
    failure = kit.failure(kit.client(service.url), "get", "/x", headers={"Cookie": f"lang=en; visitor={KEY}"})
    assert KEY not in failure.explain_to_llm()
    assert "is unknown" in failure.llm_message


def test_a_short_word_under_the_name_key_stays_readable(kit, service):
    service.on("GET", "/x", Answer(400, body={"message": "no column date"}))
    failure = kit.failure(kit.client(service.url), "get", "/x", params={"key": "date"})
    assert "no column date" in failure.llm_message


def test_an_ordinary_header_and_parameter_stay_readable(kit, service):
    service.on("GET", "/x", Answer(400, body={"message": "page 2 of format json is not there"}))

    def decorate(self, request):
        request.headers["X-Version"] = "2"
        request.url = request.url.copy_merge_params({"format": "json"})

    failure = kit.failure(kit.client(service.url, decorate=decorate), "get", "/x")
    assert "page 2 of format json is not there" in failure.llm_message


def test_what_was_there_before_authentication_is_no_secret_by_its_length():
    import httpx2

    request = httpx2.Request("GET", "http://a/", headers={"X-Trace": "a-long-value-of-a-trace"})
    before = pairs_of(request)
    request.headers["X-Sign"] = "a-long-value-of-a-signature"
    assert secrets_of(request, before=before) == ("a-long-value-of-a-signature",)


def test_nothing_of_the_request_is_logged(kit, service, caplog):
    caplog.set_level("INFO")
    service.on("GET", "/x", Answer(body="1"))
    kit.call(kit.client(service.url), "get", "/x", params={"api_key": KEY})
    assert KEY not in caplog.text
