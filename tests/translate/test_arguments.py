"""Every fault of a model's arguments at once, short, with the way to get it right, and no secret."""

from datetime import date
from typing import Annotated, Literal

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors import InvalidInputException
from nucleo.errors.translate import invalid_arguments

_LIMIT = 4096


def _fault(schema, value, **options):
    with pytest.raises(pydantic.ValidationError) as caught:
        pydantic.TypeAdapter(schema).validate_python(value)
    failure = invalid_arguments(caught.value, **options)
    assert type(failure) is InvalidInputException
    assert len(failure.explain_to_llm().encode()) < _LIMIT
    return failure


class Item(pydantic.BaseModel):
    id: int


class Basket(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    items: list[Item] = []
    size: Annotated[int, pydantic.Field(gt=0)] = 1
    kind: Literal["box", "bag"] = "box"
    day: date = date(2026, 1, 1)


def test_one_fault_is_about_its_own_parameter():
    failure = _fault(Basket, {"size": "many"})
    assert failure.llm_message == ("The value \"many\" for parameter 'size' is not valid: give a whole number")


@pytest.mark.parametrize(
    ("value", "path", "rule"),
    [
        ({"size": -3}, "size", "give a value greater than 0"),
        ({"kind": "tin"}, "kind", "give one of 'box' or 'bag'"),
        ({"day": "tomorrow"}, "day", "give a date, such as 2026-01-31"),
        ({"items": "none"}, "items", "give a list"),
        ({"items": [{"id": 1}, {}]}, "items.1.id", "it is required and was not given"),
        ({"colour": "red"}, "colour", "there is no such parameter: leave it out"),
    ],
)
def test_a_rule_is_written_as_the_way_to_get_it_right(value, path, rule):
    failure = _fault(Basket, value)
    assert failure.parameter_name == path
    assert failure.validation_rule == rule


def test_several_faults_are_named_at_once_each_with_its_rule_and_its_value_once():
    failure = _fault(Basket, {"size": -3, "kind": "tin", "items": [{}]})
    text = failure.llm_message
    assert failure.parameter_name == "items.0.id, size, kind"
    assert failure.invalid_value == {"size": -3, "kind": "tin"}
    for line in (
        "- items.0.id: it is required and was not given",
        "- size: give a value greater than 0",
        "- kind: give one of 'box' or 'bag'",
    ):
        assert line in text
    assert text.count("tin") == 1


def test_paths_hang_below_the_parameter_when_one_alone_was_validated():
    failure = _fault(list[Item], [{"id": 1}, {"id": "x"}], parameter="items")
    assert failure.parameter_name == "items.1.id"
    assert _fault(int, "x", parameter="size").parameter_name == "size"


def test_thirty_missing_fields_of_a_large_object_stay_short_and_are_counted():
    fields = {f"a_rather_long_field_name_number_{number}": (int, ...) for number in range(100)}
    model = pydantic.create_model("Wide", **fields)
    failure = _fault(model, {"text": "x" * 20_000})
    text = failure.llm_message
    assert "a_rather_long_field_name_number_0: it is required" in text
    assert "xxx" not in text
    shown = text.count("it is required")
    assert f"... and {100 - shown} more" in text
    assert shown > 20


def test_nested_faults_keep_their_paths_and_never_repeat_the_items():
    class Big(pydantic.BaseModel):
        id: int
        text: str

    failure = _fault(list[Big], [{"text": "y" * 10_000}] * 20, parameter="items")
    assert "- items.3.id: it is required and was not given" in failure.llm_message
    assert "- items.19.id:" in failure.llm_message
    assert "yyy" not in failure.llm_message


def test_a_long_value_is_described_instead_of_shown():
    failure = _fault(Basket, {"size": "9" * 5_000})
    assert failure.invalid_value == "<text of 5,000 characters>"
    assert "999" not in str(failure.to_dict())


def test_lists_and_objects_are_described_instead_of_shown():
    failure = _fault(Basket, {"size": {"password": "planted"}})
    assert failure.invalid_value == "<object with 1 fields>"


class Login(pydantic.BaseModel):
    pin_code: Annotated[pydantic.SecretStr, pydantic.Field(min_length=20)]
    api_key: Annotated[str, pydantic.Field(max_length=3)] = ""
    word: str = ""

    @pydantic.field_validator("word")
    @classmethod
    def _check(cls, value):
        raise ValueError(f"{value} is not the word")


def test_a_secret_is_neither_shown_nor_described_nor_quoted_by_a_validator():
    given = {"pin_code": "planted-1", "api_key": "planted-2", "word": "planted-3"}
    failure = _fault(Login, given, secrets=("pin_code", "word"))
    for text in (failure.explain_to_llm(), str(failure), str(failure.to_dict()), repr(failure)):
        assert "planted" not in text
    assert "- pin_code: " in failure.validation_rule
    assert "- word: it was not accepted" in failure.validation_rule


def test_a_single_secret_fault_says_so_in_place_of_the_value():
    failure = _fault(Login, {"pin_code": "p" * 30, "api_key": "planted"})
    assert failure.invalid_value == "<secret>"


def test_the_words_of_a_validator_are_given_without_pydantics_own():
    class Even(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def _check(cls, value):
            if value % 2:
                raise ValueError("give an even number")
            return value

    assert _fault(Even, {"number": 3}).validation_rule == "give an even number"


def test_a_type_without_a_rule_of_its_own_gives_pydantics_sentence():
    failure = _fault(pydantic.IPvAnyAddress, "nowhere", parameter="host")
    assert failure.parameter_name == "host"
    assert failure.validation_rule


def test_an_error_that_is_no_validation_error_is_refused():
    with pytest.raises(TypeError, match="no validation error"):
        invalid_arguments(ValueError("x"))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=300), inner, max_size=8),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(_JSON)
def test_whatever_is_sent_the_text_is_short_and_closes_with_its_own_verdict(value):
    try:
        pydantic.TypeAdapter(dict[Literal["a", "b"], Basket]).validate_python(value)
    except pydantic.ValidationError as error:
        text = invalid_arguments(error).explain_to_llm()
        assert len(text.encode()) < _LIMIT
        assert text.count("[This error") == 1
