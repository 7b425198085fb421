"""Whatever a service sends: reading it never raises, is bounded, takes linear time, and tells nothing it must not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.errors.http.body import read_body
from nucleo.errors.http.headers import lower_headers
from nucleo.errors.http.retry_after import parse_retry_after
from nucleo.errors.http.said import LIMIT, said_of
from nucleo.errors.masking import LONGEST, mask

STATUSES = st.integers(100, 599)
TEXTS = st.text(max_size=60)
HEADERS = st.dictionaries(
    st.one_of(st.sampled_from(["Content-Type", "X-Request-Id", "X-Amzn-ErrorType", "WWW-Authenticate"]), TEXTS), TEXTS
)
KEYS = st.sampled_from(
    ["error", "errors", "message", "detail", "code", "title", "fields", "loc", "msg", "type", "status", "x"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.one_of(KEYS, TEXTS), inner, max_size=5)),
    max_leaves=12,
)
PIECES = st.sampled_from(
    (
        *(
            "<",
            ">",
            "</",
            "<!--",
            "-->",
            "<title>",
            "<h1>",
            "<p>",
            "<|",
            "|>",
            "&lt;",
            "&#27;",
            "![",
            "](",
            "[",
            "{",
            '"',
        ),
        *(
            "\n",
            "\nHuman:",
            "at a.b.C(D.java:1)",
            "SELECT a FROM b",
            "/var/www/x",
            "https://a.b/c",
            "key=",
            "x",
            " ",
            "\x1b[",
        ),
        *("Code", "<Error>", "<Message>", "<![CDATA[", "]]>", "]}'", "event: error\ndata: ", "data: ", "\\", "\ud800"),
    )
)
OVERHEAD = 60
"""Characters by which a text may exceed its limit: what says how much was cut."""


def told(body: str | bytes, status: int, headers: dict[str, str]) -> str:
    names = lower_headers(headers)
    return said_of(read_body(body, names), status_code=status, headers=names, secrets=["hunter2x"])


def assert_fit(text: str) -> None:
    assert len(text) <= LIMIT + OVERHEAD
    assert text.isprintable()
    assert VERDICT_CORRECTABLE not in text
    assert VERDICT_UNCORRECTABLE not in text
    assert "hunter2x" not in text


@given(st.binary(max_size=300), STATUSES, HEADERS)
@settings(max_examples=200)
def test_any_bytes_can_be_told_of(body: bytes, status: int, headers: dict[str, str]) -> None:
    assert_fit(told(body, status, headers))


@given(VALUES, STATUSES, HEADERS)
@settings(max_examples=200)
def test_any_json_can_be_told_of(value: Any, status: int, headers: dict[str, str]) -> None:
    assert_fit(told(json.dumps(value), status, headers))


@given(st.lists(PIECES, max_size=60).map("".join), STATUSES)
@settings(max_examples=200)
def test_any_pieces_of_what_is_looked_for_can_be_told_of(body: str, status: int) -> None:
    assert_fit(told(body, status, {}))
    assert_fit(told(json.dumps({"message": body}), status, {}))


@given(TEXTS, TEXTS, st.sampled_from([VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE, "hunter2x"]), STATUSES)
@settings(max_examples=100)
def test_no_verdict_and_no_secret_comes_through_whatever_stands_around_it(
    before: str, after: str, planted: str, status: int
) -> None:
    text = f"{before}{planted}{after}"
    for body in (
        text,
        json.dumps({"error": {"message": text}}),
        json.dumps({"x": text}),
        f"<html><title>{text}</title>",
    ):
        assert_fit(told(body, status, {}))


SIZE = 10_000_000
HOSTILE = [
    *(
        "x",
        " ",
        "\n",
        '"',
        "\\",
        "<",
        ">",
        "&",
        "[",
        "{",
        "(",
        "-",
        "_",
        ".",
        ":",
        "=",
        "@",
        "*",
        "/",
        "#",
        "%",
        "\u0335",
    ),
    *(
        "key=",
        "token: ",
        "password ",
        'key="',
        "cookie: ",
        "sk-",
        "Bearer ",
        "eyJ",
        "***",
        "a***",
        "://",
        "://a:b@",
        "a@b.",
    ),
    *(
        "1.1.1.1.",
        "::",
        "-----BEGIN",
        "-----BEGIN-----END",
        "org-",
        "account 1",
        "<a ",
        "<!--",
        "<title>",
        "<p>",
        "<h1",
    ),
    *(
        "<script>",
        "</a",
        "<|",
        "|>",
        "&amp;",
        "![](",
        "[a](",
        "\nHuman:",
        "at a.b(",
        "select ",
        " from ",
        "update a ",
        "#1 ",
    ),
    *(
        'file "',
        "in /a",
        "{}",
        '{"a":',
        '["',
        "data: {",
        "retry in 1",
        "wait 1 and ",
        "Retry",
        "%3D",
        "/bot1:",
        "\x1b[",
        "a.",
    ),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE)
def test_ten_million_hostile_characters_are_read_in_linear_time(piece: str) -> None:
    # The guard is the time limit of the test: what backtracks or looks again needs hours for this.
    text = piece * (SIZE // len(piece))
    for status in (400, 500):
        for body in (
            text,
            json.dumps({"error": {"message": text[:60_000]}}),
            f"<html>{text[:60_000]}",
            f"<e>{text[:60_000]}",
        ):
            assert_fit(told(body, status, {}))
    # The mask is longer than the shortest address.
    assert len(mask(text)) <= 2 * LONGEST
    parse_retry_after({"Retry-After": text, "RateLimit": text, text[:8192]: "0"}, now=0.0, body=text)


@pytest.mark.timeout(60)
def test_deep_nests_and_huge_numbers_are_read() -> None:
    for body in (
        "[" * 60_000,
        '{"error":' * 7_000,
        '{"error":' * 50 + '"x"' + "}" * 50,
        '{"error":' + "9" * 60_000 + "}",
    ):
        assert_fit(told(body, 400, {}))
