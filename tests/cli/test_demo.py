import re
import signal
import subprocess
import sys

import pytest

from nucleo.cli.demo.agent import OrderAnswer, OrderState
from nucleo.cli.demo.orders import QUESTIONS
from nucleo.cli.demo.policy import decide
from nucleo.cli.demo.show import Outcome
from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.testing import Answer

VERDICTS = (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)
PLANTED = ("sk-live", "Traceback", "<html", "nginx", "internal.example", "/srv/orders", "DemoDemo")


def quoted_after(printed, ending):
    """The texts behind the bar after each title of this ending, put together again as they were read."""
    texts = []
    reading = False
    for line in printed.splitlines():
        if line.startswith("    |"):
            if reading and line.startswith("    |   "):
                texts[-1] += " " + line[8:]
            elif reading:
                texts[-1] += ("\n" if texts[-1] else "") + line[6:]
            continue
        reading = line.endswith(ending)
        if reading:
            texts.append("")
    return texts


@pytest.fixture(scope="module")
def printed(nucleo):
    done = nucleo("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.fixture(scope="module")
def failures(printed):
    return quoted_after(printed, "failed, and the model reads:")


def test_every_question_ends_right(printed):
    assert f"{len(QUESTIONS)} of {len(QUESTIONS)} questions ended right" in printed
    assert printed.count("  => right") == len(QUESTIONS)


def test_it_fits_a_terminal_of_a_hundred_columns(printed):
    assert max(map(len, printed.splitlines())) <= 100


@pytest.mark.parametrize(
    "part",
    [
        'HTTP 422 at /orders/1042: "An order number looks like ORD-1234',
        "HTTP 404 at /orders/ORD-9999",
        "HTTP 429 at /orders/ORD-1043",
        "It asked to wait 30 seconds",
        "HTTP 503 at /orders/ORD-1044",
        "answered HTTP 200, but the answer could not be read",
        "the connection broke before the answer was complete",
        "no answer within the time limit",
        'a web page that says "502 Bad Gateway"',
        "HTTP 409 at /orders/ORD-1049",
        "HTTP 500 at /archive/ORD-1049",
        "It is not known whether it was carried out: it may have been. Check before repeating it.",
    ],
)
def test_the_model_reads_of_every_way_in_which_the_service_misbehaves(failures, part):
    assert sum(part in text for text in failures) == 1


def test_neither_the_key_nor_the_page_nor_the_stack_reaches_anybody(printed):
    for secret in PLANTED:
        assert secret not in printed


def test_every_failure_has_exactly_one_verdict_and_it_is_the_last_line(failures):
    assert len(failures) == 13
    for text in failures:
        assert sum(text.count(verdict) for verdict in VERDICTS) == 1
        assert text.endswith(VERDICTS)


def test_the_leaking_answer_is_quoted_without_its_key_and_with_its_verdict_made_harmless(failures):
    (leak,) = [text for text in failures if "LEDGER_LOCKED" in text]
    assert "The stock ledger refused our key [masked]" in leak
    assert VERDICT_CORRECTABLE[1:-1] in leak
    assert leak.endswith(VERDICT_UNCORRECTABLE)


def test_every_failure_shows_what_the_log_got_and_what_the_model_did_next(printed):
    lines = [line for line in printed.splitlines() if not line.startswith("    |")]
    places = [place for place, line in enumerate(lines) if line.endswith("failed, and the model reads:")]
    for place in places:
        assert re.fullmatch(
            r"  the log gets: (WARNING \w+, without a stack|ERROR \w+, with the stack.*)", lines[place + 1]
        )
        assert lines[place + 2].startswith(("  the model calls ", "  the model answers:"))


def test_a_failure_the_model_cannot_correct_is_logged_with_the_exception_beneath_it(printed):
    assert "ERROR ExternalServiceException, with the stack down to ReadTimeout" in printed
    assert "WARNING Http422Exception, without a stack" in printed


def test_what_is_shown_is_word_for_word_what_the_model_was_sent(nucleo, either_server):
    """The same demo on a provider's real SDK and wire format, its model the policy, its server remembering."""
    either_server.follow(decide)
    done = nucleo("demo", **either_server.variables)
    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b""), shown
    sent = [text for text in either_server.results_read if text.endswith(VERDICTS)]
    assert quoted_after(shown, "failed, and the model reads:") == sent
    assert len(sent) == 13
    for text in either_server.results_read:
        assert not any(secret in text for secret in PLANTED)
    assert "_API_KEY is set\n" in shown
    assert not any(key in shown for key in either_server.variables.values() if key.startswith("sk-"))


def test_an_answer_that_is_wrong_ends_with_one(nucleo, model_server):
    wrong = OrderAnswer(found_out=True, orders=[OrderState(number="ORD-1042", status="delivered")], text="It is there.")
    model_server.follow(lambda request: wrong.model_dump_json())
    done = nucleo("demo", **model_server.variables)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "  => WRONG: a right answer was ORD-1042 shipped" in done.stdout.decode()
    assert "0 of 11 questions ended right" in done.stdout.decode()


def test_one_wrong_answer_among_right_ones_ends_with_one(nucleo, model_server):
    def mostly(request):
        said = decide(request)
        return said.replace("packed", "shipped") if isinstance(said, str) and "1044 is packed" in said else said

    model_server.follow(mostly)
    done = nucleo("demo", **model_server.variables)
    assert done.returncode == 1
    assert "9 of 11 questions ended right" in done.stdout.decode()


def test_a_model_that_says_no_answer_fails_its_question_and_the_demo_goes_on(nucleo, model_server):
    model_server.follow(lambda request: "It is on its way!")
    done = nucleo("demo", **model_server.variables)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.decode().count("  the run failed:") == len(QUESTIONS)


def test_a_key_that_is_refused_ends_the_demo_with_one_line_that_does_not_tell_it(nucleo, either_server):
    key = next(value for value in either_server.variables.values() if value.startswith("sk-"))
    refusal = {"error": {"type": "authentication_error", "code": "invalid_api_key", "message": f"invalid key {key}"}}
    either_server.service.on("POST", either_server.wire.path, Answer(status=401, body=refusal))
    done = nucleo("demo", **either_server.variables)
    assert done.returncode == 2
    assert done.stderr.startswith(b"nucleo demo: ")
    assert done.stderr.count(b"\n") == 1
    assert key.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "openai:gpt-x"], "OPENAI_API_KEY"),
        (["--model", "anthropic:claude-x"], "ANTHROPIC_API_KEY"),
        (["--model", "nope:x"], "no model provider"),
        (["--model", "plain"], "provider:name"),
        (["--model", ""], "provider:name"),
    ],
)
def test_a_model_that_cannot_be_used_is_said_in_one_line(nucleo, words, said):
    done = nucleo("demo", *words)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


@pytest.fixture
def without_sdks(tmp_path):
    for name in ("openai", "anthropic"):
        text = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(tmp_path)}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_missing_package_is_said_in_one_line_with_the_extra_that_brings_it(nucleo, without_sdks, provider):
    key = {f"{provider.upper()}_API_KEY": "sk-loopback"}
    done = nucleo("demo", "--model", f"{provider}:x", **without_sdks, **key)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert f"nucleo[{provider}]" in done.stderr.decode()


def test_a_key_in_the_environment_without_its_package_does_not_end_the_demo(nucleo, without_sdks):
    done = nucleo("demo", OPENAI_API_KEY="sk-loopback", **without_sdks)
    assert done.returncode == 0
    assert done.stderr.startswith(b"OPENAI_API_KEY is set, but: ")
    assert done.stderr.count(b"\n") == 1
    assert "model: a scripted policy" in done.stdout.decode()


def test_ctrl_c_ends_it_with_one_word(bare_environment):
    """The signal is sent when the first question is on the screen."""
    # A process whose parent ignores the signal inherits that, and a test runner's parent may.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from nucleo.cli.main import main; sys.exit(main(['demo']))"
    )
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=bare_environment,
    ) as process:
        assert any("question 1 of" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "stopped\n")


@pytest.mark.parametrize("words", ["demo", "explain --json nucleo.errors:JobCancelledException x"])
def test_a_reader_that_has_seen_enough_causes_no_complaint(bare_environment, words):
    with subprocess.Popen(
        [sys.executable, "-m", "nucleo", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=bare_environment,
    ) as process:
        process.stdout.close()
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (1, b"")


def test_a_terminal_that_knows_ascii_alone_shows_it_too(nucleo):
    done = nucleo("demo", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (OrderAnswer(found_out=True, orders=[OrderState(number="ORD-1042", status="shipped")], text=""), True),
        (OrderAnswer(found_out=True, orders=[OrderState(number="ORD-1042", status="delivered")], text=""), False),
        (OrderAnswer(found_out=False, orders=[], text=""), False),
        (None, False),
    ],
)
def test_only_a_right_answer_counts_as_right(answer, right):
    assert Outcome(question=QUESTIONS[0], answer=answer).right is right


def test_inventing_an_answer_where_there_is_none_is_wrong():
    invented = OrderAnswer(found_out=True, orders=[OrderState(number="ORD-9999", status="shipped")], text="")
    honest = OrderAnswer(found_out=False, orders=[], text="")
    assert not Outcome(question=QUESTIONS[1], answer=invented).right
    assert Outcome(question=QUESTIONS[1], answer=honest).right
