import json
import os
import shutil
import subprocess
import sys

import pytest

from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.testing import Answer, FailingService


def nucleo(*words, stdin=b"", **environment):
    return subprocess.run(
        [sys.executable, "-m", "nucleo", *words],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


def explained(stdin, *words):
    done = nucleo("explain", "--json", *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["failure"]


THROTTLED = b'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\nContent-Type: application/json\r\n\r\n{"message": "slow down"}'


def test_a_pasted_response_is_explained_to_everybody():
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
        "Http429Exception, a UpstreamThrottleException",
        "not correctable",
        "30 seconds",
        "PubChem answered HTTP 429",
    ):
        assert part in shown


@pytest.mark.parametrize(
    "stdin",
    [
        b"HTTP/2 404 \n\nnot here",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nnot here",
        b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\nHTTP/2 404\r\ncontent-type: text/plain\r\n\r\nnot here",
        b"\n\nHTTP/1.0 404 Nope\n\n\xff\xfe\x00",
        b"HTTP/1.1 404 Not Found\r\nX-Odd: \xe9\xff\r\nNo colon here\r\n\r\n",
    ],
)
def test_the_last_head_of_what_curl_printed_counts(stdin):
    assert explained(stdin)["class"] == "Http404Exception"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_what_curl_really_prints_is_read():
    with FailingService() as service:
        service.on("GET", "/x", Answer(status=503, headers={"Retry-After": "7"}, body={"error": {"message": "moving"}}))
        printed = subprocess.run(["curl", "-si", f"{service.url}/x"], capture_output=True, check=True).stdout
    report = explained(printed)
    assert (report["class"], report["wait_seconds"]) == ("Http503Exception", 7)


def test_a_good_answer_is_no_failure():
    done = nucleo("explain", stdin=b"HTTP/1.1 200 OK\r\n\r\n{}")
    assert (done.returncode, done.stdout) == (0, b"This answer is no failure.\n")
    assert explained(b"HTTP/1.1 200 OK\r\n\r\n{}") is None


def test_a_body_alone_needs_its_status():
    assert nucleo("explain", stdin=b'{"message": "x"}').returncode == 2
    assert explained(b'{"message": "x"}', "--status", "422")["class"] == "Http422Exception"


def test_a_write_that_something_in_between_answered_for_says_that_it_may_have_happened():
    report = explained(b"HTTP/1.1 504 Gateway Timeout\r\n\r\n", "--method", "POST")
    assert report["outcome_unknown"] is True
    assert "Check before repeating" in report["text"]


TRACEBACK = b"""Traceback (most recent call last):
  File "x.py", line 1, in <module>
OSError: first

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "x.py", line 3, in <module>
%s
"""


@pytest.mark.parametrize(
    ("last", "words", "kind"),
    [
        (b"ValueError: no user 7", (), "SystemException"),
        (b"KeyError: 'x'", ("--service", "shop"), "ExternalServiceException"),
        (b"httpx.ConnectTimeout: timed out", ("--service", "shop"), "ExternalServiceException"),
        (b"acme.errors.Weird: told\nover two lines", (), "SystemException"),
        (b"KeyboardInterrupt", (), "SystemException"),
        (b"asyncio.exceptions.CancelledError", (), "JobCancelledException"),
        (b"asyncio.exceptions.CancelledError", ("--service", "shop"), "JobCancelledException"),
        (b"TimeoutError", ("--service", "shop"), "ExternalServiceException"),
    ],
)
def test_a_traceback_is_explained_by_its_last_exception(last, words, kind):
    report = explained(TRACEBACK % last, *words)
    assert report["class"] == kind
    assert report["text"].endswith((VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE))


def test_pasting_a_traceback_imports_nothing(tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    done = nucleo("explain", stdin=TRACEBACK % b"trap.Boom: x", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("nucleo.errors:JobCancelledException", "enough"), "JobCancelledException"),
        (("builtins:ValueError", "x"), "SystemException"),
        (("json.JSONDecodeError", "x", "--service", "shop"), "ExternalServiceException"),
        (("requests.exceptions:ConnectTimeout", "x", "--service", "shop"), "ExternalServiceException"),
    ],
)
def test_an_exception_is_explained_by_its_import_path(words, kind):
    assert explained(b"", *words)["class"] == kind


@pytest.mark.parametrize(
    "words",
    [("nope.nothing:X",), ("builtins:nothing",), ("builtins:int",), ("nodots",), (":",), ("nucleo.errors:",)],
)
def test_a_path_that_leads_nowhere_is_refused_in_one_line(words):
    done = nucleo("explain", *words)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("stdin", [b"", b"hello", b"\x00\xff" * 50, b"x" * 2_000_000])
def test_what_is_neither_is_refused_with_what_to_give(stdin):
    done = nucleo("explain", stdin=stdin)
    assert done.returncode == 2
    assert b"curl -si" in done.stderr


def test_help_and_version_and_an_unknown_command():
    assert b"explain" in nucleo("--help").stdout
    assert nucleo("--version").stdout.startswith(b"nucleo ")
    assert nucleo("dance").returncode == 2
