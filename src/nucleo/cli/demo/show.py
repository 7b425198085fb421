"""What the demo prints: at every failure what the model read and did next, and at the end a table.

Everything fits a terminal of a hundred columns. What the model read stands behind a bar, word for word; only lines that
are longer than the terminal are broken, and go on further in.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from nucleo.cli.demo.agent import OrderAnswer
from nucleo.cli.demo.orders import Question
from nucleo.conversation import Transcript
from nucleo.models import AssistantMessage, Message, ToolCall, ToolResultsMessage, UserMessage

_WIDTH = 100
_COLUMNS = (36, 21, 5, 31)


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
    answer: OrderAnswer | None = None
    failure: str | None = None
    calls: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])

    @property
    def right(self) -> bool:
        """Answered right when it can be answered, honestly given up when it cannot."""
        if self.answer is None:
            return False
        if not self.question.answerable:
            return not self.answer.found_out and not self.answer.orders
        stated = {(order.number, order.status.lower()) for order in self.answer.orders}
        return self.answer.found_out and stated == set(self.question.statuses)


def show_heading(number: int, count: int) -> None:
    """Print the line above a question."""
    print(f"--- question {number} of {count} ".ljust(_WIDTH, "-"))


def show_transcript(transcript: Transcript, logged: dict[str, str]) -> None:
    """Print the conversation of one question, in the order it happened.

    Args:
        transcript: What was said.
        logged: What the developer's log got of a failed call, by the id of the call.
    """
    calls: dict[str, ToolCall] = {}
    for message in transcript:
        if isinstance(message, AssistantMessage):
            calls = {call.id: call for call in message.tool_calls}
        _show_message(message, calls, logged)


def show_outcome(outcome: Outcome) -> None:
    """Print how a question ended, against what a right answer says."""
    if outcome.failure is not None:
        _say("the run failed:", outcome.failure)
    if outcome.right:
        print("  => right\n" if outcome.question.answerable else "  => right: nobody could have found out\n")
        return
    expected = _states(outcome.question.statuses) or "to be told that it cannot be found out"
    print(f"  => WRONG: a right answer was {expected}\n")


def show_summary(outcomes: Sequence[Outcome], sent: Counter[str]) -> None:
    """Print the table of all questions.

    Args:
        outcomes: How each question ended.
        sent: What the service sent, by status.
    """
    print("=" * _WIDTH)
    _show_row("", ("question", "answer", "calls", "failures"))
    for outcome in outcomes:
        by_class = "\n".join(f"{name} x{count}" for name, count in outcome.failures.items()) or "-"
        mark = "ok" if outcome.right else "!!"
        _show_row(mark, (outcome.question.text, _gist(outcome), f"{outcome.calls:>5}", by_class))
    right = sum(outcome.right for outcome in outcomes)
    calls = sum(outcome.calls for outcome in outcomes)
    failures = sum(outcome.failures.total() for outcome in outcomes)
    broken = sum(outcome.failure is not None for outcome in outcomes)
    stopped = "none of which stopped the agent" if not broken else f"and {broken} runs that failed"
    print("-" * _WIDTH)
    print(
        f"{right} of {len(outcomes)} questions ended right: answered from what the services said, or honestly given up."
    )
    print(f"{calls} tool calls, {failures} failures, {stopped}.")
    counted = ", ".join(f"{status} x{count}" for status, count in sorted(sent.items()))
    _print_broken("The service sent ", f"{counted}.", indent=" " * 17)


def _show_message(message: Message, calls: dict[str, ToolCall], logged: dict[str, str]) -> None:
    match message:
        case UserMessage(text=text):
            _say("the application says:" if message.automatic else "the customer asks:", text)
        case ToolResultsMessage(results=results):
            for result in results:
                call = calls.get(result.call_id)
                name = _written(call) if call is not None and len(results) > 1 else result.name
                _say(f"{name} failed, and the model reads:" if result.is_error else f"{name} answers:", result.content)
                if result.call_id in logged:
                    _print_broken("  the log gets: ", logged[result.call_id], indent=" " * 16)
        case AssistantMessage():
            if message.text:
                _show_words(message.text, calling=bool(message.tool_calls))
            for call in message.tool_calls:
                _print_broken("  the model calls ", _written(call), indent=" " * 8)


def _show_words(text: str, *, calling: bool) -> None:
    try:
        answer = None if calling else OrderAnswer.model_validate_json(text)
    except ValidationError:
        answer = None
    if answer is None:
        _say("the model says:", text)
        return
    _say("the model answers:", answer.text)
    states = _states((order.number, order.status) for order in answer.orders)
    _print_broken("  as data: ", f"found_out={answer.found_out}, orders: {states or 'none'}", indent=" " * 11)


def _say(title: str, text: str) -> None:
    _print_broken("  ", title, indent=" " * 8)
    for line in text.split("\n"):
        _print_broken("    | ", line, indent="    |   ")


def _print_broken(first: str, text: str, *, indent: str) -> None:
    # Hyphens stay whole: an order number that is broken in two is no order number.
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        replace_whitespace=False,
        expand_tabs=False,
        break_on_hyphens=False,
    )
    print("\n".join(lines) or first.rstrip())


def _show_row(mark: str, cells: Sequence[str]) -> None:
    columns = [
        [part for line in cell.split("\n") for part in textwrap.wrap(line, width, drop_whitespace=False) or [""]]
        for cell, width in zip(cells, _COLUMNS, strict=True)
    ]
    for row in range(max(map(len, columns))):
        parts = [(column[row] if row < len(column) else "").ljust(_COLUMNS[i]) for i, column in enumerate(columns)]
        print(f"{mark if row == 0 else '':2} {' '.join(parts)}".rstrip())


def _written(call: ToolCall) -> str:
    return f"{call.name}({call.arguments})"


def _gist(outcome: Outcome) -> str:
    if outcome.answer is None:
        return "the run failed"
    if not outcome.answer.found_out:
        return "could not find out"
    return ",\n".join(f"{order.number} {order.status}" for order in outcome.answer.orders) or "nothing stated"


def _states(orders: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{number} {status}" for number, status in orders)
