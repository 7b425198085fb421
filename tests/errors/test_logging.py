import logging

import pytest

from nucleo.errors import Http503Exception, HttpErrorDetail, InvalidInputException, SystemException
from nucleo.errors.logs import log_failure


@pytest.fixture
def heard(caplog):
    caplog.set_level(logging.DEBUG, logger="nucleo.failures")
    return caplog


def test_a_correctable_failure_is_a_warning_with_its_message_only(heard):
    log_failure(
        InvalidInputException("cid", "Jane", "digits"), tool="fetch", call_id="c1", job_id="j1", workflow_id="w1"
    )
    (record,) = heard.records
    assert (record.name, record.levelname, record.exc_info) == ("nucleo.failures", "WARNING", None)
    assert record.getMessage() == "fetch: invalid cid: digits"
    assert (record.tool, record.call_id, record.job_id, record.workflow_id) == ("fetch", "c1", "j1", "w1")
    assert (record.failure_type, record.correctable) == ("InvalidInputException", True)
    assert not hasattr(record, "status")


def test_an_uncorrectable_failure_is_an_error_with_the_traceback(heard):
    try:
        try:
            raise KeyError("total")
        except KeyError as error:
            raise SystemException("fetch", "broke") from error
    except SystemException as failure:
        log_failure(failure)
    (record,) = heard.records
    assert (record.levelname, record.correctable) == ("ERROR", False)
    assert "KeyError: 'total'" in logging.Formatter().format(record)


def test_the_status_and_the_service_are_there_when_there_is_an_answer(heard):
    log_failure(Http503Exception(HttpErrorDetail(503, "PubChem", "/x")))
    assert (heard.records[0].status, heard.records[0].service) == (503, "PubChem")


def test_nothing_is_rendered_when_nobody_listens(heard):
    heard.set_level(logging.CRITICAL, logger="nucleo.failures")
    log_failure(SystemException("fetch", "broke"))
    assert heard.records == []
