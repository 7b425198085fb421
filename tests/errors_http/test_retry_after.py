"""How long an answer asks to wait, in every form that services use."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors.http.retry_after import parse_retry_after

NOW = datetime(2026, 11, 30, 10, 0, 0, tzinfo=UTC)
LINES = (Path(__file__).parent / "corpus" / "cases.jsonl").read_text("utf-8").splitlines()
# A delay that only a service's own habit explains is the mapping's business.
OF_A_SERVICE = {"discord-429-v6-ms", "epo-black-retry-ms"}
CASES = [
    pytest.param(case, id=case["id"])
    for case in map(json.loads, LINES)
    if case["status"] is not None and case["id"] not in OF_A_SERVICE and case.get("body") is not None
]


def wait_of(case: dict[str, Any]) -> float | None:
    now = datetime.fromisoformat(case["now"]) if case.get("now") else NOW
    return parse_retry_after(case["headers"], now=now, body=case["body"] * case.get("body_times", 1))


def is_near(wait: float | None, wanted: float | None) -> bool:
    if wait is None or wanted is None:
        return wait is wanted
    return abs(wait - wanted) <= (0.01 if wanted < 1 else max(1.0, wanted / 100))


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_answer_asks_for_its_wait(case: dict[str, Any]) -> None:
    expect = case["expect"]
    wanted = [expect["retry_after_s"], *expect.get("retry_after_alt_s", ())]
    assert any(is_near(wait_of(case), each) for each in wanted), (wait_of(case), wanted)


SAID = [
    ({"Retry-After": "120"}, 120),
    ({"retry-after": " 5\t"}, 5),
    ({"Retry-After": "0060"}, 60),
    ({"Retry-After": "2.5"}, 2.5),
    ({"Retry-After": "2", "retry-after-ms": "1234"}, 1.234),
    ({"x-ms-retry-after-ms": "250"}, 0.25),
    ({"Retry-After": "nonsense", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"}, 7),
    ({"Retry-After": "Mon, 30 Nov 2026 10:01:00 GMT"}, 60),
    ({"Retry-After": "Monday, 30-Nov-26 10:01:00 GMT"}, 60),
    ({"Retry-After": "Mon Nov 30 10:01:00 2026"}, 60),
    ({"Retry-After": "Mon, 30 Nov 2026 12:01:00 +0200"}, 60),
    ({"Retry-After": "Sunday, 06-Nov-94 08:49:37 GMT"}, 0),
    ({"Retry-After": "Mon, 30 Nov 2026 10:01:00 GMT", "Date": "Mon, 30 Nov 2026 10:00:50 GMT"}, 10),
    ({"Retry-After": "1796032860"}, 60),
    ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1796032860"}, 60),
    ({"X-RateLimit-Remaining": "0.0", "X-RateLimit-Reset": "1796032860000"}, 60),
    ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1796032700"}, 0),
    ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "64.57"}, 64.57),
    ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3s"}, 3723),
    ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
    ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-11-30T10:00:30Z"}, 30),
    ({"RateLimit": '"a";r=0;t=50, "b";r=0;t=70, "c";r=5;t=900'}, 70),
    ({"RateLimit": "limit=10, remaining=0, reset=7"}, 7),
    ({b"Retry-After": b"7"}, 7),
    ([("Retry-After", "8")], 8),
]

UNSAID = [
    *(
        {"Retry-After": value}
        for value in ("", "-10", "inf", "nan", "1_000", "1e3", "0x10", "+5", "60 seconds", "\u0665")
    ),
    *({"Retry-After": value} for value in ("60, 60", "soon", "9" * 40, "Fri, 31 Feb 2023 16:26:57 GMT", "1.5.2", ".5")),
    {"Retry-After": "Fri, 29 Sep 99999 16:26:57 GMT"},
    {"X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "7"},
    {"X-RateLimit-Reset": "7"},
    {"RateLimit": '"default";r=zero;t='},
    {"RateLimit": '"default";r=5;t=9'},
    {},
    None,
]


@pytest.mark.parametrize(("headers", "wait"), SAID)
def test_headers_ask_for_a_wait(headers: Any, wait: float) -> None:
    assert parse_retry_after(headers, now=NOW) == pytest.approx(wait)
    assert parse_retry_after(headers, now=NOW.timestamp()) == pytest.approx(wait)


@pytest.mark.parametrize("headers", UNSAID)
def test_headers_ask_for_nothing(headers: Any) -> None:
    assert parse_retry_after(headers, now=NOW) is None


WORDS = [
    ('{"error":"Please try again in 9m38.016s."}', 578.016),
    ('{"error":"try again in 900.2ms"}', 0.9002),
    ('{"error":"try again in 2 minutes and 30 seconds"}', 150),
    ("reset after 19h14m47s", 69_287),
    ('{"description":"Too Many Requests: retry after 42"}', 42),
    ('{"retry_after":42.5}', 42.5),
    ('{"retry_after_ms":1500}', 1.5),
    ('{"details":{"retryAfterSeconds":5}}', 5),
    ('{"parameters":{"retry_after":"42"}}', 42),
    ('{"error":{"details":[{"retryDelay":"34.074824224s"}]}}', 34.074824224),
    ('{"error":{"details":[{"retryDelay":{"seconds":34,"nanos":500000000}}]}}', 34.5),
    ('{"retry_after":"soon","message":"wait 5 minutes"}', 300),
    ('{"retry_after":-3}', None),
    ('{"retry_after":true}', None),
    ('{"retry_after":1e400}', None),
    ('{"message":"the retry policy is not valid"}', None),
    ("", None),
]


@pytest.mark.parametrize(("body", "wait"), WORDS)
def test_a_body_asks_for_a_wait(body: str, wait: float | None) -> None:
    assert parse_retry_after({}, now=NOW, body=body) == (None if wait is None else pytest.approx(wait))


def test_a_header_counts_before_the_body() -> None:
    assert parse_retry_after({"Retry-After": "3"}, now=NOW, body='{"retry_after":60}') == 3


def test_a_field_of_the_body_counts_before_a_bucket_and_a_bucket_before_words() -> None:
    bucket = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "7"}
    assert parse_retry_after(bucket, now=NOW, body='{"retry_after":60}') == 60
    assert parse_retry_after(bucket, now=NOW, body='{"message":"try again in 60s"}') == 7


def test_a_service_that_counts_in_milliseconds_is_read_so() -> None:
    assert parse_retry_after({"Retry-After": "6457"}, now=NOW, milliseconds=True) == pytest.approx(6.457)


NAMES = st.sampled_from(
    ["Retry-After", "retry-after-ms", "Date", "RateLimit", "x-ratelimit-reset", "x-ratelimit-remaining", "x-a"]
)
VALUES = st.one_of(
    st.text(max_size=40),
    st.text("0123456789.:-+eTZ, smhd", max_size=40),
    st.integers().map(str),
    st.floats().map(str),
    st.datetimes().map(lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S GMT")),
    st.datetimes().map(datetime.isoformat),
)


@given(st.dictionaries(NAMES, VALUES), st.text(max_size=60))
@settings(max_examples=200)
def test_reading_a_wait_never_raises_and_gives_a_length_of_time(headers: dict[str, str], body: str) -> None:
    wait = parse_retry_after(headers, now=NOW, body=body)
    assert wait is None or 0 <= wait <= 10 * 365 * 86_400


@given(st.integers(0, 10**7))
def test_whole_seconds_are_read_as_they_stand(seconds: int) -> None:
    assert parse_retry_after({"Retry-After": str(seconds)}, now=NOW) == seconds
