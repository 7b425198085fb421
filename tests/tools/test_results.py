import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
from anthropic.types import ToolParam, ToolResultBlockParam
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from pydantic import BaseModel, TypeAdapter, computed_field

from nucleo import Tool, ToolResult, call_tool, tool
from nucleo.errors import VERDICT_UNCORRECTABLE, InvalidInputException, SystemException
from nucleo.testing import run
from nucleo.tools import Stage, to_text


def given_back(value):
    @tool
    async def give() -> object:
        """Give."""
        return value

    return run(call_tool(give, None))


class Colour(str, Enum):  # noqa: UP042 - older code has such enumerations
    RED = "red"


@dataclass
class Line:
    price: Decimal
    id: UUID


class Order(BaseModel):
    lines: list[Line]

    @computed_field
    @property
    def count(self) -> int:
        return len(self.lines)


class Special(Order):
    gift: bool = True


@pytest.mark.parametrize(
    ("value", "content"),
    [
        (" \n", "(no output)"),
        (Colour.RED, "red"),
        ("a\ud800b", "a?b"),
        ("größer", "größer"),
        (b"bytes", '"bytes"'),
        ({"a": (1, 2)}, '{"a":[1,2]}'),
        (
            Special(lines=[Line(Decimal("1.50"), UUID(int=1))]),
            '{"lines":[{"price":"1.50","id":"00000000-0000-0000-0000-000000000001"}],"gift":true,"count":1}',
        ),
        (False, "false"),
        (0, "0"),
    ],
)
def test_a_value_is_serialised_as_pydantic_does_and_is_never_blank(value, content):
    assert given_back(value).content == content


def circular():
    circle = []
    circle.append(circle)
    return circle


def deep():
    value = []
    for _ in range(10_000):
        value = [value]
    return value


class Lazy(BaseModel):
    @computed_field
    @property
    def total(self) -> int:
        raise RuntimeError("pg://u:hunter2@db")


@pytest.mark.parametrize(
    "make", [object, circular, deep, Lazy, lambda: {1: {"x": object()}}, lambda: b"\xff", lambda: ["\ud800"]]
)
def test_what_cannot_be_serialised_is_one_failure_of_the_result_stage(make, caplog):
    result = given_back(make())
    assert result.stage is Stage.RESULT
    assert isinstance(result.failure, SystemException)
    assert (
        result.content
        == f"A system error occurred in give. The operation could not be completed.\n{VERDICT_UNCORRECTABLE}"
    )
    assert len(caplog.records) == 1


def test_an_awaitable_that_a_sync_body_gives_back_is_closed_and_told_apart(caplog):
    async def inner() -> str:
        return "x"

    @tool
    def outer() -> object:
        """Give."""
        return inner()

    # A coroutine that is never awaited would be a warning, and warnings fail here.
    result = run(call_tool(outer, None))
    assert result.stage is Stage.RESULT
    assert "async def" in caplog.text
    assert "async def" not in result.content


def test_a_result_of_another_call_is_given_on_as_it_is():
    inner = ToolResult.succeeded("7")
    assert given_back(inner) is inner


@settings(max_examples=200, deadline=None)
@given(
    value=st.text(alphabet=st.characters(), max_size=50)
    | st.floats()
    | st.lists(st.text(max_size=5), max_size=3)
    | st.none()
    | st.binary(max_size=9)
)
def test_any_result_survives_the_json_of_every_provider(value):
    result = given_back(value)
    for message in (result.for_anthropic("c"), result.for_openai("c")):
        assert json.loads(json.dumps(message, ensure_ascii=False).encode())["content"].strip()


@tool
async def find_order(number: str, lines: list[Line] | None = None, colour: Colour = Colour.RED) -> str:
    """Find an order.

    Args:
        number: Its number.
    """
    raise InvalidInputException("number", number, "it looks like ORD-1234")


def test_definitions_are_those_of_the_official_clients():
    given_form = TypeAdapter(ToolParam).validate_python(find_order.for_anthropic(), strict=True)
    assert given_form["name"] == "find_order"
    assert given_form["input_schema"]["type"] == "object"
    chat = TypeAdapter(ChatCompletionFunctionToolParam).validate_python(find_order.for_openai(), strict=True)
    assert chat["function"]["parameters"] == find_order.input_schema
    assert chat["function"]["description"] == "Find an order."


@pytest.mark.parametrize("arguments", [{"number": "7"}, {}])
def test_results_are_those_of_the_official_clients(arguments):
    result = run(call_tool(find_order, arguments))
    block = TypeAdapter(ToolResultBlockParam).validate_python(result.for_anthropic("call_1"))
    assert (block["type"], block["tool_use_id"], block["is_error"]) == ("tool_result", "call_1", True)
    message = TypeAdapter(ChatCompletionToolMessageParam).validate_python(result.for_openai("call_1"), strict=True)
    assert message == {"role": "tool", "tool_call_id": "call_1", "content": result.content}


def test_the_text_of_a_value_is_the_same_for_whoever_asks():
    assert to_text({"a": 1}) == '{"a":1}'
    assert to_text("a") == "a"


def test_a_tool_says_what_it_is():
    assert repr(find_order) == "<Tool find_order>"
    assert isinstance(find_order, Tool)
