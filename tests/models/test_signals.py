import asyncio
import socket
import ssl

import pytest

from nucleo.errors import (
    ContextOverflowException,
    ExternalServiceException,
    Http400Exception,
    Http401Exception,
    Http429Exception,
    Http500Exception,
    Http503Exception,
    HttpErrorDetail,
    HttpUnmappedStatusException,
    ModelNotFoundException,
    OverloadRetryException,
    ProviderRefusalException,
    QuotaExhaustedException,
    RateLimitRetryException,
    SystemException,
    TransientErrorRetryException,
    UpstreamThrottleException,
)
from nucleo.models import is_final_failure, mark_final, retry_signal


def detail(status, body="", wait=None):
    return HttpErrorDetail(
        status, "Provider", "/v1/messages", response_body=body, retry_after_seconds=wait, said="words"
    )


def signal_of(failure, **more):
    return retry_signal(failure, provider="Provider", **more)


@pytest.mark.parametrize(
    ("failure", "kind", "floor"),
    [
        (UpstreamThrottleException("Provider", "slow down", 7.0), RateLimitRetryException, 7.0),
        (Http429Exception(detail(429, wait=8.0)), RateLimitRetryException, 8.0),
        (Http429Exception(detail(403)), RateLimitRetryException, None),
        (HttpUnmappedStatusException(detail(529, wait=3.0)), OverloadRetryException, 3.0),
        (Http500Exception(detail(500)), TransientErrorRetryException, None),
        (Http503Exception(detail(503, wait=30.0)), TransientErrorRetryException, 30.0),
        (HttpUnmappedStatusException(detail(504)), TransientErrorRetryException, None),
        (ExternalServiceException("Provider", "the connection broke"), TransientErrorRetryException, None),
        (
            HttpUnmappedStatusException(detail(200, '{"error": {"type": "overloaded_error"}}')),
            OverloadRetryException,
            None,
        ),
        (HttpUnmappedStatusException(detail(200, '{"error": {"code": 529}}')), OverloadRetryException, None),
        (HttpUnmappedStatusException(detail(200, '{"error": {"code": 502}}')), TransientErrorRetryException, None),
        (HttpUnmappedStatusException(detail(200, '{"error": "something broke"}')), TransientErrorRetryException, None),
        (HttpUnmappedStatusException(detail(200, "no json")), TransientErrorRetryException, None),
    ],
)
def test_what_waiting_can_fix_becomes_a_signal(failure, kind, floor):
    signal = signal_of(failure, attempt=3)
    assert type(signal) is kind
    assert signal.floor_seconds == floor
    assert signal.__cause__ is failure
    assert signal.attempt == 3


@pytest.mark.parametrize(
    "failure",
    [
        QuotaExhaustedException("Provider", "ours"),
        ProviderRefusalException("m"),
        ModelNotFoundException("m"),
        ContextOverflowException(),
        Http400Exception(detail(400)),
        Http401Exception(detail(401)),
        HttpUnmappedStatusException(detail(404)),
        HttpUnmappedStatusException(detail(409)),
        HttpUnmappedStatusException(detail(307)),
        HttpUnmappedStatusException(detail(200, '{"error": {"type": "invalid_request_error"}}')),
        HttpUnmappedStatusException(detail(200, '{"error": {"code": 400}}')),
        SystemException("model", "a bug"),
        ValueError("a bug"),
        asyncio.CancelledError(),
    ],
)
def test_everything_else_is_final(failure):
    assert signal_of(failure) is None


@pytest.mark.parametrize("cause", [socket.gaierror(-2, "no name"), ssl.SSLCertVerificationError("bad certificate")])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_name_or_a_certificate_that_is_wrong_is_not_waited_for(cause, wrapped):
    failure = ExternalServiceException("Provider", "it could not be reached")
    failure.__cause__ = ConnectionError(cause) if wrapped else cause
    assert signal_of(failure) is None


@pytest.mark.parametrize("kind", [UpstreamThrottleException, ExternalServiceException])
def test_a_failure_after_the_first_text_keeps_its_type_and_is_final(kind):
    cause = ConnectionResetError("reset")
    failure = kind("Provider", "broke off")
    failure.__cause__ = cause
    assert not is_final_failure(failure)
    assert mark_final(failure, characters=1234) is failure
    assert is_final_failure(failure)
    assert signal_of(failure) is None
    assert failure.__cause__.__cause__ is cause
    assert any("1,234 characters" in note for note in failure.__notes__)
