"""What a body is, by its looks: whatever its Content-Type says, and whatever guards, wraps or precedes it."""

import codecs
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.errors.http.body import READ_LIMIT, read_body
from nucleo.errors.http.headers import kept_headers, lower_headers, request_id

ERROR = {"error": {"code": "x", "message": "é is wrong"}}
TEXT = json.dumps(ERROR, ensure_ascii=False)


@pytest.mark.parametrize("body", [b"", "", "  \r\n\t ", b"\xef\xbb\xbf", "\x00\x00"])
def test_a_body_without_anything_to_read_is_empty(body):
    assert read_body(body, {}).kind == "empty"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (TEXT, {}),
        (TEXT.encode(), {"content-type": "text/html"}),
        (codecs.BOM_UTF8 + TEXT.encode(), {}),
        (TEXT.encode("utf-16"), {}),
        (TEXT.encode("utf-16-le"), {}),
        (TEXT.encode("utf-16-be"), {}),
        (TEXT.encode("latin-1"), {"content-type": "application/json; charset=ISO-8859-1"}),
        (f")]}}',\n{TEXT}", {}),
        (f"for(;;);{TEXT}", {}),
        (f"callback_1({TEXT});", {"content-type": "application/javascript"}),
        (f"<br />\n<b>Warning</b>:  x in <b>/var/www/a.php</b> on line <b>1</b><br />\n{TEXT}", {}),
        (f"[{TEXT}]", {}),
        (json.dumps(TEXT), {}),
        (json.dumps(json.dumps(TEXT)), {}),
        (f'event: message\ndata: {{"delta":"a"}}\n\nevent: error\ndata: {TEXT}\n\n', {}),
        (f'{{"delta":"a"}}\n{{"delta":"b"}}\n{TEXT}\n', {}),
        (f"{TEXT}\n\ntrailing words", {}),
    ],
)
def test_the_json_in_a_body_is_found(body, headers):
    read = read_body(body, headers)
    assert read.kind == "json"
    assert read.value == ERROR


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<!DOCTYPE html><p>x", "html"),
        ("<HTML><BODY>x", "html"),
        ('<?xml version="1.0"?><Error><Code>x</Code></Error>', "xml"),
        ("<fault><code>x</code></fault>", "xml"),
        ("upstream connect error", "text"),
        (b"\x1f\x8b\x08\x00abc", "binary"),
        (bytes(range(32)) * 8, "binary"),
    ],
)
def test_a_body_is_known_by_its_looks(body, kind):
    assert read_body(body, {"content-type": "application/json"}).kind == kind


def test_the_telling_fields_of_broken_json_are_saved():
    read = read_body('{"error":{"code":"rate_limit_exceeded","message":"Slow \\"down\\"","retryDelay":"3s","deta', {})
    assert read.kind == "json"
    assert read.value == {"code": "rate_limit_exceeded", "message": 'Slow "down"', "retryDelay": "3s"}


@pytest.mark.parametrize(
    "body", ["[" * 100_000, '{"a":' * 100_000, '{"a":' + "9" * 10_000 + "}", '"' * 50_000, "{" * 9]
)
def test_json_made_to_break_a_parser_breaks_nothing(body):
    assert read_body(body, {}).size == len(body)


def test_no_more_is_read_than_the_limit_and_the_size_is_kept():
    read = read_body("x" * 1_000_000, {})
    assert len(read.text) == READ_LIMIT
    assert read.size == 1_000_000


def test_json_in_strings_is_followed_only_so_deep():
    body = TEXT
    for _ in range(8):
        body = json.dumps(body)
    assert isinstance(read_body(body, {}).value, str)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=400), st.text(max_size=400)),
    st.dictionaries(st.sampled_from(["content-type", "x"]), st.text(max_size=60), max_size=2),
)
def test_reading_never_raises(body, headers):
    read = read_body(body, headers)
    assert read.kind in {"empty", "json", "xml", "html", "text", "binary"}
    assert (read.value is None) or read.kind == "json"


@pytest.mark.parametrize("unit", ["[", "<", "a b ", '{"a":', "data: {\n", "<b>", '"code":"', "(", "\\", "%"])
def test_reading_ten_megabytes_reads_what_the_limit_holds(unit):
    def spent(body):
        start = time.process_time()
        read_body(body, {})
        return time.process_time() - start

    body = unit * (10_000_000 // len(unit))
    # Of processor time, so that a busy machine does not count; and the fastest of a few.
    small = min(spent(body[:READ_LIMIT]) for _ in range(3))
    large = min(spent(body) for _ in range(3))
    assert large <= 5 * small + 0.02


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (None, {}),
        ({}, {}),
        ({"Retry-After": "5"}, {"retry-after": "5"}),
        ([(b"Retry-After", b"5"), ("RETRY-AFTER", "6")], {"retry-after": "5, 6"}),
        ({"X-Count": 3, 7: "seven"}, {"x-count": "3", "7": "seven"}),
        (42, {}),
        ([1, 2], {}),
        ("text", {}),
    ],
)
def test_headers_become_one_lower_case_mapping_whatever_they_were(headers, expected):
    assert lower_headers(headers) == expected


def test_only_the_headers_that_matter_are_kept():
    kept = kept_headers(
        {
            "retry-after": "5",
            "x-ratelimit-remaining": "0",
            "set-cookie": "a=b",
            "authorization": "Bearer x",
            "x-dbg": "y",
        }
    )
    assert kept == {"retry-after": "5", "x-ratelimit-remaining": "0"}


def test_the_services_own_id_of_a_request_is_found():
    assert request_id({"x-amzn-requestid": "r-1"}) == "r-1"
    assert request_id({"retry-after": "1"}) is None
