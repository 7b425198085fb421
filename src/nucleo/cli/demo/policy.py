"""A policy in the model's place: it reads the text that a model would read, and decides from nothing else.

It knows the tools by what they are called and described as, the way a model does, and nothing of the service or of
its schedule. When a failure says that correcting can help, it looks in the failure's words for how; when it says that
it cannot, it takes another way; when something may have been done already, it looks before it repeats it; when no way
is left, it says so.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.models import AssistantMessage, Request, ToolCall, ToolResultsMessage, UserMessage

_NUMBER: Final = re.compile(r"\b(?:[A-Z]{2,5}-)?\d{4,}\b")
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_EXAMPLE: Final = re.compile(r"looks? like ([A-Z]+-)\d+")
_CANCEL: Final = "cancel_order"
_CANCELLED: Final = "cancelled"
_LOOKING: Final = ("find_order", "find_archived_order", "search_orders")
_MOST_CANCELS: Final = 2


@dataclass(slots=True)
class _Order:
    """What is known of one order in the question, from what the tools said.

    Attributes:
        number: Its number, as far as it is known how that is written.
        status: What a tool last said of it.
        tried: How often each tool was called for it and needs no correcting.
        cancel_unsure: A cancel may have been carried out, and nobody has looked since.
        cancel_undone: Somebody has looked, and it had not been.
    """

    number: str
    status: str | None = None
    tried: Counter[str] = field(default_factory=Counter[str])
    cancel_unsure: bool = False
    cancel_undone: bool = False


def decide(request: Request) -> list[ToolCall] | str:
    """Read a conversation and decide what to do next, as a model would.

    Args:
        request: What a model would be sent.

    Returns:
        The calls to make, or the final answer as JSON.
    """
    question = next(message.text for message in request.messages if isinstance(message, UserMessage))
    customer = next(iter(_EMAIL.findall(question)), None)
    cancel = "cancel" in question.lower()
    orders = [_Order(number) for number in dict.fromkeys(_NUMBER.findall(_EMAIL.sub("", question)))]
    # What describes itself as a copy of last night cannot tell what was done today.
    old = {tool.name for tool in request.tools if "last night" in tool.description.lower()}
    for name, arguments, text in _results(request):
        for order in orders:
            if arguments.get("number") == order.number or name == "search_orders":
                _read(order, name, text, is_old=name in old)
    offered = {tool.name for tool in request.tools}
    steps = [step for order in orders if (step := _next_step(order, customer, offered, old, cancel=cancel)) is not None]
    turn = len(request.messages)
    calls = [
        ToolCall(id=f"call_{turn}_{place}", name=name, arguments=json.dumps(arguments))
        for place, (name, arguments) in enumerate(steps)
    ]
    return calls or _answer(orders, cancel=cancel)


def _results(request: Request) -> Iterator[tuple[str, dict[str, str], str]]:
    calls: dict[str, ToolCall] = {}
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            calls.update({call.id: call for call in message.tool_calls})
        elif isinstance(message, ToolResultsMessage):
            for result in message.results:
                given = calls[result.call_id].arguments
                yield result.name, json.loads(given) if isinstance(given, str) else given, result.content


def _read(order: _Order, name: str, text: str, *, is_old: bool) -> None:
    # By its last line, as a model has to: not every provider has a flag beside the text that says so.
    if text.endswith((VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)):
        _read_failure(order, name, text)
        return
    order.tried[name] += 1
    answer: Any = json.loads(text)
    for found in cast("list[dict[str, str]]", answer if isinstance(answer, list) else [answer]):
        if found.get("number") != order.number or (is_old and order.status is not None):
            continue
        order.status = found["status"]
        if order.cancel_unsure and not is_old:
            order.cancel_unsure = False
            order.cancel_undone = order.status != _CANCELLED


def _read_failure(order: _Order, name: str, text: str) -> None:
    if text.endswith(VERDICT_CORRECTABLE):
        example = _EXAMPLE.search(text)
        if example is not None and not order.number.startswith(example[1]):
            # The failure says how a number is written: write ours that way, and call again.
            order.number = example[1] + order.number.rpartition("-")[2]
            return
    order.tried[name] += 1
    if name == _CANCEL:
        order.cancel_unsure = "may have been" in text
        order.cancel_undone = False
        # What was known before says nothing of what is so now.
        order.status = None
        order.tried = Counter({_CANCEL: order.tried[_CANCEL]})


def _next_step(
    order: _Order, customer: str | None, offered: set[str], old: set[str], *, cancel: bool
) -> tuple[str, dict[str, str]] | None:
    if cancel and _CANCEL in offered and order.status != _CANCELLED:
        first = not order.tried[_CANCEL]
        again = order.cancel_undone and order.tried[_CANCEL] < _MOST_CANCELS
        if first or again:
            return _CANCEL, {"number": order.number}
    if order.status is not None and not order.cancel_unsure:
        return None
    for way in _LOOKING:
        if way not in offered or order.tried[way] or (order.cancel_unsure and way in old):
            continue
        if way != "search_orders":
            return way, {"number": order.number}
        if customer is not None:
            return way, {"customer": customer}
    return None


def _answer(orders: Sequence[_Order], *, cancel: bool) -> str:
    known = [order for order in orders if order.status is not None and not order.cancel_unsure]
    missing = ", ".join(order.number for order in orders if order not in known)
    states = ", ".join(f"{order.number} is {order.status}" for order in known)
    if missing or not orders:
        text = f"I could not find out about {missing or 'the order'}. Every way I have has failed or found nothing."
    elif cancel and any(order.status != _CANCELLED for order in known):
        text = f"I could not cancel what you asked me to: {states}."
    else:
        stated = [{"number": order.number, "status": order.status} for order in known]
        text = f"{states}{', as you asked' if cancel else ''}."
        return json.dumps({"found_out": True, "orders": stated, "text": text})
    return json.dumps({"found_out": False, "orders": [], "text": text})
