"""What a provider's client raises, and which of it the dispatcher runs again. The same for every provider."""

import json
import pickle
import ssl

import pytest
import trustme

from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    ModelNotFoundException,
    OverloadRetryException,
    ProviderRefusalException,
    QuotaExhaustedException,
    RateLimitRetryException,
    SystemException,
    TokenEstimateExceedsLimitException,
    TransientErrorRetryException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.models import (
    AssistantMessage,
    Reply,
    TextDelta,
    ToolCall,
    ToolCallResult,
    ToolResultsMessage,
    UserMessage,
    is_final_failure,
    retry_signal,
)
from nucleo.testing import Answer, FailingService


def signal_of(failure):
    return retry_signal(failure, provider="Provider", attempt=2)


def test_a_throttle_carries_the_wait_that_was_asked_for(exchange):
    failure = exchange.fails(Answer(status=429, headers={"Retry-After": "7"}, body=exchange.wire.throttled))
    assert isinstance(failure, UpstreamThrottleException)
    assert failure.retry_after_seconds == 7
    signal = signal_of(failure)
    assert isinstance(signal, RateLimitRetryException)
    assert signal.suggested_delay_seconds == 7
    assert signal.attempt == 2
    assert signal.__cause__ is failure


def test_a_throttle_without_a_wait_is_one_all_the_same(exchange):
    failure = exchange.fails(Answer(status=429, body=exchange.wire.throttled))
    assert isinstance(failure, UpstreamThrottleException)
    assert failure.retry_after_seconds is None
    assert isinstance(signal_of(failure), RateLimitRetryException)


def test_an_account_without_money_is_final_and_names_the_account_and_the_model(exchange):
    status, body = exchange.wire.quota
    failure = exchange.fails(Answer(status=status, body=body), account="Research")
    assert isinstance(failure, QuotaExhaustedException)
    assert failure.account == "Research"
    assert failure.model_name == "model-asked-for"
    assert failure.http.status_code == status
    assert signal_of(failure) is None


def test_an_overload_is_paced_as_one(exchange):
    failure = exchange.fails(Answer(status=529, body=exchange.wire.overloaded))
    assert isinstance(failure, ExternalServiceException)
    assert isinstance(signal_of(failure), OverloadRetryException)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520])
def test_a_failure_of_the_server_is_transient(exchange, status):
    failure = exchange.fails(Answer(status=status, body=exchange.wire.broken))
    assert isinstance(failure, ExternalServiceException)
    assert failure.http.status_code == status
    signal = signal_of(failure)
    assert isinstance(signal, TransientErrorRetryException)
    assert signal.http_status == status


def test_a_503_keeps_the_wait_it_asks_for(exchange):
    failure = exchange.fails(Answer(status=503, headers={"Retry-After": "9"}, body=exchange.wire.broken))
    assert signal_of(failure).floor_seconds == 9


@pytest.mark.parametrize("fault", ["reset", "close", "truncated", "bad_chunk"])
def test_a_connection_that_breaks_is_transient(exchange, fault):
    failure = exchange.fails(Answer(fault=fault, body=exchange.wire.reply("Half")))
    assert isinstance(failure, ExternalServiceException)
    assert failure.http is None
    assert not failure.outcome_unknown
    assert isinstance(signal_of(failure), TransientErrorRetryException)
    assert failure.__cause__ is not None


def test_silence_is_told_as_the_providers(exchange):
    failure = exchange.fails(Answer(fault="hang"), timeout=20.0)
    assert isinstance(failure, ExternalServiceException)
    assert "time limit" in failure.llm_message
    assert isinstance(signal_of(failure), TransientErrorRetryException)


def test_a_refused_connection_is_transient(wire, exchange):
    with FailingService(refuse=True) as nobody:
        url = nobody.url
        failure = exchange.fails(Answer(), base_url=f"{url}/v1" if wire.name == "openai" else url)
    assert isinstance(failure, ExternalServiceException)
    assert "refused" in failure.llm_message
    assert isinstance(signal_of(failure), TransientErrorRetryException)


def test_a_name_that_does_not_resolve_is_never_retried(exchange):
    failure = exchange.fails(Answer(), base_url="http://model.invalid/v1")
    assert isinstance(failure, ExternalServiceException)
    assert signal_of(failure) is None


def test_a_certificate_that_is_not_trusted_is_never_retried(exchange):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with FailingService(tls=context) as stranger:
        failure = exchange.fails(Answer(), base_url=stranger.url)
    assert isinstance(failure, ExternalServiceException)
    assert "certificate" in failure.llm_message
    assert signal_of(failure) is None


def test_a_conversation_that_is_too_long_names_the_figures_and_the_model(exchange):
    failure = exchange.fails(Answer(status=400, body=exchange.wire.too_long))
    assert isinstance(failure, TokenEstimateExceedsLimitException)
    assert (failure.estimated_tokens, failure.model_limit) == (210_000, 200_000)
    assert failure.model_name == "model-asked-for"
    assert signal_of(failure) is None


def test_an_unknown_model_is_named_as_it_was_asked_for(exchange):
    failure = exchange.fails(Answer(status=404, body=exchange.wire.no_model))
    assert isinstance(failure, ModelNotFoundException)
    assert failure.model_id == "model-asked-for"
    assert signal_of(failure) is None


def test_a_refused_key_is_never_shown(exchange):
    failure = exchange.fails(Answer(status=401, body=exchange.wire.bad_key))
    assert isinstance(failure, UnauthorizedException)
    assert exchange.key not in failure.explain_to_llm()
    assert exchange.key not in str(failure)
    assert signal_of(failure) is None


def test_a_request_that_is_refused_is_final(exchange):
    failure = exchange.fails(Answer(status=400, body=exchange.wire.bad_request))
    assert isinstance(failure, InvalidInputException)
    assert "temperature" in failure.llm_message
    assert signal_of(failure) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": "1", "choices": [{"mess',
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"content": "text", "choices": {}}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"<html><head><title>Sign in</title></head><body>Please sign in.</body></html>",
    ],
    ids=["cut", "empty", "list", "null", "object", "wrong-kinds", "deep", "bytes", "html"],
)
def test_a_good_status_without_a_reply_is_an_unreadable_answer(exchange, body):
    failure = exchange.fails(Answer(headers={"Content-Type": "application/json"}, body=body))
    assert isinstance(failure, ExternalServiceException)
    assert exchange.wire.service_name in failure.llm_message
    assert isinstance(signal_of(failure), TransientErrorRetryException)


def test_a_web_page_in_place_of_a_reply_is_called_one(exchange):
    failure = exchange.fails(Answer(headers={"Content-Type": "text/html"}, body="<html><title>Proxy</title></html>"))
    assert isinstance(failure, ExternalServiceException)
    assert "<html>" not in failure.llm_message


def test_an_error_in_a_good_status_means_what_it_says(exchange):
    assert isinstance(exchange.fails(exchange.wire.throttled), UpstreamThrottleException)


def test_a_redirect_is_not_followed_with_the_key(exchange):
    with FailingService(host="127.0.0.2") as elsewhere:
        elsewhere.on("*", lambda _: True, Answer(body=exchange.wire.reply("Stolen.")))
        failure = exchange.fails(Answer(status=307, headers={"Location": f"{elsewhere.url}/take"}))
        assert isinstance(failure, ExternalServiceException)
        assert elsewhere.requests == []


def test_the_sdk_repeats_nothing(exchange):
    exchange.fails(Answer(status=500, body=exchange.wire.broken))
    assert len(exchange.service.requests) == 1


def test_a_failure_survives_pickling_with_its_answer(exchange):
    failure = exchange.fails(Answer(status=429, headers={"Retry-After": "7"}, body=exchange.wire.throttled))
    twin = pickle.loads(pickle.dumps(failure))
    assert twin.llm_message == failure.llm_message
    assert twin.http == failure.http


def test_a_call_without_its_result_is_never_sent(exchange):
    messages = (UserMessage("Go."), AssistantMessage((ToolCall("t1", "find", {}),)), UserMessage("Well?"))
    failure = exchange.fails(exchange.wire.reply("?"), exchange.question(*messages))
    assert isinstance(failure, SystemException)
    assert exchange.service.requests == []


def test_a_result_without_its_call_is_never_sent(exchange):
    messages = (UserMessage("Go."), ToolResultsMessage((ToolCallResult("t1", "find", "there"),)))
    failure = exchange.fails(exchange.wire.reply("?"), exchange.question(*messages))
    assert isinstance(failure, SystemException)
    assert exchange.service.requests == []


def test_a_stream_that_cannot_begin_fails_as_any_call(exchange):
    exchange.plan(Answer(status=429, headers={"Retry-After": "7"}, body=exchange.wire.throttled))
    heard, failure = exchange.parts()
    assert heard == []
    assert isinstance(failure, UpstreamThrottleException)
    assert isinstance(signal_of(failure), RateLimitRetryException)


def test_an_overload_as_the_first_event_is_paced_as_one(exchange):
    exchange.plan(exchange.streamed([exchange.wire.error_event(exchange.wire.overloaded)]))
    heard, failure = exchange.parts()
    assert heard == []
    assert isinstance(failure, ExternalServiceException)
    assert isinstance(signal_of(failure), OverloadRetryException)


def test_an_error_before_the_first_text_can_be_run_again(exchange):
    events = [*exchange.wire.stream("Never heard.")[:1], exchange.wire.error_event(exchange.wire.broken)]
    exchange.plan(exchange.streamed(events))
    heard, failure = exchange.parts()
    assert heard == []
    assert isinstance(failure, ExternalServiceException)
    assert not is_final_failure(failure)
    assert isinstance(signal_of(failure), TransientErrorRetryException)


def middle_of(exchange):
    """The events up to the second piece of text, included."""
    events = exchange.wire.stream("one two three")
    place = next(i for i, (_, data) in enumerate(events) if "two " in json.dumps(data))
    return events[: place + 1]


@pytest.mark.parametrize("kind", ["broken", "overloaded", "throttled"])
def test_an_error_after_the_first_text_is_final(exchange, kind):
    body = getattr(exchange.wire, kind)
    exchange.plan(exchange.streamed([*middle_of(exchange), exchange.wire.error_event(body)]))
    heard, failure = exchange.parts()
    assert heard == [TextDelta("one "), TextDelta("two ")]
    assert isinstance(failure, ExternalServiceException)
    assert isinstance(failure, UpstreamThrottleException) == (kind == "throttled")
    assert is_final_failure(failure)
    assert signal_of(failure) is None


@pytest.mark.parametrize("fault", [None, "reset_in_body", "truncated", "bad_chunk"])
def test_a_stream_that_breaks_in_the_middle_is_final_and_no_reply(exchange, fault):
    exchange.plan(exchange.streamed(middle_of(exchange), fault=fault))
    heard, failure = exchange.parts()
    assert not any(isinstance(part, Reply) for part in heard)
    assert isinstance(failure, ExternalServiceException)
    assert is_final_failure(failure) == bool(heard)
    assert (signal_of(failure) is None) == bool(heard)


def test_a_stream_that_falls_silent_is_final(exchange):
    exchange.plan(exchange.streamed(middle_of(exchange), fault="hang_in_body"))
    heard, failure = exchange.parts(timeout=20.0)
    assert heard == [TextDelta("one "), TextDelta("two ")]
    assert isinstance(failure, ExternalServiceException)
    assert is_final_failure(failure)


def test_an_event_that_is_no_json_ends_the_stream_typed(exchange):
    name = middle_of(exchange)[-1][0]
    exchange.plan(exchange.streamed([*middle_of(exchange), (name, '{"half": ')]))
    heard, failure = exchange.parts()
    assert heard == [TextDelta("one "), TextDelta("two ")]
    assert isinstance(failure, ExternalServiceException)
    assert is_final_failure(failure)


def test_a_refusal_in_the_middle_of_a_stream_is_a_refusal(exchange):
    exchange.plan(exchange.streamed(exchange.wire.stream("one two", stop=exchange.wire.refused)))
    heard, failure = exchange.parts()
    assert heard == [TextDelta("one "), TextDelta("two")]
    assert isinstance(failure, ProviderRefusalException)
    assert signal_of(failure) is None


def test_a_web_page_in_place_of_a_stream_is_an_unreadable_answer(exchange):
    exchange.plan(Answer(headers={"Content-Type": "text/html"}, body="<html><title>Proxy</title></html>"))
    heard, failure = exchange.parts()
    assert heard == []
    assert isinstance(failure, ExternalServiceException)
