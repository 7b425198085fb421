"""Every real client, and every way in which no answer comes."""

import ssl

import pytest
import trustme

from nucleo.errors import ExternalServiceException
from nucleo.errors.translate import translate
from nucleo.testing import Answer


def _named(client, phase):
    return "localhost" if phase in client.tells_host else client.library


def _failure(error, service="Orders"):
    failure = translate(error, service=service)
    assert type(failure) is ExternalServiceException
    assert failure.service_name == service
    assert failure.http is None
    for internal in ("127.0.0.1", "http://", "https://", "planted", "Errno", "0x"):
        assert internal not in failure.llm_message
    return failure


def test_a_refused_connection_is_told_as_one(client, answering):
    service = answering(Answer(), refuse=True)
    error = client.error(f"{service.url}/orders/7?key=planted", method="POST")
    failure = _failure(error)
    assert failure.error_details == "it could not be reached: the connection was refused"
    assert not failure.outcome_unknown


def test_a_name_that_cannot_be_looked_up_is_told_as_one(client):
    error = client.error("http://nothing.invalid/orders?key=planted", method="POST")
    failure = _failure(error)
    assert failure.error_details == "it could not be reached: its name could not be looked up"
    assert not failure.outcome_unknown


def test_an_untrusted_certificate_is_told_as_one(client, answering):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(server)
    service = answering(Answer(), tls=server)
    failure = _failure(client.error(f"{service.url}/orders", method="POST"))
    assert failure.error_details == ("it could not be reached safely: its TLS certificate is not trusted")
    assert not failure.outcome_unknown


def test_a_server_that_speaks_no_tls_is_told_as_no_secure_connection(client, plain_server):
    failure = _failure(client.error(f"https://{plain_server}/orders", method="POST"))
    assert failure.error_details == "it could not be reached: no secure connection could be made"
    assert not failure.outcome_unknown


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("hang", "no answer within the time limit"),
        ("reset", "the connection broke before the answer was complete"),
        ("close", "the connection broke before the answer was complete"),
    ],
)
def test_a_write_that_got_no_byte_of_an_answer_may_have_been_carried_out(client, answering, fault, words):
    service = answering(Answer(fault=fault))
    failure = _failure(client.error(f"{service.url}/orders", method="POST", timeout=0.2))
    assert failure.error_details == words
    assert failure.outcome_unknown
    assert "Check before repeating it." in failure.llm_message
    assert len(service.requests) == 1


@pytest.mark.parametrize("fault", ["hang", "reset", "close"])
def test_a_read_that_got_no_answer_has_nothing_to_check(telling_client, answering, fault):
    service = answering(Answer(fault=fault))
    failure = _failure(telling_client.error(f"{service.url}/orders", timeout=0.2))
    assert not failure.outcome_unknown
    assert "Check before" not in failure.llm_message


@pytest.mark.parametrize("fault", ["hang", "reset", "close"])
def test_a_call_of_unknown_method_counts_as_a_write(reticent_client, answering, fault):
    service = answering(Answer(fault=fault))
    assert _failure(reticent_client.error(f"{service.url}/orders", timeout=0.2)).outcome_unknown


@pytest.mark.parametrize("fault", ["truncated", "reset_in_body"])
def test_an_answer_that_broke_off_is_told_as_a_broken_connection(client, answering, fault):
    service = answering(Answer(fault=fault, body="half of it"))
    failure = _failure(client.error(f"{service.url}/orders", method="POST"))
    assert failure.error_details == "the connection broke before the answer was complete"
    assert "half of it" not in failure.llm_message
    assert failure.outcome_unknown


def test_a_chunk_without_a_size_is_no_complete_answer(client_that_checks_chunks, answering):
    service = answering(Answer(fault="bad_chunk", body="half of it"))
    error = client_that_checks_chunks.error(f"{service.url}/orders", method="POST")
    failure = _failure(error)
    assert failure.error_details in {
        "the connection broke before the answer was complete",
        "what came back is not a valid HTTP answer",
    }
    assert failure.outcome_unknown


def test_silence_in_the_middle_of_an_answer_is_told_as_silence(client, answering):
    service = answering(Answer(fault="hang_in_body", body="half of it"))
    failure = _failure(client.error(f"{service.url}/orders", timeout=0.2))
    assert failure.error_details == "no answer within the time limit"


def test_an_answer_that_is_no_http_is_told_as_one(client, answering):
    service = answering(Answer(raw=b"SSH-2.0-OpenSSH_9.6\r\n\r\n"))
    failure = _failure(client.error(f"{service.url}/orders", method="POST"))
    assert failure.error_details == "what came back is not a valid HTTP answer"
    assert failure.outcome_unknown


def test_redirects_in_a_circle_are_told_as_such(client, answering):
    service = answering(Answer(302, headers={"Location": "/again"}))
    failure = _failure(client.error(f"{service.url}/again"))
    assert failure.error_details == "it redirected the request too many times"
    assert not failure.outcome_unknown


def _by_name(service):
    return f"http://localhost:{service.port}/orders"


def test_without_a_service_a_refused_connection_names_the_host_else_the_library(client, answering):
    service = answering(Answer(), refuse=True)
    failure = translate(client.error(_by_name(service)))
    assert failure.service_name == _named(client, "connect")
    assert str(service.port) not in failure.llm_message


def test_an_address_names_nobody(client, answering):
    service = answering(Answer(), refuse=True)
    assert translate(client.error(f"{service.url}/orders")).service_name == client.library


def test_without_a_service_a_silent_one_is_named_by_its_host_else_the_library(client, answering):
    service = answering(Answer(fault="hang"))
    failure = translate(client.error(_by_name(service), timeout=0.2))
    # urllib lets the bare TimeoutError of its socket through, which is nobody's.
    name = None if client.library == "urllib" else _named(client, "silence")
    assert (failure.service_name if failure else None) == name
