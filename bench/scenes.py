"""The same work twice: on the floor, and on a thinker."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from floor import Answer, Call, FloorTool, Order, floor_run

from nucleo import Dispatcher, Thinker, tool
from nucleo.errors import InvalidInputException
from nucleo.models import Request, ScriptedModel, ToolCall

ANSWER = json.dumps({"text": "It is on its way."})
_RULE = "an order number looks like ORD-1234"


@tool
async def find_order(number: str) -> Order:
    """Find an order by its number."""
    if not number.startswith("ORD-"):
        raise InvalidInputException("number", number, _RULE)
    return Order(number=number, status="shipped")


async def floor_find_order(number: str) -> Order:
    """Find an order by its number."""
    if not number.startswith("ORD-"):
        raise ValueError(f"invalid number {number!r}: {_RULE}")
    return Order(number=number, status="shipped")


def thinker_scene(
    calls: int, *, failing_first: bool = False, at_each_model_call: Callable[[], object] = lambda: None
) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Make a scene: a thinker whose scripted model makes so many tool calls, one a turn, then answers."""

    def policy(request: Request) -> ToolCall | str:
        at_each_model_call()
        made = (len(request.messages) - 1) // 2
        if made >= calls:
            return ANSWER
        number = "1042" if failing_first and made == 0 else f"ORD-{made:04}"
        return ToolCall(id=f"call_{made}", name="find_order", arguments=f'{{"number": "{number}"}}')

    agent = Thinker(
        "Answer the customer's question about an order.",
        tools=[find_order],
        model=ScriptedModel(policy),
        output=Answer,
        max_turns=calls + 1,
    )

    async def run() -> Answer:
        return await _DISPATCHER[0].submit(agent.job("Where is order 1042?"))

    return run


def floor_scene(calls: int, *, failing_first: bool = False) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Make the same scene on the floor."""

    async def model(messages: list[dict[str, Any]]) -> Call | str:
        made = (len(messages) - 1) // 2
        if made >= calls:
            return ANSWER
        number = "1042" if failing_first and made == 0 else f"ORD-{made:04}"
        return Call(f"call_{made}", "floor_find_order", f'{{"number": "{number}"}}')

    tools = {"floor_find_order": FloorTool(floor_find_order)}

    async def run() -> Answer:
        return await floor_run("Where is order 1042?", tools, model)

    return run


_DISPATCHER: list[Dispatcher] = []


async def in_dispatcher(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run work with a dispatcher of its own that the thinker scenes use."""
    async with Dispatcher() as dispatcher:
        _DISPATCHER[:] = [dispatcher]
        try:
            return await work()
        finally:
            _DISPATCHER.clear()
