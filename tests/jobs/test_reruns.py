import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors import (
    ExternalServiceException,
    JobCancelledException,
    JobTimeoutException,
    JsonParseException,
    OutputTruncationRetryException,
    OverloadRetryException,
    RateLimitRetryException,
    ResponseCorrectionRetryException,
    TransientErrorRetryException,
    UncorrectableRuntimeLLMException,
)
from nucleo.errors.retry import retry_signal_in
from nucleo.jobs import Dispatcher, JobRetrying, JobState
from nucleo.jobs.reruns import Rerun, Reruns, pause_before
from nucleo.testing import run


def _rate_limit(seconds=None):
    return RateLimitRetryException("requests", 1, "slow down", seconds)


def _raising(*errors):
    """A body that raises these in turn, then returns the attempt; and what it saw."""
    seen = []

    async def call(context):
        seen.append((context.attempt, asyncio.get_running_loop().time()))
        if len(seen) <= len(errors):
            error = errors[len(seen) - 1]
            raise error() if callable(error) else error
        return context.attempt

    return call, seen


def test_a_signal_runs_the_job_again_after_its_pause(body):
    call, seen = _raising(_rate_limit(), _rate_limit())

    async def main():
        events = []
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            assert await dispatcher.submit(body(call)) == 3
        return [event for event in events if isinstance(event, JobRetrying)]

    retries = run(main())
    assert [event.attempt for event in retries] == [2, 3]
    assert all("RateLimitRetryException" in event.reason for event in retries)
    (_, first), (_, second), (_, third) = seen
    assert 5 <= second - first <= 30
    assert 10 <= third - second <= 60
    assert [event.pause_seconds for event in retries] == pytest.approx([second - first, third - second])


@pytest.mark.parametrize(
    ("signal", "low", "high"),
    [
        (_rate_limit(), 5, 30),
        (TransientErrorRetryException("anthropic", "dropped", None), 5, 30),
        (OverloadRetryException("anthropic", "busy"), 15, 90),
    ],
)
def test_each_signal_has_its_own_pace(body, signal, low, high):
    call, seen = _raising(signal)

    async def main():
        async with Dispatcher() as dispatcher:
            await dispatcher.submit(body(call))

    run(main())
    assert low <= seen[1][1] - seen[0][1] <= high


@given(rerun=st.integers(1, 40), seed=st.integers(), base=st.sampled_from([(5.0, 30.0), (15.0, 90.0)]))
def test_a_pause_grows_up_to_the_tenth_re_run_and_never_over_five_minutes(rerun, seed, base):
    pause = pause_before(rerun, base, Random(seed))
    steepness = min(rerun, 10)
    assert base[0] * steepness <= pause <= min(base[1] * steepness, 300)


def test_what_the_server_asked_to_wait_is_a_floor(body):
    call, seen = _raising(_rate_limit(120))

    async def main():
        async with Dispatcher() as dispatcher:
            await dispatcher.submit(body(call))

    run(main())
    assert seen[1][1] - seen[0][1] >= 120


def test_a_server_that_asks_for_more_than_the_job_may_pause_fails_it_at_once_and_says_so(body):
    call, seen = _raising(_rate_limit(120))

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(UncorrectableRuntimeLLMException, match="asks to wait"):
                await dispatcher.submit(body(call), max_pause=60)

    run(main())
    assert len(seen) == 1


def test_no_pause_is_longer_than_the_job_may_pause(body):
    call, seen = _raising(OverloadRetryException("anthropic", "busy"))

    async def main():
        async with Dispatcher() as dispatcher:
            await dispatcher.submit(body(call), max_pause=2)

    run(main())
    assert seen[1][1] - seen[0][1] == pytest.approx(2)


def test_past_the_budget_the_failure_names_it_and_holds_no_signal(body):
    cause = ExternalServiceException("anthropic", "refused")

    def signal():
        made = TransientErrorRetryException("anthropic", "connection refused", None)
        made.__cause__ = cause
        return made

    call, seen = _raising(*[signal] * 9)

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(UncorrectableRuntimeLLMException) as caught:
                await dispatcher.submit(body(call), upstream_retries=2)
            return caught.value

    failure = run(main())
    assert len(seen) == 3
    assert "2" in str(failure)
    assert "TransientErrorRetryException" in str(failure)
    assert failure.__cause__ is cause
    assert retry_signal_in(failure) is None


def test_no_retries_means_one_run(body):
    call, seen = _raising(_rate_limit())

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(UncorrectableRuntimeLLMException):
                await dispatcher.submit(body(call), upstream_retries=0)

    run(main())
    assert len(seen) == 1


def test_a_parent_does_not_run_again_for_a_childs_spent_signal(body):
    runs = []
    call, seen = _raising(*[_rate_limit] * 9)

    async def orchestrate(context):
        runs.append(1)
        await context.submit(body(call))

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(UncorrectableRuntimeLLMException):
                await dispatcher.submit(body(orchestrate, leaf=False))

    run(main())
    assert (len(runs), len(seen)) == (1, 4)


def _caused():
    error = RuntimeError("wrapped")
    error.__cause__ = _rate_limit()
    return error


def _in_context():
    try:
        try:
            raise _rate_limit()
        except RateLimitRetryException:
            raise ValueError("while handling") from None
    except ValueError as error:
        error.__suppress_context__ = False
        return error


@pytest.mark.parametrize(
    "make",
    [
        _caused,
        _in_context,
        lambda: BaseExceptionGroup("several", [ValueError("a"), BaseExceptionGroup("inner", [_rate_limit()])]),
    ],
    ids=["cause", "context", "group"],
)
def test_a_signal_is_honoured_wherever_it_is(body, make):
    call, _ = _raising(make)

    async def main():
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(body(call))

    assert run(main()) == 2


def test_a_signal_out_of_a_task_group_is_honoured(body):
    runs = []

    async def one():
        raise _rate_limit()

    async def call(context):
        runs.append(1)
        if len(runs) == 1:
            async with asyncio.TaskGroup() as group:
                group.create_task(one())
                group.create_task(asyncio.sleep(100))
        return "answer"

    async def main():
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(body(call))

    assert run(main()) == "answer"


def _correction(failure):
    signal = ResponseCorrectionRetryException("model", 1)
    signal.__cause__ = failure
    return signal


def test_two_corrections_then_the_correctable_cause_without_any_pause(body):
    failure = JsonParseException("no object")
    call, seen = _raising(*[_correction(failure)] * 9)

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(JsonParseException) as caught:
                await dispatcher.submit(body(call))
            assert caught.value is failure
            assert retry_signal_in(failure) is None

    run(main())
    assert len(seen) == 3
    assert seen[0][1] == seen[2][1]


def test_one_truncation_then_uncorrectable(body):
    call, seen = _raising(*[OutputTruncationRetryException("model", 1000, 4000)] * 9)

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(UncorrectableRuntimeLLMException, match="cut off"):
                await dispatcher.submit(body(call))

    run(main())
    assert len(seen) == 2


def test_each_kind_has_a_budget_of_its_own(body):
    call, seen = _raising(
        _rate_limit(),
        _correction(JsonParseException("a")),
        OverloadRetryException("anthropic", "busy"),
        OutputTruncationRetryException("model", 1000, 4000),
        _correction(JsonParseException("b")),
        TransientErrorRetryException("anthropic", "dropped", 500),
    )

    async def main():
        async with Dispatcher() as dispatcher:
            return await dispatcher.submit(body(call))

    assert run(main()) == 7
    assert [attempt for attempt, _ in seen] == [1, 2, 3, 4, 5, 6, 7]


def test_an_ordinary_failure_is_never_run_again(body):
    call, seen = _raising(ExternalServiceException("PubChem", "down"))

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(ExternalServiceException):
                await dispatcher.submit(body(call))

    run(main())
    assert len(seen) == 1


def test_a_pause_ends_at_once_on_a_cancel_and_holds_nothing(body):
    call, _ = _raising(_rate_limit(200))

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(call))
            await asyncio.sleep(1)
            assert handle.state is JobState.WAITING
            began = asyncio.get_running_loop().time()
            handle.cancel("no more")
            with pytest.raises(JobCancelledException):
                await handle
            assert asyncio.get_running_loop().time() == began

    run(main())


def test_a_pause_never_outlives_the_deadline(body):
    call, _ = _raising(_rate_limit(200))

    async def main():
        async with Dispatcher() as dispatcher:
            began = asyncio.get_running_loop().time()
            with pytest.raises(JobTimeoutException):
                await dispatcher.submit(body(call), deadline=50)
            return asyncio.get_running_loop().time() - began

    assert run(main()) == pytest.approx(50)


@pytest.mark.parametrize("raised_after", [0, 1])
def test_a_pause_ends_at_once_on_shutdown(body, raised_after):
    async def call(context):
        await asyncio.sleep(raised_after)
        raise _rate_limit(200)

    async def main():
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(body(call))
            await asyncio.sleep(0.5)
            began = asyncio.get_running_loop().time()
        assert handle.state is JobState.CANCELLED
        return asyncio.get_running_loop().time() - began

    assert run(main()) <= 1


def test_a_signal_raised_after_a_cancel_or_in_the_grace_is_not_run_again(body):
    runs = []

    async def call(context):
        runs.append(1)
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise _rate_limit() from None

    async def main():
        async with Dispatcher() as dispatcher:
            timed = dispatcher.submit(body(call), timeout=1)
            with pytest.raises(JobTimeoutException) as caught:
                await timed
            assert retry_signal_in(caught.value) is None
            stopped = dispatcher.submit(body(call), timeout=None)
            await asyncio.sleep(1)
            stopped.cancel()
            with pytest.raises(JobCancelledException) as gone:
                await stopped
            assert retry_signal_in(gone.value) is None

    run(main())
    assert len(runs) == 2


def test_a_run_never_starts_inside_the_handler_of_the_one_before(body):
    contexts = []

    async def call(context):
        if context.attempt == 1:
            raise _rate_limit()
        try:
            raise KeyError("second")
        except KeyError as error:
            contexts.append(error.__context__)
            raise

    async def main():
        async with Dispatcher() as dispatcher:
            with pytest.raises(Exception, match="second"):
                await dispatcher.submit(body(call))

    run(main())
    assert contexts == [None]


@settings(max_examples=150)
@given(
    kinds=st.lists(st.sampled_from(["rate", "overload", "transient", "correct", "cut"]), max_size=12),
    retries=st.integers(0, 5),
    floor=st.none() | st.floats(0, 500),
    max_pause=st.floats(0, 400),
    seed=st.integers(),
)
def test_whatever_comes_the_budgets_hold_and_no_pause_breaks_its_bounds(kinds, retries, floor, max_pause, seed):
    make = {
        "rate": lambda: _rate_limit(floor),
        "overload": lambda: OverloadRetryException("p", "busy", suggested_delay_seconds=floor),
        "transient": lambda: TransientErrorRetryException("p", "dropped", 500),
        "correct": lambda: _correction(JsonParseException("x")),
        "cut": lambda: OutputTruncationRetryException("m", 1, 2),
    }
    reruns = Reruns(upstream_retries=retries, max_pause=max_pause, random=Random(seed))
    granted = {"upstream": 0, "correct": 0, "cut": 0}
    for kind in kinds:
        verdict = reruns.decide(make[kind]())
        if not isinstance(verdict, Rerun):
            assert retry_signal_in(verdict) is None
            continue
        granted[kind if kind in granted else "upstream"] += 1
        assert 0 <= verdict.pause_seconds <= max_pause
        if kind in {"rate", "overload"}:
            assert verdict.pause_seconds >= (floor or 0)
    assert granted["upstream"] <= retries
    assert granted["correct"] <= 2
    assert granted["cut"] <= 1
