import pytest
from hypothesis import given
from hypothesis import strategies as st

from nucleo.models import StopReason, normalise_stop_reason


@pytest.mark.parametrize(
    "spelling",
    ["length", "max_tokens", "MAX_TOKENS", "incomplete", "max_output_tokens", "FinishReason.MAX_TOKENS", " Length "],
)
def test_every_spelling_of_cut_off_means_one_thing(spelling):
    assert normalise_stop_reason(spelling) is StopReason.MAX_TOKENS


@pytest.mark.parametrize(
    ("spelling", "meaning"),
    [
        ("end_turn", StopReason.END),
        ("stop", StopReason.END),
        ("STOP", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("COMPLETE", StopReason.END),
        ("completed", StopReason.END),
        ("tool_use", StopReason.TOOL_CALLS),
        ("tool-calls", StopReason.TOOL_CALLS),
        ("function_call", StopReason.TOOL_CALLS),
        ("refusal", StopReason.REFUSAL),
        ("content_filter", StopReason.REFUSAL),
        ("SAFETY", StopReason.REFUSAL),
        ("FINISH_REASON_SAFETY", StopReason.REFUSAL),
        ("guardrail_intervened", StopReason.REFUSAL),
        ("model_context_window_exceeded", StopReason.CONTEXT_OVERFLOW),
        ("model_length", StopReason.CONTEXT_OVERFLOW),
        ("pause_turn", StopReason.UNKNOWN),
        ("OTHER", StopReason.UNKNOWN),
        ("", StopReason.UNKNOWN),
        (None, StopReason.UNKNOWN),
        (7, StopReason.UNKNOWN),
        (["stop"], StopReason.UNKNOWN),
    ],
)
def test_a_spelling_has_its_meaning(spelling, meaning):
    assert normalise_stop_reason(spelling) is meaning


@given(st.one_of(st.text(), st.none(), st.integers(), st.binary(), st.lists(st.text())))
def test_no_stop_reason_at_all_is_an_exception(spelling):
    assert isinstance(normalise_stop_reason(spelling), StopReason)
