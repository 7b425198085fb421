"""What an application says about exceptions beats the built-in tables, and never breaks anything."""

import logging
import subprocess
import sys

import pytest
import requests

from nucleo.errors import (
    CorrectableRuntimeLLMException,
    ExternalServiceException,
    InvalidInputException,
    SystemException,
    register_translation,
    unwrap,
)
from nucleo.errors.translate import translate


class LedgerError(Exception):
    pass


class LedgerClosed(LedgerError):
    pass


_LEDGER_ERROR = f"{LedgerError.__module__}.LedgerError"
_LEDGER_CLOSED = f"{LedgerClosed.__module__}.LedgerClosed"


@pytest.fixture
def register():
    undo = []

    def start(name, function):
        undo.append(register_translation(name, function))

    yield start
    for take_back in undo:
        take_back()


def test_a_registered_translation_speaks_for_its_class_and_its_subclasses(register):
    register(_LEDGER_ERROR, lambda error, service: ExternalServiceException(service or "ledger", "closed"))
    assert translate(LedgerError()).service_name == "ledger"
    assert translate(LedgerClosed(), service="Books").service_name == "Books"
    assert isinstance(unwrap(LedgerClosed()), ExternalServiceException)


def test_the_most_specific_class_is_asked_first_and_may_pass(register):
    asked = []

    def passes(error, service):
        asked.append("closed")

    def knows(error, service):
        asked.append("error")
        return ExternalServiceException("ledger", "broken")

    register(_LEDGER_ERROR, knows)
    register(_LEDGER_CLOSED, passes)
    assert translate(LedgerClosed()).error_details == "broken"
    assert asked == ["closed", "error"]


def test_the_applications_word_beats_the_built_in_tables(register):
    register(
        "builtins.TimeoutError",
        lambda error, service: CorrectableRuntimeLLMException("ask for fewer rows"),
    )
    assert translate(TimeoutError(), service="Orders").is_correctable
    assert not translate(ConnectionResetError(), service="Orders").is_correctable


def test_a_class_may_be_named_by_the_module_it_is_imported_from(register):
    register("requests.ReadTimeout", lambda error, service: ExternalServiceException("x", "slow"))
    assert translate(requests.exceptions.ReadTimeout()).error_details == "slow"


def test_a_class_of_the_same_name_elsewhere_is_another_class(register):
    register("requests.LedgerClosed", lambda error, service: ExternalServiceException("x", "y"))
    assert translate(LedgerClosed()) is None


def test_a_translation_that_raises_is_logged_and_passed_over(register, caplog):
    def breaks(error, service):
        raise RuntimeError("a slip")

    register("builtins.TimeoutError", breaks)
    with caplog.at_level(logging.ERROR, "nucleo.failures"):
        failure = translate(TimeoutError(), service="Orders")
    assert failure.error_details == "no answer within the time limit"
    assert "builtins.TimeoutError raised and was passed over" in caplog.text
    assert "a slip" in caplog.text


def test_a_translation_that_returns_no_failure_is_logged_and_passed_over(register, caplog):
    register(_LEDGER_CLOSED, lambda error, service: "closed")
    with caplog.at_level(logging.ERROR, "nucleo.failures"):
        assert translate(LedgerClosed()) is None
    assert "returned str" in caplog.text
    assert type(unwrap(LedgerClosed())) is SystemException


def test_a_registration_is_taken_back_by_what_it_returned():
    take_back = register_translation(
        _LEDGER_CLOSED, lambda error, service: InvalidInputException("day", 1, "an open day")
    )
    assert translate(LedgerClosed()) is not None
    take_back()
    assert translate(LedgerClosed()) is None
    take_back()


def test_taking_back_does_not_remove_what_replaced_it(register):
    take_back = register_translation(_LEDGER_CLOSED, lambda error, service: None)
    register(_LEDGER_CLOSED, lambda error, service: ExternalServiceException("new", "closed"))
    take_back()
    assert translate(LedgerClosed()).service_name == "new"


@pytest.mark.parametrize("name", ["", "TimeoutError", "not a name.X", "a..b", ".X", "x.", None, 7])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match=r"package\.module\.Class"):
        register_translation(name, lambda error, service: None)


def test_a_translation_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="must be a function"):
        register_translation("a.B", "closed")


def test_a_foreign_exception_whose_properties_raise_is_still_translated():
    class Hostile(requests.exceptions.ConnectionError):
        @property
        def request(self):
            raise SystemError("no")

        @request.setter
        def request(self, value):
            pass

        def __str__(self):
            raise SystemError("no")

    assert translate(Hostile(), service="Orders").error_details == "the connection failed"


def test_translating_imports_no_library():
    # A class that only says that it is of httpx: the library itself must stay out of the process.
    code = """
import sys, nucleo.errors
from nucleo.errors.translate import translate
kind = type("ReadTimeout", (Exception,), {"__module__": "httpx", "__qualname__": "ReadTimeout"})
assert translate(kind("x")).service_name == "httpx"
others = {"httpx", "httpx2", "requests", "urllib3", "aiohttp", "openai", "anthropic", "pydantic"}
print(sorted(others & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_importing_the_failure_set_loads_no_table():
    code = "import sys, nucleo.errors; print([m for m in sys.modules if 'translate.tables' in m])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
