"""What comes is bounded, unpacked under the bound, and decoded without ever raising."""

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nucleo.errors import ExternalServiceException
from nucleo.http.body import AnswerTooLargeError, BrokenPackingError, Collector
from nucleo.http.reading import text_of
from nucleo.http.stream import LineSplitter
from nucleo.testing import Answer

CAP = 100_000


def assert_too_large(failure):
    assert type(failure) is ExternalServiceException
    assert failure.http is None
    assert failure.outcome_unknown is False
    assert "the answer is larger than 0.1 MB and was not read" in failure.llm_message


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_larger_than_the_cap_is_not_read(kit, service, chunked):
    service.on("POST", "/x", Answer(200, body=b" " * (CAP + 1), chunked=chunked))
    assert_too_large(kit.failure(kit.client(service.url, max_body_bytes=CAP), "post", "/x", json={}))


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_as_large_as_the_cap_is_read(kit, service, chunked):
    service.on("GET", "/x", Answer(200, body=b"x" * CAP, chunked=chunked))
    client = kit.client(service.url, max_body_bytes=CAP)
    assert kit.call(client, "get_bytes", "/x") == b"x" * CAP


def test_a_body_that_announces_too_much_is_not_waited_for(kit, service):
    service.on("GET", "/x", Answer(200, headers={"Content-Length": "9999999999999999999"}, fault="hang_in_body"))
    assert_too_large(kit.failure(kit.client(service.url, max_body_bytes=CAP), "get", "/x"))


def test_a_gzip_bomb_stops_early(kit, service):
    bomb = gzip.compress(b"\x00" * 200_000_000, 9, mtime=0)
    service.on("GET", "/x", Answer(200, headers={"Content-Encoding": "gzip"}, body=bomb))
    tracemalloc.start()
    try:
        assert_too_large(kit.failure(kit.client(service.url, max_body_bytes=CAP), "get", "/x"))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_gzip_bomb_as_an_error_is_still_that_error(kit, service):
    bomb = gzip.compress(b"\x00" * 50_000_000, 9, mtime=0)
    service.on("GET", "/x", Answer(503, headers={"Content-Encoding": "gzip"}, body=bomb))
    failure = kit.failure(kit.client(service.url), "get", "/x")
    assert failure.http.status_code == 503
    assert len(failure.http.response_body) <= 65_536


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("x-gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("GZIP", gzip.compress(b'{"a":', mtime=0) + gzip.compress(b" 1}", mtime=0)),
        ("deflate", zlib.compress(b'{"a": 1}')),
        ("deflate", zlib.compress(b'{"a": 1}', wbits=-15)),
        ("identity", b'{"a": 1}'),
        ("gzip", gzip.compress(b'{"a": 1}', mtime=0) + b"\x00" * 20),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_packed_body_is_unpacked(kit, service, encoding, body, chunked):
    service.on("GET", "/x", Answer(200, headers={"Content-Encoding": encoding}, body=body, chunked=chunked))
    assert kit.call(kit.client(service.url), "get", "/x") == {"a": 1}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"this is no gzip at all, not by far"),
        ("gzip", gzip.compress(bytes(range(256)) * 50, mtime=0)[:-20]),
        ("deflate", b"\xff\xff\xff\xff\xff"),
        ("br", b"\x0b\x02\x80abc\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"1", mtime=0), mtime=0)),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_no_answer(kit, service, encoding, body):
    service.on("POST", "/x", Answer(200, headers={"Content-Encoding": encoding}, body=body))
    failure = kit.failure(kit.client(service.url), "post", "/x", json={})
    assert "it answered HTTP 200, but the answer could not be read: its compression is broken" in failure.llm_message
    assert failure.http is None
    assert failure.outcome_unknown is False


def test_an_error_that_cannot_be_unpacked_is_still_that_error(kit, service):
    service.on("GET", "/x", Answer(404, headers={"Content-Encoding": "br"}, body=b"\x0b\x02\x80abc\x03"))
    assert kit.failure(kit.client(service.url), "get", "/x").http.status_code == 404


@pytest.mark.parametrize(
    ("charset", "body"),
    [
        ("text/plain; charset=iso-8859-1", "Malmö".encode("latin-1")),
        ('text/plain; charset="windows-1252"', "Malmö".encode("cp1252")),
        ("text/plain; charset=shift_jis", "東京".encode("shift_jis")),
        ("text/plain; charset=utf-16", "Malmö".encode("utf-16")),
        ("text/plain", b"\xef\xbb\xbf" + "Malmö".encode()),
        ("text/plain; charset=no-such-charset", "Malmö".encode()),
        ("text/plain; charset=hex", "Malmö".encode()),
        ("text/plain; charset=punycode", "Malmö".encode()),
        ("text/plain; charset=", "Malmö".encode()),
    ],
)
def test_text_is_decoded_by_its_charset_else_as_utf_8(kit, service, charset, body):
    service.on("GET", "/x", Answer(200, headers={"Content-Type": charset}, body=body))
    assert kit.call(kit.client(service.url), "get_text", "/x") in {"Malmö", "東京"}


def test_bad_bytes_are_replaced(kit, service):
    service.on("GET", "/x", Answer(200, headers={"Content-Type": "text/plain"}, body=b"a\xffb"))
    assert kit.call(kit.client(service.url), "get_text", "/x") == "a\ufffdb"


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "utf-16", "unheard-of"])
def test_json_is_decoded_by_its_charset_too(kit, service, charset):
    encoded = '{"city": "Malmö"}'.encode("utf-8" if charset == "unheard-of" else charset)
    service.on("GET", "/x", Answer(200, headers={"Content-Type": f"application/json; charset={charset}"}, body=encoded))
    assert kit.call(kit.client(service.url), "get", "/x") == {"city": "Malmö"}


def test_json_with_a_byte_order_mark_is_read(kit, service):
    service.on("GET", "/x", Answer(200, body=b'\xef\xbb\xbf{"a": 1}'))
    assert kit.call(kit.client(service.url), "get", "/x") == {"a": 1}


@given(body=st.binary(max_size=300), content_type=st.text(max_size=60))
def test_no_bytes_and_no_charset_make_decoding_raise(body, content_type):
    assert isinstance(text_of(body, {"content-type": content_type}), str)


@given(
    charset=st.sampled_from(["utf-7", "rot13", "base64", "zip", "bz2", "idna", "mbcs", "undefined", "unicode_escape"])
)
def test_no_codec_of_pythons_makes_decoding_raise(charset):
    assert isinstance(text_of(b"\\u12 +abc- \xff", {"content-type": f"text/plain; charset={charset}"}), str)


@given(body=st.binary(max_size=5_000), cuts=st.lists(st.integers(1, 500), min_size=1, max_size=20), gz=st.booleans())
def test_a_collected_body_is_the_body_however_it_was_cut(body, cuts, gz):
    collector = Collector(5_000, encoding="gzip" if gz else "", complain=True)
    wire = gzip.compress(body, mtime=0) if gz else body
    at = 0
    for cut in [*cuts, len(wire)]:
        assert collector.add(wire[at : at + cut])
        at += cut
    collector.finish()
    assert collector.body() == body


@given(wire=st.binary(max_size=2_000), encoding=st.sampled_from(["gzip", "deflate", ""]), limit=st.integers(0, 500))
def test_a_collector_keeps_no_more_than_its_limit(wire, encoding, limit):
    collector = Collector(limit, encoding=encoding, complain=False)
    try:
        collector.add(wire)
        collector.finish()
    except BrokenPackingError:
        pass
    assert len(collector.body()) <= limit


def test_a_collector_that_complains_says_so_at_the_first_byte_too_many():
    collector = Collector(3, encoding="", complain=True)
    assert collector.add(b"abc")
    with pytest.raises(AnswerTooLargeError):
        collector.add(b"d")


@given(
    lines=st.lists(st.text(st.characters(exclude_characters="\r\n"), max_size=20), max_size=10), cut=st.integers(1, 7)
)
def test_lines_are_the_lines_however_the_bytes_were_cut(lines, cut):
    splitter = LineSplitter(1_000)
    wire = "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogatepass")
    found = [line for at in range(0, len(wire), cut) for line in splitter.feed(wire[at : at + cut])]
    assert found + splitter.rest() == [
        line.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for line in lines
    ]


@pytest.mark.parametrize("wbits", [31, 15, -15])
@given(size=st.integers(65_500, 65_800) | st.integers(131_000, 131_400), cut=st.integers(20, 500))
def test_a_body_of_about_a_piece_is_unpacked_whole(wbits, size, cut):
    wire = zlib.compress(b"x" * size, wbits=wbits)
    collector = Collector(200_000, encoding="deflate", complain=True)
    for at in range(0, len(wire), cut):
        collector.add(wire[at : at + cut])
    collector.finish()
    assert collector.body() == b"x" * size
