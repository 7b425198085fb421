"""Every recorded answer has the meaning, the wait and the words that are expected of it.

`cases.jsonl` is the recorded corpus; `further.jsonl` has more of the same kind, so that a rule is held to more than
the lines it was seen in.
"""

import base64
import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nucleo.errors import (
    ExternalServiceException,
    InvalidInputException,
    LLMReadableException,
    ModelNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    ResourceNotFoundException,
    TokenEstimateExceedsLimitException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.errors.http import Http403Exception, HttpErrorResponse, inspect_response
from nucleo.errors.text import VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE

CORPUS = Path(__file__).parent / "corpus"

REVIEWED: dict[str, str] = {}
"""Lines that were reviewed and found wrong, by id, with the reason. They are loaded, and must still never raise."""

FLOOR_STRICT = 353
"""Lines of `cases.jsonl` whose first expectation is met, not merely one that is defensible."""

# The order matters: a throttle is an external service failure too.
MEANINGS: tuple[tuple[type[BaseException], str], ...] = (
    (InvalidInputException, "invalid_input"),
    (ResourceNotFoundException, "not_found"),
    (UpstreamThrottleException, "throttled"),
    (QuotaExhaustedException, "quota_exhausted"),
    (TokenEstimateExceedsLimitException, "context_overflow"),
    (ProviderRefusalException, "refusal"),
    (ModelNotFoundException, "model_not_found"),
    (Http403Exception, "permission"),
    (UnauthorizedException, "unauthorized"),
    (ExternalServiceException, "external_service"),
)
CREDENTIALS = {"permission", "unauthorized"}
CORRECTABLE = {"invalid_input", "not_found"}


@cache
def cases() -> tuple[dict[str, Any], ...]:
    return tuple(
        json.loads(line)
        for name in ("cases.jsonl", "further.jsonl")
        for line in (CORPUS / name).read_text("utf-8").splitlines()
    )


def answered() -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases() if case["status"] is not None]


def unanswered() -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases() if case["status"] is None]


def body_of(case: dict[str, Any]) -> str | bytes:
    encoded = case.get("body_base64")
    body = base64.b64decode(encoded) if encoded is not None else case.get("body") or ""
    return body * case.get("body_times", 1)


def failure_of(case: dict[str, Any]) -> LLMReadableException | None:
    operation = case["operation"]
    return inspect_response(
        case["service"],
        case["url"],
        case["status"],
        body_of(case),
        headers=case["headers"],
        operation="fetch" if operation == "fetch_by_id" else operation,
        method=case["method"],
        now=datetime.fromisoformat(case["now"]) if case.get("now") else None,
    )


def meaning_of(failure: LLMReadableException) -> str:
    return next(meaning for kind, meaning in MEANINGS if isinstance(failure, kind))


def accepted(case: dict[str, Any], *, strict: bool) -> set[str]:
    expect = case["expect"]
    meanings = {expect["meaning"]} if strict else {expect["meaning"], *expect.get("also_accept", ())}
    # Under a 403 the two words for credentials are one: who refuses hides which of them it was.
    return meanings | CREDENTIALS if meanings & CREDENTIALS else meanings


def is_near(wait: float | None, wanted: float | None) -> bool:
    if wait is None or wanted is None:
        return wait is wanted
    return abs(wait - wanted) <= (0.01 if wanted < 1 else max(1.0, wanted / 100))


def disagreements(case: dict[str, Any], failure: LLMReadableException) -> list[str]:
    expect, meaning, told = case["expect"], meaning_of(failure), failure.explain_to_llm()
    found: list[str] = []
    if meaning not in accepted(case, strict=False):
        found.append(f"means {meaning}, not {expect['meaning']}")
    if failure.is_correctable != (meaning in CORRECTABLE):
        found.append(f"is_correctable is {failure.is_correctable}")
    wait = failure.http.retry_after_seconds if failure.http else None
    if not any(is_near(wait, wanted) for wanted in (expect["retry_after_s"], *expect.get("retry_after_alt_s", ()))):
        found.append(f"waits {wait}, not {expect['retry_after_s']}")
    low = told.lower()
    found += [f"does not tell {text!r}" for text in expect["must_contain"] if text.lower() not in low]
    found += [f"tells {text!r}" for text in expect["must_not_contain"] if text.lower() in low]
    return found


@pytest.mark.parametrize("case", answered())
def test_an_answer_has_its_meaning_its_wait_and_its_words(case: dict[str, Any]) -> None:
    failure = failure_of(case)
    if case["expect"]["meaning"] is None:
        assert failure is None
        return
    assert failure is not None, "the answer was taken for a good one"
    found = disagreements(case, failure)
    if case["id"] in REVIEWED:
        assert found, f"{case['id']} agrees now: take it off the reviewed list"
        return
    assert not found, f"{'; '.join(found)}\n{failure.explain_to_llm()}"


@pytest.mark.parametrize("case", answered())
def test_an_answer_keeps_what_the_server_really_said(case: dict[str, Any]) -> None:
    failure = failure_of(case)
    if failure is None:
        return
    assert failure.http is not None
    assert failure.http.status_code == case["status"]
    assert failure.http.endpoint.startswith("/")
    assert "?" not in failure.http.endpoint
    assert isinstance(failure, HttpErrorResponse) or meaning_of(failure) in {
        "quota_exhausted",
        "context_overflow",
        "refusal",
        "model_not_found",
    }


@pytest.mark.parametrize("case", answered())
def test_an_answer_ends_with_exactly_one_verdict(case: dict[str, Any]) -> None:
    failure = failure_of(case)
    if failure is None:
        return
    *message, last = failure.explain_to_llm().split("\n")
    assert last == (VERDICT_CORRECTABLE if failure.is_correctable else VERDICT_UNCORRECTABLE)
    assert not any(verdict in line for line in message for verdict in (VERDICT_CORRECTABLE, VERDICT_UNCORRECTABLE))


@pytest.mark.parametrize("case", unanswered())
def test_silence_is_the_service_s_failure_and_has_no_answer(case: dict[str, Any]) -> None:
    # No answer, no mapping: the client names the service and what its transport said. The meaning lies in the class.
    failure = ExternalServiceException(case["service"], case["exception"])
    assert failure.http is None
    assert case["expect"]["meaning"] == meaning_of(failure)
    assert failure.is_correctable is case["expect"]["correctable"]
    told = failure.explain_to_llm().lower()
    assert not [text for text in case["expect"]["must_not_contain"] if text.lower() in told]


def test_the_first_expectation_is_met_not_only_a_defensible_one() -> None:
    recorded = [json.loads(line) for line in (CORPUS / "cases.jsonl").read_text("utf-8").splitlines()]
    met = [
        case["id"]
        for case in recorded
        if case["status"] is not None
        and (failure := failure_of(case)) is not None
        and meaning_of(failure) in accepted(case, strict=True)
        and not disagreements(case, failure)
    ]
    assert len(met) >= FLOOR_STRICT


def test_every_line_has_a_name_of_its_own() -> None:
    names = [case["id"] for case in cases()]
    assert len(names) == len(set(names))
    assert set(REVIEWED) <= set(names)
