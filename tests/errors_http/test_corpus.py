"""Every line of the corpus of real error answers gets its verdict, its wait and its words."""

import base64
import json
from datetime import datetime
from pathlib import Path

import pytest

from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    ExternalServiceException,
    InvalidInputException,
    ModelNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    ResourceNotFoundException,
    TokenEstimateExceedsLimitException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.errors.http import inspect_response

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "corpus" / "cases.jsonl").read_text("utf-8").splitlines()
    if line.strip()
]
# The most specific first: a throttle is an external service too.
MEANINGS = (
    ("throttled", UpstreamThrottleException),
    ("external_service", ExternalServiceException),
    ("unauthorized", UnauthorizedException),
    ("not_found", ResourceNotFoundException),
    ("invalid_input", InvalidInputException),
    ("quota_exhausted", QuotaExhaustedException),
    ("context_overflow", TokenEstimateExceedsLimitException),
    ("refusal", ProviderRefusalException),
    ("model_not_found", ModelNotFoundException),
)
# Lines we believe to be wrong: id and reason. None at present.
DISPUTED: dict[str, str] = {}


def body_of(case):
    if "body_base64" in case:
        return base64.b64decode(case["body_base64"])
    return case.get("body", "").encode("utf-8", "surrogatepass") * case.get("body_times", 1)


def failure_of(case):
    now = datetime.fromisoformat(case["now"]) if "now" in case else None
    operation = "fetch" if case["operation"] == "fetch_by_id" else case["operation"]
    return inspect_response(
        case["service"],
        case["url"],
        case["status"],
        body_of(case),
        headers=case["headers"],
        operation=operation,
        method=case["method"],
        now=now,
    )


def meaning_of(failure):
    return next((name for name, cls in MEANINGS if isinstance(failure, cls)), None)


def close(wait, expected):
    if wait is None or expected is None:
        return wait is expected
    return abs(wait - expected) <= (0.01 if expected < 1 else max(1, expected / 100))


ANSWERED = [pytest.param(case, id=case["id"]) for case in CASES if case["status"] is not None]


def test_the_corpus_is_whole():
    assert len(CASES) == 357
    assert len({case["id"] for case in CASES}) == 357
    assert set(DISPUTED) <= {case["id"] for case in CASES}


@pytest.mark.parametrize("case", ANSWERED)
def test_an_answer_gets_its_meaning_its_wait_and_its_words(case):
    expect = case["expect"]
    failure = failure_of(case)
    if case["id"] in DISPUTED:
        assert failure is not None
        return
    meant = "unauthorized" if expect["meaning"] == "permission" else expect["meaning"]
    assert meaning_of(failure) == meant
    assert failure.is_correctable == expect["correctable"]
    waits = [expect["retry_after_s"], *expect.get("retry_after_alt_s", [])]
    assert any(close(failure.http.retry_after_seconds, wait) for wait in waits)
    assert failure.http.status_code == case["status"]
    text = failure.explain_to_llm()
    lower = text.lower()
    assert [part for part in expect["must_contain"] if part.lower() not in lower] == []
    assert [part for part in expect["must_not_contain"] if part.lower() in lower] == []
    assert len(text) < 2000
    assert text.count(VERDICT_CORRECTABLE) + text.count(VERDICT_UNCORRECTABLE) == 1
    assert text.rpartition("\n")[2] in {VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if case["status"] is None])
def test_a_call_without_an_answer_is_the_services_failure_and_has_no_answer(case):
    words = case["exception"].partition(": ")[2] or case["exception"]
    failure = ExternalServiceException(case["service"], words)
    assert case["expect"]["meaning"] == "external_service"
    assert failure.http is None
    assert not failure.is_correctable
