"""Random chains, groups and cycles against a naive reading of the rules for wrapping."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nucleo.errors import (
    CancellationException,
    CorrectableRuntimeLLMException,
    ExternalServiceException,
    InvalidInputException,
    JobCancelledException,
    JobTimeoutException,
    LLMReadableException,
    LLMReadableRuntimeException,
    OutputTruncationRetryException,
    PermissionDeniedException,
    RateLimitRetryException,
    ResourceNotFoundException,
    SystemException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
    explain,
    unwrap,
    unwrap_runtime,
    wrap_with_context,
)
from nucleo.errors.chain import walk_chain
from nucleo.errors.retry import RetrySignal

EXITS = (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError)
OF_THE_JOB = (CancellationException, JobCancelledException, JobTimeoutException)

READABLE = [
    lambda n: InvalidInputException(f"p{n}", n, f"rule {n}"),
    lambda n: ResourceNotFoundException("order", str(n)),
    lambda n: CorrectableRuntimeLLMException(f"Pick another, {n}."),
    lambda n: PermissionDeniedException(f"no {n}"),
    lambda n: SystemException("tool", f"broke {n}"),
    lambda n: UpstreamThrottleException("S", f"slow {n}", float(n)),
    lambda n: UpstreamThrottleException("S", f"slow {n}"),
    lambda n: UncorrectableRuntimeLLMException(f"Offline {n}."),
    lambda n: ExternalServiceException("S", f"down {n}", outcome_unknown=True),
    lambda n: JobTimeoutException(float(n)),
    lambda n: CancellationException(str(n)),
]
FOREIGN = [lambda n: ValueError(f"value {n}"), lambda n: KeyError(), lambda n: RuntimeError(f"runtime {n}")]
RARE = [
    lambda n: RateLimitRetryException(f"limit {n}"),
    lambda n: OutputTruncationRetryException("m", 1, n),
    lambda n: asyncio.CancelledError(),
    lambda n: KeyboardInterrupt(),
]


@st.composite
def tangles(draw):
    """Exceptions in groups, linked to one another in any way at all."""
    kinds = st.sampled_from(FOREIGN * 4 + READABLE + (RARE if draw(st.integers(0, 3)) == 0 else []))
    nodes = []
    for number in range(draw(st.integers(1, 9))):
        if nodes and draw(st.integers(0, 3)) == 0:
            members = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4))
            nodes.append(BaseExceptionGroup(f"group {number}", members))
        else:
            nodes.append(draw(kinds)(number))
    for node in nodes:
        if draw(st.integers(0, 2)):
            node.__cause__ = draw(st.none() | st.sampled_from(nodes))
        node.__context__ = draw(st.none() | st.sampled_from(nodes))
        node.__suppress_context__ = draw(st.booleans())
    return draw(st.sampled_from(nodes))


def behind(error):
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def members(error):
    return error.exceptions if isinstance(error, BaseExceptionGroup) else ()


def walked(error, seen=None):
    seen = [] if seen is None else seen
    if error is None or any(error is each for each in seen):
        return seen
    seen.append(error)
    for member in members(error):
        walked(member, seen)
    return walked(behind(error), seen)


def exit_of(error):
    if isinstance(error, EXITS):
        return error
    return next(filter(None, map(exit_of, members(error))), None)


def first_readable(error, seen):
    if error is None or any(error is each for each in seen):
        return []
    seen.append(error)
    if isinstance(error, LLMReadableException):
        return [error]
    of_members = [found for member in members(error) for found in first_readable(member, seen)]
    return of_members or first_readable(behind(error), seen)


def signal_of(error):
    return exit_of(error) or next((link for link in walked(error) if isinstance(link, RetrySignal)), None)


def deepest(error):
    plain = [link for link in walked(error) if not isinstance(link, BaseExceptionGroup)]
    said = [str(link) for link in plain if str(link)]
    return said[-1] if said else type(plain[-1] if plain else error).__name__


def raised_by(call, error):
    with pytest.raises(BaseException) as caught:
        call(error)
    return caught.value


def wrapped(error):
    return wrap_with_context(error, "PubChem", "cid", 7, "fetch")


many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many
@given(tangles())
def test_the_walk_is_depth_first_in_order_each_once(error):
    assert [id(link) for link in walk_chain(error)] == [id(link) for link in walked(error)]


@many
@given(tangles())
def test_unwrap_does_what_its_rules_say(error):
    signal, found, message = signal_of(error), first_readable(error, []), deepest(error)
    if signal is not None:
        assert raised_by(unwrap, error) is signal
        return
    failure = unwrap(error, component="tool")
    if len(found) == 1:
        assert failure is found[0]
    elif found:
        assert isinstance(failure, LLMReadableRuntimeException)
        assert failure.is_correctable == all(each.is_correctable for each in found)
        assert all(each.llm_message in failure.llm_message for each in found)
        waits = [each.retry_after_seconds for each in found if getattr(each, "retry_after_seconds", None) is not None]
        assert failure.is_correctable or failure.retry_after_seconds == max(waits, default=None)
    else:
        assert (type(failure), failure.component, failure.technical_message) == (SystemException, "tool", message)
        assert failure.__cause__ is error


@many
@given(tangles())
def test_wrap_with_context_does_what_its_rules_say(error):
    signal, message = signal_of(error), deepest(error)
    found = [link for link in walked(error) if isinstance(link, LLMReadableException)]
    if signal is not None:
        assert raised_by(wrapped, error) is signal
        return
    failure = wrapped(error)
    correctable = [each for each in found if each.is_correctable]
    throttles = [each for each in found if isinstance(each, UpstreamThrottleException)]
    if correctable:
        first = correctable[0]
        rule = first.validation_rule if isinstance(first, InvalidInputException) else first.llm_message
        assert type(failure) is InvalidInputException
        assert (failure.parameter_name, failure.invalid_value) == ("cid", 7)
        assert failure.validation_rule == f"fetch: {rule}"
    elif found and isinstance(found[0], OF_THE_JOB):
        assert failure is found[0]
        return
    elif throttles:
        waits = [each.retry_after_seconds for each in throttles if each.retry_after_seconds is not None]
        assert type(failure) is UpstreamThrottleException
        assert failure.retry_after_seconds == max(waits, default=None)
    else:
        assert type(failure) is ExternalServiceException
        assert failure.error_details == f"fetch: {found[0].llm_message if found else message}"
        assert failure.outcome_unknown == any(getattr(each, "outcome_unknown", False) for each in found)
    assert failure.__cause__ is error


@many
@given(tangles())
def test_unwrap_runtime_does_what_its_rules_say(error):
    exit_ = exit_of(error)
    found = [link for link in walked(error) if isinstance(link, LLMReadableException)]
    if exit_ is not None:
        assert raised_by(lambda each: unwrap_runtime(each, "fallback"), error) is exit_
        return
    failure = unwrap_runtime(error, "fallback")
    runtime = [each for each in found if isinstance(each, LLMReadableRuntimeException)]
    if runtime:
        assert failure is runtime[0]
    else:
        assert failure.llm_message == (found[0].llm_message if found else "fallback")
        assert failure.is_correctable == bool(found and found[0].is_correctable)
        assert failure.__cause__ is error


@many
@given(tangles())
def test_explain_never_raises(error):
    assert explain(error).endswith("]")


def test_a_deep_nest_of_groups_is_read_to_its_bottom():
    error = failure = InvalidInputException("a", 1, "x")
    for _ in range(3000):
        error = ExceptionGroup("g", [error])
    assert unwrap(error) is failure
    assert explain(error) == failure.explain_to_llm()
