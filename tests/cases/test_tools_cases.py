"""Public reports about tools, at the boundary itself: what a loop of anybody's would see. One test a case, by its id."""

import asyncio
import threading
from typing import Any, Literal

import pytest
from anthropic.types import ToolResultBlockParam
from openai.types.chat import ChatCompletionToolMessageParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import BaseModel, TypeAdapter, create_model

from nucleo import Palette, call_tool, tool
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    InvalidInputException,
    ResourceNotFoundException,
    SystemException,
)
from nucleo.testing import run
from nucleo.tools import Stage


def called(what, arguments=None, **options):
    return run(call_tool(what, arguments, **options))


def named(name):
    @tool(name=name)
    async def some() -> str:
        """Do something."""
        return name

    return some


def test_d01_what_a_tool_says_in_the_set_is_read_as_it_stands_with_its_verdict():
    @tool
    async def user(number: int) -> str:
        """Find a user."""
        raise ResourceNotFoundException("user", str(number))

    content = called(user, {"number": 7}).content
    assert "There is no user with identifier '7'." in content
    assert content.endswith(VERDICT_CORRECTABLE)


def test_d04_the_developer_reads_what_the_model_does_not(caplog):
    @tool
    async def take(x: int) -> str:
        """Take."""
        raise RuntimeError("the pool at db.internal is empty")

    content = called(take, {"x": 1}).content
    assert "db.internal" not in content
    assert "again" not in content.lower()
    assert "db.internal" in caplog.text


def test_d05_the_closest_of_hundreds_of_tools_comes_first_in_a_short_answer():
    palette = Palette([*[named(f"fetch_record_{n:03}") for n in range(300)], named("search_docs")])
    content = called(palette, "{}", name="serch_docs").content
    listed = content.partition("look at ")[2]
    assert listed.startswith("search_docs")
    assert len(content) < 400
    assert "301 tools" in content


def test_d06_every_call_of_a_long_session_is_answered_and_the_next_one_works():
    palette = Palette([named("find"), named("list")])

    async def session():
        calls = ["find", "list", "delete_everything", "find", "", "list"]
        return [await call_tool(palette, "{}", name=name) for name in calls]

    results = run(session())
    assert [result.is_error for result in results] == [False, False, True, False, True, False]
    assert all(result.content for result in results)


def test_d08_one_hook_hears_of_six_stages():
    @tool(timeout=0.1)
    async def fail(where: Literal["body", "result", "timeout"]) -> Any:
        """Fail."""
        if where == "body":
            raise KeyError(where)
        if where == "timeout":
            await asyncio.sleep(9)
        return object()

    heard = []
    for name, raw in [
        ("fial", "{}"),
        ("fail", "[]"),
        ("fail", "{}"),
        ("fail", '{"where": "body"}'),
        ("fail", '{"where": "result"}'),
        ("fail", '{"where": "timeout"}'),
    ]:
        called(Palette([fail]), raw, name=name, on_failure=heard.append)
    assert [each.stage for each in heard] == [
        Stage.LOOKUP,
        Stage.PARSING,
        Stage.VALIDATION,
        Stage.BODY,
        Stage.RESULT,
        Stage.TIMEOUT,
    ]


@pytest.mark.parametrize("error", [RuntimeError(), RuntimeError(""), ValueError("\n"), KeyError(), OSError()])
def test_d10_a_failure_without_words_has_words_in_every_format(error):
    @tool
    async def mute() -> str:
        """Fail without words."""
        raise error

    result = called(mute)
    anthropic = TypeAdapter(ToolResultBlockParam).validate_python(result.for_anthropic("call_1"))
    chat = TypeAdapter(ChatCompletionToolMessageParam).validate_python(result.for_openai("call_1"))
    responses = TypeAdapter(FunctionCallOutput).validate_python(
        {"type": "function_call_output", "call_id": "call_1", "output": result.content}
    )
    assert anthropic["is_error"] is True
    for text in (result.for_anthropic("call_1")["content"], chat["content"], responses["output"]):
        assert text.startswith("A system error occurred in mute.")


@pytest.mark.parametrize("size", [10, 20_000])
def test_d17_many_missing_fields_are_named_or_counted_whatever_the_size_of_the_rest(size):
    large = create_model("Large", **{f"field_{n:02}": (dict[str, int], ...) for n in range(300)})

    @tool
    async def take(large: large) -> str:
        """Take."""
        return ""

    content = called(take, {"large": {"other": "x" * size}}).content
    assert "large.field_00" in content
    assert "more" in content
    assert len(content.encode()) < 4200


def test_d18_nested_faults_cost_the_same_whatever_the_items_hold():
    class Item(BaseModel):
        id: int
        text: str

    @tool
    async def take(items: list[Item]) -> str:
        """Take."""
        return ""

    def told(size):
        return called(take, {"items": [{"text": "x" * size}] * 20}).content

    assert "items.3.id" in told(500)
    assert "items.19.id" in told(500)
    assert len(told(500)) == len(told(5))


def test_d22_our_data_is_not_the_models_arguments():
    class Upstream(BaseModel):
        id: int

    @tool
    async def read(id: int) -> int:
        """Read."""
        return Upstream.model_validate({"id": "none"}).id

    theirs = called(read, {"id": "none"})
    assert (theirs.stage, type(theirs.failure)) == (Stage.VALIDATION, InvalidInputException)
    assert theirs.content.endswith(VERDICT_CORRECTABLE)
    ours = called(read, {"id": 1})
    assert (ours.stage, type(ours.failure)) == (Stage.BODY, SystemException)
    assert ours.content.endswith(VERDICT_UNCORRECTABLE)
    assert "whole number" not in ours.content


def test_d23_an_object_in_a_string_is_taken_and_any_other_string_told_exactly():
    @tool
    async def age(age: int) -> int:
        """Give the age."""
        return age

    assert called(age, '"{\\"age\\": 28}"').value == 28
    assert "arguments must be an object, you sent a string" in called(age, '"age is 28"').content


def test_d26_a_subclass_of_a_readable_class_shows_its_own_words_and_no_cause_of_it():
    class OutOfStock(InvalidInputException):
        """An application's own."""

    @tool
    async def reserve(article: str) -> str:
        """Reserve."""
        try:
            raise ConnectionError("amqp://stock:s3cr3t@10.0.0.7/")
        except ConnectionError as error:
            raise OutOfStock("article", article, "choose one that is in stock") from error

    content = called(reserve, {"article": "A-1"}).content
    assert "choose one that is in stock" in content
    assert "s3cr3t" not in content
    assert "10.0.0.7" not in content


def test_d79_a_timeout_is_a_result_that_says_how_long_and_what_became_of_the_body():
    ended, release = [], threading.Event()

    @tool(timeout=0.2)
    async def slow() -> str:
        """Be slow."""
        try:
            await asyncio.sleep(5)
        finally:
            ended.append(asyncio.get_running_loop().time())
        return ""

    @tool(timeout=0.05)
    def slow_in_a_thread() -> str:
        """Be slow."""
        release.wait(20)
        return ""

    async def main():
        begun = asyncio.get_running_loop().time()
        result = await call_tool(slow, None)
        assert ended[0] - begun < 0.3
        return result

    cancelled = run(main())
    left_behind = asyncio.run(call_tool(slow_in_a_thread, None))
    release.set()
    assert cancelled.stage is left_behind.stage is Stage.TIMEOUT
    assert "0.2 seconds" in cancelled.content
    assert "still be running" not in cancelled.content
    assert "0.05 seconds" in left_behind.content
    assert "may still be running" in left_behind.content
