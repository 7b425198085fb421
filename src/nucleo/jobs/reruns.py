"""Whether a job runs again, and how long it pauses first: plain arithmetic over budgets, decided without awaiting.

Apart from the life of a job so that each rule can be tested with numbers alone.
"""

from dataclasses import dataclass
from random import Random
from typing import Final, final

from nucleo.errors import (
    LLMReadableException,
    OutputTruncationRetryException,
    ResponseCorrectionRetryException,
    UncorrectableRuntimeLLMException,
    UpstreamRetryException,
)
from nucleo.errors.chain import walk_chain
from nucleo.errors.retry import RetrySignal, readable_twin, retry_signal_in
from nucleo.errors.text import seconds
from nucleo.errors.wrapping import longest_wait

CORRECTIONS: Final = 2
"""How often a model is asked again for a usable reply, per job."""

TRUNCATIONS: Final = 1
"""How often a reply that was cut off is asked for again with a larger limit, per job."""

LONGEST_PAUSE_SECONDS: Final = 300.0
"""No drawn pause is longer, however often the call was repeated."""

_STEEPEST: Final = 10
"""Pauses grow with every re-run up to this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """The decision to run again.

    Attributes:
        pause_seconds: How long to hold nothing first.
        reason: What asked for it, for people.
    """

    pause_seconds: float
    reason: str


@final
class Reruns:
    """The budgets of one job's execution.

    Args:
        upstream_retries: How often a call that upstream could not serve is repeated.
        max_pause: The longest pause in seconds that the job accepts.
        random: Where the pauses are drawn from.
    """

    __slots__ = ("_corrections", "_max_pause", "_random", "_truncations", "_upstream", "_upstream_retries")

    def __init__(self, *, upstream_retries: int, max_pause: float, random: Random) -> None:
        self._upstream_retries = upstream_retries
        self._max_pause = max_pause
        self._random = random
        self._upstream = 0
        self._corrections = 0
        self._truncations = 0

    def decide(self, error: BaseException) -> Rerun | BaseException:
        """Judge what a run raised.

        Args:
            error: What it raised.

        Returns:
            A `Rerun`; or, when a signal asked for one and the budget is spent, the failure that says so; or the
            error itself when no signal is in it. A failure made here has no signal in its chain.
        """
        signals = [link for link in walk_chain(error) if isinstance(link, RetrySignal)]
        if not signals:
            return error
        upstream = [signal for signal in signals if isinstance(signal, UpstreamRetryException)]
        if upstream:
            return self._repeat(upstream)
        signal = signals[0]
        if isinstance(signal, ResponseCorrectionRetryException):
            return self._correct(signal)
        if isinstance(signal, OutputTruncationRetryException):
            return self._lengthen(signal)
        return error

    def _repeat(self, signals: list[UpstreamRetryException]) -> Rerun | BaseException:
        # Several at once (a group) are one re-run, at the pace of the slowest.
        signal = max(signals, key=lambda each: each.base_pause)
        floor = max((_floor(each) for each in signals), default=0.0)
        if self._upstream >= self._upstream_retries:
            return _failure(f"The call was repeated {self._upstream_retries} times and still fails", signal)
        if floor > self._max_pause:
            return _failure(
                f"The service asks to wait {seconds(floor)}, longer than the {seconds(self._max_pause)} that "
                "this call may pause",
                signal,
            )
        self._upstream += 1
        pause = pause_before(self._upstream, signal.base_pause, self._random)
        return Rerun(pause_seconds=min(max(pause, floor), self._max_pause), reason=_words(signal))

    def _correct(self, signal: ResponseCorrectionRetryException) -> Rerun | BaseException:
        if self._corrections < CORRECTIONS:
            self._corrections += 1
            return Rerun(pause_seconds=0.0, reason=_words(signal))
        cause = _clean_cause(signal)
        if isinstance(cause, LLMReadableException):
            return cause
        return _failure(f"The model was asked {CORRECTIONS} times to correct its reply and did not", signal)

    def _lengthen(self, signal: OutputTruncationRetryException) -> Rerun | BaseException:
        if self._truncations < TRUNCATIONS:
            self._truncations += 1
            return Rerun(pause_seconds=0.0, reason=_words(signal))
        return _failure(
            f"The reply of the model {signal.model} was cut off at its output limit again, after the limit was raised "
            f"to {signal.previous_budget:,} tokens"
            if signal.previous_budget is not None
            else f"The reply of the model {signal.model} was cut off at its output limit again",
            signal,
        )


def pause_before(rerun: int, base: tuple[float, float], random: Random) -> float:
    """Draw the pause before a re-run, in seconds: uniform, and longer with each one.

    Args:
        rerun: Which re-run, from 1.
        base: Least and greatest pause before the first.
        random: Where it is drawn from.
    """
    steepness = min(rerun, _STEEPEST)
    low, high = base
    return random.uniform(low * steepness, min(high * steepness, LONGEST_PAUSE_SECONDS))


def _floor(signal: UpstreamRetryException) -> float:
    behind = [link for link in walk_chain(signal) if link is not signal]
    return max(signal.floor_seconds or 0.0, longest_wait(behind) or 0.0)


def _words(signal: RetrySignal) -> str:
    return f"{type(signal).__name__}: {readable_twin(signal).llm_message}"


def _failure(text: str, signal: RetrySignal) -> UncorrectableRuntimeLLMException:
    failure = UncorrectableRuntimeLLMException(f"{text}. The last one: {_words(signal)}")
    failure.__cause__ = _clean_cause(signal)
    return failure


def _clean_cause(signal: RetrySignal) -> BaseException | None:
    """The cause of a spent signal, unless it would carry another signal up to whoever waits."""
    cause = signal.__cause__
    return None if cause is None or retry_signal_in(cause) is not None else cause
