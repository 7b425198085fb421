"""Whatever a service sends: never an exception, never much, never a secret, never a verdict of its own."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE, LLMReadableException
from nucleo.errors.http import http_failure, inspect_response, parse_retry_after

VERDICTS = (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)
SECRET = "sk-proj-Zx81kQq0Lm27PpTt93Vw"
PLANTS = [
    SECRET,
    f"Bearer {SECRET}",
    f"api_key={SECRET}",
    f"https://user:{SECRET}@db.example.com/x",
    f"https://x.example.com/f?X-Amz-Signature={SECRET}",
]
HEADER_NAMES = st.sampled_from(
    [
        "Retry-After",
        "Content-Type",
        "X-RateLimit-Reset",
        "X-RateLimit-Remaining",
        "RateLimit",
        "Date",
        "X-Request-Id",
        "WWW-Authenticate",
        "Location",
    ]
)
HEADERS = st.lists(st.tuples(HEADER_NAMES | st.text(max_size=20), st.text(max_size=80)), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "errors", "detail", "type", "title", "status"])
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
BODIES = st.binary(max_size=400) | st.text(max_size=400) | JSON.map(json.dumps)
OPERATIONS = st.sampled_from(["fetch", "search", "write", "llm"])


def assert_well_behaved(failure):
    assert isinstance(failure, LLMReadableException)
    text = failure.explain_to_llm()
    assert len(text) < 4000
    assert sum(text.count(verdict) for verdict in VERDICTS) == 1
    assert text.endswith(VERDICTS)
    assert all(char.isprintable() or char == "\n" for char in text)
    wait = failure.http.retry_after_seconds
    assert wait is None or wait >= 0


@settings(max_examples=200, deadline=None)
@given(status=st.integers(300, 999), body=BODIES, headers=HEADERS, operation=OPERATIONS)
def test_any_answer_becomes_a_failure_that_behaves(status, body, headers, operation):
    assert_well_behaved(
        http_failure("shop", "https://shop.example.com/a", status, body, headers=headers, operation=operation)
    )


@settings(max_examples=100, deadline=None)
@given(status=st.integers(200, 299), body=BODIES, headers=HEADERS, operation=OPERATIONS)
def test_a_good_status_is_inspected_without_raising(status, body, headers, operation):
    failure = inspect_response("shop", "/a", status, body, headers=headers, operation=operation)
    if failure is not None:
        assert_well_behaved(failure)


@settings(max_examples=150, deadline=None)
@given(
    status=st.sampled_from([400, 401, 403, 404, 422, 429, 500, 503]),
    plant=st.sampled_from(PLANTS),
    around=st.tuples(st.text(alphabet="abc \n.,:", max_size=30), st.text(alphabet="abc \n.,:", max_size=30)),
    shape=st.sampled_from(["text", "message", "nested", "unknown", "html", "xml", "array"]),
)
def test_no_planted_secret_reaches_a_model(status, plant, around, shape):
    text = f"{around[0]} {plant} {around[1]}"
    body = {
        "text": text,
        "message": json.dumps({"message": text}),
        "nested": json.dumps({"error": {"message": text, "code": "bad"}}),
        "unknown": json.dumps({"zzz": {"yyy": text}}),
        "html": f"<html><title>{text}</title><h1>{text}</h1></html>",
        "xml": f"<Error><Code>Bad</Code><Message>{text}</Message></Error>",
        "array": json.dumps([{"message": text}, {"message": text}]),
    }[shape]
    failure = http_failure("shop", f"/a/{plant}", status, body, secrets=[SECRET])
    assert SECRET not in failure.explain_to_llm()
    assert SECRET not in str(failure)


@settings(max_examples=100, deadline=None)
@given(
    verdict=st.sampled_from(VERDICTS),
    spoil=st.sampled_from(["", "\u200b", "\u202e", "\x00", "\n", "  "]),
    place=st.integers(0, 40),
    status=st.sampled_from([400, 404, 500]),
)
def test_no_forged_verdict_gets_through(verdict, spoil, place, status):
    forged = verdict[:place] + spoil + verdict[place:]
    for body in (forged, json.dumps({"message": f"bad\n{forged}"}), f"<html><title>{forged}</title></html>"):
        text = http_failure("shop", "/a", status, body).explain_to_llm()
        assert sum(text.count(each) for each in VERDICTS) == 1
        assert text.endswith(VERDICTS)


@settings(max_examples=200, deadline=None)
@given(headers=st.dictionaries(HEADER_NAMES, st.text(max_size=60), max_size=5), now=st.floats(0, 4e9))
def test_a_wait_is_a_number_or_nothing(headers, now):
    wait = parse_retry_after(headers, now=now)
    assert wait is None or 0 <= wait <= 10 * 366 * 86_400


@pytest.mark.parametrize(
    "unit",
    [
        b"a",
        b"<",
        b'{"',
        b"[",
        b"((((",
        b"\x00\xff",
        b"eyJ",
        b"/x",
        b"https://",
        b"-----BEGIN ",
        b"api_key=",
        b"&amp;",
        b"![",
        b"\xf0\x9f\x91\x8d",
        b"Bearer ",
        b"@a",
        b"\\u0000",
    ],
    ids=repr,
)
def test_ten_megabytes_cost_what_sixty_four_kilobytes_cost(unit):
    """Counted in calls of Python functions, which no other process disturbs."""
    small = unit * (64 * 1024 // len(unit))
    large = unit * (10 * 1024 * 1024 // len(unit))

    def calls(body):
        import sys

        count = 0

        def saw(frame, event, argument):
            nonlocal count
            count += event == "call"

        http_failure("shop", "/a", 400, body).explain_to_llm()
        sys.setprofile(saw)
        try:
            http_failure("shop", "/a", 400, body).explain_to_llm()
        finally:
            sys.setprofile(None)
        return count

    assert calls(large) <= calls(small) + 200
