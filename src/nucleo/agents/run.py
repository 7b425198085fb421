"""One run of a thinker: the loop from the task to the answer, every ending of it typed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from nucleo.agents.model_call import ModelAccess, ModelCall, ModelTurn
from nucleo.agents.repetition import Repetition
from nucleo.agents.tool_calls import ToolCalls
from nucleo.conversation import Transcript
from nucleo.errors import (
    ContextOverflowException,
    JobCancelledException,
    JobTimeoutException,
    ProviderRefusalException,
    QuotaExhaustedException,
    SpendCapExceededException,
    TokenEstimateExceedsLimitException,
    UncorrectableRuntimeLLMException,
)
from nucleo.jobs import Job, JobContext, Resources
from nucleo.models import AssistantMessage, Message, Request, ToolResultsMessage, UserMessage, shared_model
from nucleo.tools import to_text

if TYPE_CHECKING:
    from nucleo.agents.thinker import Thinker

In = TypeVar("In")
Out = TypeVar("Out")

_ENDINGS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (JobTimeoutException, "timeout"),
    (JobCancelledException, "cancelled"),
    (QuotaExhaustedException, "quota"),
    (SpendCapExceededException, "spend_cap"),
    (ProviderRefusalException, "refusal"),
    ((TokenEstimateExceedsLimitException, ContextOverflowException), "overflow"),
)


class ThinkerJob(Job[Out], Generic[In, Out]):
    """One run of a thinker on one task. An orchestrator: it holds nothing while it waits for its calls."""

    orchestrator = True

    def __init__(self, thinker: "Thinker[In, Out]", task: In, history: Sequence[Message] = ()) -> None:
        self.name = thinker.name
        self._thinker = thinker
        self._task = task
        self._history = history

    async def run(self, resources: Resources, context: JobContext) -> Out:
        """Ask, act, and ask again until there is an answer.

        Raises:
            LLMReadableException: Every other ending, typed; `ended_by` on the handle says which in a word.
        """
        del resources
        transcript = Transcript(self._history, instructions=self._thinker.system)
        context.handle.transcript = transcript
        transcript.add(UserMessage(text=to_text(self._task)))
        try:
            answer = await self._turns(context, transcript, await self._access())
        except BaseException as failure:
            if context.handle.ended_by is None:
                context.handle.ended_by = _ending(failure, context)
            raise
        context.handle.ended_by = "answer"
        return answer

    async def _access(self) -> ModelAccess:
        chosen = self._thinker.chosen_model
        if isinstance(chosen, str):
            opened = await shared_model(chosen)
            client, provider, wire_name = opened.client, opened.provider, opened.wire_name
            ceiling = opened.max_output
        else:
            client, ceiling = chosen, None
            provider = str(getattr(chosen, "provider", type(chosen).__name__))
            wire_name = str(getattr(chosen, "model", None) or "")
        return ModelAccess(
            client=client,
            provider=provider,
            wire_name=wire_name,
            ceiling=self._thinker.output_ceiling or ceiling,
        )

    async def _turns(self, context: JobContext, transcript: Transcript, access: ModelAccess) -> Out:
        repetition = Repetition(self._thinker.repeat_limit)
        for _ in range(self._thinker.max_turns):
            turn = await self._ask(context, transcript, access)
            message = transcript.add(turn.reply.message)
            calls = cast("AssistantMessage", message).tool_calls
            if not calls:
                return cast("Out", turn.answer)
            await self._act(context, transcript, ToolCalls(calls, palette=self._thinker.palette, repetition=repetition))
        context.handle.ended_by = "turn_limit"
        raise UncorrectableRuntimeLLMException(
            f"{self._thinker.name} used all its {self._thinker.max_turns} turns without reaching an answer."
        )

    async def _ask(self, context: JobContext, transcript: Transcript, access: ModelAccess) -> ModelTurn[Out]:
        thinker = self._thinker
        request = Request(
            model=access.wire_name,
            messages=transcript.messages,
            system=thinker.system,
            tools=thinker.palette.definitions(),
            max_output_tokens=thinker.max_output_tokens,
            output_schema=thinker.answer_type.schema,
            temperature=thinker.temperature,
        )
        call = ModelCall(request, answer_type=thinker.answer_type, access=access)
        try:
            return await context.submit(call)
        finally:
            # However the call ended, what was said in it was said.
            for message in call.corrections:
                transcript.add(message)

    async def _act(self, context: JobContext, transcript: Transcript, calls: ToolCalls) -> None:
        try:
            await calls.run(context)
        except BaseException:
            # The run is being stopped: what has ended keeps its result, the rest is closed as interrupted.
            transcript.interrupt(calls.results)
            raise
        results = calls.results
        transcript.add(ToolResultsMessage(results=tuple(results[call.id] for call in transcript.open_calls)))
        if calls.one_too_many is not None:
            context.handle.ended_by = "repeated_failure"
            raise UncorrectableRuntimeLLMException(
                f"{self._thinker.name} was stopped: its model called {calls.one_too_many.name} again and again, "
                "and it failed in the same way every time."
            )


def _ending(failure: BaseException, context: JobContext) -> str:
    if context.cancelled:
        return "cancelled"
    if context.timed_out:
        return "timeout"
    return next((word for kinds, word in _ENDINGS if isinstance(failure, kinds)), "failure")
