"""What the demo prints: at every failure what the model read and did next, and at the end a table."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nucleo.cli.demo.agent import OrderAnswer
from nucleo.cli.demo.orders import Question
from nucleo.conversation import Transcript
from nucleo.models import AssistantMessage, Message, ToolResultsMessage, UserMessage

_WIDTH = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the agent did on one question.

    Attributes:
        question: The question.
        answer: Its answer, or None when the run failed.
        failure: Why the run failed, or None.
        calls: Tool calls made.
        failures: Tool failures by class.
    """

    question: Question
    answer: OrderAnswer | None
    failure: str | None
    calls: int
    failures: Counter[str]

    @property
    def right(self) -> bool:
        """Answered right when it can be answered, honestly given up when it cannot."""
        if self.answer is None:
            return False
        if not self.question.answerable:
            return not self.answer.found_out and not self.answer.orders
        stated = {(order.number, order.status.lower()) for order in self.answer.orders}
        return self.answer.found_out and stated == set(self.question.statuses)


def show_transcript(transcript: Transcript) -> None:
    """Print the conversation of one question, in the order it happened."""
    for message in transcript:
        _show_message(message)


def show_summary(outcomes: Sequence[Outcome]) -> None:
    """Print the table of all questions."""
    print("=" * _WIDTH)
    print(f"{'':2} {'question':<52} {'answer':<24} {'calls':>5}  failures")
    for outcome in outcomes:
        mark = "ok" if outcome.right else "!!"
        question, gist = _short(outcome.question.text, 52), _short(_gist(outcome), 24)
        by_class = ", ".join(f"{name} x{count}" for name, count in outcome.failures.items()) or "-"
        print(f"{mark:2} {question:<52} {gist:<24} {outcome.calls:>5}  {by_class}")
    right = sum(outcome.right for outcome in outcomes)
    calls = sum(outcome.calls for outcome in outcomes)
    failures = sum(outcome.failures.total() for outcome in outcomes)
    print("-" * _WIDTH)
    print(
        f"{right} of {len(outcomes)} questions ended right: answered from what the services said, or honestly given "
        f"up.\n{calls} tool calls, {failures} failures, none of which stopped the agent."
    )


def _show_message(message: Message) -> None:
    match message:
        case UserMessage(text=text):
            _say("the customer asks" if not message.automatic else "the application says", text)
        case ToolResultsMessage(results=results):
            for result in results:
                title = (
                    f"the model reads, as the failure of {result.name}" if result.is_error else f"{result.name} answers"
                )
                _say(title, result.content)
        case AssistantMessage():
            if message.text:
                _say("the model answers" if not message.tool_calls else "the model says", message.text)
            for call in message.tool_calls:
                print(f"  the model calls {call.name}({call.arguments})")


def _say(title: str, text: str) -> None:
    print(f"  {title}:")
    for line in text.splitlines() or [""]:
        for part in textwrap.wrap(line, _WIDTH - 8) or [""]:
            print(f"      {part}")


def _gist(outcome: Outcome) -> str:
    if outcome.answer is None:
        return f"failed: {outcome.failure}"
    if not outcome.answer.found_out:
        return "could not find out"
    return ", ".join(f"{order.number} {order.status}" for order in outcome.answer.orders)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
