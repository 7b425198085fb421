"""One model call as a job: asked again when waiting, a correction or more room can fix it.

The call is the only thing the runtime repeats. What the model itself does wrong is explained to it in this call's own
request; what the provider does wrong becomes a signal that the dispatcher paces; everything else leaves typed.
"""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from nucleo.agents.answer import AnswerType
from nucleo.errors import (
    ContextOverflowException,
    JsonParseException,
    LLMReadableException,
    OutputTruncationRetryException,
    ResponseCorrectionRetryException,
    ResponseValidationException,
    UncorrectableRuntimeLLMException,
)
from nucleo.jobs import Job, JobContext, ModelCalled, Resources
from nucleo.models import Message, ModelClient, Reply, Request, StopReason, UserMessage, retry_signal

T = TypeVar("T")

MODEL_CALL_TIMEOUT = 600.0
"""Seconds one attempt of a model call may take."""
CORRECTIONS_PER_CALL = 2
"""Corrections of its replies that one model call may ask for; the dispatcher has the same budget for a job."""
CORRECTIONS_PER_RUN = 10
"""Corrections of replies that one run of a thinker may ask for in all."""

_AUTOMATIC = (
    "This is an automatic message of the application about your last reply. The person you work for has not seen "
    "that reply and did not write this.\n"
)


@dataclass(slots=True, kw_only=True)
class ModelAccess:
    """The model a run talks to, and what it still may ask of it.

    Attributes:
        client: Who carries the calls.
        provider: Its name, for signals and logs.
        wire_name: What the provider calls the model.
        ceiling: The most output tokens the model can give; None when that is not known.
        corrections_left: Corrections that this run may still ask for.
    """

    client: ModelClient
    provider: str
    wire_name: str = ""
    ceiling: int | None = None
    corrections_left: int = CORRECTIONS_PER_RUN


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn(Generic[T]):
    """What a model call gave: a reply, and its answer when the reply asks for no tools."""

    reply: Reply
    answer: T | None = None


class ModelCall(Job[ModelTurn[T]]):
    """One call of a model, until its reply can be used.

    Args:
        request: What is sent; it grows by the corrections of this call.
        answer_type: What a reply without tool calls must be.
        access: The model, and the allowance of the run.
    """

    name = "model"
    timeout: float | None = MODEL_CALL_TIMEOUT

    def __init__(self, request: Request, *, answer_type: AnswerType[T], access: ModelAccess) -> None:
        self.request = request
        self.corrections: list[Message] = []
        """Unusable replies and what was said about them, in order; part of the conversation."""
        self._corrected = 0
        self._answer_type = answer_type
        self._access = access

    async def run(self, resources: Resources, context: JobContext) -> ModelTurn[T]:
        """Call the model once, and judge what came back."""
        del resources
        reply = await self._complete(context)
        context.announce(ModelCalled, model=reply.model, stop_reason=reply.stop_reason.value, usage=reply.usage)
        if reply.stop_reason is StopReason.MAX_TOKENS:
            raise self._cut_off()
        if reply.stop_reason is StopReason.CONTEXT_OVERFLOW:
            raise ContextOverflowException(model_name=reply.model)
        if reply.message.tool_calls:
            return ModelTurn(reply=reply)
        try:
            return ModelTurn(reply=reply, answer=self._answer_type.read(reply.message.text))
        except (JsonParseException, ResponseValidationException) as failure:
            self._keep(reply)
            if not self._may_correct():
                raise
            raise self._correction(failure) from failure

    async def _complete(self, context: JobContext) -> Reply:
        try:
            return await self._access.client.complete(self.request)
        except LLMReadableException as failure:
            signal = retry_signal(failure, provider=self._access.provider, attempt=context.attempt)
            if signal is None:
                raise
            raise signal from failure

    def _cut_off(self) -> BaseException:
        """Ask once more with all the room the model has. A cut reply is never used, nor are its cut arguments."""
        budget, ceiling = self.request.max_output_tokens, self._access.ceiling
        if ceiling is not None and (budget is None or budget < ceiling):
            self.request = replace(self.request, max_output_tokens=ceiling)
            return OutputTruncationRetryException(self.request.model, budget, ceiling)
        limit = "its output limit" if budget is None else f"its output limit of {budget:,} tokens"
        return UncorrectableRuntimeLLMException(
            f"The reply of the model {self.request.model} was cut off at {limit}, so it cannot be used. "
            "Ask for less at once, or allow a longer output."
        )

    def _keep(self, reply: Reply) -> None:
        """Keep an unusable reply in the conversation; one without any text has no place in it."""
        if reply.message.text.strip():
            self._said(reply.message)

    def _may_correct(self) -> bool:
        return self._corrected < CORRECTIONS_PER_CALL and self._access.corrections_left > 0

    def _correction(self, failure: LLMReadableException) -> ResponseCorrectionRetryException:
        self._corrected += 1
        self._access.corrections_left -= 1
        self._said(UserMessage(text=f"{_AUTOMATIC}{failure.explain_to_llm()}", automatic=True))
        return ResponseCorrectionRetryException(self.request.model, self._corrected)

    def _said(self, message: Message) -> None:
        self.corrections.append(message)
        self.request = replace(self.request, messages=(*self.request.messages, message))
