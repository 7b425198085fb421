"""The rules behind the corpus, on answers that are not in it."""

import json

import pytest

from nucleo.errors import (
    ExternalServiceException,
    Http400Exception,
    Http401Exception,
    Http403Exception,
    Http404Exception,
    Http429Exception,
    Http500Exception,
    Http503Exception,
    HttpErrorResponse,
    HttpUnmappedStatusException,
    InvalidInputException,
    ModelNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    TokenEstimateExceedsLimitException,
    UpstreamThrottleException,
)
from nucleo.errors.http import http_failure, inspect_response, raise_for_status


def failed(status, body=b"", *, url="https://api.example.com/v1/things/7", **options):
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    return http_failure("the shop", url, status, content, **options)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (300, HttpUnmappedStatusException),
        (400, Http400Exception),
        (401, Http401Exception),
        (402, QuotaExhaustedException),
        (403, HttpErrorResponse),
        (404, Http404Exception),
        (405, HttpUnmappedStatusException),
        (408, HttpUnmappedStatusException),
        (409, HttpUnmappedStatusException),
        (410, Http404Exception),
        (412, HttpUnmappedStatusException),
        (414, Http400Exception),
        (415, Http400Exception),
        (418, HttpUnmappedStatusException),
        (429, Http429Exception),
        (500, Http500Exception),
        (501, HttpUnmappedStatusException),
        (503, Http503Exception),
        (529, HttpUnmappedStatusException),
        (599, HttpUnmappedStatusException),
        (799, HttpUnmappedStatusException),
    ],
)
def test_a_bare_status_has_its_class(status, kind):
    failure = failed(status)
    assert type(failure) is kind or (status == 403 and isinstance(failure, kind))
    assert failure.http.status_code == status


def test_a_field_named_like_a_limit_is_no_throttle():  # D52
    body = {"error": {"message": "Unknown parameter: '_rate_limit_x'", "code": "unknown_parameter"}}
    assert type(failed(400, body, operation="llm")) is Http400Exception


def test_a_number_in_a_body_is_no_status():  # D53
    body = {"error": {"message": "bad tokens", "code": 400}, "prompt_token_ids": [9906, 429, 1234]}
    assert type(failed(400, body, operation="llm")) is Http400Exception


@pytest.mark.parametrize(
    "body",
    [
        {
            "error": {
                "code": "context_length_exceeded",
                "message": "This model's maximum context length is 8192 tokens.",
            }
        },
        {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens."}},
        {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 213 > 200"}},
        {
            "error": {
                "message": "The input token count exceeds the maximum number of tokens allowed",
                "status": "INVALID_ARGUMENT",
            }
        },
        {"message": "Input is too long for requested model."},
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000",
        },
    ],
)
def test_overflow_is_recognised_for_every_main_provider(body):  # D55
    assert isinstance(failed(400, body, operation="llm"), TokenEstimateExceedsLimitException)


def test_a_users_own_words_about_overflow_are_no_overflow():  # D55
    body = {"error": {"message": "Invalid value: 'prompt is too long' is no role", "code": "invalid_value"}}
    assert type(failed(400, body, operation="llm")) is Http400Exception


def test_the_words_insufficient_quota_beside_concurrency_are_a_throttle():  # D81
    body = {
        "status": 429,
        "error": "INSUFFICIENT QUOTA",
        "message": "You exceeded your current limit of concurrent requests.",
    }
    assert isinstance(failed(429, body, operation="llm"), UpstreamThrottleException)


def test_quota_by_code_stays_quota():
    body = {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota, check your plan."}}
    assert isinstance(failed(429, body, operation="llm"), QuotaExhaustedException)


@pytest.mark.parametrize("status", [400, 403, 503, 200])
def test_a_throttle_code_beats_the_status(status):
    failure = inspect_response(
        "x", "/x", status, json.dumps({"error": {"code": "ThrottlingException", "message": "slow"}})
    )
    assert type(failure) is Http429Exception
    assert failure.status_code == status


def test_a_403_with_a_wait_is_a_throttle_and_one_with_room_left_is_not():
    assert type(failed(403, {"message": "no"}, headers={"Retry-After": "7"})) is Http429Exception
    assert type(failed(403, {"message": "no"}, headers={"X-RateLimit-Remaining": "0"})) is Http429Exception
    assert type(failed(403, {"message": "no"}, headers={"X-RateLimit-Remaining": "12"})) is Http403Exception


def test_a_503_with_a_wait_stays_itself_and_carries_the_wait():
    failure = failed(503, b"maintenance", headers={"Retry-After": "120"})
    assert type(failure) is Http503Exception
    assert failure.http.retry_after_seconds == 120
    assert "120 seconds" in failure.llm_message


@pytest.mark.parametrize(
    ("operation", "kind"),
    [("fetch", Http404Exception), ("write", HttpUnmappedStatusException), ("search", Http404Exception)],
)
def test_a_page_that_is_not_there_is_a_wrong_address_for_a_write(operation, kind):
    assert type(failed(404, "<html><h1>Not Found</h1></html>", operation=operation)) is kind


def test_a_write_that_names_a_missing_record_is_correctable():
    assert (
        type(failed(404, {"error": {"code": "order_not_found", "message": "Order 7 not found"}}, operation="write"))
        is Http404Exception
    )


def test_model_calls_have_their_own_meanings():
    missing = {"error": {"message": "The model `gpt-9` does not exist", "code": "model_not_found"}}
    found = failed(404, missing, operation="llm")
    assert isinstance(found, ModelNotFoundException)
    assert found.model_id == "gpt-9"
    refused = {"error": {"code": "content_filter", "message": "The response was filtered"}}
    assert isinstance(failed(400, refused, operation="llm"), ProviderRefusalException)
    assert type(failed(404, {"message": "Product model 'XR-7' not found"})) is Http404Exception


@pytest.mark.parametrize(
    "body",
    [
        {"ok": True, "error": None},
        {"data": {"x": 1}, "errors": []},
        {"error": "", "items": []},
        {"errors_total": 3},
        {"error": "a field that may be called so"},
        [1, 2, 3],
        "plain text about an error",
        "<html><body>a page that was asked for</body></html>",
    ],
)
def test_a_good_answer_is_none(body):
    text = body if isinstance(body, str) else json.dumps(body)
    assert inspect_response("x", "https://api.example.com/x", 200, text) is None


def test_a_web_page_where_json_was_declared_is_a_failure():
    failure = inspect_response(
        "x", "/x", 200, "<html><title>Log in</title></html>", headers={"Content-Type": "application/json"}
    )
    assert isinstance(failure, ExternalServiceException)


def test_a_redirect_to_a_log_in_page_is_about_credentials():
    assert type(failed(302, headers={"Location": "https://sso.example.com/login?next=/x"})) is Http401Exception
    assert type(failed(302, headers={"Location": "/v2/things"})) is HttpUnmappedStatusException


@pytest.mark.parametrize(
    ("status", "method", "unknown"),
    [
        (502, "POST", True),
        (504, "PATCH", True),
        (504, "GET", False),
        (502, "PUT", False),
        (500, "POST", False),
        (503, "POST", False),
        (504, None, False),
    ],
)
def test_a_write_that_something_in_between_answered_for_may_have_happened(status, method, unknown):
    failure = failed(status, method=method, operation="write")
    assert failure.outcome_unknown is unknown
    assert ("Check before repeating" in failure.llm_message) is unknown


def test_what_the_caller_sent_to_prove_itself_never_comes_back():
    failure = failed(400, {"message": "bad key s3cr3t/with+signs here"}, secrets=["s3cr3t/with+signs"])
    assert "s3cr3t" not in failure.explain_to_llm()
    assert "bad key" in failure.llm_message


def test_raise_for_status_returns_below_400():
    raise_for_status("x", "/x", 200, b"")
    raise_for_status("x", "/x", 302, b"")
    with pytest.raises(InvalidInputException):
        raise_for_status("x", "/x", 422, b"")


def test_only_the_path_of_an_address_is_kept():
    failure = failed(404, url="https://user:pw@api.example.com/v1/things?key=abc#frag")
    assert failure.endpoint == "/v1/things"
    assert "pw" not in failure.llm_message
    assert "abc" not in failure.llm_message


@pytest.mark.parametrize("location", ["/authors/12", "https://blog.example.com/v2", "/assorted", "/catalog/in"])
def test_a_redirect_to_any_other_place_is_about_no_credentials(location):
    assert type(failed(302, headers={"Location": location})) is HttpUnmappedStatusException


@pytest.mark.parametrize(
    "location",
    [
        "/login",
        "https://accounts.example.com/o/oauth2/auth?x",
        "/auth/start",
        "/users/sign_in",
        "https://sso.example.com/",
    ],
)
def test_a_redirect_to_where_people_log_in_is_about_credentials(location):
    assert type(failed(302, headers={"Location": location})) is Http401Exception


def test_what_the_caller_sent_is_masked_in_the_path_too():
    failure = failed(404, url="https://api.example.com/bot/my-own-secret-77/getMe", secrets=["my-own-secret-77"])
    assert "my-own-secret-77" not in failure.endpoint
    assert "my-own-secret-77" not in failure.explain_to_llm()
