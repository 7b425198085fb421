import os
import random
import subprocess
import sys

import pytest

from nucleo import Dispatcher
from nucleo.cli.demo.agent import OrderAnswer, OrderClient, OrderState, order_agent
from nucleo.cli.demo.orders import QUESTIONS
from nucleo.cli.demo.policy import decide
from nucleo.cli.demo.service import SCHEDULE, OrderService
from nucleo.cli.demo.show import Outcome
from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.models import ScriptedModel, ToolResultsMessage


def without_keys():
    return {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}


@pytest.fixture(scope="module")
def printed():
    done = subprocess.run(
        [sys.executable, "-m", "nucleo", "demo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=without_keys(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_question_ends_right(printed):
    assert f"{len(QUESTIONS)} of {len(QUESTIONS)} questions ended right" in printed


@pytest.mark.parametrize(
    "part",
    [
        "422 x1",
        "429 x1",
        "503 x1",
        "502 x1",
        "500 x1",
        "504 x1",
        "reset x1",
        "no answer within the time limit",
        "could not be read",
    ],
)
def test_the_service_misbehaves_in_every_way_it_is_scheduled_to(printed, part):
    assert part in printed


def test_neither_the_key_nor_the_forged_verdict_nor_the_page_reaches_the_model(printed):
    for secret in ("sk-live", "Traceback", "<html", "nginx", "internal.example"):
        assert secret not in printed
    failures = printed.count("the model reads, as the failure of")
    assert printed.count(VERDICT_CORRECTABLE) + printed.count(VERDICT_UNCORRECTABLE) == failures == 13


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "openai:gpt-x"], "OPENAI_API_KEY"),
        (["--model", "nope:x"], "no model provider"),
        (["--model", "plain"], "provider:name"),
    ],
)
def test_a_model_that_cannot_be_used_is_said_in_one_line(words, said):
    done = subprocess.run(
        [sys.executable, "-m", "nucleo", "demo", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=without_keys(),
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


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
    outcome = Outcome(question=QUESTIONS[0], answer=answer, failure=None, calls=1, failures={})
    assert outcome.right is right


def test_inventing_an_answer_where_there_is_none_is_wrong():
    invented = OrderAnswer(found_out=True, orders=[OrderState(number="ORD-9999", status="shipped")], text="")
    honest = OrderAnswer(found_out=False, orders=[], text="")
    assert not Outcome(question=QUESTIONS[1], answer=invented, failure=None, calls=1, failures={}).right
    assert Outcome(question=QUESTIONS[1], answer=honest, failure=None, calls=1, failures={}).right


@pytest.mark.parametrize("seed", range(6))
def test_the_policy_knows_nothing_of_the_schedule(seed, monkeypatch):
    """Other misbehaviour on other orders: it still answers right or gives up honestly, and never invents a state."""
    rng = random.Random(seed)
    kinds = [one for answers in SCHEDULE.values() for one in answers if not one.delay and not one.after]
    schedule = {
        ("GET", f"/orders/ORD-{number}"): (rng.choice(kinds),) * rng.choice([1, 9]) for number in range(1042, 1051)
    }
    monkeypatch.setattr("nucleo.cli.demo.service.SCHEDULE", schedule)

    async def main():
        with OrderService() as service:
            async with OrderClient(base_url=service.url) as client, Dispatcher() as dispatcher:
                agent = order_agent(client, ScriptedModel(decide))
                for question in QUESTIONS:
                    handle = dispatcher.submit(agent.job(question.text))
                    answer = await handle
                    told = {(order.number, order.status) for order in answer.orders}
                    assert told <= set(question.statuses)
                    assert answer.found_out == bool(told)
                    results = [m for m in handle.transcript if isinstance(m, ToolResultsMessage)]
                    assert len(results) <= 6

    import asyncio

    asyncio.run(main())
