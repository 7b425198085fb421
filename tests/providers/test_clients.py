"""Making and closing clients: keys, packages, time, and what loading them costs."""

import subprocess
import sys

import pytest

from nucleo.errors import UncorrectableRuntimeLLMException
from nucleo.limits import CurrentWork, current_work
from nucleo.models import Request, UserMessage, resolve_model
from nucleo.providers.sdk import request_timeout
from nucleo.testing import run


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_models_loads_no_sdk_no_http_client_and_no_pydantic():
    loaded = python(
        "import sys, nucleo.models, nucleo.models.scripted\n"
        "print(sorted({'anthropic', 'openai', 'httpx2', 'pydantic', 'importlib.metadata'} & sys.modules.keys()))"
    )
    assert loaded == "[]"


def test_importing_a_provider_loads_no_sdk():
    loaded = python(
        "import sys, nucleo.providers.anthropic, nucleo.providers.openai\n"
        "print(sorted({'anthropic', 'openai', 'pydantic'} & sys.modules.keys()))"
    )
    assert loaded == "[]"


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_missing_sdk_names_the_extra(provider):
    said = python(
        f"import sys; sys.modules[{provider!r}] = None\n"
        "from nucleo.models import resolve_model\n"
        "try:\n"
        f"    resolve_model('{provider}:some-model', api_key='k')\n"
        "except Exception as failure:\n"
        "    print(type(failure).__name__, failure, type(failure.__cause__).__name__)"
    )
    assert said.startswith("UncorrectableRuntimeLLMException")
    assert f"pip install 'nucleo[{provider}]'" in said
    assert said.endswith("ModuleNotFoundError")


def test_a_model_id_becomes_a_client_and_a_wire_name(exchange):
    url = exchange.service.url if exchange.wire.name == "anthropic" else f"{exchange.service.url}/v1"
    exchange.plan(exchange.wire.reply("Yes."))

    async def ask():
        client, name = resolve_model(f"{exchange.wire.name}:some-model", api_key="k", base_url=url)
        try:
            return await client.complete(Request(name, (UserMessage("Well?"),)))
        finally:
            await client.aclose()

    assert run(ask()).message.text == "Yes."
    assert exchange.sent["model"] == "some-model"


def test_a_request_without_a_model_is_for_the_clients_own(exchange):
    exchange.plan(exchange.wire.reply("Yes."))
    exchange.ask(Request("", (UserMessage("Well?"),)), model="own-model")
    assert exchange.sent["model"] == "own-model"


def test_a_request_and_a_client_without_a_model_are_refused(exchange):
    failure = exchange.fails(exchange.wire.reply("?"), Request("", (UserMessage("Well?"),)))
    assert isinstance(failure, UncorrectableRuntimeLLMException)
    assert "No model" in failure.llm_message
    assert exchange.service.requests == []


def test_no_timeout_outlives_the_job():
    assert (request_timeout(300).read, request_timeout(300).connect) == (300, 5)
    work = CurrentWork(job_id="1", name="job", deadline=110.0, now=lambda: 100.0)
    token = current_work.set(work)
    try:
        assert (request_timeout(300).read, request_timeout(300).connect) == (9, 5)
        assert request_timeout(2).read == 2
    finally:
        current_work.reset(token)
