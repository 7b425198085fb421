"""Every real client, and the answers that it turns into exceptions of its own."""

import aiohttp
import anthropic
import httpx2
import openai
import pytest
import requests
import urllib3

from nucleo.errors import (
    ExternalServiceException,
    Http400Exception,
    Http401Exception,
    Http403Exception,
    Http404Exception,
    Http422Exception,
    Http429Exception,
    Http500Exception,
    Http502Exception,
    Http503Exception,
    HttpErrorResponse,
    HttpUnmappedStatusException,
    UpstreamThrottleException,
    unwrap,
    wrap_with_context,
)
from nucleo.errors.translate import translate
from nucleo.testing import Answer, run

_CLASSES = {
    400: Http400Exception,
    401: Http401Exception,
    403: Http403Exception,
    404: Http404Exception,
    422: Http422Exception,
    429: Http429Exception,
    500: Http500Exception,
    502: Http502Exception,
    503: Http503Exception,
    504: HttpUnmappedStatusException,
}
_UNREADABLE = "it sent an unreadable answer"


@pytest.mark.parametrize("status", _CLASSES)
def test_a_status_becomes_the_failure_that_it_means(status_client, answering, status):
    service = answering(Answer(status, body={"detail": "the order number has nine digits"}))
    failure = translate(status_client.error(f"{service.url}/orders/7?key=planted"), service="Orders")
    assert type(failure) is _CLASSES[status]
    assert failure.status_code == status
    assert failure.service == "Orders"
    assert failure.endpoint == "/orders/7"
    assert "planted" not in failure.explain_to_llm()
    assert "127.0.0.1" not in failure.explain_to_llm()


def test_a_throttle_keeps_the_wait_it_was_asked_for(status_client, answering):
    service = answering(Answer(429, headers={"Retry-After": "7"}, body={"detail": "slow down"}))
    failure = translate(status_client.error(f"{service.url}/orders"), service="Orders")
    assert isinstance(failure, UpstreamThrottleException)
    assert failure.retry_after_seconds == 7
    assert "7 seconds" in failure.llm_message


def test_unwrapping_a_clients_exception_gives_its_meaning_and_keeps_it_as_the_cause(status_client, answering):
    service = answering(Answer(404, body={"detail": "no such order"}))
    error = status_client.error(f"{service.url}/orders/7")
    failure = unwrap(error, component="lookup")
    assert type(failure) is Http404Exception
    assert failure.__cause__ is error


def test_the_context_of_a_call_keeps_the_wait_of_a_throttle(status_client, answering):
    service = answering(Answer(429, headers={"Retry-After": "7"}))
    error = status_client.error(f"{service.url}/orders/7")
    failure = wrap_with_context(error, "Orders", "number", 7, "order lookup")
    assert type(failure) is UpstreamThrottleException
    assert failure.retry_after_seconds == 7
    assert failure.http.status_code == 429


def test_what_the_service_said_is_told_when_the_client_has_read_it(reading_client, answering):
    service = answering(Answer(422, body={"detail": "the order number has nine digits"}))
    failure = translate(reading_client.error(f"{service.url}/orders"), service="Orders")
    assert "the order number has nine digits" in failure.llm_message


def test_an_unread_body_is_not_called_empty_and_is_not_read(unread_client, answering):
    service = answering(Answer(422, body={"detail": "the order number has nine digits"}))
    failure = translate(unread_client.error(f"{service.url}/orders"), service="Orders")
    assert "the text of the answer was not read" in failure.llm_message
    assert "empty" not in failure.llm_message


def test_an_answer_names_the_host_when_no_service_is_named(status_client, answering):
    service = answering(Answer(503))
    failure = translate(status_client.error(f"http://localhost:{service.port}/orders"))
    assert isinstance(failure, HttpErrorResponse)
    assert failure.service == "localhost"
    assert str(service.port) not in failure.explain_to_llm()


def test_a_gateway_that_gave_up_on_a_write_leaves_its_outcome_open(answering, clients):
    for name in ("httpx", "httpx2", "requests", "aiohttp"):
        service = answering(Answer(504))
        failure = translate(clients[name].error(f"{service.url}/orders", method="POST"))
        assert failure.outcome_unknown, name
        assert not translate(clients[name].error(f"{service.url}/orders")).outcome_unknown, name


@pytest.mark.parametrize("name", ["requests", "aiohttp"])
def test_a_body_that_is_no_json_is_an_unreadable_answer(clients, answering, name):
    service = answering(Answer(200, headers={"Content-Type": "text/html"}, body="<p>Log in</p>"))
    error = clients[name].error(f"{service.url}/orders", read_json=True)
    for failure in (translate(error, service="Orders"), translate(error)):
        assert type(failure) is ExternalServiceException
        assert failure.error_details == _UNREADABLE
        assert not failure.outcome_unknown
        assert failure.http is None
        assert "Log in" not in failure.llm_message


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpx2-async", "urllib3"])
def test_a_body_that_is_no_json_is_nobodys_until_a_service_is_named(clients, answering, name):
    service = answering(Answer(200, headers={"Content-Type": "text/html"}, body="<p>Log in</p>"))
    error = clients[name].error(f"{service.url}/orders", method="POST", read_json=True)
    assert translate(error) is None
    failure = translate(error, service="Orders")
    assert failure.error_details == f"{_UNREADABLE}: it is not valid JSON"
    assert not failure.outcome_unknown
    assert "Log in" not in failure.llm_message


def test_a_web_page_where_aiohttp_wanted_json_keeps_a_bad_status(answering):
    async def ask(url):
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            await response.json()

    service = answering(Answer(503, headers={"Content-Type": "text/html"}, body="<p>Busy</p>"))
    with pytest.raises(aiohttp.ContentTypeError) as caught:
        run(ask(f"{service.url}/orders"))
    assert type(translate(caught.value)) is Http503Exception


def test_a_status_that_urllib3_gave_up_on_after_its_own_retries_is_found_again(answering):
    service = answering(Answer(503, body="busy"))
    retries = urllib3.Retry(1, status_forcelist=[503], backoff_factor=0)
    with urllib3.PoolManager() as pool, pytest.raises(urllib3.exceptions.MaxRetryError) as caught:
        pool.request("GET", f"http://localhost:{service.port}/orders/7?key=planted", retries=retries)
    failure = translate(caught.value)
    assert type(failure) is Http503Exception
    assert failure.endpoint == "/orders/7"
    assert failure.service == "localhost"
    assert not failure.outcome_unknown


def test_a_status_that_requests_gave_up_on_after_its_own_retries_is_found_again(answering):
    service = answering(Answer(502, body="busy"))
    retries = urllib3.Retry(1, status_forcelist=[502], backoff_factor=0)
    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
        with pytest.raises(requests.exceptions.RetryError) as caught:
            session.get(f"{service.url}/orders/7")
    assert type(translate(caught.value, service="Orders")) is Http502Exception


def test_a_stream_that_nobody_has_read_is_left_unread(answering):
    service = answering(Answer(404, fault="hang_in_body", body="half of it"))
    with (
        requests.Session() as session,
        session.get(f"{service.url}/orders/7", stream=True, timeout=5) as response,
        pytest.raises(requests.HTTPError) as caught,
    ):
        response.raise_for_status()
    assert "was not read" in translate(caught.value).llm_message
    with (
        httpx2.Client() as client,
        client.stream("GET", f"{service.url}/orders/7") as response,
        pytest.raises(httpx2.HTTPStatusError) as caught,
    ):
        response.raise_for_status()
    assert "was not read" in translate(caught.value).llm_message


def _openai(url):
    return openai.OpenAI(api_key="sk-planted", base_url=f"{url}/v1", max_retries=0, timeout=5)


def _anthropic(url):
    return anthropic.Anthropic(api_key="sk-planted", base_url=url, max_retries=0, timeout=5)


_MESSAGES = [{"role": "user", "content": "hello"}]


def test_a_context_that_is_too_long_is_read_as_a_models_answer(answering):
    body = {
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your messages "
            "resulted in 9001 tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }
    }
    service = answering(Answer(400, body=body))
    with _openai(service.url) as client, pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=_MESSAGES)
    failure = translate(caught.value, service="OpenAI")
    assert type(failure).__name__ == "TokenEstimateExceedsLimitException"
    assert failure.http.status_code == 400


def test_a_model_call_without_an_answer_is_no_write_to_check(answering):
    service = answering(Answer(fault="close"))
    with _openai(service.url) as client, pytest.raises(openai.APIConnectionError) as caught:
        client.chat.completions.create(model="m", messages=_MESSAGES)
    assert not translate(caught.value).outcome_unknown
    with _anthropic(service.url) as client, pytest.raises(anthropic.APIConnectionError) as caught:
        client.messages.create(model="m", messages=_MESSAGES, max_tokens=9)
    assert not translate(caught.value).outcome_unknown


def test_an_error_in_the_middle_of_a_stream_of_anthropic_keeps_its_meaning(answering):
    event = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    service = answering(Answer(200, headers={"Content-Type": "text/event-stream"}, body=event))
    with _anthropic(service.url) as client, pytest.raises(anthropic.APIStatusError) as caught:
        list(client.messages.create(model="m", messages=_MESSAGES, max_tokens=9, stream=True))
    failure = translate(caught.value, service="Anthropic")
    assert isinstance(failure, ExternalServiceException)
    assert not failure.outcome_unknown
    assert not failure.is_correctable


def test_an_error_in_the_middle_of_a_stream_of_openai_keeps_its_meaning(answering):
    event = 'data: {"error": {"type": "server_error", "message": "The server had an error"}}\n\n'
    service = answering(Answer(200, headers={"Content-Type": "text/event-stream"}, body=event))
    with _openai(service.url) as client, pytest.raises(openai.APIError) as caught:
        list(client.chat.completions.create(model="m", messages=_MESSAGES, stream=True))
    failure = translate(caught.value, service="OpenAI")
    assert isinstance(failure, ExternalServiceException)
    assert not failure.outcome_unknown


def test_a_model_answer_that_is_no_json_is_not_taken_for_a_status(answering):
    service = answering(Answer(200, headers={"Content-Type": "application/json"}, body="{half"))
    with _openai(service.url) as client, pytest.raises(Exception) as caught:
        client.chat.completions.create(model="m", messages=_MESSAGES)
    failure = translate(caught.value, service="OpenAI")
    assert failure.error_details.startswith(_UNREADABLE)
    assert failure.http is None
