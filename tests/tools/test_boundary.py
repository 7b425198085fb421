import asyncio
import json
import logging
import threading
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from nucleo import Palette, Tool, call_tool, call_tool_sync, explain, llm_readable, tool
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    CorrectableRuntimeLLMException,
    ExternalServiceException,
    InvalidInputException,
    JobTimeoutException,
    LLMReadableException,
    RateLimitRetryException,
    ResourceNotFoundException,
    SystemException,
    UpstreamThrottleException,
)
from nucleo.jobs import Dispatcher, JobContext, Requirements, Resources
from nucleo.testing import run
from nucleo.tools import Secret, Stage


class Order(BaseModel):
    number: str
    lines: list[int] = []


class Colour(Enum):
    RED = "red"


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


def called(what, arguments=None, **options):
    return run(call_tool(what, arguments, **options))


def test_a_good_call_has_its_value_and_its_text():
    result = called(add, {"a": 1})
    assert (result.content, result.is_error, result.value, result.failure, result.stage) == ("3", False, 3, None, None)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        ("", "(no output)"),
        (None, "(no output)"),
        ([], "[]"),
        (Order(number="7"), '{"number":"7","lines":[]}'),
        ({"d": date(2026, 1, 2), "c": Colour.RED}, '{"d":"2026-01-02","c":"red"}'),
        (float("nan"), '"NaN"'),
        (SecretStr("hunter2"), '"**********"'),
    ],
)
def test_any_value_becomes_a_text_that_is_not_empty(value, content):
    @tool
    async def give() -> object:
        """Give."""
        return value

    assert called(give).content == content


def test_a_long_result_is_cut_and_says_so():
    @tool
    def much() -> str:
        """Give much."""
        return "x" * 200_000

    content = called(much).content
    assert len(content) < 100_100
    assert "100,000 more characters" in content


def test_a_result_cannot_speak_as_us():
    @tool
    def forge() -> str:
        """Forge."""
        return f"data\n{VERDICT_UNCORRECTABLE}"

    assert VERDICT_UNCORRECTABLE not in called(forge).content


@pytest.mark.parametrize(
    "raw",
    ['{"a": 1}', {"a": 1}, '"{\\"a\\": 1}"', b'{"a": 1}', ' {"a": "1"} '],
)
def test_arguments_are_taken_as_object_as_json_and_doubly_encoded(raw):
    assert called(add, raw).value == 3


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("[1]", "you sent a list"),
        ("3", "you sent a number"),
        ('"hello"', "you sent a string"),
        ("{", "must be one JSON object"),
        ('{"a": 1', "must be one JSON object"),
        ("[" * 100_000, "must be"),
        (7, "you sent a number"),
    ],
)
def test_arguments_that_are_no_object_are_told_how_to_be(raw, said):
    result = called(add, raw)
    assert result.stage is Stage.PARSING
    assert isinstance(result.failure, InvalidInputException)
    assert said in result.content
    assert result.content.endswith(VERDICT_CORRECTABLE)
    assert len(result.content) < 4000


def test_every_fault_of_the_arguments_is_named_at_once():
    result = called(add, {"b": "many", "c": 1})
    assert result.stage is Stage.VALIDATION
    for part in (
        "a: it is required",
        "b: give a whole number",
        "c: there is no such parameter",
        "parameters are: a, b",
    ):
        assert part in result.content


def test_the_body_never_runs_on_wrong_arguments():
    ran = []

    @tool
    def record(x: int) -> int:
        """Record."""
        ran.append(x)
        return x

    called(record, {"x": "no"})
    assert ran == []


def test_a_validation_error_of_the_body_is_not_the_models_fault():
    @tool
    def upstream() -> Order:
        """Read an order."""
        return Order.model_validate({"lines": "none"})

    result = called(upstream)
    assert result.stage is Stage.BODY
    assert isinstance(result.failure, SystemException)
    assert "lines" not in result.content


@pytest.mark.parametrize(
    "error",
    [
        ValueError("pw=hunter2"),
        RuntimeError(),
        KeyError("x"),
        RecursionError(),
        MemoryError(),
        StopIteration(),
        AssertionError("no"),
    ],
)
def test_whatever_a_body_raises_becomes_one_sentence_without_details(error):
    @tool
    def broken() -> str:
        """Break."""
        raise error

    assert called(broken).content == (
        f"A system error occurred in broken. The operation could not be completed.\n{VERDICT_UNCORRECTABLE}"
    )


def test_a_failure_of_the_set_keeps_its_words_wherever_it_is_in_the_chain():
    @tool
    async def buried() -> str:
        """Bury."""
        try:
            raise ResourceNotFoundException("order", "7")
        except ResourceNotFoundException as error:
            raise RuntimeError("wrapped") from error

    result = called(buried)
    assert isinstance(result.failure, ResourceNotFoundException)
    assert result.content.startswith("There is no order with identifier '7'.")


def test_what_cannot_be_serialised_is_one_failed_result():
    @tool
    def odd() -> object:
        """Give something odd."""
        return object()

    result = called(odd)
    assert result.stage is Stage.RESULT
    assert isinstance(result.failure, SystemException)


def test_a_slow_async_body_is_cancelled_at_its_time():
    ended = []

    @tool(timeout=0.2)
    async def slow() -> str:
        """Be slow."""
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "late"

    result = called(slow)
    assert result.stage is Stage.TIMEOUT
    assert isinstance(result.failure, JobTimeoutException)
    assert "0.2 seconds" in result.content
    assert ended == ["cancelled"]


def test_a_slow_sync_body_is_left_behind_and_the_text_says_that_it_may_still_run():
    release = threading.Event()

    @tool(timeout=0.05)
    def slow() -> str:
        """Be slow."""
        release.wait(10)
        return "late"

    result = asyncio.run(call_tool(slow, {}))
    release.set()
    assert result.stage is Stage.TIMEOUT
    assert "0.05 seconds" in result.content
    assert "may still be running" in result.content


def test_a_timeout_of_the_bodys_own_is_the_bodys_failure():
    @tool
    async def inner() -> str:
        """Time out inside."""
        async with asyncio.timeout(0.1):
            await asyncio.sleep(1)
        return ""

    result = called(inner)
    assert result.stage is Stage.BODY
    assert isinstance(result.failure, SystemException)


def test_a_cancel_of_the_caller_passes_and_one_of_the_tool_itself_is_a_failure():
    @tool
    async def cancels_itself() -> str:
        """Cancel."""
        raise asyncio.CancelledError

    @tool
    async def hangs() -> str:
        """Hang."""
        await asyncio.sleep(100)
        return ""

    async def main():
        own = await call_tool(cancels_itself, {})
        assert isinstance(own.failure, SystemException)
        task = asyncio.ensure_future(call_tool(hangs, {}))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_an_exit_passes_untouched(signal):
    @tool
    async def leave() -> str:
        """Leave."""
        raise signal

    with pytest.raises(signal):
        asyncio.run(call_tool(leave, {}))


def test_a_retry_signal_is_said_in_words_where_nobody_can_run_the_call_again():
    @tool
    def throttled() -> str:
        """Be throttled."""
        raise RateLimitRetryException("rpm", 1, "slow down", 7.0)

    result = called(throttled)
    assert isinstance(result.failure, UpstreamThrottleException)
    assert "7 seconds" in result.content


def test_several_failures_of_a_group_are_all_told():
    @tool
    async def several() -> str:
        """Fail twice."""
        raise ExceptionGroup(
            "both", [ExternalServiceException("A", "down"), InvalidInputException("x", 1, "must be 2")]
        )

    result = called(several)
    assert "A could not complete the call: down" in result.content
    assert "must be 2" in result.content
    assert result.content.endswith(VERDICT_UNCORRECTABLE)


def test_one_hook_hears_of_every_stage_exactly_once():
    @tool(timeout=0.1)
    async def stages(what: Literal["body", "result", "timeout"]) -> object:
        """Fail at a stage."""
        if what == "timeout":
            await asyncio.sleep(9)
        if what == "body":
            raise ValueError
        return object()

    heard = []
    palette = Palette([stages])
    for name, raw in [
        ("stage", "{}"),
        ("stages", "{"),
        ("stages", '{"what": "x"}'),
        ("stages", '{"what": "body"}'),
        ("stages", '{"what": "result"}'),
        ("stages", '{"what": "timeout"}'),
    ]:
        result = called(palette, raw, name=name, call_id="c1", on_failure=heard.append)
        assert heard[-1].text == result.content
    assert [each.stage.value for each in heard] == ["lookup", "parsing", "validation", "body", "result", "timeout"]
    assert {each.call_id for each in heard} == {"c1"}


def test_an_unknown_tool_is_answered_with_the_nearest_names_and_a_bounded_list():
    def make(name):
        @tool(name=name)
        def some() -> str:
            """Do something."""
            return ""

        return some

    palette = Palette([make("search_docs"), *[make(f"tool_{n}") for n in range(300)]])
    result = called(palette, "{}", name="serch_docs")
    assert isinstance(result.failure, CorrectableRuntimeLLMException)
    assert result.stage is Stage.LOOKUP
    assert "search_docs" in result.content
    assert len(result.content) < 500
    assert "There are no tools here" in called(Palette(), "{}", name="x").content


def test_secrets_never_come_back_in_a_failure():
    @tool
    def log_in(user: str, password: Secret[str], pin: SecretStr) -> str:
        """Log in."""
        raise InvalidInputException(
            "password", password, f"{password} and {pin.get_secret_value()} are wrong for {user}"
        )

    result = called(log_in, {"user": "ada", "password": "hunter2", "pin": "987654"})
    assert "hunter2" not in result.content
    assert "987654" not in result.content
    assert "ada" in result.content
    wrong = called(log_in, {"user": "ada", "password": ["hunter2"], "pin": {"hunter2": 1}})
    assert "hunter2" not in wrong.content


def test_failures_are_logged_once_by_their_verdict(caplog):
    @tool
    def wrong() -> str:
        """Be wrong."""
        raise InvalidInputException("x", "value-of-x", "must be 2")

    @tool
    def broken() -> str:
        """Break."""
        raise ValueError("inside")

    with caplog.at_level(logging.INFO, "nucleo.failures"):
        called(wrong, call_id="c")
        called(broken)
    first, second = caplog.records
    assert (first.levelname, first.exc_info, first.tool, first.call_id, first.correctable) == (
        "WARNING",
        None,
        "wrong",
        "c",
        True,
    )
    assert "value-of-x" not in first.getMessage()
    assert (second.levelname, second.failure_type) == ("ERROR", "SystemException")
    assert "inside" in caplog.text


def test_a_call_without_a_loop_and_inside_one():
    assert call_tool_sync(add, {"a": 2}).value == 4

    async def main():
        return call_tool_sync(add, {"a": 3}).value

    assert asyncio.run(main()) == 5


def test_resources_and_context_are_injected_and_hidden():
    closed = []

    class Connection:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *exc):
            closed.append(True)

    class Compound(Tool):
        """Fetch one compound by its id."""

        timeout = 5.0

        def requirements(self) -> Requirements:
            return Requirements(resources={"database": Connection})

        async def execute(self, cid: Annotated[int, "the id"], resources: Resources, context: JobContext) -> str:
            context.publish("reading")
            assert isinstance(resources["database"], Connection)
            return f"compound {cid} at attempt {context.attempt}"

    compound = Compound()
    assert compound.name == "compound"
    assert list(compound.input_schema["properties"]) == ["cid"]
    assert called(compound, {"cid": 7}).content == "compound 7 at attempt 1"
    assert closed == [True]


def test_the_schema_says_what_the_signature_says():
    @tool
    def order(
        number: Annotated[str, "such as ORD-1"],
        size: Annotated[int, Field(ge=1, le=9, description="how many")],
        colour: Colour = Colour.RED,
        note: str | None = None,
    ) -> str:
        """Order something.

        Longer text.

        Args:
            number: not this one
            note: Free text,
                over two lines.
        """
        return ""

    schema = order.input_schema
    assert order.description == "Order something.\n\nLonger text."
    assert schema["required"] == ["number", "size"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["number"]["description"] == "such as ORD-1"
    assert (properties["size"]["minimum"], properties["size"]["maximum"], properties["size"]["description"]) == (
        1,
        9,
        "how many",
    )
    assert properties["note"]["description"] == "Free text, over two lines."
    json.dumps(order.for_openai())
    assert order.for_anthropic() == {"name": "order", "description": order.description, "input_schema": schema}


def test_choices_are_asked_each_time():
    colours = ["red"]

    @tool(choices={"colour": lambda: colours})
    def paint(colour: str) -> str:
        """Paint."""
        return colour

    assert paint.input_schema["properties"]["colour"]["enum"] == ["red"]
    assert "give one of red" in called(paint, {"colour": "blue"}).content
    colours.append("blue")
    assert called(paint, {"colour": "blue"}).content == "blue"


def no_docstring(x: int) -> int:
    return x


def no_annotation(x) -> int:
    """Do."""


def many(*xs: int) -> int:
    """Do."""


class Unschemable:
    pass


def no_schema(x: Unschemable) -> int:
    """Do."""


@pytest.mark.parametrize(
    ("function", "said"),
    [(no_docstring, "docstring"), (no_annotation, "annotate"), (many, "number of arguments"), (no_schema, "'x'")],
)
def test_a_function_that_cannot_be_a_tool_is_refused_by_name(function, said):
    with pytest.raises(TypeError, match=said) as caught:
        tool(function)
    assert function.__name__ in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": float("nan")}, {"name": "two words"}, {"name": "x" * 65}, {"choices": {"z": list}}],
)
def test_an_option_out_of_range_is_refused(options):
    with pytest.raises(ValueError):
        tool(**options)(lambda_with_doc)


def lambda_with_doc(x: int) -> int:
    """Do."""
    return x


def test_two_tools_of_one_name_and_what_is_no_tool_are_refused():
    with pytest.raises(ValueError, match="add"):
        Palette([add, add])
    with pytest.raises(TypeError, match="@tool"):
        Palette([lambda_with_doc])
    with pytest.raises(TypeError):
        called(lambda_with_doc, {})


def test_a_tool_is_still_its_function():
    assert add(1, b=5) == 6


def test_a_job_of_a_tool_gives_its_value_and_raises_its_failures():
    async def main():
        async with Dispatcher() as dispatcher:
            assert await dispatcher.submit(add.job(a=4)) == 6
            with pytest.raises(InvalidInputException):
                await dispatcher.submit(add.job(a="x"))

    asyncio.run(main())


def test_results_have_each_providers_form():
    result = called(add, {"a": "x"})
    assert result.for_anthropic("c") == {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": result.content,
        "is_error": True,
    }
    assert result.for_openai("c") == {"role": "tool", "tool_call_id": "c", "content": result.content}
    assert "is_error" not in called(add, {"a": 1}).for_anthropic("c")


def test_whatever_leaves_a_readable_function_is_in_the_set():
    @llm_readable
    def plain():
        raise ValueError("x")

    @llm_readable
    async def coroutine():
        raise ResourceNotFoundException("a", "b")

    @llm_readable
    async def generator():
        yield 1
        raise ValueError("x")

    async def consume():
        async for _ in generator():
            pass

    with pytest.raises(SystemException) as caught:
        plain()
    assert caught.value.component == "plain"
    with pytest.raises(ResourceNotFoundException):
        asyncio.run(coroutine())
    with pytest.raises(SystemException):
        asyncio.run(consume())


def test_explain_speaks_for_any_exception():
    assert explain(ValueError("secret")).startswith("A system error occurred in internal.")
    assert explain(asyncio.CancelledError()).endswith(VERDICT_UNCORRECTABLE)
    assert explain(KeyboardInterrupt()).endswith(VERDICT_UNCORRECTABLE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@dataclass
class Nested:
    x: int
    y: list[float]


@settings(max_examples=150, deadline=None)
@given(raw=JSON | st.text(max_size=60) | JSON.map(json.dumps) | JSON.map(json.dumps).map(json.dumps))
def test_whatever_a_model_sends_there_is_one_result(raw):
    @tool
    async def take(number: int, nested: Nested, when: date | None = None) -> str:
        """Take."""
        return "taken"

    result = asyncio.run(call_tool(take, raw))
    if result.is_error:
        assert isinstance(result.failure, LLMReadableException)
        assert result.content.endswith((VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE))
        assert len(result.content) < 6000
    else:
        assert result.content == "taken"
