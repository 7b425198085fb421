"""``nucleo explain``: what a response or an exception becomes, and what everybody is told of it."""

import json
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

from nucleo.cli.paste import PastedException, PastedResponse, read_response, read_traceback
from nucleo.errors import LLMReadableException
from nucleo.errors.chain import interpreter_signal
from nucleo.errors.http import inspect_response
from nucleo.errors.retry import retry_signal_in
from nucleo.errors.root import known_type
from nucleo.errors.text import seconds
from nucleo.errors.wrapping import longest_wait, readable_failure, wrap_with_context
from nucleo.limits import UpstreamEffect, UpstreamFailure, effect_of

OPERATIONS: Final = ("fetch", "search", "write", "llm")

_EFFECTS: Final = {
    UpstreamEffect.THROTTLE: "the limiters of the job slow down, and their circuit counts it",
    UpstreamEffect.FAILURE: "the circuit of the job's limiters counts it: five in a row open it",
    UpstreamEffect.HEALTHY: "nothing: the service answered, what was wrong is the call's matter",
    UpstreamEffect.NO_VERDICT: "nothing: it says nothing about a service",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainInput:
    """What was asked on the command line.

    Attributes:
        exception: Import path of an exception; None to read standard input.
        message: Its message, when the path names a class.
        service: The service that was called.
        url: The URL or path that was asked.
        method: The method of the request.
        operation: What was being done; None to tell by the method.
        status: The status of a body without its head.
        as_json: Print one JSON object.
    """

    exception: str | None = None
    message: str | None = None
    service: str | None = None
    url: str = ""
    method: str | None = None
    operation: str | None = None
    status: int | None = None
    as_json: bool = False


class UnusableInputError(Exception):
    """What was given cannot be explained; the message says what to give instead."""


def explain_command(asked: ExplainInput) -> int:
    """Explain what was asked and print it.

    Args:
        asked: The words of the command line.

    Returns:
        0, or 2 when the input cannot be used.
    """
    try:
        failure = _from_path(asked) if asked.exception is not None else _from_paste(asked)
    except UnusableInputError as error:
        print(f"nucleo explain: {error}", file=sys.stderr)
        return 2
    report = None if failure is None else _report(failure)
    if asked.as_json:
        print(json.dumps({"failure": report}, ensure_ascii=False))
    elif report is None:
        print("This answer is no failure.")
    else:
        _show(report)
    return 0


def _from_paste(asked: ExplainInput) -> LLMReadableException | None:
    if sys.stdin.isatty():
        print("Paste a response or a traceback, then press Ctrl-D:", file=sys.stderr)
    pasted = sys.stdin.buffer.read()
    response = read_response(pasted)
    if response is None and asked.status is not None:
        response = PastedResponse(status=asked.status, headers=(), body=pasted)
    if response is not None:
        return _of_response(response, asked)
    exception = read_traceback(pasted.decode("utf-8", "replace"))
    if exception is None:
        raise UnusableInputError(
            "this is neither a response with its head nor a traceback. Give the output of 'curl -si URL', "
            "or a body with --status, or a traceback down to its last line"
        )
    return _of_exception(_rebuilt(exception), asked)


def _from_path(asked: ExplainInput) -> LLMReadableException:
    path = asked.exception or ""
    module_name, colon, name = path.partition(":") if ":" in path else path.rpartition(".")
    if not colon or not name or not module_name:
        raise UnusableInputError(f"{path!r} is no import path: write package.module:name")
    # What the user names by its path may be imported: that is what was asked for.
    sys.path.insert(0, "")
    found: object = None
    try:
        found = import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UnusableInputError(f"{path!r} cannot be imported: {error}") from error
    finally:
        sys.path.remove("")
    return _of_exception(_exception_of(found, path, asked), asked)


def _exception_of(found: object, path: str, asked: ExplainInput) -> BaseException:
    if isinstance(found, BaseException):
        return found
    if isinstance(found, type):
        kind = cast("type[object]", found)
        if issubclass(kind, BaseException):
            return _instance(kind, asked.message or "")
    raise UnusableInputError(f"{path!r} is a {type(found).__name__}, not an exception")


def _of_response(response: PastedResponse, asked: ExplainInput) -> LLMReadableException | None:
    operation = asked.operation or (
        "write" if (asked.method or "").upper() in {"POST", "PUT", "PATCH", "DELETE"} else "fetch"
    )
    return inspect_response(
        asked.service or "the service",
        asked.url or "/",
        response.status,
        response.body,
        headers=response.headers,
        operation=operation,
        method=asked.method,
    )


def _of_exception(error: BaseException, asked: ExplainInput) -> LLMReadableException:
    signal = retry_signal_in(error) or interpreter_signal(error)
    if asked.service is None or isinstance(error, LLMReadableException) or signal is not None:
        return readable_failure(error)
    return wrap_with_context(error, asked.service, "the parameter", None, "the call")


def _rebuilt(pasted: PastedException) -> BaseException:
    """Make an exception that stands for a pasted one: of its own class where that is at hand, else of its name.

    Nothing is imported for it: a pasted text must not decide what code runs here. The translations know a foreign
    exception by the name of its class, so a stand-in of that name is translated like the real one.
    """
    module_name, _, name = pasted.qualified_name.rpartition(".")
    known = known_type(name)
    if known is not None and module_name.startswith("nucleo."):
        can = "may correct it" if known.is_correctable else "cannot correct it"
        raise UnusableInputError(
            f"{name} is a member of the set already: a model {can}. Its fields are not in a traceback, so its text "
            "cannot be made again from one"
        )
    module = sys.modules.get(module_name or "builtins")
    kind: object = getattr(module, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return _instance(kind, pasted.message)
    stand_in: type[Exception] = type(name, (Exception,), {"__module__": module_name or "builtins"})
    return stand_in(pasted.message)


def _instance(kind: type[BaseException], message: str) -> BaseException:
    try:
        return kind(message)
    except Exception as error:  # noqa: BLE001 - a class that wants more than a message may raise anything
        ours = issubclass(kind, LLMReadableException)
        refused = error
    if ours:
        raise UnusableInputError(
            f"{kind.__name__} is a member of the set that a message alone does not make: name an instance"
        ) from refused
    # Its class and its text say enough of an exception from outside the set.
    bare: BaseException = BaseException.__new__(kind, message)
    return bare


def _report(failure: LLMReadableException) -> dict[str, Any]:
    effect = effect_of(failure)
    return {
        "class": type(failure).__name__,
        "parents": [cls.__name__ for cls in type(failure).__mro__[1:] if issubclass(cls, LLMReadableException)],
        "correctable": failure.is_correctable,
        "text": failure.explain_to_llm(),
        "log": str(failure),
        "wait_seconds": longest_wait([failure]),
        "outcome_unknown": getattr(failure, "outcome_unknown", False),
        "limiters": {
            "effect": effect.value,
            "meaning": _EFFECTS[effect],
            "summary": UpstreamFailure.from_exception(failure).summary()
            if effect in {UpstreamEffect.THROTTLE, UpstreamEffect.FAILURE}
            else None,
        },
        "record": failure.to_dict(),
    }


def _show(report: dict[str, Any]) -> None:
    verdict = "correctable: the model may fix its call" if report["correctable"] else "not correctable"
    wait = report["wait_seconds"]
    limiters = report["limiters"]
    print(f"class      {report['class']}, a {report['parents'][0]}")
    print(f"verdict    {verdict}")
    print(f"wait       {'none was asked for' if wait is None else seconds(wait)}")
    if report["outcome_unknown"]:
        print("outcome    unknown: a write may have been carried out")
    print(f"limiters   {limiters['meaning']}")
    if limiters["summary"] is not None:
        print(f"           they quote: {limiters['summary']}")
    print(f"the log    {report['log']}")
    print("the model reads:")
    for line in report["text"].splitlines():
        print(f"    {line}")
