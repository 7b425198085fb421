"""The jobs of a tool: one call for a model, whose failure is its result, and one for code, whose failure is raised."""

from collections.abc import Mapping
from typing import Any

from nucleo.errors import LLMReadableException, unwrap
from nucleo.errors.chain import interpreter_signal
from nucleo.errors.retry import readable_twin, retry_signal_in
from nucleo.jobs import Job, JobContext, Requirements, Resources
from nucleo.tools.arguments import ParsingFault, read_arguments
from nucleo.tools.boundary import Boundary, FailureHook
from nucleo.tools.discretion import secrets_of, without_secrets
from nucleo.tools.result import Stage, ToolResult
from nucleo.tools.tool import Tool


class ToolCallJob(Job[ToolResult]):
    """One call of an asynchronous tool for a model. Only what stops the job itself makes it fail."""

    def __init__(self, tool: Tool[..., Any], call_id: str, raw: object, on_failure: FailureHook | None) -> None:
        self.name = tool.name
        self.timeout = tool.timeout
        self._tool = tool
        self._call_id = call_id
        self._raw = raw
        self._on_failure = on_failure

    def requirements(self) -> Requirements:
        """What the tool needs."""
        return self._tool.requirements()

    async def run(self, resources: Resources, context: JobContext) -> ToolResult:
        """Read the arguments, call the body, make the result."""
        boundary = self._boundary(context)
        boundary.watch_cancels()
        values = boundary.arguments(self._raw, self._tool)
        if isinstance(values, ToolResult):
            return values
        try:
            value = await self._tool.invoke(values, resources, context)
        except BaseException as error:  # noqa: BLE001 - the seam where a tool call returns
            return self._ended_badly(boundary, error, context)
        return boundary.succeeded(value)

    def _boundary(self, context: JobContext) -> Boundary:
        return Boundary(self.name, call_id=self._call_id, on_failure=self._on_failure, context=context)

    @staticmethod
    def _ended_badly(boundary: Boundary, error: BaseException, context: JobContext) -> ToolResult:
        if context.timed_out or context.cancelled:
            # What a stopped body raises on its way out is the casualty of the stop; the job ends by that.
            raise error
        return boundary.raised(error, Stage.BODY)


class ThreadedToolCallJob(ToolCallJob):
    """One call of a synchronous tool for a model."""

    threaded = True

    def run_sync(self, resources: Resources, context: JobContext) -> ToolResult:
        """Read the arguments, call the body, make the result, in a thread."""
        boundary = self._boundary(context)
        values = boundary.arguments(self._raw, self._tool)
        if isinstance(values, ToolResult):
            return values
        try:
            value = self._tool.invoke(values, resources, context)
        except BaseException as error:  # noqa: BLE001 - the seam where a tool call returns
            return self._ended_badly(boundary, error, context)
        return boundary.succeeded(value)


class ToolValueJob(Job[Any]):
    """One call of an asynchronous tool for code: its result is the tool's value, its failures are raised."""

    def __init__(self, tool: Tool[..., Any], arguments: Mapping[str, Any]) -> None:
        self.name = tool.name
        self.timeout = tool.timeout
        self._tool = tool
        self._arguments = arguments

    def requirements(self) -> Requirements:
        """What the tool needs."""
        return self._tool.requirements()

    async def run(self, resources: Resources, context: JobContext) -> Any:
        """Read the arguments and call the body."""
        values = self._values()
        try:
            return await self._tool.invoke(values, resources, context)
        except BaseException as error:  # noqa: BLE001 - the seam where a tool call returns
            failure = self._typed(error)
        # Outside the handler: a signal that is the failure's context would run the tool again.
        raise failure

    def _values(self) -> dict[str, Any]:
        try:
            return read_arguments(self._arguments, self._tool.signature)
        except ParsingFault as fault:
            failure: LLMReadableException = fault.failure
        raise failure

    def _typed(self, error: BaseException) -> BaseException:
        signal = retry_signal_in(error)
        if signal is not None:
            failure = readable_twin(signal)
        elif interpreter_signal(error) is not None:
            return error
        else:
            failure = unwrap(error, component=self.name)
        signature = self._tool.signature
        if not signature.secrets:
            return failure
        return without_secrets(failure, secrets_of(signature, self._arguments, self._arguments))


class ThreadedToolValueJob(ToolValueJob):
    """One call of a synchronous tool for code."""

    threaded = True

    def run_sync(self, resources: Resources, context: JobContext) -> Any:
        """Read the arguments and call the body, in a thread."""
        values = self._values()
        try:
            return self._tool.invoke(values, resources, context)
        except BaseException as error:  # noqa: BLE001 - the seam where a tool call returns
            failure = self._typed(error)
        raise failure


def call_job(tool: Tool[..., Any], call_id: str, raw: object, on_failure: FailureHook | None) -> Job[ToolResult]:
    """Make the job of one call for a model."""
    kind = ThreadedToolCallJob if tool.threaded else ToolCallJob
    return kind(tool, call_id, raw, on_failure)


def value_job(tool: Tool[..., Any], arguments: Mapping[str, Any]) -> Job[Any]:
    """Make the job of one call for code."""
    return (ThreadedToolValueJob if tool.threaded else ToolValueJob)(tool, arguments)
