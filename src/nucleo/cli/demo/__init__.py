"""``nucleo demo``: the main job end to end, against a service that misbehaves on a schedule."""

import os
import sys
from collections import Counter

from nucleo.agents import Thinker
from nucleo.cli.demo.agent import OrderAnswer, OrderClient, order_agent
from nucleo.cli.demo.developer_log import DeveloperLog
from nucleo.cli.demo.orders import QUESTIONS, Question
from nucleo.cli.demo.policy import decide
from nucleo.cli.demo.service import OrderService
from nucleo.cli.demo.show import Outcome, show_heading, show_outcome, show_summary, show_transcript
from nucleo.conversation import Transcript
from nucleo.errors import (
    LLMReadableException,
    ModelNotFoundException,
    QuotaExhaustedException,
    UnauthorizedException,
)
from nucleo.jobs import Dispatcher, JobEvent, ToolFailed
from nucleo.models import ModelClient, ScriptedModel, ToolResultsMessage, shared_model

_MODEL_BY_KEY = (
    ("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-5"),
    ("OPENAI_API_KEY", "openai:gpt-5.2"),
)
"""Which model the demo runs on when a key is there and no ``--model`` is given."""

_UNUSABLE = (ModelNotFoundException, QuotaExhaustedException, UnauthorizedException)
"""What ends the demo: the next question would end in the same way."""


async def demo(model: str | None = None) -> int:
    """Run the demo and print what happens.

    Args:
        model: ``"provider:name"``; None takes a model whose key is in the environment, else the scripted policy.

    Raises:
        LLMReadableException: The model cannot be used: no such provider, no package, no key, or one that is refused.

    Returns:
        The exit code: 0 if every question that can be answered was answered right and the others honestly given up.
    """
    print("An agent answers customers' questions from an order service that misbehaves on a schedule.")
    chosen = await _model(model)
    with OrderService() as service, DeveloperLog() as log:
        print(f"service: {service.url}\n")
        async with OrderClient(base_url=service.url) as client, Dispatcher() as dispatcher:
            agent = order_agent(client, chosen)
            outcomes: list[Outcome] = []
            for question in QUESTIONS:
                show_heading(len(outcomes) + 1, len(QUESTIONS))
                outcomes.append(await _ask(dispatcher, agent, question, log))
        show_summary(outcomes, service.log)
    return 0 if all(outcome.right for outcome in outcomes) else 1


async def _model(asked: str | None) -> str | ModelClient:
    """Find the model and say which it is, before the first question: what is missing is said once."""
    if asked is not None:
        await shared_model(asked)
        print(f"model: {asked}")
        return asked
    for key, name in _MODEL_BY_KEY:
        if not os.environ.get(key):
            continue
        try:
            await shared_model(name)
        except LLMReadableException as failure:
            # Nobody asked for this model by name, so a package that is not there does not end the demo.
            print(f"{key} is set, but: {failure}", file=sys.stderr)
            continue
        print(f"model: {name}, because {key} is set")
        return name
    print("model: a scripted policy that reads what a model would read, and knows nothing else")
    return ScriptedModel(decide)


async def _ask(
    dispatcher: Dispatcher, agent: Thinker[str, OrderAnswer], question: Question, log: DeveloperLog
) -> Outcome:
    failures: Counter[str] = Counter()

    def count(event: JobEvent) -> None:
        if isinstance(event, ToolFailed):
            failures[type(event.failure).__name__] += 1

    stop = dispatcher.subscribe(count, workflow=question.text)
    handle = dispatcher.submit(agent.job(question.text), workflow=question.text)
    answer: OrderAnswer | None = None
    failure: str | None = None
    try:
        answer = await handle
    except _UNUSABLE:
        raise
    except LLMReadableException as error:
        failure = str(error)
    finally:
        stop()
    transcript = handle.transcript if isinstance(handle.transcript, Transcript) else Transcript()
    show_transcript(transcript, log.take())
    calls = sum(len(message.results) for message in transcript if isinstance(message, ToolResultsMessage))
    outcome = Outcome(question=question, answer=answer, failure=failure, calls=calls, failures=failures)
    show_outcome(outcome)
    return outcome
