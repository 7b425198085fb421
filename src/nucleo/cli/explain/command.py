"""The command itself: from what was pasted or named to a report, printed."""

import json
import sys
from dataclasses import dataclass
from typing import Any, Final

from nucleo.cli.explain.import_path import exception_at
from nucleo.cli.explain.pasted_response import PastedResponse, read_response
from nucleo.cli.explain.pasted_traceback import PastedException, read_traceback
from nucleo.cli.explain.report import report_of, report_of_bare, show_report
from nucleo.cli.explain.stand_in import StandIns
from nucleo.cli.explain.status_text import StatedAnswer, stated_answer
from nucleo.cli.explain.unusable import UnusableInputError
from nucleo.errors import LLMReadableException
from nucleo.errors.chain import interpreter_signal, walk_chain
from nucleo.errors.http import inspect_response
from nucleo.errors.retry import RetrySignal, retry_signal_in
from nucleo.errors.root import rebuild
from nucleo.errors.translate import translate
from nucleo.errors.translate.faults import IDEMPOTENT_METHODS
from nucleo.errors.translate.foreign import host_of
from nucleo.errors.wrapping import readable_failure, wrap_with_context

OPERATIONS: Final = ("fetch", "search", "write", "llm")
INPUT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of standard input that are read. Of a body no more than 64 KiB count anyway."""

_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_NOT_IN_TRACEBACK: Final = "its fields are not in a traceback, so its text cannot be made again from one"
_IS_SIGNAL: Final = "it never reaches a model; past its last run the failure behind it does"

Report = dict[str, Any]


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


def explain_command(asked: ExplainInput) -> int:
    """Explain what was asked and print it.

    Args:
        asked: The words of the command line.

    Returns:
        0, or 2 when the input cannot be used.
    """
    try:
        report = _of_paste(_standard_input(), asked) if asked.exception is None else _of_path(asked.exception, asked)
    except UnusableInputError as error:
        print(f"nucleo explain: {error}", file=sys.stderr)
        return 2
    if asked.as_json:
        print(json.dumps({"failure": report}, ensure_ascii=False))
    elif report is None:
        print("This answer is no failure.")
    else:
        show_report(report)
    return 0


def _of_path(path: str, asked: ExplainInput) -> Report:
    return _of_exception(exception_at(path, asked.message or ""), asked)


def _standard_input() -> bytes:
    # A process can be started with its standard input closed; then there is no such object.
    stream: Any = sys.stdin
    if stream is None:
        raise UnusableInputError("there is no standard input to read, and no exception was named")
    if stream.isatty():
        print("Paste a response or a traceback, then press Ctrl-D:", file=sys.stderr)
    pasted: bytes = stream.buffer.read(INPUT_LIMIT)
    return pasted


def _of_paste(pasted: bytes, asked: ExplainInput) -> Report | None:
    response = read_response(pasted)
    if response is None and asked.status is not None:
        response = PastedResponse(status=asked.status, body=pasted)
    if response is not None:
        return _of_response(response, asked)
    if len(pasted) == INPUT_LIMIT:
        raise UnusableInputError(
            f"the last line of this is not among its first {INPUT_LIMIT // 2**20} MiB: paste the end of the traceback"
        )
    told = read_traceback(pasted.decode("utf-8", "replace"))
    if told is None:
        raise UnusableInputError(
            "this is neither a response with its head nor a traceback. Give the output of 'curl -si URL', "
            "or a body with --status, or a traceback down to its last line"
        )
    return _of_traceback(told, asked)


def _of_response(response: PastedResponse, asked: ExplainInput) -> Report | None:
    failure = _inspected(response, asked, service=asked.service or "the service", url=asked.url)
    return None if failure is None else report_of(failure)


def _inspected(
    response: PastedResponse, asked: ExplainInput, *, service: str, url: str, operation: str | None = None
) -> LLMReadableException | None:
    by_method = "write" if (asked.method or "").upper() in _WRITES else "fetch"
    return inspect_response(
        service,
        url or "/",
        response.status,
        response.body,
        headers=response.headers,
        operation=asked.operation or operation or by_method,
        method=asked.method,
    )


def _of_traceback(told: PastedException, asked: ExplainInput) -> Report:
    stand_ins = StandIns()
    error = stand_ins.make(told)
    if interpreter_signal(error) is None and not stand_ins.bare:
        answer = stated_answer(told)
        failure = None if answer is None else _of_stated(answer, asked)
        if answer is not None and failure is not None:
            missing = "headers" if answer.response.body else "headers and body"
            return report_of(
                failure, note=f"taken from the text of {answer.class_name}; the {missing} are not in a traceback"
            )
    return _of_exception(error, asked, bare=stand_ins.bare)


def _of_stated(answer: StatedAnswer, asked: ExplainInput) -> LLMReadableException | None:
    url = asked.url or answer.url
    return _inspected(
        answer.response,
        asked,
        service=asked.service or host_of(url) or answer.library,
        url=url,
        operation="llm" if answer.is_model_call else None,
    )


def _of_exception(
    error: BaseException, asked: ExplainInput, *, bare: dict[int, PastedException] | None = None
) -> Report:
    signal = retry_signal_in(error)
    if signal is not None and interpreter_signal(error) is None and _has_no_fields(signal):
        said = (bare or {}).get(id(signal))
        return report_of_bare(signal, log=said.message if said is not None else type(signal).__name__, note=_IS_SIGNAL)
    failure = _failure_of(error, asked)
    pasted = [(link, bare[id(link)]) for link in walk_chain(failure) if bare and id(link) in bare]
    if not pasted or interpreter_signal(error) is not None:
        return report_of(failure)
    member, said = pasted[0]
    return report_of_bare(
        failure, log=said.message if failure is member else str(failure), note=f"{_name(member)}: {_NOT_IN_TRACEBACK}"
    )


def _failure_of(error: BaseException, asked: ExplainInput) -> LLMReadableException:
    links = list(walk_chain(error))
    decided = any(isinstance(link, LLMReadableException | RetrySignal) for link in links)
    if decided or interpreter_signal(error) is not None:
        return readable_failure(error)
    translated = (translate(link, service=asked.service) for link in links)
    known = next((failure for failure in translated if failure is not None), None)
    if known is not None:
        return _of_method(known, asked.method)
    if asked.service is None:
        return readable_failure(error)
    return wrap_with_context(error, asked.service, "the parameter", None, asked.operation or "fetch")


def _of_method(failure: LLMReadableException, method: str | None) -> LLMReadableException:
    """Take back that a write may have been carried out, where the person says that the request was none."""
    if method is None or method.upper() not in IDEMPOTENT_METHODS or not getattr(failure, "outcome_unknown", False):
        return failure
    return rebuild(type(failure), {**vars(failure), "outcome_unknown": False}, ())


def _has_no_fields(signal: RetrySignal) -> bool:
    return not vars(signal)


def _name(error: BaseException) -> str:
    return type(error).__name__
