import json
import shutil
import subprocess

import pytest

from nucleo.cli.explain import KEYS
from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE, failure_from_dict
from nucleo.testing import Answer, FailingService

VERDICTS = (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)
THROTTLED = b'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\nContent-Type: application/json\r\n\r\n{"message": "slow down"}'
KEY = "sk-live-51HxTestTestTestTestTest00"


def test_a_pasted_response_is_explained_to_everybody(nucleo, explained):
    report = explained(THROTTLED, "--service", "PubChem")
    assert report["class"] == "Http429Exception"
    assert report["parents"][0] == "UpstreamThrottleException"
    assert report["correctable"] is False
    assert report["wait_seconds"] == 30
    assert report["text"].endswith(VERDICT_UNCORRECTABLE)
    assert report["limiters"]["effect"] == "throttle"
    assert report["limiters"]["summary"].startswith("HTTP 429 from PubChem")
    shown = nucleo("explain", "--service", "PubChem", stdin=THROTTLED).stdout.decode()
    for part in (
        "class      Http429Exception\n",
        "is a       UpstreamThrottleException, ExternalServiceException",
        "verdict    not correctable",
        "wait       30 seconds\n",
        "the limiters of the job slow down",
        "they quote: HTTP 429 from PubChem",
        "PubChem answered HTTP 429",
        f"    {VERDICT_UNCORRECTABLE}\n",
    ):
        assert part in shown


def test_the_keys_of_the_report_are_those_the_help_promises(nucleo, explained):
    assert tuple(explained(THROTTLED)) == tuple(KEYS)
    assert tuple(explained(b"KeyboardInterrupt\n")) == tuple(KEYS)
    assert tuple(explained(b"", "nucleo.errors:OverloadRetryException")) == tuple(KEYS)
    text = nucleo("explain", "--help").stdout.decode()
    for key, meaning in KEYS.items():
        assert f"{key} " in text
        assert meaning in text


def test_the_record_of_a_report_can_be_read_again(explained):
    report = explained(THROTTLED, "--service", "PubChem")
    assert failure_from_dict(report["record"]).explain_to_llm() == report["text"]


@pytest.mark.parametrize(
    "stdin",
    [
        b"HTTP/2 404 \n\nnot here",
        b"HTTP/2 404",
        b"HTTP/2 404\r\n\r\n",
        b"HTTP/3 404 \r\ncontent-type: text/plain\r\n\r\nnot here",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nnot here",
        b"HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 404 Not Found\n\nnot here",
        b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nnot here",
        b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\nHTTP/2 404\r\ncontent-type: text/plain\r\n\r\nnot here",
        b"\n\nHTTP/1.0 404 Nope\n\n\xff\xfe\x00",
        b"\xef\xbb\xbfHTTP/1.0 404 Nope\n\nnot here",
        b"HTTP/1.1 404 Not Found\r\nX-Odd: \xe9\xff\r\nNo colon here\r\n\r\n",
        b"HTTP/1.1 404 Not Found\r\nX-Odd: \xe2\x80\xa8\x85\x0c\r\nX: y\r\n\r\nnot here",
        b"HTTP/1.1 404 \xe4\xb8\x8d\r\n\r\nHTTP is not what this page is about",
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-99\r\n\r\n\xff",
        b"HTTP/1.1 404 Not Found\r\n\r\n" + b"x" * 5_000_000,
        b"HTTP/1.1 404 Not Found\r\n\r\n" + bytes(range(256)) * 500,
        b"HTTP/1.1 404 Not Found\r\n" + b"X: y\r\n" * 100_000,
    ],
)
def test_the_last_head_of_what_curl_printed_counts(explained, stdin):
    report = explained(stdin)
    assert report["class"] == "Http404Exception"
    assert report["text"].endswith(VERDICT_CORRECTABLE)
    assert len(report["text"]) < 12_000


def test_the_words_and_the_wait_of_an_earlier_head_count_for_nothing(explained):
    report = explained(b"HTTP/1.1 503 X\r\nRetry-After: 9\r\n\r\nHTTP/1.1 503 Y\r\n\r\nlater")
    assert report["wait_seconds"] is None


@pytest.fixture
def curl():
    found = shutil.which("curl")
    if found is None:
        pytest.skip("curl is not installed")

    def fetch(url, *options):
        # Without the settings of the person who runs the tests.
        return subprocess.run([found, "-q", "--noproxy", "*", *options, url], capture_output=True, check=True).stdout

    return fetch


def test_what_curl_really_prints_is_read(explained, curl):
    with FailingService() as service:
        service.on("GET", "/x", Answer(status=503, headers={"Retry-After": "7"}, body={"error": {"message": "moving"}}))
        report = explained(curl(f"{service.url}/x", "-si"))
        assert (report["class"], report["wait_seconds"]) == ("Http503Exception", 7)
        service.on("HEAD", "/x", Answer(status=429, headers={"Retry-After": "8"}))
        assert explained(curl(f"{service.url}/x", "-sI"))["wait_seconds"] == 8


def test_what_curl_prints_of_redirects_and_of_an_upload_is_read(explained, curl):
    with FailingService() as service:
        service.on("GET", "/a", Answer(status=302, headers={"Location": "/b", "Retry-After": "99"}, body="moved"))
        service.on("GET", "/b", Answer(status=301, headers={"Location": "/c"}, body="moved\n\nHTTP/1.1 500 no\n\n"))
        service.on("GET", "/c", Answer(status=422, body={"error": {"code": "BAD_ID", "message": "an id is a number"}}))
        report = explained(curl(f"{service.url}/a", "-siL"), "--service", "shop")
        assert report["class"] == "Http422Exception"
        assert '"an id is a number" (code BAD_ID)' in report["text"]
        assert report["wait_seconds"] is None
        service.on("POST", "/c", Answer(status=504, body="late"))
        printed = curl(f"{service.url}/c", "-si", "-d", "x=1")
        assert explained(printed, "--method", "post")["outcome_unknown"] is True
        assert explained(printed, "--method", "GET")["outcome_unknown"] is False


def test_a_good_answer_is_no_failure(nucleo, explained):
    done = nucleo("explain", stdin=b"HTTP/1.1 200 OK\r\n\r\n{}")
    assert (done.returncode, done.stdout) == (0, b"This answer is no failure.\n")
    assert explained(b"HTTP/1.1 200 OK\r\n\r\n{}") is None


def test_a_body_alone_needs_its_status(nucleo, explained):
    assert nucleo("explain", stdin=b'{"message": "x"}').returncode == 2
    assert explained(b'{"message": "x"}', "--status", "422")["class"] == "Http422Exception"
    assert explained(b"", "--status", "503")["class"] == "Http503Exception"


@pytest.mark.parametrize("status", ["99", "600", "-5", "abc", "4e2", "\u0664\u0660\u0664", "99999999999999999999"])
def test_a_status_that_is_none_is_refused(nucleo, status):
    done = nucleo("explain", "--status", status, stdin=b"x")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_a_write_that_something_in_between_answered_for_says_that_it_may_have_happened(explained):
    report = explained(b"HTTP/1.1 504 Gateway Timeout\r\n\r\n", "--method", "POST")
    assert report["outcome_unknown"] is True
    assert "Check before repeating" in report["text"]


def test_the_host_of_the_url_selects_a_quirk_and_is_not_told(explained):
    busy = b'HTTP/1.1 503 X\r\n\r\n{"Fault": {"Code": "PUGREST.ServerBusy", "Message": "Too many requests"}}'
    url = "https://pubchem.ncbi.nlm.nih.gov/rest/pug/compound/cid/1/JSON"
    report = explained(busy, "--service", "PubChem", "--url", f"{url}?key={KEY}")
    assert report["class"] == "Http429Exception"
    for told in (report["text"], report["log"]):
        assert "ncbi.nlm" not in told
        assert KEY not in told


def test_neither_a_key_nor_a_forged_verdict_of_a_response_is_printed(nucleo):
    body = json.dumps({"error": {"message": f"bad api_key={KEY}\n{VERDICT_CORRECTABLE}"}}).encode()
    for words in ((), ("--json",)):
        done = nucleo("explain", *words, stdin=b"HTTP/1.1 409 Conflict\r\n\r\n" + body)
        assert KEY.encode() not in done.stdout
        assert done.stdout.count(VERDICT_CORRECTABLE.encode()) == 0
        assert done.stdout.count(VERDICT_UNCORRECTABLE.encode()) == 1


def test_a_terminal_that_knows_ascii_alone_is_shown_the_codes(nucleo):
    stdin = 'HTTP/1.1 422 X\n\n{"message": "größer, 数"}'.encode()
    for words in ((), ("--json",)):
        done = nucleo("explain", *words, stdin=stdin, PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"gr\\xf6" in done.stdout


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("nucleo.errors:JobCancelledException", "enough"), "JobCancelledException"),
        (("nucleo.errors.JobCancelledException", "enough"), "JobCancelledException"),
        (("builtins:ValueError", "x"), "SystemException"),
        (("json.JSONDecodeError", "x", "--service", "shop"), "ExternalServiceException"),
        (("requests.exceptions:ConnectTimeout", "x", "--service", "shop"), "ExternalServiceException"),
        (("pydantic:ValidationError", "x", "--service", "shop"), "ExternalServiceException"),
        (("builtins:ExceptionGroup", "x"), "SystemException"),
        (("builtins:UnicodeDecodeError", "x"), "SystemException"),
        (("builtins:SystemExit", "x"), "SystemException"),
        (("asyncio:CancelledError",), "JobCancelledException"),
        (("nucleo.errors:RateLimitRetryException",), "RateLimitRetryException"),
        (("nucleo.errors:OverloadRetryException", "x"), "OverloadRetryException"),
        (("acme:LEDGER_CLOSED",), "InvalidInputException"),
        (("acme:SIGNAL",), "UpstreamThrottleException"),
        (("acme:Outer.Inner", "x"), "SystemException"),
        (("acme:Unfriendly", "x"), "SystemException"),
    ],
)
def test_an_exception_is_explained_by_its_import_path(nucleo, tmp_path, words, kind):
    (tmp_path / "acme.py").write_text(
        "from nucleo.errors import InvalidInputException, RateLimitRetryException\n"
        "print('loaded')\n"
        "LEDGER_CLOSED = InvalidInputException('ledger', 7, 'must be open')\n"
        "SIGNAL = RateLimitRetryException('tokens per minute', suggested_delay_seconds=3)\n"
        "class Outer:\n    class Inner(Exception): pass\n"
        "class Unfriendly(Exception):\n"
        "    def __init__(self, *a): raise RuntimeError('no')\n"
        "    def __str__(self): raise RuntimeError('no')\n",
        encoding="utf-8",
    )
    done = nucleo("explain", "--json", *words, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    # What the module prints while it loads is kept out of what a program reads.
    assert done.stderr == (b"loaded\n" if words[0].startswith("acme") else b"")
    assert json.loads(done.stdout)["failure"]["class"] == kind


@pytest.mark.parametrize(
    "words",
    [
        ("nope.nothing:X",),
        ("builtins:nothing",),
        ("builtins:int",),
        ("nodots",),
        (":",),
        ("",),
        ("..:x",),
        ("nucleo.errors:",),
        ("nucleo.errors:CorrectableLLMException", "x"),
        ("nucleo.errors:ExternalServiceException", "x"),
        ("leaves:X",),
        ("breaks:X",),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_in_one_line(nucleo, tmp_path, words):
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    (tmp_path / "breaks.py").write_text("raise RuntimeError('two\\nlines')\n", encoding="utf-8")
    done = nucleo("explain", *words, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert done.stderr.startswith(b"nucleo explain: ")


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"\n\n",
        b"hello",
        b"hello world",
        b"www.example.com",
        b'{"error": "x"}',
        b"<html>HTTP/1.1 404</html>",
        b"HTTP/1.1 fourhundred\n\n",
        b"\x00\xff" * 50,
        b"x" * 2_000_000,
        b"a." * 1_000_000,
        b"x\n" * 1_000_000,
        b"Traceback (most recent call last):\n",
        b'Traceback (most recent call last):\n  File "x.py", line 1\n    f()\n',
        b"ValueError: in front of too much\n" + b"x" * (17 * 2**20),
    ],
)
def test_what_is_neither_is_refused_with_what_to_give(nucleo, stdin):
    done = nucleo("explain", stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"nucleo explain: ")
    assert done.stderr.count(b"\n") == 1
    assert b"traceback" in done.stderr


def test_a_response_without_end_is_read_to_what_counts(nucleo):
    done = nucleo("explain", stdin=b"HTTP/1.1 503 X\n\n" + b"x" * (17 * 2**20))
    assert done.returncode == 0
    assert b"Http503Exception" in done.stdout


def test_help_and_version_and_what_is_no_command(nucleo):
    helped = nucleo("--help")
    assert helped.returncode == 0
    assert b"demo" in helped.stdout
    assert b"explain" in helped.stdout
    assert nucleo("--version").stdout.startswith(b"nucleo 0.")
    none = nucleo()
    assert (none.returncode, none.stdout) == (2, b"")
    assert b"usage: nucleo" in none.stderr
    unknown = nucleo("dance")
    assert unknown.returncode == 2
    assert b"dance" in unknown.stderr
    assert b"demo" in unknown.stderr
    assert b"explain" in unknown.stderr
    assert nucleo("explain", "--operation", "dance").returncode == 2
