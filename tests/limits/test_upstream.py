import pytest

from nucleo.errors import (
    ExternalServiceException,
    Http401Exception,
    Http404Exception,
    Http429Exception,
    Http500Exception,
    Http503Exception,
    HttpErrorDetail,
    HttpUnmappedStatusException,
    InvalidInputException,
    JobCancelledException,
    PermissionDeniedException,
    QuotaExhaustedException,
    SystemException,
    UnauthorizedException,
    UpstreamThrottleException,
    wrap_with_context,
)
from nucleo.limits import UpstreamEffect, UpstreamFailure, effect_of

THROTTLE, FAILURE, HEALTHY, NO_VERDICT = UpstreamEffect


def detail(status, **changes):
    return HttpErrorDetail(status, "PubChem", "/compound", said="Server busy", **changes)


def caused(outer, cause):
    outer.__cause__ = cause
    return outer


def test_what_the_server_said_is_read_off_its_answer():
    seen = UpstreamFailure.from_exception(Http503Exception(detail(503, retry_after_seconds=9)))
    assert (seen.status_code, seen.service, seen.retry_after_seconds) == (503, "PubChem", 9)
    assert seen.summary() == "HTTP 503 from PubChem: Server busy (asked for 9 seconds)"


def test_without_an_answer_the_status_is_0_and_the_words_are_those_of_the_failure():
    seen = UpstreamFailure.from_exception(ExternalServiceException("PubChem", "connection refused"))
    assert seen == UpstreamFailure(status_code=0, service="PubChem", detail="connection refused")
    assert seen.summary() == "no response from PubChem: connection refused"


def test_the_service_is_that_of_the_outermost_and_the_wait_that_of_the_first_throttle():
    inner = UpstreamThrottleException("PUG", "slow", 12)
    seen = UpstreamFailure.from_exception(
        caused(ExternalServiceException("PubChem", "busy"), caused(KeyError("k"), inner))
    )
    assert (seen.service, seen.retry_after_seconds) == ("PubChem", 12)


def test_a_wrapped_answer_is_still_read():
    wrapped = wrap_with_context(Http429Exception(detail(403, retry_after_seconds=30)), "PubChem", "cid", 1, "fetch")
    seen = UpstreamFailure.from_exception(wrapped)
    assert (seen.status_code, seen.retry_after_seconds) == (403, 30)
    assert effect_of(wrapped) is THROTTLE


def test_anything_at_all_can_be_read():
    class Hostile(Exception):
        def __str__(self):
            raise RuntimeError

    seen = UpstreamFailure.from_exception(Hostile())
    assert seen.service == "the service"
    assert seen.summary()


def test_no_secret_and_no_second_line_reaches_the_summary():
    seen = UpstreamFailure.from_exception(
        ExternalServiceException("S", "refused\nAuthorization: Bearer abcdef0123456789abcdef")
    )
    assert "abcdef0123456789" not in seen.summary()
    assert "\n" not in seen.summary()


@pytest.mark.parametrize(
    ("error", "effect"),
    [
        (Http429Exception(detail(429)), THROTTLE),
        (UpstreamThrottleException("S", "slow"), THROTTLE),
        (Http503Exception(detail(503, retry_after_seconds=5)), THROTTLE),
        (QuotaExhaustedException("P", "a"), THROTTLE),
        (Http503Exception(detail(503)), FAILURE),
        (Http500Exception(detail(500)), FAILURE),
        (HttpUnmappedStatusException(detail(504)), FAILURE),
        (ExternalServiceException("S", "connection refused"), FAILURE),
        (HttpUnmappedStatusException(detail(409)), HEALTHY),
        (Http404Exception(detail(404)), HEALTHY),
        (Http401Exception(detail(401)), HEALTHY),
        (caused(InvalidInputException("cid", 1, "x"), Http404Exception(detail(404))), HEALTHY),
        (InvalidInputException("cid", 1, "x"), NO_VERDICT),
        (UnauthorizedException("S", "no key configured"), NO_VERDICT),
        (PermissionDeniedException("no"), NO_VERDICT),
        (SystemException("tool", "bug"), NO_VERDICT),
        (JobCancelledException(), NO_VERDICT),
        (ValueError("bug"), NO_VERDICT),
    ],
    ids=lambda value: getattr(value, "name", type(value).__name__),
)
def test_what_a_failure_means_for_the_limiters(error, effect):
    assert effect_of(error) is effect
    assert effect_of(caused(RuntimeError("wrapped"), error)) is effect
    assert effect_of(ExceptionGroup("g", [error])) is effect
