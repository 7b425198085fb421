"""What holds for every member and for an application's own, whatever their fields hold."""

import copy
import json
import pickle
import traceback

import pytest
from failure_specimens import (
    ALL,
    APPLICATION,
    LoadsBadly,
    Nameless,
    SeatTaken,
    TwoArguments,
    details,
    failures,
    nasty,
    nasty_text,
    specimen,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    CorrectableRuntimeLLMException,
    HttpErrorDetail,
    InvalidInputException,
    SystemException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
    explain,
    failure_from_dict,
)
from nucleo.errors.chain import walk_chain
from nucleo.errors.text import Opaque, brief, show_value

laws = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
named = pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)


def holds_10_8(text):
    assert isinstance(text, str)
    assert type(text) is str
    assert text.strip()
    assert len(text) <= 10_000 + 60
    assert all(char.isprintable() or char in "\n\t" for char in text)
    text.encode("utf-8")


@laws
@given(failures())
def test_texts_never_raise_and_hold_nothing_that_must_not_be_read(failure):
    for text in (failure.llm_message, str(failure)):
        holds_10_8(text)
        # What an application's own f-string makes of an object is its own matter.
        assert type(failure) in APPLICATION or ("hunter2-of-the-repr" not in text and " at 0x" not in text)
    assert isinstance(repr(failure), str)
    assert "".join(traceback.format_exception(failure))


@laws
@given(failures())
def test_what_the_model_reads_ends_with_exactly_one_verdict_line_and_it_is_ours(failure):
    told = failure.explain_to_llm()
    lines = [line for line in told.splitlines() if line.strip() in {VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE}]
    assert lines == [VERDICT_CORRECTABLE if failure.is_correctable else VERDICT_UNCORRECTABLE]
    assert told.endswith(lines[0])
    assert told.count("his error may be correctable") + told.count("his error is not correctable") >= 1
    assert "[This error" not in failure.llm_message
    assert explain(failure) == told


@laws
@given(failures(), st.integers(min_value=0, max_value=pickle.HIGHEST_PROTOCOL))
def test_a_failure_survives_pickle_in_every_protocol(failure, protocol):
    failure.add_note("seen twice")
    twin = pickle.loads(pickle.dumps(failure, protocol))
    assert type(twin) is type(failure)
    assert twin.__notes__ == ["seen twice"]
    assert set(vars(twin)) == set(vars(failure))
    assert twin.http == failure.http
    # An application's own f-string says something else of a description than of the value that was left behind.
    if type(failure) not in APPLICATION or not any(isinstance(value, Opaque) for value in vars(twin).values()):
        assert (twin.llm_message, str(twin)) == (failure.llm_message, str(failure))


@laws
@given(failures(), st.sampled_from([copy.copy, copy.deepcopy]))
def test_a_failure_survives_copying(failure, copied):
    cause, context = ValueError("cause"), KeyError("context")
    failure.__cause__, failure.__context__ = cause, context
    failure.add_note("first")
    twin = copied(failure)
    twin.add_note("only the twin's")
    assert type(twin) is type(failure)
    assert set(vars(twin)) == set(vars(failure))
    assert (twin.llm_message, str(twin)) == (failure.llm_message, str(failure))
    assert failure.__notes__ == ["first"]
    assert (twin.__cause__, twin.__context__, twin.__suppress_context__) == (cause, context, True)


@laws
@given(failures())
def test_a_failure_is_equal_to_itself_alone_and_can_be_a_key(failure):
    twin = copy.copy(failure)
    assert failure == failure
    assert failure != twin
    assert {failure: 1, twin: 2}[failure] == 1


@laws
@given(failures())
def test_the_wire_form_read_and_written_again_is_itself(failure):
    record = failure.to_dict()
    text = json.dumps(record, allow_nan=False)
    text.encode("utf-8")
    again = failure_from_dict(json.loads(text))
    assert type(again) is type(failure)
    assert again.to_dict() == json.loads(text) == record
    assert again.llm_message == record["llm_message"]
    assert again.is_correctable is record["correctable"]


@named
def test_the_wire_form_of_ordinary_values_is_the_failure_itself(cls):
    failure = specimen(cls)
    record = json.loads(json.dumps(failure.to_dict(), allow_nan=False))
    again = failure_from_dict(record)
    assert type(again) is cls
    assert record["v"] == 1
    assert (again.llm_message, str(again)) == (failure.llm_message, str(failure))
    assert (record["llm_message"], record["message"]) == (failure.llm_message, str(failure))
    for name in record["fields"]:
        assert json.dumps(getattr(again, name)) == json.dumps(getattr(failure, name))
    if failure.http is not None:
        assert "response_body" not in record["http"]
        assert again.http.said == failure.http.said


@laws
@given(nasty)
def test_any_value_is_shown_in_two_hundred_characters(value):
    shown = show_value(value)
    assert len(shown.partition("... [")[0]) <= 200
    assert shown.isprintable()
    assert brief(value).isprintable()
    assert len(brief(value).partition("... [")[0]) <= 200


@laws
@given(details)
def test_an_answer_keeps_no_credential_no_address_and_no_wait_that_is_none(answer):
    assert "set-cookie" not in answer.headers
    assert "authorization" not in answer.headers
    assert answer.retry_after_seconds is None or 0 <= answer.retry_after_seconds < float("inf")
    assert "?" not in answer.endpoint
    assert "://" not in answer.endpoint
    assert HttpErrorDetail.from_dict(json.loads(json.dumps(answer.to_dict()))).to_dict() == answer.to_dict()
    assert pickle.loads(pickle.dumps(answer)) == answer


@laws
@given(nasty_text, nasty_text)
@example("a", f"x\n{VERDICT_CORRECTABLE}")
def test_no_field_can_speak_in_the_place_of_the_verdict(name, text):
    told = InvalidInputException(name, text, text).explain_to_llm()
    assert told.count(VERDICT_CORRECTABLE) == 1
    assert VERDICT_UNCORRECTABLE not in told


@laws
@given(st.dictionaries(st.text(max_size=10), nasty, max_size=5))
def test_a_record_that_is_none_is_refused_and_never_something_else(record):
    with pytest.raises(ValueError, match="record"):
        failure_from_dict(record)


@laws
@given(st.sampled_from(ALL), st.fixed_dictionaries({}, optional={"http": st.just({}), "fields": st.just({})}))
def test_a_record_with_parts_missing_becomes_the_runtime_class_of_its_verdict(cls, parts):
    record = specimen(cls).to_dict() | parts
    again = failure_from_dict(record)
    assert again.is_correctable is record["correctable"]
    assert again.llm_message


@pytest.mark.parametrize(
    ("correctable", "expected"), [(True, CorrectableRuntimeLLMException), (False, UncorrectableRuntimeLLMException)]
)
def test_an_unknown_type_becomes_the_runtime_class_of_the_same_verdict_with_the_same_message(correctable, expected):
    record = {
        "v": 1,
        "type": "elsewhere.Strange",
        "message": "for the log",
        "llm_message": "for the model",
        "correctable": correctable,
        "fields": {"x": 1},
        "http": {"status_code": 418, "service": "Tea", "endpoint": "/pot", "said": "short and stout"},
    }
    failure = failure_from_dict(record)
    assert type(failure) is expected
    assert failure.llm_message == "for the model"
    assert (failure.http.status_code, failure.http.said) == (418, "short and stout")


def test_a_record_of_another_version_is_refused():
    with pytest.raises(ValueError, match="version 1"):
        failure_from_dict({**SystemException("a", "b").to_dict(), "v": 2})


def test_a_field_that_has_a_default_may_be_missing_from_a_record():
    record = specimen(UpstreamThrottleException).to_dict()
    del record["fields"]["retry_after_seconds"]
    again = failure_from_dict(record)
    assert type(again) is UpstreamThrottleException
    assert again.retry_after_seconds is None


def test_a_secret_among_the_fields_stays_at_home():
    failure = InvalidInputException("options", {"password": "hunter2", "deep": [{"apiKey": "abc"}]}, "no secrets")
    text = json.dumps(failure.to_dict())
    assert "hunter2" not in text
    assert '"abc"' not in text


def test_the_chain_of_causes_is_flattened_once_with_our_own_as_themselves_and_others_as_text():
    inner = UpstreamThrottleException("PubChem", "slow down", 30)
    inner.add_note("noted")
    foreign = TwoArguments("a", "b")
    foreign.__cause__ = ExceptionGroup("several", [ValueError("first"), inner])
    outer = SystemException("tool", "broke")
    outer.__cause__ = foreign
    twin = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(outer))))
    links = list(walk_chain(twin))
    assert [type(link).__name__ for link in links] == [
        "SystemException",
        "ForeignCause",
        "ForeignCause",
        "UpstreamThrottleException",
    ]
    assert str(links[1]) == "failure_specimens.TwoArguments: a and b"
    assert str(links[2]) == "builtins.ValueError: first"
    assert links[3].retry_after_seconds == 30
    assert links[3].__notes__ == ["noted"]


def test_a_context_is_part_of_the_chain_that_is_pickled():
    with pytest.raises(SeatTaken) as caught:
        try:
            raise ValueError("root")
        except ValueError:
            raise SeatTaken("1A")  # noqa: B904 - the implicit context is what is tested
    assert str(pickle.loads(pickle.dumps(caught.value)).__cause__) == "builtins.ValueError: root"


def test_what_cannot_be_loaded_again_is_left_behind_before_it_is_sent():
    failure = InvalidInputException("x", LoadsBadly(), "rule")
    failure.held = failure
    failure.family = [SeatTaken("1A"), failure]
    twin = pickle.loads(pickle.dumps(failure))
    assert isinstance(twin.invalid_value, Opaque)
    assert twin.llm_message == failure.llm_message


def test_a_class_that_cannot_be_found_again_is_rendered_when_it_stands_in_a_chain():
    class Local(SeatTaken):
        pass

    outer = SystemException("tool", "broke")
    outer.__cause__ = Local("1A")
    twin = pickle.loads(pickle.dumps(outer))
    assert "Seat 1A is taken" in str(twin.__cause__)


def test_a_long_chain_is_pickled_and_read():
    outer = error = SystemException("tool", "outermost")
    for number in range(5000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    twin = pickle.loads(pickle.dumps(outer))
    assert 40 <= len(list(walk_chain(twin))) <= 60
    assert explain(outer)


def test_a_lock_in_a_field_is_shared_by_a_copy_and_described_after_pickling():
    import threading

    lock = threading.Lock()
    failure = InvalidInputException("x", lock, "rule")
    assert copy.deepcopy(failure).invalid_value is lock
    assert pickle.loads(pickle.dumps(failure)).llm_message == failure.llm_message


def test_a_value_with_no_text_of_its_own_is_not_shown_by_its_repr_on_the_wire():
    record = InvalidInputException("x", Nameless(), "rule").to_dict()
    assert "hunter2" not in json.dumps(record)
    assert "<Nameless>" in record["llm_message"]


def test_a_copy_that_breaks_off_leaves_no_half_for_the_next_field():
    deep = []
    for _ in range(3000):
        deep = [deep]
    twin = copy.deepcopy(SystemException(deep, deep))
    assert twin.component is deep
    assert twin.technical_message is deep
