"""A policy in the model's place: it reads the text that a model would read, and decides from nothing else.

It knows the tools by what they are called and described as, the way a model does, and nothing of the service or of
its schedule. When a failure says that correcting can help, it looks in the failure's words for how; when it says that
it cannot, it takes another way; when no way is left it says so.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from nucleo.errors import VERDICT_CORRECTABLE
from nucleo.models import Request, ToolCall, ToolCallResult, ToolResultsMessage, UserMessage

_NUMBER = re.compile(r"\b(?:[A-Z]{2,5}-)?\d{4,}\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_EXAMPLE = re.compile(r"looks? like ([A-Z]+-)\d+")
_SINGLE_ORDER_WAYS = ("find_order", "find_archived_order", "search_orders")


@dataclass(slots=True)
class _Order:
    """What is known of one order in the question, from what the tools said."""

    number: str
    status: str | None = None
    tried: list[str] = field(default_factory=list[str])
    given_up: bool = False
    unsure_of_cancel: bool = False


def decide(request: Request) -> ToolCall | list[ToolCall] | str:
    """Read a conversation and decide what to do next, as a model would.

    Args:
        request: What a model would be sent.

    Returns:
        The calls to make, or the final answer as JSON.
    """
    question = next(message.text for message in request.messages if isinstance(message, UserMessage))
    customer = next(iter(_EMAIL.findall(question)), None)
    cancel = "cancel" in question.lower()
    orders = [_Order(number) for number in _NUMBER.findall(_EMAIL.sub("", question))]
    for name, arguments, result in _results(request):
        _read(orders, name, arguments, result)
    offered = {tool.name for tool in request.tools}
    calls = [
        call
        for order in orders
        if (call := _next_call(order, customer, offered, cancel=cancel, serial=len(request.messages))) is not None
    ]
    return calls or _answer(orders, cancel=cancel)


def _results(request: Request) -> Iterator[tuple[str, dict[str, str], ToolCallResult]]:
    arguments: dict[str, dict[str, str]] = {}
    for message in request.messages:
        if isinstance(message, ToolResultsMessage):
            for result in message.results:
                yield result.name, arguments[result.call_id], result
        elif not isinstance(message, UserMessage):
            for call in message.tool_calls:
                arguments[call.id] = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments


def _read(orders: Sequence[_Order], name: str, arguments: dict[str, str], result: ToolCallResult) -> None:
    for order in orders:
        if arguments.get("number") != order.number and name != "search_orders":
            continue
        if not result.is_error:
            _read_answer(order, name, result.content)
        elif order.status is None:
            _read_failure(order, name, result.content)


def _read_answer(order: _Order, name: str, content: str) -> None:
    order.tried.append(name)
    answer: Any = json.loads(content)
    for found in cast("list[dict[str, str]]", answer if isinstance(answer, list) else [answer]):
        if found.get("number") == order.number:
            order.status = found["status"]
            order.unsure_of_cancel = False


def _read_failure(order: _Order, name: str, text: str) -> None:
    if text.endswith(VERDICT_CORRECTABLE):
        example = _EXAMPLE.search(text)
        if example is not None and not order.number.startswith(example[1]):
            # The failure says how a number is written: write ours that way, and call again.
            order.number = example[1] + order.number.rpartition("-")[2]
            return
    if "may have been" in text and "Check before" in text:
        order.unsure_of_cancel = True
    order.tried.append(name)


def _next_call(order: _Order, customer: str | None, offered: set[str], *, cancel: bool, serial: int) -> ToolCall | None:
    if order.status is not None and not (cancel and order.status != "cancelled" and "cancel_order" not in order.tried):
        return None
    if cancel and "cancel_order" not in order.tried and "cancel_order" in offered:
        return _call("cancel_order", {"number": order.number}, serial)
    for way in _SINGLE_ORDER_WAYS:
        if way in order.tried or way not in offered:
            continue
        if way == "search_orders":
            return None if customer is None else _call(way, {"customer": customer}, serial)
        return _call(way, {"number": order.number}, serial)
    return None


def _call(name: str, arguments: dict[str, str], serial: int) -> ToolCall:
    return ToolCall(id=f"{name}_{serial}_{arguments.get('number', '')}", name=name, arguments=json.dumps(arguments))


def _answer(orders: Sequence[_Order], *, cancel: bool) -> str:
    known = [order for order in orders if order.status is not None]
    if len(known) < len(orders) or not orders:
        missing = ", ".join(order.number for order in orders if order.status is None) or "the order"
        text = f"I could not find out about {missing}. Every way I have has failed or found nothing."
        return json.dumps({"found_out": False, "orders": [], "text": text})
    states = ", ".join(f"{order.number} is {order.status}" for order in known)
    text = f"{states[0].upper()}{states[1:]}{', as you asked' if cancel else ''}."
    return json.dumps(
        {
            "found_out": True,
            "orders": [{"number": order.number, "status": order.status} for order in known],
            "text": text,
        }
    )
