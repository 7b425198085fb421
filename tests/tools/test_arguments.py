import asyncio
import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from nucleo import call_tool, tool
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    InvalidInputException,
    ResourceNotFoundException,
    SystemException,
)
from nucleo.testing import run
from nucleo.tools import Stage


@tool
async def search(query: str, limit: int = 10, score: float = 0.5) -> dict[str, object]:
    """Search."""
    return {"query": query, "limit": limit, "score": score}


@tool
async def ping() -> str:
    """Answer."""
    return "pong"


@tool
async def anything(value: Any) -> str:
    """Take anything."""
    return "taken"


def called(what, arguments=None, **options):
    return run(call_tool(what, arguments, **options))


@pytest.mark.parametrize("raw", [None, "", "  ", {}, "{}", "null", '""', '"{}"', '"null"', b"", b"{}"])
def test_every_way_of_saying_nothing_means_no_arguments(raw):
    assert called(ping, raw).content == "pong"


def test_the_last_of_two_equal_keys_counts():
    assert called(search, '{"query": "a", "query": "b"}').value["query"] == "b"


@pytest.mark.parametrize("figure", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_figure_that_is_none_is_refused_by_name(figure):
    result = called(search, f'{{"query": "a", "score": {figure}}}')
    assert result.stage is Stage.VALIDATION
    assert "'score'" in result.content
    assert "finite number" in result.content


@pytest.mark.parametrize(
    "raw",
    [
        '{"value": ' + "9" * 5000 + "}",
        '{"value": ' + "[" * 300 + "]" * 300 + "}",
        '{"value": ' * 100_000,
        '{"value": "\\ud800"}',
        '{"value": "\ud800"}',
        b'{"value": "\xff"}',
        "\ufeff{}",
        '{"value": 1,}',
        "{'value': 1}",
        '```json\n{"value": 1}\n```',
    ],
)
def test_a_text_that_is_no_json_is_told_why_and_never_what_it_is_not(raw):
    result = called(anything, raw)
    assert result.stage is Stage.PARSING
    assert result.failure.parameter_name == "arguments"
    assert "the arguments must be one JSON object" in result.content
    assert "dict" not in result.content
    assert result.content.endswith(VERDICT_CORRECTABLE)
    assert len(result.content) < 1000


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("[1]", "a list"),
        ("true", "true or false"),
        ("1.5", "a number"),
        ('"hello"', "a string that contains no JSON object"),
        ('"[1]"', "a list"),
        ('"\\"\\\\\\"{}\\\\\\"\\""', "a string that contains no JSON object"),
        (7, "a number"),
        ([{"query": "a"}], "a list"),
        (object(), "a value of the type object"),
    ],
)
def test_what_is_no_object_is_told_by_its_kind(raw, kind):
    result = called(search, raw)
    assert result.stage is Stage.PARSING
    assert f"arguments must be an object, you sent {kind}" in result.content


def test_a_key_that_is_no_text_is_a_fault_like_any_other():
    result = called(search, {1: 2, "query": "a"})
    assert result.stage is Stage.VALIDATION
    assert "The parameters are: query, limit, score" in result.content


def test_a_misspelt_parameter_is_told_the_name_that_was_meant():
    result = called(search, {"qurey": "a", "colour": "red"})
    assert "Perhaps you meant 'query' for 'qurey'." in result.content
    assert "for 'colour'" not in result.content
    assert "query: it is required" in result.content


def test_a_tool_without_parameters_says_so():
    assert "The tool takes no parameters." in called(ping, {"x": 1}).content


def test_an_injected_parameter_cannot_be_given_by_a_model():
    from nucleo.jobs import JobContext

    @tool
    async def whose(context: JobContext) -> str:
        """Say whose."""
        return context.job_id

    assert called(whose, {"context": "mine"}).stage is Stage.VALIDATION


def test_a_validator_that_raises_a_failure_of_the_set_keeps_its_words():
    def known(value: str) -> str:
        raise ResourceNotFoundException("order", value)

    @tool
    async def find(number: Annotated[str, AfterValidator(known)]) -> str:
        """Find."""
        return number

    result = called(find, {"number": "7"})
    assert result.stage is Stage.VALIDATION
    assert isinstance(result.failure, ResourceNotFoundException)


def test_a_validator_that_breaks_is_not_the_models_fault():
    def broken(value: str) -> str:
        raise KeyError(value)

    @tool
    async def find(number: Annotated[str, AfterValidator(broken)]) -> str:
        """Find."""
        return number

    result = called(find, {"number": "7"})
    assert result.stage is Stage.VALIDATION
    assert isinstance(result.failure, SystemException)


def test_a_field_as_default_sets_bounds_and_the_default():
    @tool
    async def page(size: int = Field(5, ge=1, le=9, description="how many"), start: int = Field(ge=0)) -> str:
        """Give a page."""
        return f"{start}+{size}"

    assert page.input_schema["required"] == ["start"]
    assert page.input_schema["properties"]["size"]["default"] == 5
    assert called(page, {"start": 1}).content == "1+5"
    assert "at most 9" in called(page, {"start": 1, "size": 10}).content


def test_an_alias_is_the_name_the_model_knows():
    @tool
    async def send(sender: Annotated[str, Field(alias="from")]) -> str:
        """Send."""
        return sender

    assert list(send.input_schema["properties"]) == ["from"]
    assert called(send, {"from": "ada"}).content == "ada"
    assert "The parameters are: from" in called(send, {"sender": "ada"}).content


def test_parameters_by_position_alone_keep_their_places_and_defaults():
    @tool
    async def span(low: int = 1, high: int = 2, /, *, step: int = 3) -> list[int]:
        """Span."""
        return [low, high, step]

    assert called(span, {"high": 9}).value == [1, 9, 3]
    assert called(span, {}).value == [1, 2, 3]


class TestChoices:
    def test_a_wrong_choice_is_one_fault_among_all(self):
        @tool(choices={"colour": lambda: ["red", "blue"]})
        async def paint(colour: str, size: int) -> str:
            """Paint."""
            return colour

        content = called(paint, {"colour": "green", "size": "big"}).content
        assert "colour: give one of red, blue" in content
        assert "size: give a whole number" in content

    def test_of_many_choices_the_nearest_are_named_and_the_rest_counted(self):
        @tool(choices={"city": lambda: [f"city-{n}" for n in range(500)]})
        async def go(city: str) -> str:
            """Go."""
            return city

        content = called(go, {"city": "city-42x"}).content
        assert "city-42" in content
        assert "others" in content
        assert len(content) < 600

    def test_each_item_of_a_list_is_a_choice(self):
        @tool(choices={"tags": lambda: ["a", "b"]})
        async def tag(tags: list[str]) -> int:
            """Tag."""
            return len(tags)

        assert tag.input_schema["properties"]["tags"]["items"]["enum"] == ["a", "b"]
        assert called(tag, {"tags": ["a", "b", "a"]}).value == 3
        assert "give one of a, b" in called(tag, {"tags": ["a", "c"]}).content

    def test_null_stays_a_choice_where_the_annotation_allows_it(self):
        @tool(choices={"colour": lambda: ["red"]})
        async def paint(colour: str | None = None) -> str:
            """Paint."""
            return str(colour)

        assert paint.input_schema["properties"]["colour"]["enum"] == ["red", None]
        assert called(paint, {"colour": None}).content == "None"

    def test_a_function_of_choices_that_breaks_costs_neither_the_model_its_tools_nor_blames_it(self, caplog):
        def broken():
            raise ValueError("no connection to db.internal")

        @tool(choices={"colour": broken})
        async def paint(colour: str) -> str:
            """Paint."""
            return colour

        assert "enum" not in paint.input_schema["properties"]["colour"]
        result = called(paint, {"colour": "red"})
        assert isinstance(result.failure, SystemException)
        assert result.stage is Stage.VALIDATION
        assert "db.internal" not in result.content
        assert "db.internal" in caplog.text

    @pytest.mark.parametrize("choices", [["red"], {"colour": ["red"]}, lambda: ["red"]])
    def test_choices_that_are_no_functions_by_parameter_are_refused(self, choices):
        with pytest.raises(TypeError, match="choices"):

            @tool(choices=choices)
            async def paint(colour: str) -> str:
                """Paint."""
                return colour


class Line(BaseModel):
    id: int
    note: str = ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(["lines", "kind", "id"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    raw=st.one_of(
        JSON,
        st.text(max_size=60),
        st.text(alphabet=st.characters(), max_size=30),
        st.binary(max_size=40),
        JSON.map(json.dumps),
        JSON.map(json.dumps).map(json.dumps),
        st.dictionaries(st.sampled_from(["lines", "kind", "more", "lnes"]), JSON, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.none()), JSON, max_size=3),
    )
)
def test_whatever_a_model_sends_is_answered_in_bounds_and_with_a_verdict(raw):
    @tool
    async def order(lines: list[Line], kind: Literal["a", "b"], more: dict[str, float] | None = None) -> str:
        """Order."""
        return "ordered"

    result = asyncio.run(call_tool(order, raw))
    if not result.is_error:
        assert result.content == "ordered"
        return
    assert isinstance(result.failure, InvalidInputException)
    assert result.stage in {Stage.PARSING, Stage.VALIDATION}
    assert result.content.rpartition("\n")[2] in {VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE}
    assert result.content.count("[This error") == 1
    assert len(result.content.encode()) < 6000
    result.content.encode()
