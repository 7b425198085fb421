import asyncio
import traceback

import pytest

from nucleo.errors import (
    VERDICT_UNCORRECTABLE,
    CancellationException,
    CorrectableRuntimeLLMException,
    ExternalServiceException,
    Http404Exception,
    Http429Exception,
    Http503Exception,
    HttpErrorDetail,
    InvalidInputException,
    JobCancelledException,
    JobTimeoutException,
    OutputTruncationRetryException,
    OverloadRetryException,
    PermissionDeniedException,
    RateLimitRetryException,
    ResourceNotFoundException,
    ResponseCorrectionRetryException,
    SystemException,
    TransientErrorRetryException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
    explain,
    readable,
    register_translation,
    unwrap,
    unwrap_runtime,
    wrap_with_context,
)

SIGNALS = [
    RateLimitRetryException("requests", 1, "slow down", 30.0),
    OverloadRetryException("Anthropic", "overloaded"),
    TransientErrorRetryException("Anthropic", "bad gateway", 502),
    ResponseCorrectionRetryException("scout-1"),
    OutputTruncationRetryException("scout-1", 100, 200),
]
signals = pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)
EXITS = [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(1), GeneratorExit()]
exits = pytest.mark.parametrize("exit_", EXITS, ids=lambda error: type(error).__name__)


def chained(outer, cause):
    outer.__cause__ = cause
    return outer


def in_context(outer, context):
    outer.__context__ = context
    return outer


def wrapped(error):
    return wrap_with_context(error, "PubChem", "cid", "2244x", "compound fetch")


# --- unwrap ---------------------------------------------------------------------------------------------------------


def test_a_failure_is_unwrapped_as_itself_however_deep_it_is_buried():
    failure = InvalidInputException("cid", "x", "digits")
    for error in (
        failure,
        chained(RuntimeError("a"), failure),
        in_context(RuntimeError("a"), chained(ValueError("b"), failure)),
        ExceptionGroup("g", [ValueError("c"), chained(KeyError("d"), failure)]),
    ):
        assert unwrap(error) is failure


def test_the_first_failure_of_a_chain_is_the_one():
    inner = UpstreamThrottleException("S", "slow")
    outer = chained(SystemException("tool", "broke"), inner)
    assert unwrap(chained(RuntimeError("x"), outer)) is outer


def test_a_cause_goes_before_a_context_and_a_suppressed_context_is_not_looked_at():
    seen, hidden = InvalidInputException("a", 1, "x"), InvalidInputException("b", 2, "y")
    error = RuntimeError("outer")
    error.__context__ = hidden
    error.__cause__ = seen
    assert unwrap(error) is seen
    suppressed = in_context(ValueError("outer"), hidden)
    suppressed.__suppress_context__ = True
    assert isinstance(unwrap(suppressed), SystemException)


def test_an_exception_from_outside_becomes_a_system_error_that_says_nothing_of_it_to_the_model():
    error = chained(RuntimeError("could not read the order"), KeyError("/srv/secret/path"))
    failure = unwrap(error, component="fetch_order")
    assert isinstance(failure, SystemException)
    assert failure.technical_message == "'/srv/secret/path'"
    assert failure.__cause__ is error
    assert failure.explain_to_llm() == (
        f"A system error occurred in fetch_order. The operation could not be completed.\n{VERDICT_UNCORRECTABLE}"
    )
    assert unwrap(ValueError("x")).component == "internal"


def test_the_deepest_message_is_told_and_a_class_name_where_there_is_none():
    assert unwrap(chained(RuntimeError("outer"), ValueError())).technical_message == "outer"
    assert unwrap(chained(RuntimeError(), ValueError())).technical_message == "ValueError"
    assert unwrap(ExceptionGroup("group", [ValueError("inner")])).technical_message == "inner"


def test_raising_a_buried_failure_again_keeps_what_had_caused_it():
    with pytest.raises(InvalidInputException) as caught:
        try:
            try:
                try:
                    int("x")
                except ValueError:
                    raise InvalidInputException("cid", "x", "digits")  # noqa: B904 - an implicit context
            except InvalidInputException as failure:
                raise RuntimeError("somewhere") from failure
        except RuntimeError as error:
            raise unwrap(error)  # noqa: B904 - unwrap sets the cause
    assert "invalid literal for int()" in "".join(traceback.format_exception(caught.value))


def test_a_group_of_one_readable_failure_is_that_failure():
    failure = PermissionDeniedException("no")
    group = ExceptionGroup("g", [ValueError("x"), ExceptionGroup("h", [failure])])
    assert unwrap(group) is failure


def test_a_group_of_several_is_one_failure_that_lists_them_all():
    first, second = InvalidInputException("a", 1, "rule one"), ResourceNotFoundException("order", "O-1")
    group = ExceptionGroup("g", [first, ValueError("foreign"), second])
    failure = unwrap(chained(RuntimeError("x"), group))
    assert type(failure) is CorrectableRuntimeLLMException
    assert first.llm_message in failure.llm_message
    assert second.llm_message in failure.llm_message
    assert "foreign" not in failure.llm_message
    assert failure.__cause__.__cause__ is group


def test_a_group_is_correctable_only_if_every_member_is_and_keeps_the_longest_wait():
    members = [
        InvalidInputException("a", 1, "x"),
        UpstreamThrottleException("S", "slow", 5),
        Http429Exception(HttpErrorDetail(429, "T", "/", retry_after_seconds=70)),
    ]
    failure = unwrap(ExceptionGroup("g", members))
    assert type(failure) is UncorrectableRuntimeLLMException
    assert failure.retry_after_seconds == 70
    assert failure.http is members[2].http


def test_every_member_of_a_large_group_is_heard():
    members = [UncorrectableRuntimeLLMException(f"Member {number}. " + "x" * 9_000) for number in range(60)]
    text = unwrap(ExceptionGroup("g", members)).llm_message
    assert len(text) < 11_000
    assert all(f"Member {number}. " in text for number in range(60))


def test_the_members_of_a_group_come_before_what_caused_the_group():
    member, cause = InvalidInputException("a", 1, "x"), PermissionDeniedException("no")
    assert unwrap(chained(ExceptionGroup("g", [member]), cause)) is member
    assert unwrap(chained(ExceptionGroup("g", [ValueError("x")]), cause)) is cause


def test_a_cycle_ends_the_walk_and_hides_nothing():
    outer, failure = RuntimeError("outer"), PermissionDeniedException("no")
    member = chained(ValueError("member"), outer)
    group = chained(ExceptionGroup("g", [member]), failure)
    outer.__cause__ = group
    assert unwrap(outer) is failure


# --- wrap_with_context ----------------------------------------------------------------------------------------------


def test_a_correctable_failure_anywhere_wins_and_is_addressed_to_the_parameter():
    missing = Http404Exception(HttpErrorDetail(404, "PubChem", "/compound/2244x", '{"message": "No CID found"}'))
    failure = wrapped(chained(ExternalServiceException("S", "down"), chained(KeyError("k"), missing)))
    assert type(failure) is InvalidInputException
    assert (failure.parameter_name, failure.invalid_value) == ("cid", "2244x")
    assert failure.validation_rule == f"compound fetch: {missing.llm_message}"
    assert failure.http is missing.http


def test_the_rule_of_a_buried_invalid_input_is_the_message():
    buried = InvalidInputException("inner_id", "9", "must have 4 digits")
    assert wrapped(buried).validation_rule == "compound fetch: must have 4 digits"
    assert wrapped(CorrectableRuntimeLLMException("Pick another.")).validation_rule == "compound fetch: Pick another."


def test_an_uncorrectable_failure_becomes_one_of_the_service():
    error = RuntimeError("x")
    error.__cause__ = PermissionDeniedException("only accountants")
    failure = wrapped(error)
    assert type(failure) is ExternalServiceException
    assert failure.service_name == "PubChem"
    assert failure.error_details == "compound fetch: Not permitted: only accountants"
    assert failure.__cause__ is error


def test_a_throttle_anywhere_stays_a_throttle_with_its_wait():
    throttle = UpstreamThrottleException("PUG", "slow down", 12)
    failure = wrapped(chained(SystemException("client", "broke"), chained(KeyError("k"), throttle)))
    assert type(failure) is UpstreamThrottleException
    assert (failure.service_name, failure.retry_after_seconds) == ("PubChem", 12)
    assert "12 seconds" in failure.llm_message


def test_an_unknown_outcome_and_the_answer_are_kept():
    gateway = Http503Exception(HttpErrorDetail(504, "Bank", "/transfer"), outcome_unknown=True)
    failure = wrapped(chained(RuntimeError("x"), gateway))
    assert failure.outcome_unknown is True
    assert failure.http is gateway.http
    assert "may have been" in failure.llm_message


@pytest.mark.parametrize("ending", [CancellationException("r"), JobCancelledException("r"), JobTimeoutException(3.0)])
def test_the_end_of_a_job_is_not_the_matter_of_the_service(ending):
    assert wrapped(ending) is ending
    assert wrapped(chained(RuntimeError("x"), ending)) is ending
    with pytest.raises(type(ending)) as caught, readable("S", parameter="p", value=1, step="s"):
        raise ending
    assert caught.value is ending


def test_with_nothing_readable_the_service_is_named_with_the_deepest_message():
    failure = wrapped(chained(RuntimeError("outer"), ValueError("deepest")))
    assert type(failure) is ExternalServiceException
    assert failure.error_details == "compound fetch: deepest"


def test_a_foreign_exception_with_a_translation_has_its_meaning():
    failure = wrapped(chained(RuntimeError("x"), ConnectionRefusedError(111, "Connection refused")))
    assert type(failure) is ExternalServiceException
    assert failure.error_details.startswith("compound fetch: ")


def test_a_registered_translation_is_used_by_both():
    class SeatGone(Exception):
        pass

    name = f"{SeatGone.__module__}.{SeatGone.__qualname__}"
    take_back = register_translation(name, lambda error, service: InvalidInputException("seat", "1A", str(error)))
    try:
        error = chained(RuntimeError("x"), SeatGone("choose a free seat"))
        assert unwrap(error).validation_rule == "choose a free seat"
        assert unwrap(error).__cause__ is error
        assert wrapped(error).validation_rule == "compound fetch: choose a free seat"
    finally:
        take_back()
    assert isinstance(unwrap(error), SystemException)


# --- unwrap_runtime -------------------------------------------------------------------------------------------------


def test_a_runtime_failure_of_the_chain_is_itself_even_behind_a_checked_one():
    runtime = UncorrectableRuntimeLLMException("archive offline")
    assert unwrap_runtime(chained(PermissionDeniedException("no"), runtime), "fallback") is runtime


@pytest.mark.parametrize(
    ("checked", "twin"),
    [
        (InvalidInputException("a", 1, "x"), CorrectableRuntimeLLMException),
        (UpstreamThrottleException("S", "slow", 9), UncorrectableRuntimeLLMException),
    ],
)
def test_a_checked_failure_becomes_the_runtime_class_of_its_verdict_with_its_message(checked, twin):
    error = chained(RuntimeError("x"), checked)
    failure = unwrap_runtime(error, "fallback")
    assert type(failure) is twin
    assert failure.message == checked.llm_message
    assert failure.__cause__ is error
    assert getattr(failure, "retry_after_seconds", 9) == 9


def test_without_anything_readable_the_fallback_is_said():
    error = ValueError("inner")
    failure = unwrap_runtime(error, "PubChem search failed")
    assert type(failure) is UncorrectableRuntimeLLMException
    assert failure.llm_message == "PubChem search failed"
    assert failure.__cause__ is error


@signals
def test_a_retry_signal_gives_the_fallback_to_code_that_is_on_no_retry_path(signal):
    failure = unwrap_runtime(chained(RuntimeError("x"), signal), "fallback")
    assert failure.llm_message == "fallback"


@exits
def test_unwrap_runtime_lets_a_cancel_and_an_exit_pass(exit_):
    with pytest.raises(type(exit_)) as caught:
        unwrap_runtime(exit_, "fallback")
    assert caught.value is exit_


# --- control signals ------------------------------------------------------------------------------------------------


def places(signal):
    return {
        "error": signal,
        "cause": chained(RuntimeError("x"), signal),
        "context": in_context(RuntimeError("x"), signal),
        "behind a failure": chained(PermissionDeniedException("no"), signal),
        "member": BaseExceptionGroup("g", [ValueError("x"), signal]),
        "member's cause": BaseExceptionGroup("g", [chained(ValueError("x"), signal)]),
    }


@signals
@pytest.mark.parametrize("place", ["error", "cause", "context", "behind a failure", "member", "member's cause"])
@pytest.mark.parametrize("convert", [unwrap, wrapped], ids=["unwrap", "wrap_with_context"])
def test_a_retry_signal_passes_wherever_it_is(signal, place, convert):
    with pytest.raises(type(signal)) as caught:
        convert(places(signal)[place])
    assert caught.value is signal


@exits
@pytest.mark.parametrize("convert", [unwrap, wrapped], ids=["unwrap", "wrap_with_context"])
def test_a_cancel_or_an_exit_passes_as_the_error_or_as_a_member_of_a_group(exit_, convert):
    nested = BaseExceptionGroup("g", [InvalidInputException("a", 1, "x"), BaseExceptionGroup("h", [exit_])])
    for error in (exit_, nested):
        with pytest.raises(type(exit_)) as caught:
            convert(error)
        assert caught.value is exit_


@exits
@pytest.mark.parametrize("place", ["cause", "context", "behind a failure", "member's cause"])
def test_a_cancel_or_an_exit_behind_something_is_history(exit_, place):
    error = places(exit_)[place]
    assert unwrap(error)
    assert wrapped(error)


def test_a_timeout_of_asyncio_is_a_failure_although_a_cancel_stands_behind_it():
    async def slow():
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError) as caught:
        asyncio.run(slow())
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)
    assert isinstance(unwrap(caught.value), SystemException)
    assert isinstance(wrapped(caught.value), ExternalServiceException)


@signals
def test_a_cancel_goes_before_the_signal_behind_it(signal):
    cancel = in_context(asyncio.CancelledError(), signal)
    with pytest.raises(asyncio.CancelledError) as caught:
        unwrap(cancel)
    assert caught.value is cancel


def test_a_signal_raised_again_keeps_what_had_caused_it():
    signal = in_context(RateLimitRetryException("requests"), OSError("reset"))
    with pytest.raises(RateLimitRetryException):
        try:
            raise RuntimeError("outer") from signal
        except RuntimeError as error:
            unwrap(error)
    assert isinstance(signal.__cause__, OSError)


# --- readable -------------------------------------------------------------------------------------------------------


def fetch(error):
    with readable("PubChem", parameter="cid", value="x", step="compound fetch"):
        if error is None:
            return "fetched"
        raise error
    raise AssertionError


async def fetch_later(error):
    with readable("PubChem", parameter="cid", value="x", step="compound fetch"):
        await asyncio.sleep(0)
        if error is None:
            return "fetched"
        raise error
    raise AssertionError


def later(error):
    return asyncio.run(fetch_later(error))


both = pytest.mark.parametrize("call", [fetch, later], ids=["sync", "async"])


@both
def test_readable_returns_what_the_block_returns(call):
    assert call(None) == "fetched"


@both
def test_readable_wraps_whatever_escapes(call):
    error = ResourceNotFoundException("compound", "x")
    with pytest.raises(InvalidInputException) as caught:
        call(error)
    assert caught.value.parameter_name == "cid"
    assert caught.value.__cause__ is error
    with pytest.raises(ExternalServiceException, match="compound fetch: boom"):
        call(ValueError("boom"))


@both
@signals
def test_readable_lets_a_signal_pass(call, signal):
    with pytest.raises(type(signal)) as caught:
        call(signal)
    assert caught.value is signal
    with pytest.raises(type(signal)):
        call(chained(RuntimeError("x"), signal))


@pytest.mark.parametrize("exit_", [KeyboardInterrupt(), SystemExit(2), GeneratorExit()], ids=repr)
def test_readable_lets_an_exit_pass(exit_):
    with pytest.raises(type(exit_)) as caught:
        fetch(exit_)
    assert caught.value is exit_


def test_readable_lets_a_cancel_of_the_task_pass():
    async def cancelled():
        task = asyncio.ensure_future(hang())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    async def hang():
        with readable("S", parameter="p", value=1, step="s"):
            await asyncio.Event().wait()

    assert asyncio.run(cancelled()) is True


# --- explain --------------------------------------------------------------------------------------------------------


def test_explain_is_what_a_failure_says_itself():
    failure = ResourceNotFoundException("order", "O-1")
    assert explain(failure) == failure.explain_to_llm()
    assert explain(chained(RuntimeError("x"), failure)) == failure.explain_to_llm()


def test_explain_says_nothing_of_a_foreign_exception():
    told = explain(KeyError("api_key=hunter2"), component="search")
    assert told.startswith("A system error occurred in search.")
    assert "hunter2" not in told


@signals
def test_explain_says_a_signal_in_words_where_nobody_can_run_the_call_again(signal):
    told = explain(chained(RuntimeError("x"), signal))
    assert told.endswith(VERDICT_UNCORRECTABLE)
    assert type(signal).__name__ not in told


@exits
def test_explain_never_raises_a_cancel_or_an_exit(exit_):
    assert explain(exit_).endswith(VERDICT_UNCORRECTABLE)


def test_explain_of_a_correction_is_its_correctable_cause():
    signal = chained(ResponseCorrectionRetryException("scout-1"), InvalidInputException("a", 1, "x"))
    assert explain(signal) == signal.__cause__.explain_to_llm()
