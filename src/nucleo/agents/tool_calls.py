"""The tool calls of one turn: all submitted, then all awaited, and one result for each whatever happens."""

from collections.abc import Sequence

from nucleo.agents.repetition import Repetition
from nucleo.errors import LLMReadableException
from nucleo.jobs import JobContext, JobHandle
from nucleo.models import ToolCall, ToolCallResult
from nucleo.tools import Boundary, Palette, Stage, ToolResult


class ToolCalls:
    """The calls that one reply of a model asks for.

    Args:
        calls: The calls, in the order asked, each with an id of its own.
        palette: The tools that may be called.
        repetition: What the run remembers of failing calls.
    """

    def __init__(self, calls: Sequence[ToolCall], *, palette: Palette, repetition: Repetition) -> None:
        self._calls = calls
        self._palette = palette
        self._repetition = repetition
        self._ended: dict[str, ToolResult] = {}
        self.one_too_many: ToolCall | None = None
        """The call whose repetition must end the run, once `run` has returned."""

    async def run(self, context: JobContext) -> None:
        """Run every call. Returns when each has ended; a call that fails stops none of the others.

        Args:
            context: The run, on whose behalf the calls are made.
        """
        handles: list[tuple[ToolCall, JobHandle[ToolResult]]] = []
        for call in self._calls:
            refusal = self._repetition.refusal(call)
            if refusal is not None:
                boundary = Boundary(call.name, call_id=call.id, context=context)
                self._ended[call.id] = boundary.failed(refusal, Stage.REPETITION)
                continue
            job = self._palette.call_job(call.id, call.name, call.arguments)
            handles.append((call, context.submit(job)))
        try:
            for call, handle in handles:
                try:
                    self._ended[call.id] = await handle
                except LLMReadableException as failure:
                    tool = self._palette.get(call.name)
                    boundary = Boundary(call.name, call_id=call.id, context=context)
                    self._ended[call.id] = boundary.stopped(failure, threaded=tool is not None and tool.threaded)
        except BaseException:
            # The run is stopped while it waits for one of them; the others may have ended long ago.
            for call, handle in handles:
                if call.id not in self._ended and handle.done() and handle.exception() is None:
                    self._ended[call.id] = await handle
            raise
        self._take_note()

    def _take_note(self) -> None:
        for call in self._calls:
            ended = self._ended[call.id]
            unknown = ended.stage is Stage.LOOKUP
            if self._repetition.note(call, ended.failure, unknown_tool=unknown) and self.one_too_many is None:
                self.one_too_many = call

    @property
    def results(self) -> dict[str, ToolCallResult]:
        """What the model reads of the calls that have ended, by call id."""
        return {
            call.id: ToolCallResult(call_id=call.id, name=call.name, content=ended.content, is_error=ended.is_error)
            for call in self._calls
            if (ended := self._ended.get(call.id)) is not None
        }
