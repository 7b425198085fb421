"""The boundary around one call: whatever happens in it becomes one result.

This is one of the seams where everything is caught. What passes it all the same is what was never the tool's: a cancel
of the caller, and the interpreter's own exits.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from nucleo.errors import (
    InvalidInputException,
    JobTimeoutException,
    LLMReadableException,
    SystemException,
    UncorrectableRuntimeLLMException,
    unwrap,
)
from nucleo.errors.chain import interpreter_signal, is_cancelled_error
from nucleo.errors.logs import log_failure
from nucleo.errors.retry import readable_twin, retry_signal_in
from nucleo.errors.text import seconds
from nucleo.jobs import JobContext, ToolFailed
from nucleo.tools.arguments import ParsingFault, read_arguments
from nucleo.tools.result import Stage, ToolResult
from nucleo.tools.secret import secret_texts
from nucleo.tools.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """What a hook is told of a failed call, once.

    Attributes:
        tool: The tool, by the name that was called.
        call_id: The id of the model's call; empty where there is none.
        stage: Where it failed.
        failure: The failure.
        text: Exactly what the model reads.
    """

    tool: str
    call_id: str
    stage: Stage
    failure: LLMReadableException
    text: str


FailureHook = Callable[[ToolFailure], object]


class Boundary:
    """One call, from what the model sent to what it reads.

    Args:
        name: The name that was called.
        call_id: The id of the model's call.
        on_failure: Told of the failure, if there is one.
        context: The job that makes the call, if one does.
    """

    __slots__ = ("_call_id", "_cancels", "_context", "_name", "_on_failure", "_secrets")

    def __init__(
        self,
        name: str,
        *,
        call_id: str = "",
        on_failure: FailureHook | None = None,
        context: JobContext | None = None,
    ) -> None:
        self._name = name
        self._call_id = call_id
        self._on_failure = on_failure
        self._context = context
        self._secrets: list[str] | None = None
        self._cancels = 0

    def arguments(self, raw: object, tool: Tool[..., Any]) -> dict[str, Any] | ToolResult:
        """Read the arguments: the values, or the result that says what is wrong with them."""
        signature = tool.signature
        try:
            values = read_arguments(raw, signature, tool.current_choices)
        except ParsingFault as fault:
            return self.failed(fault.failure, Stage.PARSING)
        except InvalidInputException as failure:
            return self.failed(failure, Stage.VALIDATION)
        except Exception as error:  # noqa: BLE001 - a validator or a choices function of the tool's author broke
            return self.failed(unwrap(error, component=self._name), Stage.VALIDATION)
        if signature.secrets:
            self._secrets = [text for name in signature.secrets for text in secret_texts(values.get(name))]
        return values

    def watch_cancels(self) -> None:
        """Remember how often the caller's task has been cancelled, to know a new cancel from the tool's own."""
        task = asyncio.current_task()
        self._cancels = 0 if task is None else task.cancelling()

    def succeeded(self, value: object) -> ToolResult:
        """Make the result of what the body gave back."""
        if isinstance(value, ToolResult):
            return value
        try:
            return ToolResult.succeeded(value)
        except Exception as error:  # noqa: BLE001 - whatever a value's serialiser raises, the call has a result
            failure = SystemException(self._name, f"its result cannot be serialised: {error}")
            failure.__cause__ = error
            return self.failed(failure, Stage.RESULT)

    def body_failed(self, error: BaseException) -> ToolResult:
        """Make the result of what the body raised.

        Raises:
            BaseException: What is not the tool's: a cancel of the caller, an exit of the interpreter.
        """
        signal = interpreter_signal(error)
        if signal is not None and not self._is_own_cancel(error, signal):
            raise signal
        retry = retry_signal_in(error)
        if retry is not None:
            # Only model calls are run again. A tool that lets a signal through has failed like any other.
            return self.failed(readable_twin(retry), Stage.BODY)
        if signal is not None:
            failure: LLMReadableException = SystemException(self._name, "it cancelled itself")
            failure.__cause__ = error
            return self.failed(failure, Stage.BODY)
        return self.failed(unwrap(error, component=self._name), Stage.BODY)

    def timed_out(self, budget: float | None, *, may_still_run: bool) -> ToolResult:
        """Make the result of a call whose time budget ran out."""
        return self.failed(timeout_failure(self._name, budget, may_still_run=may_still_run), Stage.TIMEOUT)

    def stopped(self, failure: LLMReadableException, *, threaded: bool) -> ToolResult:
        """Make the result of a call whose job was stopped from outside its body: by its time, a cancel, the door.

        The end of the job has been logged where the job ended.
        """
        if not isinstance(failure, JobTimeoutException):
            return self.failed(failure, Stage.BODY, logged=True)
        said: LLMReadableException = failure
        if threaded:
            said = timeout_failure(self._name, failure.budget_seconds, may_still_run=True)
            said.__cause__ = failure
        return self.failed(said, Stage.TIMEOUT, logged=True)

    def failed(self, failure: LLMReadableException, stage: Stage, *, logged: bool = False) -> ToolResult:
        """Make the result of a failure; log it unless that was done, and tell whoever asked to be told."""
        result = ToolResult.failed(failure, stage=stage, secrets=self._secrets)
        job_id = workflow = None
        if self._context is not None:
            job_id, workflow = self._context.job_id, self._context.workflow
            self._context.announce(
                ToolFailed,
                tool=self._name,
                call_id=self._call_id,
                stage=stage.value,
                text=result.content,
                failure=failure,
            )
        if not logged:
            log_failure(failure, tool=self._name, call_id=self._call_id or None, job_id=job_id, workflow_id=workflow)
        if self._on_failure is not None:
            self._on_failure(
                ToolFailure(tool=self._name, call_id=self._call_id, stage=stage, failure=failure, text=result.content)
            )
        return result

    def _is_own_cancel(self, error: BaseException, signal: BaseException) -> bool:
        if error is not signal or not is_cancelled_error(signal):
            return False
        task = asyncio.current_task() if _has_loop() else None
        return task is None or task.cancelling() <= self._cancels


def timeout_failure(name: str, budget: float | None, *, may_still_run: bool) -> LLMReadableException:
    """Make the failure of a call whose time budget ran out; a thread cannot be stopped, and the text says so."""
    if not may_still_run:
        return JobTimeoutException(budget)
    had = "" if budget is None else f" of {seconds(budget)}"
    return UncorrectableRuntimeLLMException(
        f"The time budget{had} of {name} ran out before it finished, so there is no result. {STILL_RUNNING}"
    )


STILL_RUNNING: Final = "It could not be stopped and may still be running. Check before repeating it."


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
