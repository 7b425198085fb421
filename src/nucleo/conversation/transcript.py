"""The transcript of one run: messages in order, in which every tool call has exactly one result.

Providers refuse a conversation with a call that lacks its result, or a result that lacks its call, and say so only
when it is sent. So the rule is kept here, where messages are added, and a run that is stopped in the middle of its
calls closes them before it leaves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nucleo.models import AssistantMessage, Message, ToolCall, ToolCallResult, ToolResultsMessage, UserMessage

INTERRUPTED = "The call was interrupted before it finished, so there is no result."


class Transcript(Sequence[Message]):
    """The messages of one run, oldest first. Grows only; adding a message costs the same however long it is.

    Attributes:
        instructions: What the model was told to be, or None.
    """

    def __init__(self, messages: Sequence[Message] = (), *, instructions: str | None = None) -> None:
        self.instructions = instructions
        self._messages: list[Message] = []
        self._call_ids: set[str] = set()
        self._open: dict[str, ToolCall] = {}
        for message in messages:
            self.add(message)

    def add(self, message: Message) -> Message:
        """Add a message.

        Args:
            message: What was said. A call id that is empty or was used before is replaced by a new one.

        Returns:
            The message as it was added.

        Raises:
            ValueError: Results for calls that are not open, calls left without a result, or a second speaker while
                calls are open: a provider would refuse the conversation.
        """
        if isinstance(message, ToolResultsMessage):
            self._close(message)
        elif self._open:
            raise ValueError(f"these calls have no result yet: {', '.join(self._open)}")
        if isinstance(message, AssistantMessage):
            message = self._with_own_ids(message)
        self._messages.append(message)
        return message

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages so far, as a value."""
        return tuple(self._messages)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last message that have no result yet, in the order asked."""
        return tuple(self._open.values())

    def interrupt(self, known: Mapping[str, ToolCallResult] | None = None) -> None:
        """Close the open calls of a run that is stopped: with the results that are there, else as interrupted.

        Args:
            known: Results of calls that did finish, by call id.
        """
        if not self._open:
            return
        known = known or {}
        self.add(
            ToolResultsMessage(
                results=tuple(
                    known.get(call.id)
                    or ToolCallResult(call_id=call.id, name=call.name, content=INTERRUPTED, is_error=True)
                    for call in self.open_calls
                )
            )
        )

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, index: int | slice) -> "Message | Sequence[Message]":  # type: ignore[override]
        return self._messages[index]

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    def to_text(self) -> str:
        """Render the transcript for a person, one paragraph a message."""
        return "\n\n".join(_paragraph(message) for message in self._messages)

    def _close(self, message: ToolResultsMessage) -> None:
        answered = [result.call_id for result in message.results]
        if sorted(answered) != sorted(self._open):
            raise ValueError(
                f"results for the calls {', '.join(answered) or 'none'}, but open are {', '.join(self._open) or 'none'}"
            )
        self._open.clear()

    def _with_own_ids(self, message: AssistantMessage) -> AssistantMessage:
        calls = message.tool_calls
        if not calls:
            return message
        blocks = message.blocks
        ids = [call.id for call in calls]
        if len(set(ids)) < len(ids) or not all(ids) or not self._call_ids.isdisjoint(ids):
            blocks = tuple(self._own_id(block) if isinstance(block, ToolCall) else block for block in blocks)
            message = replace(message, blocks=blocks)
            calls = message.tool_calls
        self._call_ids.update(call.id for call in calls)
        self._open = {call.id: call for call in calls}
        return message

    def _own_id(self, call: ToolCall) -> ToolCall:
        if not call.id or call.id in self._call_ids:
            call = replace(call, id=f"call_{len(self._call_ids) + 1}_{len(self._messages)}")
        self._call_ids.add(call.id)
        return call


def _paragraph(message: Message) -> str:
    match message:
        case UserMessage(text=text, automatic=automatic):
            return f"{'automatic' if automatic else 'user'}: {text}"
        case AssistantMessage():
            lines = [f"model: {message.text}"] if message.text else []
            lines += [f"model calls {call.name}({call.arguments})" for call in message.tool_calls]
            return "\n".join(lines)
        case ToolResultsMessage(results=results):
            return "\n".join(
                f"{result.name} {'failed' if result.is_error else 'answered'}: {result.content}" for result in results
            )
