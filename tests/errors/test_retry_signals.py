import copy
import inspect
import pickle

import pytest

from nucleo.errors import (
    ExternalServiceException,
    JsonParseException,
    OutputTruncationRetryException,
    OverloadRetryException,
    RateLimitRetryException,
    ResponseCorrectionRetryException,
    TransientErrorRetryException,
    UpstreamRetryException,
    UpstreamThrottleException,
)
from nucleo.errors.retry import failure_details, readable_twin, retry_signal_in

SIGNALS = [
    RateLimitRetryException("requests", 2, "slow down", 30.0),
    OverloadRetryException("Anthropic", "overloaded", attempt=2, suggested_delay_seconds=9.0),
    TransientErrorRetryException("Anthropic", "bad gateway", 502, 2),
    ResponseCorrectionRetryException("scout-1", 2),
    OutputTruncationRetryException("scout-1", 100, 200),
]
signals = pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)


@pytest.mark.parametrize(
    ("cls", "arguments", "pause", "weight"),
    [
        (RateLimitRetryException, "rate_limit attempt provider_message suggested_delay_seconds", (5.0, 30.0), 1),
        (OverloadRetryException, "provider details", (15.0, 90.0), 3),
        (TransientErrorRetryException, "provider details http_status attempt", (5.0, 30.0), 0),
    ],
)
def test_each_signal_has_its_own_fields_and_pacing(cls, arguments, pause, weight):
    positional = [p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == arguments.split()
    assert (cls.base_pause, cls.throttle_weight) == (pause, weight)


@signals
def test_a_broad_except_does_not_eat_a_signal(signal):
    def tool():
        try:
            raise signal
        except Exception:
            return "eaten"

    with pytest.raises(type(signal)):
        tool()


@signals
def test_a_signal_survives_pickle_and_copy_with_its_cause(signal):
    signal.__cause__ = JsonParseException("Expecting value")
    signal.add_note("seen")
    for twin in (
        copy.copy(signal),
        *(pickle.loads(pickle.dumps(signal, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)),
    ):
        assert type(twin) is type(signal)
        assert vars(twin) == vars(signal)
        assert isinstance(twin.__cause__, JsonParseException)
    assert signal != copy.copy(signal)


@pytest.mark.parametrize(
    "signal", [s for s in SIGNALS if isinstance(s, UpstreamRetryException)], ids=lambda s: type(s).__name__
)
def test_only_the_counter_is_advanced(signal):
    cause = signal.__cause__ = OSError("reset")
    again = signal.with_incremented_attempt()
    assert again.attempt == signal.attempt + 1
    assert {**vars(again), "attempt": 0} == {**vars(signal), "attempt": 0}
    assert again.__cause__ is cause
    assert again.floor_seconds == signal.floor_seconds == signal.suggested_delay_seconds


@signals
def test_the_text_of_a_signal_never_raises(signal):
    class Hostile:
        def __repr__(self):
            raise RuntimeError

    twin = copy.copy(signal)
    twin.extra = Hostile()
    assert type(signal).__name__ in str(twin)


def test_a_signal_is_found_anywhere_in_a_chain():
    signal = SIGNALS[0]
    error = RuntimeError("x")
    error.__context__ = BaseExceptionGroup("g", [ValueError("y"), signal])
    assert retry_signal_in(error) is signal
    assert retry_signal_in(ValueError("z")) is None


def test_the_readable_twin_of_a_throttle_keeps_the_wait():
    twin = readable_twin(SIGNALS[0])
    assert type(twin) is UpstreamThrottleException
    assert twin.retry_after_seconds == 30.0
    assert "slow down" in twin.llm_message


@pytest.mark.parametrize("signal", SIGNALS[1:3], ids=lambda signal: type(signal).__name__)
def test_the_readable_twin_of_another_upstream_signal_is_a_failure_of_the_provider(signal):
    twin = readable_twin(signal)
    assert type(twin) is ExternalServiceException
    assert twin.service_name == "Anthropic"


def test_the_readable_twin_of_a_correction_is_its_cause():
    cause = JsonParseException("Expecting value")
    signal = ResponseCorrectionRetryException("m")
    signal.__cause__ = cause
    assert readable_twin(signal) is cause


def test_the_details_for_a_log_line_name_the_root_cause_when_it_is_another():
    error = RuntimeError("could not fetch")
    error.__cause__ = OSError("connection reset")
    assert failure_details(error) == "could not fetch [connection reset]"
    assert failure_details(ValueError("alone")) == "alone"
    assert failure_details(ValueError()) == "ValueError"
