"""Python's own exceptions: a network fault only when a service is named, and only when they are one."""

import asyncio
import errno
import http.client
import json
import socket
import sqlite3
import ssl

import pydantic
import pytest

from nucleo.errors import (
    ExternalServiceException,
    JobCancelledException,
    SystemException,
    unwrap,
    wrap_with_context,
)
from nucleo.errors.translate import translate

_FAULTS = [
    (TimeoutError(), "no answer within the time limit", True),
    (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), "no answer within the time limit", True),
    (
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        "it could not be reached: the connection was refused",
        False,
    ),
    (
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        "the connection broke before the answer was complete",
        True,
    ),
    (BrokenPipeError(), "the connection broke before the answer was complete", True),
    (
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        "it could not be reached: its name could not be looked up",
        False,
    ),
    (
        OSError(errno.EHOSTUNREACH, "No route to host"),
        "it could not be reached: no connection could be made",
        False,
    ),
    (
        ssl.SSLCertVerificationError("certificate verify failed"),
        "it could not be reached safely: its TLS certificate is not trusted",
        False,
    ),
    (
        ssl.SSLError("wrong version number"),
        "it could not be reached: no secure connection could be made",
        False,
    ),
]


@pytest.mark.parametrize(("error", "words", "unknown"), _FAULTS)
def test_a_network_fault_is_a_services_when_one_is_named(error, words, unknown):
    failure = translate(error, service="Orders")
    assert type(failure) is ExternalServiceException
    assert failure.service_name == "Orders"
    assert failure.error_details == words
    assert failure.outcome_unknown is unknown
    assert failure.http is None


@pytest.mark.parametrize("error", [error for error, _, _ in _FAULTS])
def test_a_network_fault_is_nobodys_when_no_service_is_named(error):
    assert translate(error) is None
    assert type(unwrap(error, component="lookup")) is SystemException


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/planted"),
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("no number"),
        BlockingIOError(),
        ValueError("nothing of a network"),
        KeyError("x"),
    ],
)
def test_what_is_no_network_fault_is_not_taken_for_one(error):
    assert translate(error) is None
    assert translate(error, service="Orders") is None


def test_signals_groups_and_failures_of_the_set_are_not_translated():
    for error in (
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        GeneratorExit(),
        ExceptionGroup("several", [TimeoutError()]),
        JobCancelledException(),
    ):
        assert translate(error, service="Orders") is None


def test_http_client_tells_a_connection_that_broke_from_one_used_out_of_turn():
    broke = translate(http.client.IncompleteRead(b"half"), service="Orders")
    assert broke.error_details == "the connection broke before the answer was complete"
    assert "half" not in broke.llm_message
    assert translate(http.client.ResponseNotReady(), service="Orders") is None


def test_json_that_cannot_be_read_is_a_system_error_until_a_service_is_named():
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{planted")
    assert translate(caught.value) is None
    assert type(unwrap(caught.value, component="lookup")) is SystemException
    failure = translate(caught.value, service="Orders")
    assert failure.llm_message == (
        "Orders could not complete the call: it sent an unreadable answer: it is not valid JSON"
    )


class _Line(pydantic.BaseModel):
    number: int


class _Order(pydantic.BaseModel):
    lines: list[_Line]
    total: float


def test_an_answer_of_another_shape_names_the_places_and_none_of_the_data():
    with pytest.raises(pydantic.ValidationError) as caught:
        _Order.model_validate({"lines": [{"number": 1}, {"number": "planted"}]})
    assert translate(caught.value) is None
    assert type(unwrap(caught.value, component="lookup")) is SystemException
    failure = translate(caught.value, service="Orders")
    assert type(failure) is ExternalServiceException
    assert "at 'lines.1.number', 'total'" in failure.error_details
    assert "planted" not in str(failure)


def test_many_places_of_another_shape_are_counted():
    with pytest.raises(pydantic.ValidationError) as caught:
        _Order.model_validate({"lines": [{}] * 50, "total": 1})
    assert "and 47 more places" in translate(caught.value, service="Orders").error_details


def test_a_busy_database_is_told_and_a_wrong_statement_is_a_defect(tmp_path):
    path = tmp_path / "orders.db"
    writer = sqlite3.connect(path, isolation_level=None)
    reader = sqlite3.connect(path, timeout=0)
    try:
        writer.execute("CREATE TABLE orders (id INTEGER)")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            reader.execute("INSERT INTO orders VALUES (1)")
        failure = translate(caught.value)
        assert failure.service_name == "sqlite3"
        assert failure.error_details == "the database is busy with somebody else's write"
        with pytest.raises(sqlite3.OperationalError) as caught:
            writer.execute("SELEKT 1")
        assert translate(caught.value, service="Orders") is None
    finally:
        writer.close()
        reader.close()


def test_the_context_of_a_call_reaches_the_translation():
    failure = wrap_with_context(TimeoutError(), "Orders", "number", "A-7", "order lookup")
    assert type(failure) is ExternalServiceException
    assert "no answer within the time limit" in failure.llm_message
    assert "order lookup" in failure.llm_message
