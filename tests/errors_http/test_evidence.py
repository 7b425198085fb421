"""What is no evidence: names of fields, input that comes back, bare numbers, room that is left; and the tables themselves."""

import json

import pytest

from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    QuotaExhaustedException,
    ResourceNotFoundException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.errors.http import http_failure, inspect_response
from nucleo.errors.http.codes import COARSE, CODES, LLM_CODES, Meaning, meaning_of_code
from nucleo.errors.http.fault import normal_code
from nucleo.errors.http.quirks import QUIRKS, quirk_of

TRAPS = [
    "rate_limit",
    "rate_limit_exceeded",
    "quota_exceeded",
    "insufficient_quota",
    "api_key_invalid",
    "invalid_token",
    "context_length_exceeded",
    "content_filter",
    "model_not_found",
    "not_found",
    "access_denied",
    "429",
]
SHAPES = {
    "a field of a validation list": lambda trap: {"errors": [{"field": trap, "message": "must be a number"}]},
    "a location": lambda trap: {"detail": [{"loc": ["body", trap], "msg": "field required", "type": "missing"}]},
    "a name beside its reason": lambda trap: {
        "title": "Your request is not valid.",
        "invalid-params": [{"name": trap, "reason": "must be positive"}],
    },
    "a parameter": lambda trap: {
        "error": {"message": f"Unknown parameter: '{trap}'.", "param": trap, "code": "unknown_parameter"}
    },
    "a pointer": lambda trap: {"errors": [{"source": {"pointer": f"/data/{trap}"}, "detail": "must not be empty"}]},
    "the input given back": lambda trap: {"error": "invalid filter", "value": trap, "input": {"status": trap}},
    "an allowed value": lambda trap: {"message": "unknown status", "allowed": [trap, "open"]},
    "messages by field": lambda trap: {trap: ["This field is required."]},
    "a key of the request": lambda trap: {"message": "bad filter", "request": {"code": trap, "type": trap}},
}


@pytest.mark.parametrize("operation", ["fetch", "search", "write", "llm"])
@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_name_or_an_echo_is_no_signal(shape, trap, operation):
    body = json.dumps(shape(trap))
    failure = http_failure("shop", "https://api.example.com/a", 400, body, operation=operation)
    assert type(failure) is InvalidInputException or isinstance(failure, InvalidInputException)
    assert failure.is_correctable


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_broken_service_stays_broken_whatever_its_body_names(shape, trap):
    failure = http_failure("shop", "https://api.example.com/a", 500, json.dumps(shape(trap)))
    assert isinstance(failure, ExternalServiceException)
    assert not isinstance(failure, UpstreamThrottleException)


@pytest.mark.parametrize("number", [401, 402, 403, 404, 429, 1002, 1113, 3051])
@pytest.mark.parametrize("key", ["code", "error_code", "status", "count", "type"])
def test_a_bare_number_is_no_signal_at_a_service_that_is_not_known_for_it(key, number):
    body = json.dumps({key: number, "message": f"the value {number} is out of range"})
    assert isinstance(http_failure("shop", "https://api.example.com/a", 400, body), InvalidInputException)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "30"},
        {"RateLimit": '"api";r=3;t=20'},
        {"RateLimit-Remaining": "12", "RateLimit-Reset": "9"},
    ],
)
def test_room_that_is_left_is_no_throttle(headers):
    failure = http_failure("shop", "/a", 403, '{"message":"You may not edit this."}', headers=headers)
    assert isinstance(failure, UnauthorizedException)
    assert failure.http.retry_after_seconds is None


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("billing limit must be a positive integer", InvalidInputException),
        ("monthly quota limit cannot be changed once exceeded", InvalidInputException),
        ("Not enough credits", QuotaExhaustedException),
        ("Your credit balance is too low to call this API.", QuotaExhaustedException),
        ("Unexpected token < in JSON at position 0", InvalidInputException),
        ("Invalid token 'FROMM' at line 1", InvalidInputException),
        ("Invalid API key", UnauthorizedException),
        ("the word 'too many requests' may not be used", InvalidInputException),
    ],
)
def test_a_rule_about_money_or_keys_is_not_a_lack_of_them(message, kind):
    assert isinstance(http_failure("shop", "/a", 400, json.dumps({"message": message})), kind)


def test_a_days_allowance_is_money_unless_the_answer_says_when_there_is_more():
    body = json.dumps({"message": "You have exceeded your daily request limit."})
    assert isinstance(http_failure("shop", "/a", 429, body), QuotaExhaustedException)
    failure = http_failure("shop", "/a", 429, body, headers={"Retry-After": "40000"})
    assert isinstance(failure, UpstreamThrottleException)
    assert failure.retry_after_seconds == 40_000


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("InvalidSnapshot.NotFound", Meaning.NOT_FOUND),
        ("NoSuchLifecycleConfiguration", Meaning.NOT_FOUND),
        ("JOB_DOES_NOT_EXIST", Meaning.NOT_FOUND),
        ("com.amazonaws.x#ThrottledException", Meaning.THROTTLE),
        ("user_rate_limit_exceeded", Meaning.THROTTLE),
        ("TENANT_TOO_MANY_REQUESTS", Meaning.THROTTLE),
        ("MONTHLY_CREDITS_EXHAUSTED", Meaning.QUOTA),
        ("not_enough_balance", Meaning.QUOTA),
        ("expired_access_token", Meaning.UNAUTHORIZED),
        ("api_key_revoked", Meaning.UNAUTHORIZED),
        ("route_not_found", None),
        ("endpoint_not_found", None),
        ("invalid_rate_limit", None),
        ("invalid_page_token", None),
        ("quota_invalid", None),
        ("invalid_request_error", None),
        ("INVALID_ARGUMENT", None),
    ],
)
def test_codes_are_known_by_their_families(code, meaning):
    assert meaning_of_code(normal_code(code)) is meaning


def test_every_code_of_the_tables_is_in_the_form_it_is_compared_in():
    own = [code for quirk in QUIRKS for code in (*quirk.codes, *quirk.good)]
    wrong = [code for code in (*CODES, *COARSE, *LLM_CODES, *own) if normal_code(code) != code]
    assert wrong == []


def test_no_bare_number_is_a_code_for_every_service():
    assert [code for code in (*CODES, *COARSE, *LLM_CODES) if code.isdigit()] == []


def test_every_quirk_names_its_source_and_a_host_of_its_own():
    assert [quirk for quirk in QUIRKS if not quirk.source or not quirk.hosts] == []
    hosts = [host for quirk in QUIRKS for host in quirk.hosts]
    assert len(hosts) == len(set(hosts))
    assert [host for host in hosts if host != host.lower() or "/" in host] == []
    assert [word for quirk in QUIRKS for word in quirk.words if word != word.lower()] == []


def test_a_host_matches_itself_and_what_is_below_it_and_nothing_that_only_ends_alike():
    assert quirk_of("api.stripe.com") is quirk_of("API.Stripe.com:443")
    assert quirk_of("eu.api.stripe.com") is quirk_of("api.stripe.com")
    assert quirk_of("evilapi.stripe.com") is None
    assert quirk_of("api.stripe.com.example.org") is None
    assert quirk_of("eutils.ncbi.nlm.nih.gov") is not quirk_of("www.ncbi.nlm.nih.gov")


def test_a_fault_that_blames_the_caller_is_quoted_even_under_a_500():
    fault = (
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>'
        "<faultcode>soap:{}</faultcode><faultstring>Unknown country ZZ</faultstring></soap:Fault></soap:Body></soap:Envelope>"
    )
    blamed = http_failure("shop", "/a", 500, fault.format("Client"))
    assert isinstance(blamed, InvalidInputException)
    assert "Unknown country ZZ" in blamed.llm_message
    assert blamed.http.status_code == 500
    assert isinstance(http_failure("shop", "/a", 500, fault.format("Server")), ExternalServiceException)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("3", InvalidInputException),
        ("5", ResourceNotFoundException),
        ("7", UnauthorizedException),
        ("8", UpstreamThrottleException),
        ("13", ExternalServiceException),
        ("14", ExternalServiceException),
        ("16", UnauthorizedException),
    ],
)
def test_grpc_says_in_a_header_what_its_200_hides(status, kind):
    headers = {"grpc-status": status, "grpc-message": "order%207%20is%20gone"}
    failure = inspect_response("shop", "/pkg.Orders/Get", 200, b"", headers=headers)
    assert isinstance(failure, kind)
    if failure.is_correctable:
        assert "order 7 is gone" in failure.llm_message
