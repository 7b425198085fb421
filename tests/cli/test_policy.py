"""The policy under misbehaviour that nobody planned for: it decides by the text alone."""

import json
import random

import pytest

from nucleo import Dispatcher
from nucleo.cli.demo.agent import OrderClient, order_agent
from nucleo.cli.demo.orders import ORDERS, QUESTIONS
from nucleo.cli.demo.policy import decide
from nucleo.cli.demo.service import SCHEDULE, Answer, OrderService
from nucleo.errors import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE
from nucleo.models import (
    AssistantMessage,
    Request,
    ScriptedModel,
    ToolCallResult,
    ToolDefinition,
    ToolResultsMessage,
    UserMessage,
)
from nucleo.testing import run

KINDS = [answer for answers in SCHEDULE.values() for answer in answers]
VERDICTS = (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE)


def schedule_of(rng):
    paths = [("GET", "/orders")]
    for number in ORDERS:
        paths += [("GET", f"/orders/{number}"), ("GET", f"/archive/{number}"), ("POST", f"/orders/{number}/cancel")]
    return {
        path: [rng.choice(KINDS) for _ in range(rng.choice([1, 2, 9]))]
        for path in paths
        if rng.random() < (0.8 if path[1].startswith("/orders/") else 0.4)
    }


async def ask(questions, schedule, policy=decide):
    """Ask in order; gives for each question the answer, its transcript and the service it was asked of."""
    heard = []
    with OrderService(schedule) as service:
        async with OrderClient(base_url=service.url) as client, Dispatcher() as dispatcher:
            agent = order_agent(client, ScriptedModel(policy))
            for question in questions:
                handle = dispatcher.submit(agent.job(question))
                heard.append((await handle, handle.transcript))
    return heard, service


def results_of(transcript):
    return [result for m in transcript if isinstance(m, ToolResultsMessage) for result in m.results]


@pytest.mark.parametrize("seed", range(12))
def test_under_any_schedule_it_answers_right_or_gives_up_when_no_way_is_left(seed):
    questions = [*(q.text for q in QUESTIONS), "Cancel ORD-1046, I am alan@example.com.", "Cancel 1044 and ORD-1048."]
    heard, service = run(ask(questions, schedule_of(random.Random(seed))))
    for question, (answer, transcript) in zip(questions, heard, strict=True):
        told = {order.number: order.status for order in answer.orders}
        called = {result.name for result in results_of(transcript)}
        for number, status in told.items():
            assert status == ("cancelled" if "ancel" in question else ORDERS[number].status)
            assert status != "cancelled" or service.cancellations[number] == 1
        assert answer.found_out == bool(told)
        if not answer.found_out and "ancel" not in question:
            assert {"find_order", "find_archived_order"} <= called
            assert ("search_orders" in called) == ("@" in question)
    # A cancel is repeated only when somebody has looked and found it not done, so none is ever done twice.
    assert set(service.cancellations.values()) <= {1}


@pytest.mark.parametrize("seed", range(12))
def test_under_any_schedule_the_model_reads_one_verdict_and_nothing_internal(seed):
    heard, _ = run(ask([q.text for q in QUESTIONS], schedule_of(random.Random(seed))))
    failed = [result for _, transcript in heard for result in results_of(transcript) if result.is_error]
    assert failed
    for result in failed:
        assert sum(result.content.count(verdict) for verdict in VERDICTS) == 1
        assert result.content.endswith(VERDICTS)
        for secret in ("sk-live", "Traceback", "<html", "nginx", "internal.example", "127.0.0.1"):
            assert secret not in result.content


def test_with_nothing_failing_every_order_is_found():
    heard, _ = run(ask([f"Where is {number}?" for number in ORDERS], {}))
    assert [answer.orders[0].status for answer, _ in heard] == [order.status for order in ORDERS.values()]


def test_with_everything_failing_it_gives_up_on_every_question():
    always = [Answer(status=503)] * 99
    paths = [("GET", "/orders"), *(("POST", f"/orders/{n}/cancel") for n in ORDERS)]
    paths += [("GET", f"/{kind}/{number}") for kind in ("orders", "archive") for number in ORDERS]
    heard, _ = run(ask([q.text for q in QUESTIONS], dict.fromkeys(paths, always)))
    assert [answer.found_out for answer, _ in heard] == [False] * len(QUESTIONS)


@pytest.mark.parametrize(
    ("schedule", "names", "status", "times"),
    [
        # Carried out, and the answer lost: it looks, and leaves it at that.
        ({"cancel": [Answer(status=504, after=True)]}, "cancel_order find_order", "cancelled", 1),
        # Not carried out: it looks, and then repeats it.
        ({"cancel": [Answer(status=504)]}, "cancel_order find_order cancel_order", "cancelled", 1),
        ({"cancel": [Answer(status=0)]}, "cancel_order find_order cancel_order", "cancelled", 1),
        # It cannot look but in last night's copy, which cannot know: it neither repeats it nor says what became of it.
        ({"cancel": [Answer(status=504)], "": [Answer(status=503)] * 9}, "cancel_order find_order", None, 0),
        # Plainly not carried out: no look can change that.
        ({"cancel": [Answer(status=503)]}, "cancel_order find_order", None, 0),
    ],
)
def test_it_checks_before_it_repeats_what_may_have_been_done(schedule, names, status, times):
    planned = {("POST" if p else "GET", f"/orders/ORD-1044{'/' if p else ''}{p}"): a for p, a in schedule.items()}
    heard, service = run(ask(["Cancel ORD-1044, please."], planned))
    ((answer, transcript),) = heard
    assert [result.name for result in results_of(transcript)] == names.split()
    assert [order.status for order in answer.orders] == ([status] if status else [])
    assert service.cancellations["ORD-1044"] == times


def test_it_reads_the_example_in_the_failure_and_not_the_rule_of_this_shop():
    """Another shop, another way to write a number: nothing but the text can tell."""

    first = decide(_conversation([]))
    assert json.loads(first[0].arguments) == {"number": "7731"}
    text = f'the shop answered HTTP 422: "numbers look like PO-0001"\n{VERDICT_CORRECTABLE}'
    second = decide(_conversation([(first, text)]))
    assert json.loads(second[0].arguments) == {"number": "PO-7731"}


def test_a_verdict_that_is_not_the_last_line_is_none():
    text = f'the shop answered HTTP 409: "{VERDICT_CORRECTABLE} numbers look like PO-0001"\n{VERDICT_UNCORRECTABLE}'
    first = decide(_conversation([]))
    second = decide(_conversation([(first, text)]))
    assert [call.name for call in second] == ["find_archived_order"]
    assert json.loads(second[0].arguments) == {"number": "7731"}


def _conversation(turns):
    messages = [UserMessage("Where is 7731?")]
    for calls, text in turns:
        messages += [
            AssistantMessage(tuple(calls)),
            ToolResultsMessage(tuple(ToolCallResult(call.id, call.name, text, True) for call in calls)),
        ]
    tools = tuple(ToolDefinition(name, "Find an order.", {}) for name in ("find_order", "find_archived_order"))
    return Request("scripted", tuple(messages), tools=tools)
