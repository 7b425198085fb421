"""Tracebacks as Python prints them, most of them printed by Python here and now."""

import asyncio
import http.client
import traceback
import urllib.error
import urllib.request

import aiohttp
import anthropic
import httpx
import openai
import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from nucleo.cli.explain.pasted_traceback import read_traceback
from nucleo.cli.explain.stand_in import StandIns
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    Http404Exception,
    Http503Exception,
    HttpErrorDetail,
    InvalidInputException,
    OverloadRetryException,
    ResourceNotFoundException,
    explain,
)
from nucleo.errors.http import http_failure
from nucleo.errors.translate import translate
from nucleo.testing import Answer, FailingService

VERDICTS = (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)

TRACEBACK = b"""Traceback (most recent call last):
  File "x.py", line 1, in <module>
OSError: first

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "x.py", line 3, in <module>
    f(
    ~^
  [Previous line repeated 990 more times]
%s
"""


def printed(error):
    return "".join(traceback.format_exception(error)).encode("utf-8", "surrogatepass")


def caught(action):
    try:
        action()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("last", "words", "kind"),
    [
        (b"ValueError: no user 7", (), "SystemException"),
        (b"KeyError: 'x'", ("--service", "shop"), "ExternalServiceException"),
        (b"httpx.ConnectTimeout: timed out", ("--service", "shop"), "ExternalServiceException"),
        (b"acme.errors.Weird: told\nover two lines", (), "SystemException"),
        (b"acme.errors.Weird: told\n\nwww.example.com\nValueError: as the service said", (), "SystemException"),
        (b"acme.outer.<locals>.Weird", (), "SystemException"),
        ("größe.Fehler: ü".encode(), (), "SystemException"),
        (b"KeyboardInterrupt", (), "SystemException"),
        (b"SystemExit: 3", ("--service", "shop"), "SystemException"),
        (b"asyncio.exceptions.CancelledError", (), "JobCancelledException"),
        (b"asyncio.exceptions.CancelledError", ("--service", "shop"), "JobCancelledException"),
        (b"TimeoutError", ("--service", "shop"), "ExternalServiceException"),
        (b"\x1b[1;35mTimeoutError\x1b[0m: \x1b[35mx\x1b[0m", ("--service", "shop"), "ExternalServiceException"),
        (b"json.decoder.JSONDecodeError: Expecting value: line 1", ("--service", "shop"), "ExternalServiceException"),
        (b"UnicodeDecodeError: 'utf-8' codec can't decode byte", (), "SystemException"),
        (
            b"pydantic_core._pydantic_core.ValidationError: 1 validation error",
            ("--service", "s"),
            "ExternalServiceException",
        ),
        (b"builtins.BaseExceptionGroup: two (2 sub-exceptions)", (), "SystemException"),
    ],
)
def test_a_traceback_is_explained_by_its_last_exception(explained, last, words, kind):
    report = explained(TRACEBACK % last, *words)
    assert report["class"] == kind
    assert report["text"].endswith(VERDICTS)
    assert "x.py" not in report["text"]


@pytest.mark.parametrize("prefix", [b"web_1  | ", b"    ", b"2026-01-31 12:00:00 [worker] "])
def test_what_a_log_puts_in_front_of_every_line_is_left_out(explained, prefix):
    lines = (TRACEBACK % b"TimeoutError: late").splitlines()
    pasted = b"starting\n" + b"\n".join(prefix + line for line in lines)
    report = explained(pasted.replace(b"\n", b"\r\n"), "--service", "shop")
    assert "no answer within the time limit" in report["text"]


def test_pasting_a_traceback_imports_nothing(nucleo, tmp_path):
    for name in ("trap", "requests", "aiohttp"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    for name in (b"trap.Boom: x", b"requests.exceptions.ConnectTimeout: x", b"aiohttp.ClientError: x"):
        done = nucleo("explain", "--service", "shop", stdin=TRACEBACK % name, PYTHONPATH=str(tmp_path))
        assert done.returncode == 0, done.stderr


def test_the_failure_of_the_set_in_a_chain_decides_and_its_text_is_not_made_up(explained):
    def fail():
        try:
            raise Http404Exception(HttpErrorDetail(404, "shop", "/orders/7", said="no order 7"))
        except Http404Exception as error:
            raise RuntimeError("tool broke") from error

    report = explained(printed(caught(fail)), "--service", "other")
    assert report["class"] == "Http404Exception"
    assert report["correctable"] is True
    assert report["text"] is None
    assert report["log"] == "shop answered HTTP 404 at /orders/7: no order 7"
    assert report["limiters"]["effect"] == "healthy"
    assert "not in a traceback" in report["note"]


@pytest.mark.parametrize(
    ("failure", "effect"),
    [
        (InvalidInputException("cid", 7, "must be positive"), "no verdict"),
        (ResourceNotFoundException("order", "7"), "no verdict"),
        (Http503Exception(HttpErrorDetail(503, "shop", "/x")), "failure"),
        (http_failure("shop", "/x", 429, b"", headers={"Retry-After": "3"}), "throttle"),
    ],
)
def test_a_pasted_member_has_the_verdict_and_the_effect_of_its_class(nucleo, explained, failure, effect):
    pasted = printed(caught(lambda: (_ for _ in ()).throw(failure)))
    report = explained(pasted)
    assert report["class"] == type(failure).__name__
    assert report["correctable"] == failure.is_correctable
    assert report["limiters"]["effect"] == effect
    assert report["log"] == str(failure)
    assert b"the model reads" not in nucleo("explain", stdin=pasted).stdout


def test_several_pasted_members_of_a_group_have_no_text_either(explained):
    group = ExceptionGroup("two", [InvalidInputException("a", 1, "b"), ResourceNotFoundException("order", "7")])
    report = explained(printed(caught(lambda: (_ for _ in ()).throw(group))))
    assert report["correctable"] is True
    assert report["text"] is None


def test_a_signal_of_the_dispatcher_is_none_of_a_model(nucleo, explained):
    def fail():
        try:
            raise ConnectionResetError(104, "gone")
        except ConnectionResetError as error:
            raise OverloadRetryException("Anthropic", "busy") from error

    pasted = printed(caught(fail))
    report = explained(pasted)
    assert (report["class"], report["correctable"], report["text"]) == ("OverloadRetryException", None, None)
    assert report["limiters"]["effect"] == "throttle"
    assert b"no model hears of it" in nucleo("explain", stdin=pasted).stdout


def test_a_cancel_in_a_group_comes_before_everything_else(explained):
    group = BaseExceptionGroup("two", [InvalidInputException("a", 1, "b"), asyncio.CancelledError()])
    assert explained(printed(caught(lambda: (_ for _ in ()).throw(group))))["class"] == "JobCancelledException"


def test_a_cancel_behind_a_timeout_is_none(explained):
    async def late():
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    report = explained(printed(caught(lambda: asyncio.run(late()))), "--service", "shop")
    assert "no answer within the time limit" in report["text"]


CLIENTS = {
    "requests": lambda url: requests.get(url, timeout=9).raise_for_status(),
    "httpx": lambda url: httpx.get(url).raise_for_status(),
    "urllib": lambda url: urllib.request.urlopen(url).close(),  # noqa: S310 - loopback
    "aiohttp": lambda url: asyncio.run(with_aiohttp(url)),
    "openai": lambda url: openai.OpenAI(api_key="k", base_url=url, max_retries=0).chat.completions.create(
        model="m", messages=[{"role": "user", "content": "x"}]
    ),
    "anthropic": lambda url: anthropic.Anthropic(api_key="k", base_url=url, max_retries=0).messages.create(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
    ),
}


async def with_aiohttp(url):
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        response.raise_for_status()


@pytest.fixture
def loopback_only(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize("status", [404, 422, 429, 503])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_answer_that_a_client_prints_is_explained_as_its_own_exception_is(explained, loopback_only, client, status):
    body = {"error": {"type": "x", "message": "the words of the service"}}
    with FailingService() as service:
        service.on("GET", "/x", Answer(status=status, body=body))
        for path in ("/x/chat/completions", "/x/v1/messages"):
            service.on("POST", path, Answer(status=status, body=body))
        error = caught(lambda: CLIENTS[client](f"{service.url}/x"))
    report = explained(printed(error), "--service", "shop")
    real = translate(error, service="shop")
    if isinstance(error, urllib.error.HTTPError):
        error.close()
    assert report["class"] == type(real).__name__
    assert report["correctable"] == real.is_correctable
    assert f"shop answered HTTP {status} at /" in report["text"]
    assert "not in a traceback" in report["note"]
    if client in {"openai", "anthropic"} and status < 500:
        assert ("the words of the service" in report["text"]) == ("the words of the service" in real.llm_message)


@pytest.mark.parametrize("fault", ["refused", "reset", "close"])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_call_without_an_answer_is_explained_as_its_own_exception_is(explained, loopback_only, client, fault):
    with FailingService() as service:
        if fault != "refused":
            service.on("GET", "/x", Answer(fault=fault))
            for path in ("/x/chat/completions", "/x/v1/messages"):
                service.on("POST", path, Answer(fault=fault))
            error = caught(lambda: CLIENTS[client](f"{service.url}/x"))
        url = service.url
    if fault == "refused":
        error = caught(lambda: CLIENTS[client](f"{url}/x"))
    real = translate(error, service="shop")
    report = explained(printed(error), "--service", "shop", "--method", "GET")
    assert report["class"] == type(real).__name__
    assert report["text"] == explain(real).replace(
        ". It is not known whether it was carried out: it may have been. Check before repeating it.", ""
    )


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (b"urllib.error.URLError: <urlopen error [Errno 111] Connection refused>", "the connection was refused"),
        (b"urllib.error.URLError: <urlopen error timed out>", "no connection within the time limit"),
        (
            b"urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>",
            "its name could not be looked up",
        ),
        (
            b"urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed>",
            "its TLS certificate is not trusted",
        ),
        (
            b"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='a', port=443): Max retries exceeded (Caused by NameResolutionError('Failed to resolve: [Errno -2] Name or service not known'))",
            "its name could not be looked up",
        ),
        (b"ConnectionRefusedError: [Errno 111] Connection refused", "the connection was refused"),
        (b"OSError: [Errno 113] No route to host", "no connection could be made"),
    ],
)
def test_the_last_line_alone_says_what_it_can(explained, last, words):
    assert words in explained(last, "--service", "shop")["text"]


@pytest.mark.parametrize(
    "last",
    [
        b"openai.RateLimitError: Error code: 429 - {'error': {'message': 'x'",
        b"openai.RateLimitError: Error code: 429 - " + b"[" * 5000,
        b"openai.RateLimitError: Error code: 429 - {'a': {1, 2}}",
        b"openai.RateLimitError: Error code: 429",
        b"openai.RateLimitError: Error code: 429 - __import__('os').abort()",
    ],
)
def test_a_body_that_is_no_object_is_read_as_text(explained, last):
    assert explained(last)["class"] == "Http429Exception"


def test_an_unfriendly_depth_is_cut(nucleo):
    chain = b"\n\nDuring handling of the above exception, another exception occurred:\n\n".join(
        b'Traceback (most recent call last):\n  File "x.py"\nValueError: %d' % i for i in range(5000)
    )
    nested = b"  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: x (1 sub-exception)\n"
    for depth in range(1, 900):
        bar = b" " * (2 * depth)
        nested += bar + b"+-+---------------- 1 ----------------\n" + bar + b"  | ExceptionGroup: x (1 sub-exception)\n"
    for pasted in (chain, nested):
        done = nucleo("explain", stdin=pasted)
        assert (done.returncode, done.stderr) == (0, b"")


MESSAGES = st.one_of(
    st.sampled_from(["", "x", "two\nlines", "no user 7", "a: b", "[Errno 2] no", "ValueError: not this one", "  in"]),
    st.text(
        st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029|+\x1b"), max_size=20
    ),
)
KINDS = st.sampled_from([ValueError, RuntimeError, http.client.HTTPException, asyncio.TimeoutError])


@st.composite
def raised(draw, depth=3):
    if depth and draw(st.booleans()):
        members = draw(st.lists(raised(depth=depth - 1), min_size=1, max_size=3))
        error = ExceptionGroup(draw(MESSAGES) or "x", members)
    else:
        message = draw(MESSAGES)
        error = draw(KINDS)(message) if message else draw(KINDS)()
    link = draw(st.sampled_from(["none", "cause", "context"])) if depth else "none"
    if link == "cause":
        error.__cause__ = draw(raised(depth=depth - 1))
    elif link == "context":
        error.__context__ = draw(raised(depth=depth - 1))
    return error


def shape(error):
    members = [shape(member) for member in error.exceptions] if isinstance(error, ExceptionGroup) else []
    message = error.message if members else str(error)
    return (type(error).__name__, " ".join(message.split()), members, *behind(error.__cause__, error.__context__))


def behind(cause, context):
    if cause is not None:
        return True, shape(cause)
    return False, None if context is None else shape(context)


@settings(max_examples=150, deadline=None)
@given(raised())
def test_causes_and_groups_are_read_as_python_prints_them(error):
    told = read_traceback("".join(traceback.format_exception(error)))
    rebuilt = StandIns().make(told)
    assert shape(rebuilt) == shape(error)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from([*"|+-: \n1aE.", "Traceback (most recent call last):", "Error: ", "----", "+-+"]),
        max_size=80,
    ).map("".join)
)
def test_no_text_whatever_breaks_the_reading(text):
    told = read_traceback(text)
    if told is not None:
        assert explain(StandIns().make(told)).endswith(VERDICTS)
