"""What is said of a failure to each who has to act next, as one object and as lines for a person.

The keys are a promise to scripts: names and meanings stay, others may come.
"""

from typing import Any, Final

from nucleo.errors import LLMReadableException
from nucleo.errors.retry import RetrySignal, UpstreamRetryException
from nucleo.errors.text import seconds
from nucleo.errors.wrapping import longest_wait
from nucleo.limits import UpstreamEffect, UpstreamFailure, effect_of

KEYS: Final = {
    "class": "the class of the failure",
    "parents": "what else it is, the most specific first",
    "correctable": "the verdict: whether other arguments can help; null for a control signal",
    "text": "exactly what a model reads, its last line the verdict; null where that is not known",
    "log": "what the log gets",
    "wait_seconds": "what the service asked to wait; null when it did not say",
    "outcome_unknown": "whether a write may have been carried out all the same",
    "limiters": "effect (throttle, failure, healthy, no verdict), meaning in words, summary (what they quote, or null)",
    "record": "the wire form of the failure, which failure_from_dict reads; null where it is not known",
    "note": "what this explanation could not know, or null",
}
"""The keys of a report, with what they mean."""

_EFFECTS: Final = {
    UpstreamEffect.THROTTLE: "the limiters of the job slow down, and their circuit counts it",
    UpstreamEffect.FAILURE: "the circuit of the job's limiters counts it: five in a row open it",
    UpstreamEffect.HEALTHY: "nothing: the service answered, what was wrong is the call's matter",
    UpstreamEffect.NO_VERDICT: "nothing: it says nothing about a service",
}
_QUOTED: Final = frozenset({UpstreamEffect.THROTTLE, UpstreamEffect.FAILURE})


def report_of(failure: LLMReadableException, *, note: str | None = None) -> dict[str, Any]:
    """Report on a failure.

    Args:
        failure: The failure.
        note: What could not be known, if anything.
    """
    effect = effect_of(failure)
    summary = UpstreamFailure.from_exception(failure).summary() if effect in _QUOTED else None
    return {
        "class": type(failure).__name__,
        "parents": _parents(type(failure)),
        "correctable": failure.is_correctable,
        "text": failure.explain_to_llm(),
        "log": str(failure),
        "wait_seconds": longest_wait([failure]),
        "outcome_unknown": bool(getattr(failure, "outcome_unknown", False)),
        "limiters": _limiters(effect, summary),
        "record": failure.to_dict(),
        "note": note,
    }


def report_of_bare(bare: LLMReadableException | RetrySignal, *, log: str, note: str) -> dict[str, Any]:
    """Report on a member or a signal of which nothing but the class is known.

    Args:
        bare: One without its fields.
        log: What was printed of it.
        note: What could not be known.
    """
    return {
        "class": type(bare).__name__,
        "parents": _parents(type(bare)),
        "correctable": bare.is_correctable if isinstance(bare, LLMReadableException) else None,
        "text": None,
        "log": log,
        "wait_seconds": None,
        "outcome_unknown": False,
        "limiters": _limiters(_effect_of_bare(bare), None),
        "record": None,
        "note": note,
    }


def show_report(report: dict[str, Any]) -> None:
    """Print a report for a person."""
    wait = report["wait_seconds"]
    limiters = report["limiters"]
    print(f"class      {report['class']}")
    print(f"is a       {', '.join(report['parents'])}")
    print(f"verdict    {_verdict(report['correctable'])}")
    print(f"wait       {'none was asked for' if wait is None else seconds(wait)}")
    if report["outcome_unknown"]:
        print("outcome    unknown: a write may have been carried out")
    print(f"limiters   {limiters['meaning']}")
    if limiters["summary"] is not None:
        print(f"           they quote: {limiters['summary']}")
    print(f"the log    {_further_in(report['log'], 11)}")
    if report["note"] is not None:
        print(f"note       {report['note']}")
    if report["text"] is not None:
        print(f"the model reads:\n    {_further_in(report['text'], 4)}")


def _verdict(correctable: object) -> str:
    if correctable is None:
        return "none: a signal to the dispatcher, which runs the call again; no model hears of it"
    return "correctable: the model may fix its call" if correctable else "not correctable: the model takes another way"


def _parents(kind: type[BaseException]) -> list[str]:
    parents = kind.__mro__[1:]
    return [cls.__name__ for cls in parents if issubclass(cls, LLMReadableException | RetrySignal)]


def _effect_of_bare(bare: LLMReadableException | RetrySignal) -> UpstreamEffect:
    if isinstance(bare, LLMReadableException):
        return effect_of(bare)
    if isinstance(bare, UpstreamRetryException):
        return UpstreamEffect.THROTTLE if bare.throttle_weight else UpstreamEffect.FAILURE
    return UpstreamEffect.NO_VERDICT


def _limiters(effect: UpstreamEffect, summary: str | None) -> dict[str, str | None]:
    return {"effect": effect.value, "meaning": _EFFECTS[effect], "summary": summary}


def _further_in(text: str, columns: int) -> str:
    return text.replace("\n", "\n" + " " * columns)
