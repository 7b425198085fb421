"""A model that says what it was told to say, for tests, examples and the demo.

It is a client like any other: it is asked with a `Request`, answers with a `Reply` or raises, and refuses the
conversations that a provider would refuse.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from nucleo.errors import LLMReadableException, ProviderRefusalException
from nucleo.models.messages import AssistantMessage, Block, TextBlock, ThinkingBlock, ToolCall
from nucleo.models.reply import Reply, TextDelta, assemble_reply
from nucleo.models.request import Request
from nucleo.models.signals import mark_final
from nucleo.models.stop import StopReason
from nucleo.models.turns import check_last_turn

Part: TypeAlias = Block | str | BaseException
"""A part of an answer: a text, a thought, a tool call; or an exception, at which the answer breaks off."""
Answer: TypeAlias = Reply | AssistantMessage | Part | Sequence[Part]
"""What a scripted model does when it is asked: reply, say a text, ask for one tool call or several, or raise."""
Policy: TypeAlias = Callable[[Request], Answer]
"""Decides by what the model was asked, as a model would."""

_WORD: Final = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """A model that plays a script, or follows a policy.

        model = ScriptedModel([ToolCall("1", "find_order", {"number": 1042}), "It is on its way."])
        model = ScriptedModel(lambda request: f"You said: {request.messages[-1].text}")

    Args:
        script: One answer for each call in order, any of them also a function of the request that gives one; or one
            such function that answers every call.
        model: What the replies say the model is.

    Attributes:
        requests: What the model was asked, in order.

    Raises:
        TypeError: The script is a single answer: write it as a sequence of one.
    """

    provider = "scripted"

    def __init__(self, script: Iterable[Answer | Policy] | Policy, *, model: str = "scripted") -> None:
        self.model = model
        self.requests: list[Request] = []
        self._policy = script if callable(script) else None
        if isinstance(script, str | Reply | AssistantMessage | Block | BaseException):
            raise TypeError(f"a script is a sequence of answers, not one {type(script).__name__}: write [answer]")
        self._script: Iterator[Answer | Policy] = iter(() if callable(script) else tuple(script))

    async def complete(self, request: Request) -> Reply:
        """Give the next answer.

        Raises:
            AssertionError: The script is at its end.
            BaseException: What the script says to raise.
            ProviderRefusalException: The answer is a reply that declines.
            SystemException: The conversation is one that any provider would refuse.
        """
        answer = self._next(request)
        _, failure = _broken_off(answer)
        if failure is not None:
            raise failure
        return self._reply(answer)

    async def stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply, None]:
        """Give the next answer word by word, then whole.

        Raises:
            BaseException: As `complete` does. An exception after a text comes when the text was given on, marked as
                final.
        """
        answer = self._next(request)
        text, failure = _broken_off(answer)
        reply = None if failure is not None else self._reply(answer)
        for word in _WORD.findall(text if reply is None else reply.message.text):
            yield TextDelta(word)
        if failure is not None:
            if text and isinstance(failure, LLMReadableException):
                mark_final(failure, characters=len(text))
            raise failure
        if reply is not None:
            yield reply

    async def count_tokens(self, request: Request) -> int | None:
        """A script has no counter."""
        del request
        return None

    async def aclose(self) -> None:
        """Nothing is held."""

    def _next(self, request: Request) -> Answer:
        self.requests.append(request)
        check_last_turn(request.messages)
        if self._policy is not None:
            return self._policy(request)
        answer = next(self._script, None)
        if answer is None:
            raise AssertionError(f"the script of {self.model} has no answer for call {len(self.requests)}")
        return answer(request) if callable(answer) else answer

    def _reply(self, answer: Answer) -> Reply:
        given = answer if isinstance(answer, Reply) else Reply(AssistantMessage(_blocks_of(answer)))
        reply = assemble_reply(
            given.message.blocks,
            given.stop_reason,
            usage=given.usage,
            model=given.model or self.model,
        )
        if reply.stop_reason is StopReason.REFUSAL:
            raise ProviderRefusalException(reply.model, None, reply.message.text or None)
        return reply


def _parts_of(answer: Answer) -> Sequence[Part]:
    match answer:
        case Reply():
            return answer.message.blocks
        case AssistantMessage():
            return answer.blocks
        case str() | BaseException() | TextBlock() | ThinkingBlock() | ToolCall():
            return (answer,)
        case _:
            return answer


def _blocks_of(answer: Answer) -> tuple[Block, ...]:
    return tuple(
        TextBlock(part) if isinstance(part, str) else part
        for part in _parts_of(answer)
        if not isinstance(part, BaseException)
    )


def _broken_off(answer: Answer) -> tuple[str, BaseException | None]:
    """Give the exception of an answer and the text before it."""
    text = ""
    for part in _parts_of(answer):
        if isinstance(part, BaseException):
            return text, part
        text += part if isinstance(part, str) else part.text if isinstance(part, TextBlock) else ""
    return text, None
