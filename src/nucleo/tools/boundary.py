"""The boundary around one call: whatever happens in it becomes one result.

This is one of the seams where everything is caught. What passes it all the same is what was never the tool's: a cancel
of the caller, and the interpreter's own exits.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from nucleo.errors import (
    JobTimeoutException,
    LLMReadableException,
    SystemException,
    UncorrectableRuntimeLLMException,
    unwrap,
)
from nucleo.errors.chain import deepest_message, group_members, interpreter_signal, is_cancelled_error
from nucleo.errors.logs import log_failure
from nucleo.errors.retry import readable_twin, retry_signal_in
from nucleo.errors.text import seconds
from nucleo.jobs import JobContext, ToolFailed
from nucleo.tools.arguments import ParsingFault, read_arguments
from nucleo.tools.discretion import secrets_of, without_secrets
from nucleo.tools.result import Stage, ToolResult
from nucleo.tools.signature import Signature
from nucleo.tools.tool import Tool

logger = logging.getLogger("nucleo.tools")

STILL_RUNNING: Final = "It could not be stopped and may still be running. Check before repeating it."
_EXITS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)


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
"""Told of a failed call, where the call ran: for a synchronous tool under a dispatcher that is its thread. What a hook
raises is logged and changes nothing."""


class Boundary:
    """One call, from what the model sent to what it reads.

    Args:
        name: The name that was called.
        call_id: The id of the model's call.
        on_failure: Told of the failure, if there is one.
        context: The job that makes the call, if one does.
    """

    __slots__ = ("_call_id", "_cancels", "_context", "_given", "_name", "_on_failure")

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
        self._given: tuple[Signature, object, dict[str, Any]] | None = None
        self._cancels = 0

    def arguments(self, raw: object, tool: Tool[..., Any]) -> dict[str, Any] | ToolResult:
        """Read the arguments: the values, or the result that says what is wrong with them."""
        signature = tool.signature
        if signature.secrets:
            self._given = (signature, raw, {})
        try:
            values = read_arguments(raw, signature)
        except ParsingFault as fault:
            return self.failed(fault.failure, Stage.PARSING)
        except BaseException as error:  # noqa: BLE001 - a validator or a choices function of the tool's author broke
            return self.raised(error, Stage.VALIDATION)
        if signature.secrets:
            self._given = (signature, raw, values)
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
        except BaseException as error:  # noqa: BLE001 - whatever a value's serialiser raises, the call has a result
            passing = self.passing(error)
            if passing is not None:
                raise passing from None
            failure = SystemException(self._name, f"its result cannot be serialised: {deepest_message(error)}")
            failure.__cause__ = error
            return self.failed(failure, Stage.RESULT)

    def raised(self, error: BaseException, stage: Stage) -> ToolResult:
        """Make the result of an exception.

        Raises:
            BaseException: What is not the tool's: a cancel of the caller, an exit of the interpreter.
        """
        passing = self.passing(error)
        if passing is not None:
            if passing is error:
                raise error
            raise passing from error
        retry = retry_signal_in(error)
        if retry is not None:
            # Only model calls are run again. A tool that lets a signal through has failed like any other.
            return self.failed(readable_twin(retry), stage)
        if interpreter_signal(error) is not None:
            failure: LLMReadableException = SystemException(self._name, "it cancelled itself; nobody had cancelled it")
            failure.__cause__ = error
            return self.failed(failure, stage)
        return self.failed(unwrap(error, component=self._name), stage)

    def passing(self, error: BaseException) -> BaseException | None:
        """Find what must go on to the caller: an exit, or a cancel that was meant for it, even one that was eaten."""
        signal = interpreter_signal(error)
        if signal is not None and not is_cancelled_error(signal):
            return signal
        if self._caller_is_cancelled():
            return signal or asyncio.CancelledError()
        if signal is None:
            return None
        # Nobody cancelled the caller, so the tool cancelled itself; in a group an exit may stand beside that.
        return next((member for member in _members(error) if isinstance(member, _EXITS)), None)

    def timed_out(self, budget: float | None, *, may_still_run: bool, cause: BaseException | None = None) -> ToolResult:
        """Make the result of a call whose time budget ran out."""
        failure = timeout_failure(self._name, budget, may_still_run=may_still_run)
        failure.__cause__ = cause
        return self.failed(failure, Stage.TIMEOUT)

    def stopped(self, failure: LLMReadableException, *, threaded: bool) -> ToolResult:
        """Make the result of a call whose job was stopped from outside its body: by its time, a cancel, the door.

        The end of the job has been logged where the job ended.

        Args:
            failure: What awaiting the job raised.
            threaded: Whether the body runs in a thread, which nothing can stop.
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
        if self._given is not None:
            failure = without_secrets(failure, secrets_of(*self._given))
        result = ToolResult.failed(failure, stage=stage)
        text = result.content
        job_id = workflow = None
        if self._context is not None:
            job_id, workflow = self._context.job_id, self._context.workflow
            self._context.announce(
                ToolFailed, tool=self._name, call_id=self._call_id, stage=stage.value, text=text, failure=failure
            )
        if not logged:
            log_failure(failure, tool=self._name, call_id=self._call_id or None, job_id=job_id, workflow_id=workflow)
        if self._on_failure is not None:
            told = ToolFailure(tool=self._name, call_id=self._call_id, stage=stage, failure=failure, text=text)
            try:
                self._on_failure(told)
            except Exception:
                logger.exception("the on_failure hook raised when told of a failed call of %s", self._name)
        return result

    def _caller_is_cancelled(self) -> bool:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            # In the thread of a synchronous body: a cancel reaches the job, never the thread.
            return False
        return task is not None and task.cancelling() > self._cancels


def _members(error: BaseException) -> Iterator[BaseException]:
    yield error
    for member in group_members(error):
        yield from _members(member)


def timeout_failure(name: str, budget: float | None, *, may_still_run: bool) -> LLMReadableException:
    """Make the failure of a call whose time budget ran out; a thread cannot be stopped, and the text says so."""
    if not may_still_run:
        return JobTimeoutException(budget)
    had = "" if budget is None else f" of {seconds(budget)}"
    return UncorrectableRuntimeLLMException(
        f"The time budget{had} of {name} ran out before it finished, so there is no result. {STILL_RUNNING}"
    )
