import asyncio
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from nucleo import Dispatcher, Palette, Thinker, call_tool, tool
from nucleo.errors import (
    ExternalServiceException,
    Http422Exception,
    HttpErrorDetail,
    InvalidInputException,
    ResourceNotFoundException,
    SystemException,
    UncorrectableLLMException,
)
from nucleo.jobs import ToolFailed
from nucleo.models import ScriptedModel, ToolCall
from nucleo.testing import run
from nucleo.tools import Secret, Stage

CODE = 'zx"81-quill\\7'


def called(what, arguments=None, **options):
    return run(call_tool(what, arguments, **options))


def test_a_failure_with_a_secret_is_the_same_failure_without_it(caplog):
    @tool
    def unlock(code: Secret[str]) -> str:
        """Unlock."""
        try:
            raise ValueError(f"wrong code {code}")
        except ValueError as error:
            raise InvalidInputException("door", {"tried": [code]}, f"{code} opens nothing") from error

    heard = []
    with caplog.at_level(logging.DEBUG):
        result = called(unlock, {"code": CODE}, on_failure=heard.append)
    failure = result.failure
    assert type(failure) is InvalidInputException
    assert failure.parameter_name == "door"
    assert "opens nothing" in result.content
    for text in (
        result.content,
        str(failure),
        repr(failure.to_dict()),
        str(failure.__cause__),
        heard[0].failure.llm_message,
        caplog.text,
    ):
        assert "quill" not in text
    assert "ValueError" in str(failure.__cause__)


def test_a_system_error_keeps_its_stack_in_the_log_but_not_the_secret(caplog):
    @tool
    def unlock(code: Secret[str]) -> str:
        """Unlock."""
        raise RuntimeError(f"no door for {code}")

    result = called(unlock, {"code": CODE})
    assert isinstance(result.failure, SystemException)
    assert "in unlock" in caplog.text
    assert "quill" not in caplog.text


def test_an_answer_that_echoes_a_secret_is_kept_without_it():
    @tool
    def unlock(code: Secret[str]) -> str:
        """Unlock."""
        body = f"the code {code} is not known"
        raise Http422Exception(HttpErrorDetail(422, "Doors", f"/doors/{code}", body, said=body))

    failure = called(unlock, {"code": "quill-4711"}).failure
    assert isinstance(failure, Http422Exception)
    assert failure.http.status_code == 422
    for text in (failure.llm_message, failure.http.response_body, failure.http.endpoint, repr(failure.to_dict())):
        assert "quill" not in text


class OddFailure(UncorrectableLLMException):
    part: str

    @property
    def llm_message(self) -> str:
        return f"it was {self.part}-4711"


def test_a_text_that_is_put_together_from_parts_is_masked_as_a_whole():
    @tool
    def unlock(code: Secret[str]) -> str:
        """Unlock."""
        raise OddFailure("quill")

    result = called(unlock, {"code": "quill-4711"})
    assert "quill" not in result.content
    assert "quill" not in result.failure.llm_message
    assert not result.failure.is_correctable


class Login(BaseModel):
    user: str
    code: SecretStr
    answers: list[Secret[str]] = []


def test_a_secret_inside_a_parameter_is_one_too_and_its_neighbours_are_not():
    @tool
    def log_in(login: Login | None, tries: int = 1) -> str:
        """Log in."""
        raise ExternalServiceException(
            "Doors", f"{login.user} said {login.code.get_secret_value()} and {login.answers[0]}"
        )

    assert log_in.signature.secrets == {"login"}
    sent = {"login": {"user": "ada", "code": "quill-4711", "answers": ["my first cat"]}}
    content = called(log_in, sent).content
    assert "ada" in content
    assert "quill" not in content
    assert "first cat" not in content


@pytest.mark.parametrize(
    "raw",
    [
        {"code": ["quill"], "login": {"user": "ada", "code": {"quill": "quill"}}},
        {"code": "quill" * 100, "login": ["quill"]},
        '{"code": "quill", ',
        '["quill"]',
        '"quill"',
        ["quill"],
        {"code": "quill", "login": {"user": 1, "code": "quill", "answers": "quill"}, "tries": "many"},
    ],
)
def test_wrong_arguments_never_show_a_secret(raw):
    @tool
    def log_in(code: Secret[str], login: Login, tries: int = 1) -> str:
        """Log in."""
        return ""

    result = called(log_in, raw)
    assert result.stage in {Stage.PARSING, Stage.VALIDATION}
    assert "quill" not in result.content
    assert "quill" not in repr(result.failure.to_dict())


def test_a_failure_without_a_secret_in_it_is_itself():
    raised = ResourceNotFoundException("door", "7")

    @tool
    def unlock(code: Secret[str]) -> str:
        """Unlock."""
        raise raised

    assert called(unlock, {"code": CODE}).failure is raised


def test_the_job_of_a_tool_keeps_secrets_out_of_what_it_raises():
    @tool
    async def log_in(login: Login, code: SecretStr) -> str:
        """Log in."""
        raise InvalidInputException(
            "login", login.user, f"{login.code.get_secret_value()} or {code.get_secret_value()} is wrong"
        )

    async def main():
        async with Dispatcher() as dispatcher:
            job = log_in.job(login=Login(user="ada", code="quill-1"), code=SecretStr("quill-2"))
            with pytest.raises(InvalidInputException) as caught:
                await dispatcher.submit(job)
            return caught.value

    failure = run(main())
    assert "quill" not in failure.llm_message
    assert "ada" in failure.llm_message


def test_a_model_that_repeats_a_failing_call_is_never_told_the_secret():
    @tool
    async def unlock(code: Secret[str]) -> str:
        """Unlock."""
        raise InvalidInputException("code", code, f"{code} opens nothing")

    events = []

    async def main():
        model = ScriptedModel([*(ToolCall(str(n), "unlock", '{"code": "quill-4711"}') for n in range(3)), "done"])
        async with Dispatcher() as dispatcher:
            dispatcher.subscribe(events.append)
            await dispatcher.submit(Thinker("Open it.", tools=[unlock], model=model).job("go"))
        return model

    model = run(main())
    results = [m.results[0].content for m in model.requests[-1].messages if hasattr(m, "results")]
    assert len(results) == 3
    assert not [content for content in results if "quill" in content]
    assert not [e for e in events if isinstance(e, ToolFailed) and "quill" in e.text + repr(e.failure.to_dict())]


@settings(max_examples=100, deadline=None)
@given(
    secret=st.text(alphabet=st.characters(codec="utf-8"), min_size=12, max_size=40),
    before=st.text(max_size=5),
    length=st.integers(0, 12_000),
)
def test_no_secret_comes_through_wherever_it_stands(secret, before, length):
    secret = f"q{secret}Z"

    @tool
    async def unlock(code: Secret[str]) -> str:
        """Unlock."""
        raise InvalidInputException("x", f"{before}{code}", f"{'a ' * (length // 2)}{code} {before}")

    result = asyncio.run(call_tool(Palette([unlock]), {"code": secret}, name="unlock"))
    # Its beginning alone is what a text that was cut before it was masked would leave.
    assert secret[:8] not in result.content


def test_a_wrong_secret_too_short_to_be_masked_anywhere_is_not_shown_either():
    @tool
    def unlock(pin: Secret[int]) -> str:
        """Unlock."""
        return ""

    result = called(unlock, {"pin": "x9"})
    assert result.failure.parameter_name == "pin"
    assert "x9" not in result.content
    assert "x9" not in repr(result.failure.to_dict())
