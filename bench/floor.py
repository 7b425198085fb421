"""The floor: what an agent loop costs when somebody writes it by hand for one case.

Plain asyncio and pydantic: typed arguments, typed results, one task a tool call, a model that is a function. No
failure set, no events, no handles, no cancellation, no limits. What we add above this is what a user pays for us.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError, validate_call


class Order(BaseModel):
    """What the tool answers."""

    number: str
    status: str


class Answer(BaseModel):
    """What the agent answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the scripted model."""

    id: str
    name: str
    arguments: str


Model = Callable[[list[dict[str, Any]]], Awaitable[Call | str]]
_ANSWER = TypeAdapter(Answer)


class FloorTool:
    """A tool made by hand: its argument validation and its serialiser, built once."""

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self.name = function.__name__
        self._call = validate_call(function)
        self._result: TypeAdapter[Any] = TypeAdapter(Order)

    async def run(self, arguments: str) -> str:
        """Validate, call, serialise; a failure becomes its text."""
        try:
            value = await self._call(**json.loads(arguments))
        except (ValidationError, ValueError) as error:
            return f"error: {error}"
        return self._result.dump_json(value).decode()


async def floor_run(task: str, tools: dict[str, FloorTool], model: Model) -> Answer:
    """Ask, act, and ask again until there is an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    while True:
        reply = await model(messages)
        if isinstance(reply, str):
            messages.append({"role": "assistant", "content": reply})
            return _ANSWER.validate_json(reply)
        messages.append({"role": "assistant", "calls": [reply]})
        result = await asyncio.create_task(tools[reply.name].run(reply.arguments))
        messages.append({"role": "tool", "id": reply.id, "content": result})
