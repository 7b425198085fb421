"""A conversation as turns: what one side says before the other speaks.

Apart from the messages because it is the rule that every provider has in common: a tool call is answered exactly once,
before anything else is said.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nucleo.errors import SystemException
from nucleo.models.messages import (
    AssistantMessage,
    Message,
    ToolCallResult,
    ToolResultsMessage,
    UserMessage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTurn:
    """Everything said to the model between two of its replies.

    Attributes:
        results: Results of its tool calls; they come first on every wire.
        texts: What else was said, blank texts left out.
    """

    results: tuple[ToolCallResult, ...]
    texts: tuple[str, ...]


def turns(messages: Iterable[Message]) -> Iterator[AssistantMessage | AnswerTurn]:
    """Give a conversation turn by turn, checked.

    Args:
        messages: The conversation.

    Returns:
        The model's messages one by one, and what was said to it between them as one turn.

    Raises:
        SystemException: A tool call has no result or several, or a result has no call. Such a conversation would be
            refused by any provider; it is a defect of whoever made it.
    """
    open_calls: Counter[str] = Counter()
    results: list[ToolCallResult] = []
    texts: list[str] = []
    for message in messages:
        match message:
            case UserMessage():
                if message.text.strip():
                    texts.append(message.text)
            case ToolResultsMessage():
                results.extend(message.results)
            case AssistantMessage():
                yield from _closed(open_calls, results, texts)
                yield message
                open_calls = Counter(call.id for call in message.tool_calls)
                results, texts = [], []
    yield from _closed(open_calls, results, texts)


def _closed(calls: Counter[str], results: list[ToolCallResult], texts: list[str]) -> Iterator[AnswerTurn]:
    answered = Counter(result.call_id for result in results)
    if calls != answered:
        missing, surplus = sorted((calls - answered).elements()), sorted((answered - calls).elements())
        raise SystemException(
            "the conversation",
            f"every tool call needs exactly one result: without result {missing}, without call {surplus}",
        )
    if results or texts:
        yield AnswerTurn(results=tuple(results), texts=tuple(texts))


def check_last_turn(messages: Sequence[Message]) -> None:
    """Check the end of a conversation alone, for whoever has checked the turns before it already.

    Args:
        messages: The conversation.

    Raises:
        SystemException: As `turns` does.
    """
    start = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], AssistantMessage)), 0)
    for _ in turns(messages[start:]):
        pass
