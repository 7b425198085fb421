"""``nucleo demo``: the main job end to end, against a service that misbehaves on a schedule."""

import logging
import os
from collections import Counter

from nucleo.agents import Thinker
from nucleo.cli.demo.agent import OrderAnswer, OrderClient, order_agent
from nucleo.cli.demo.orders import QUESTIONS, Question
from nucleo.cli.demo.policy import decide
from nucleo.cli.demo.service import OrderService
from nucleo.cli.demo.show import Outcome, show_summary, show_transcript
from nucleo.conversation import Transcript
from nucleo.errors import LLMReadableException
from nucleo.jobs import Dispatcher, JobEvent, ToolFailed
from nucleo.models import ModelClient as ModelClient
from nucleo.models import ScriptedModel, ToolResultsMessage, shared_model

_MODEL_BY_KEY = (
    ("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-5"),
    ("OPENAI_API_KEY", "openai:gpt-5.2"),
)
"""Which model the demo runs on when a key is there and no ``--model`` is given."""


async def demo(model: str | None = None) -> int:
    """Run the demo and print what happens.

    Args:
        model: ``"provider:name"``; None takes a model whose key is in the environment, else the scripted policy.

    Raises:
        LLMReadableException: The model cannot be used: no such provider, no package, no key.

    Returns:
        The exit code: 0 if every question that can be answered was answered right and the others honestly given up.
    """
    chosen = model or next((name for key, name in _MODEL_BY_KEY if os.environ.get(key)), None)
    print(f"model: {chosen or 'a scripted policy that reads what a model would read (no key found)'}")
    # The developer's half of every failure. The transcript is the other half, so here it only goes to a file's handler
    # that somebody configured.
    logging.getLogger("nucleo.failures").addHandler(logging.NullHandler())
    with OrderService() as service:
        print(f"service: {service.url}, misbehaving on a schedule\n")
        async with OrderClient(base_url=service.url) as client, Dispatcher() as dispatcher:
            if chosen is not None:
                # Before the first question, so that a missing key or package is said once.
                await shared_model(chosen)
            agent = order_agent(client, chosen or ScriptedModel(decide))
            outcomes = [await _ask(dispatcher, agent, question) for question in QUESTIONS]
        show_summary(outcomes)
        answered = ", ".join(f"{status} x{count}" for status, count in sorted(service.log.items()))
        print(f"The service's own log: {answered}")
    return 0 if all(outcome.right for outcome in outcomes) else 1


async def _ask(dispatcher: Dispatcher, agent: Thinker[str, OrderAnswer], question: Question) -> Outcome:
    failures: Counter[str] = Counter()

    def count(event: JobEvent) -> None:
        if isinstance(event, ToolFailed):
            failures[type(event.failure).__name__] += 1

    handle = dispatcher.submit(agent.job(question.text), workflow=question.text)
    stop = dispatcher.subscribe(count, workflow=question.text)
    answer: OrderAnswer | None = None
    failure: str | None = None
    try:
        answer = await handle
    except LLMReadableException as error:
        failure = str(error)
    stop()
    transcript = handle.transcript if isinstance(handle.transcript, Transcript) else Transcript()
    show_transcript(transcript)
    if failure is not None:
        print(f"  the run failed: {failure}")
    print()
    calls = sum(len(message.results) for message in transcript if isinstance(message, ToolResultsMessage))
    return Outcome(question=question, answer=answer, failure=failure, calls=calls, failures=failures)
