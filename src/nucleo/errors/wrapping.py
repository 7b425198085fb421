"""From any exception to a member of the set: unwrap, wrap with context, readable, explain."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from math import isnan
from types import TracebackType

from nucleo.errors.branches import (
    CorrectableRuntimeLLMException,
    LLMReadableRuntimeException,
    UncorrectableRuntimeLLMException,
)
from nucleo.errors.calls import InvalidInputException
from nucleo.errors.chain import (
    deepest_message,
    group_members,
    interpreter_signal,
    is_cancelled_error,
    keep_context,
    next_link,
    walk_chain,
)
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.retry import RetrySignal, readable_twin, retry_signal_in
from nucleo.errors.root import Failure, LLMReadableException
from nucleo.errors.services import (
    ExternalServiceException,
    SystemException,
    UpstreamThrottleException,
)
from nucleo.errors.text import TEXT_LIMIT, as_text, brief, cut, masked
from nucleo.errors.work import CancellationException, JobCancelledException, JobTimeoutException

_DETAILS_LIMIT = 1000
_LEAST_SHARE = 80
_OF_THE_JOB = (CancellationException, JobCancelledException, JobTimeoutException)


def unwrap(error: BaseException, *, component: str = "internal") -> LLMReadableException:
    """Find or make the failure of the set that an exception means, for ``raise`` to raise.

    Args:
        error: Whatever was caught.
        component: What broke, when nothing in the chain is readable: the model reads this name and no more.

    Returns:
        The first readable failure of the chain as itself; else its translation, when the exception is one of a known
        library; else a `SystemException`. Several readable members of a group come back as one failure that lists
        them all, correctable only if each of them is, and keeps the longest wait.

    Raises:
        BaseException: A retry signal anywhere in the chain, or a cancel or exit that is the error itself or a member
            of a group, is raised again as itself.
    """
    _raise_signals(error)
    found = _readable_in(error)
    if len(found) > 1:
        return _caused(_combined(found), error)
    if found:
        if found[0] is not error:
            keep_context(found[0])
        return found[0]
    translated = _translated(error, service=None)
    if translated is not None:
        return translated
    return _caused(SystemException(component, deepest_message(error)), error)


def wrap_with_context(
    error: BaseException, service: str, parameter: str, value: object, step: str
) -> LLMReadableException:
    """Address the failure of a service call to what the model knows, for ``raise`` to raise.

    Args:
        error: Whatever the call raised.
        service: The service, as a person would call it.
        parameter: The parameter that the model supplied.
        value: Its value.
        step: What was being done: ``"compound fetch"``.

    Returns:
        An `InvalidInputException` about the parameter when anything in the chain is correctable; else an
        `ExternalServiceException` of the service, as an `UpstreamThrottleException` with its wait when the chain
        holds one. The answer (`http`) and an unknown outcome are kept. A cancelled or timed-out job comes back as it
        is: it is the job's matter, not the service's.

    Raises:
        BaseException: Control signals, as in `unwrap`.
    """
    _raise_signals(error)
    found = [link for link in walk_chain(error) if isinstance(link, LLMReadableException)]
    if not found:
        translated = _translated(error, service=service)
        found = [] if translated is None else [translated]
    if not found:
        details = brief(masked(deepest_message(error), personal=True), limit=_DETAILS_LIMIT)
        return _caused(ExternalServiceException(service, f"{step}: {details}"), error)
    for failure in found:
        if failure.is_correctable:
            return _caused(_readdressed(failure, parameter, value, step), error)
    if isinstance(found[0], _OF_THE_JOB):
        return found[0]
    return _caused(_of_service(found, service, step), error)


def unwrap_runtime(error: BaseException, fallback_message: str) -> LLMReadableRuntimeException:
    """Turn an exception into a failure of the one-message branch, for code without room for two messages.

    Args:
        error: Whatever was caught.
        fallback_message: What the model reads when nothing in the chain is readable.

    Returns:
        A runtime failure of the chain as itself; a checked one as the runtime class of the same verdict with the same
        message; else `UncorrectableRuntimeLLMException(fallback_message)`, also for a retry signal, because this code
        is not on a path that runs again.

    Raises:
        BaseException: A cancel or exit that is the error itself or a member of a group.
    """
    signal = interpreter_signal(error)
    if signal is not None:
        raise signal
    found = [link for link in walk_chain(error) if isinstance(link, LLMReadableException)]
    for failure in found:
        if isinstance(failure, LLMReadableRuntimeException):
            return failure
    if not found:
        return _caused(UncorrectableRuntimeLLMException(fallback_message), error)
    return _caused(_combined(found[:1]), error)


class readable(AbstractContextManager[None]):  # noqa: N801 - reads as a verb phrase: with readable(...)
    """Wrap whatever escapes the block with `wrap_with_context`; control signals pass. For sync and async code.

    Example:
        with readable("PubChem", parameter="cid", value=cid, step="compound fetch"):
            return await client.compound(cid)
    """

    def __init__(self, service: str, *, parameter: str, value: object, step: str) -> None:
        self._service = service
        self._parameter = parameter
        self._value = value
        self._step = step

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise the wrapped failure in place of what escaped."""
        if error is None or interpreter_signal(error) is error or isinstance(error, RetrySignal):
            return
        failure = wrap_with_context(error, self._service, self._parameter, self._value, self._step)
        if failure is not error:
            raise failure


def explain(error: BaseException, *, component: str = "internal") -> str:
    """Give the text that a model would read for any exception at all. Never raises.

    Args:
        error: The exception.
        component: What the model is told has broken when the exception says nothing it may read.
    """
    return readable_failure(error, component=component).explain_to_llm()


def readable_failure(error: BaseException, *, component: str = "internal") -> LLMReadableException:
    """Find the failure that `explain` speaks for: as `unwrap`, with control signals said in words too."""
    if isinstance(error, LLMReadableException) and next_link(error) is None:
        return error
    ending = interpreter_signal(error)
    if ending is not None:
        if is_cancelled_error(ending):
            return JobCancelledException()
        return SystemException(component, type(ending).__name__)
    signal = retry_signal_in(error)
    if signal is not None:
        return readable_twin(signal)
    return unwrap(error, component=component)


def longest_wait(failures: Sequence[BaseException]) -> float | None:
    """Give the longest wait in seconds that any of these failures, or the answer it carries, asks for."""
    waits: list[float] = []
    for failure in failures:
        http = getattr(failure, "http", None)
        asked = (getattr(failure, "retry_after_seconds", None), getattr(http, "retry_after_seconds", None))
        waits.extend(wait for wait in asked if isinstance(wait, int | float) and not isnan(wait))
    return max(waits, default=None)


def _raise_signals(error: BaseException) -> None:
    # A cancel comes first: the signal behind it asks for a run that nobody wants any more.
    signal = interpreter_signal(error) or retry_signal_in(error)
    if signal is not None:
        raise signal if signal is error else keep_context(signal)


def _readable_in(error: BaseException) -> list[LLMReadableException]:
    """The first readable failure down the chain; where a group forks it, the first of every member."""
    found: list[LLMReadableException] = []
    seen: set[int] = set()
    # With a number: the members of this exception are done, and so many failures had been found before them.
    pending: list[tuple[BaseException, int | None]] = [(error, None)]
    while pending:
        current, before = pending.pop()
        if before is not None:
            behind = next_link(current)
            if behind is not None and len(found) == before:
                pending.append((behind, None))
        elif id(current) not in seen:
            seen.add(id(current))
            if isinstance(current, LLMReadableException):
                found.append(current)
            else:
                pending.append((current, len(found)))
                pending.extend((member, None) for member in reversed(group_members(current)))
    return found


def _combined(failures: Sequence[LLMReadableException]) -> LLMReadableRuntimeException:
    text = failures[0].llm_message
    if len(failures) > 1:
        # Each gets its share of the text: the last must be heard as well as the first.
        share = max(_LEAST_SHARE, TEXT_LIMIT // len(failures) - _LEAST_SHARE)
        lines = [f"- {cut(failure.llm_message, share)}" for failure in failures]
        text = "\n".join(["Several things failed:", *lines])
    answer = _answer_of(failures)
    if all(failure.is_correctable for failure in failures):
        return CorrectableRuntimeLLMException(text, http=answer)
    return UncorrectableRuntimeLLMException(text, retry_after_seconds=longest_wait(failures), http=answer)


def _readdressed(failure: LLMReadableException, parameter: str, value: object, step: str) -> InvalidInputException:
    rule = as_text(failure.validation_rule) if isinstance(failure, InvalidInputException) else failure.llm_message
    return InvalidInputException(parameter, value, f"{step}: {rule}", http=failure.http)


def _of_service(failures: Sequence[LLMReadableException], service: str, step: str) -> ExternalServiceException:
    throttles = [failure for failure in failures if isinstance(failure, UpstreamThrottleException)]
    answer = _answer_of(failures)
    if throttles:
        details = f"{step}: {throttles[0].llm_message}"
        return UpstreamThrottleException(service, details, longest_wait(throttles), http=answer)
    unknown = any(getattr(failure, "outcome_unknown", False) for failure in failures)
    return ExternalServiceException(service, f"{step}: {failures[0].llm_message}", unknown, http=answer)


def _answer_of(failures: Sequence[LLMReadableException]) -> HttpErrorDetail | None:
    answers = [failure.http for failure in failures if failure.http is not None]
    return max(answers, key=lambda answer: answer.retry_after_seconds or 0.0, default=None)


def _translated(error: BaseException, *, service: str | None) -> LLMReadableException | None:
    from nucleo.errors.translate import translate  # noqa: PLC0415 - only foreign exceptions need the tables

    for link in walk_chain(error):
        translated = translate(link, service=service)
        if translated is not None:
            return _caused(translated, error)
    return None


def _caused(failure: Failure, cause: BaseException) -> Failure:
    if failure is not cause and failure.__cause__ is None:
        failure.__cause__ = cause
    return failure
