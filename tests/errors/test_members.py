"""Constructor arguments, attributes and texts of every member, as the design lists them."""

import inspect
import pickle
from decimal import Decimal

import pytest
from failure_specimens import ALL, APPLICATION, ARGUMENTS, detail, is_http, members, specimen

import nucleo.errors as errors
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    ContextOverflowException,
    DependencyFailedException,
    ExternalServiceException,
    HttpErrorResponse,
    HumanReadable,
    InvalidInputException,
    JobCancelledException,
    JobDeadlockException,
    JobTimeoutException,
    JsonParseException,
    LLMReadable,
    LLMReadableRuntimeException,
    ModelNotFoundException,
    NotImplementedException,
    PromptNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    ResourceNotFoundException,
    ResponseValidationException,
    SpendCapExceededException,
    SystemException,
    TokenEstimateExceedsLimitException,
    UncorrectableRuntimeLLMException,
    UpstreamThrottleException,
)

POSITIONAL = {
    "InvalidInputException": "parameter_name invalid_value validation_rule",
    "ResourceNotFoundException": "resource_type identifier",
    "GuardrailException": "message",
    "JsonParseException": "parse_error",
    "ResponseValidationException": "validation_errors",
    "ExternalServiceException": "service_name error_details outcome_unknown",
    "UpstreamThrottleException": "service_name error_details retry_after_seconds",
    "UnauthorizedException": "service_name reason",
    "PermissionDeniedException": "message",
    "SystemException": "component technical_message",
    "JobCancelledException": "reason",
    "CancellationException": "reason",
    "JobTimeoutException": "budget_seconds",
    "TokenEstimateExceedsLimitException": "estimated_tokens model_limit model_name",
    "ContextOverflowException": "estimated_tokens model_limit model_name",
    "PromptNotFoundException": "prompt_key sources",
    "QuotaExhaustedException": "provider account model_name provider_detail",
    "SpendCapExceededException": "message",
    "ModelNotFoundException": "model_id known",
    "ProviderRefusalException": "model_id category explanation",
    "CorrectableRuntimeLLMException": "message",
    "UncorrectableRuntimeLLMException": "message",
}
PLAIN = [cls for cls in members() if not is_http(cls)]


def named(classes):
    return pytest.mark.parametrize("cls", classes, ids=lambda cls: cls.__name__)


def test_the_table_of_arguments_is_of_every_member():
    assert set(POSITIONAL) == {cls.__name__ for cls in PLAIN}


@named(PLAIN)
def test_arguments_are_in_the_order_of_the_design_and_the_answer_comes_by_keyword(cls):
    parameters = inspect.signature(cls).parameters.values()
    by_position = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    by_keyword = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    assert by_position == POSITIONAL[cls.__name__].split()
    assert "http" in by_keyword


@named(PLAIN)
def test_an_argument_by_position_and_by_keyword_is_the_attribute_of_its_name(cls):
    names = POSITIONAL[cls.__name__].split()
    values = ARGUMENTS[cls.__name__]
    answer = detail()
    by_position = cls(*values, http=answer)
    by_keyword = cls(**dict(zip(names, values, strict=False)), http=answer)
    for failure in (by_position, by_keyword):
        assert [getattr(failure, name) for name, _ in zip(names, values, strict=False)] == list(values)
        assert failure.http is answer
    assert cls(*values).http is None


@named(
    [
        cls
        for cls in PLAIN
        if cls
        not in {JobCancelledException, errors.CancellationException, JobTimeoutException, ContextOverflowException}
    ]
)
def test_a_missing_argument_is_refused(cls):
    with pytest.raises(TypeError, match="missing"):
        cls()


@named([cls for cls in members() if is_http(cls)])
def test_a_failure_of_a_status_is_made_from_its_answer(cls):
    answer = detail(503)
    for failure in (cls(answer), cls(detail=answer)):
        assert failure.http is answer
        assert (failure.status_code, failure.service) == (503, "PubChem")
        assert (failure.endpoint, failure.response_body) == ("/compound/2244", answer.response_body)
        assert failure.llm_message.startswith("PubChem answered HTTP 503 at /compound/2244: ")
    with pytest.raises(HttpErrorResponse):
        raise cls(answer)


def test_the_fields_of_the_parents_hold_the_endpoint_and_the_service():
    answer = detail(400)
    assert errors.Http400Exception(answer).parameter_name == "/compound/2244"
    assert errors.Http404Exception(answer).identifier == "/compound/2244"
    assert errors.Http404Exception(answer).resource_type == "PubChem"
    assert errors.Http500Exception(answer).service_name == "PubChem"
    assert errors.Http401Exception(answer).service_name == "PubChem"


def test_a_throttle_of_a_status_says_how_long_it_asked_to_wait():
    failure = errors.Http429Exception(detail(403, retry_after_seconds=30))
    assert failure.retry_after_seconds == 30
    assert failure.status_code == 403
    assert "HTTP 403" in failure.llm_message
    assert "30 seconds" in failure.llm_message


@named(ALL)
def test_a_member_is_readable_and_its_verdict_is_readable_on_the_class(cls):
    failure = specimen(cls)
    assert isinstance(failure, LLMReadable)
    verdict = VERDICT_CORRECTABLE if cls.is_correctable else VERDICT_UNCORRECTABLE
    assert failure.explain_to_llm() == f"{failure.llm_message}\n{verdict}"
    assert failure.is_correctable is cls.is_correctable


@named([cls for cls in (*PLAIN, *APPLICATION) if issubclass(cls, LLMReadableRuntimeException)])
def test_the_runtime_branch_has_one_text_for_both_readers(cls):
    failure = specimen(cls)
    assert str(failure) == failure.llm_message == failure.message


SAME = "same"
TEXTS = [
    (
        InvalidInputException("query", "", "must not be blank"),
        "The value \"\" for parameter 'query' is not valid: must not be blank",
        "invalid query: must not be blank",
    ),
    (
        InvalidInputException("cid", None, "give a number"),
        "The value null for parameter 'cid' is not valid: give a number",
        "invalid cid: give a number",
    ),
    (
        InvalidInputException("cid", object(), "give a number"),
        "The value <object> for parameter 'cid' is not valid: give a number",
        "invalid cid: give a number",
    ),
    (
        InvalidInputException("cid", b"abc", "give a number"),
        "The value <3 bytes> for parameter 'cid' is not valid: give a number",
        "invalid cid: give a number",
    ),
    (
        InvalidInputException("cid", {"a": [1, "é"]}, "give a number"),
        'The value {"a": [1, "é"]} for parameter \'cid\' is not valid: give a number',
        "invalid cid: give a number",
    ),
    (
        ResourceNotFoundException("order", "ORD-1"),
        "There is no order with identifier 'ORD-1'. Check the identifier, try a different one, or find it with another tool.",
        "no order 'ORD-1'",
    ),
    (errors.GuardrailException("No names."), "No names.", SAME),
    (
        ExternalServiceException("PubChem", "connection refused"),
        "PubChem could not complete the call: connection refused",
        SAME,
    ),
    (
        ExternalServiceException("Bank", "no answer", True),
        "Bank could not complete the call: no answer. It is not known whether it was carried out: it may have been. Check before repeating it.",
        SAME,
    ),
    (
        UpstreamThrottleException("PubChem", "slow down"),
        "PubChem is limiting how often it may be called: slow down",
        SAME,
    ),
    (
        UpstreamThrottleException("PubChem", "slow down", 30),
        "PubChem is limiting how often it may be called: slow down. It asked to wait 30 seconds before the next call.",
        SAME,
    ),
    (
        UpstreamThrottleException("PubChem", "slow down", 0.0),
        "PubChem is limiting how often it may be called: slow down. It asked to wait 0 seconds before the next call.",
        SAME,
    ),
    (
        errors.UnauthorizedException("ChemSpider", "key expired"),
        "ChemSpider refused our credentials: key expired",
        SAME,
    ),
    (errors.PermissionDeniedException("only accountants"), "Not permitted: only accountants", SAME),
    (
        SystemException("fetch_order", "KeyError: 'total'"),
        "A system error occurred in fetch_order. The operation could not be completed.",
        "fetch_order: KeyError: 'total'",
    ),
    (
        JobCancelledException("user left"),
        "It was cancelled before it finished, so there is no result.",
        "It was cancelled before it finished, so there is no result. Reason: user left",
    ),
    (JobCancelledException(), "It was cancelled before it finished, so there is no result.", SAME),
    (
        JobTimeoutException(1.5),
        "Its time budget of 1.5 seconds ran out before it finished, so there is no result.",
        SAME,
    ),
    (JobTimeoutException(), "Its time budget ran out before it finished, so there is no result.", SAME),
]


@pytest.mark.parametrize(("failure", "told", "logged"), TEXTS, ids=lambda value: type(value).__name__)
def test_a_member_says_what_the_design_lists(failure, told, logged):
    assert failure.llm_message == told
    assert str(failure) == (told if logged is SAME else logged)


def test_the_log_never_holds_the_value_that_was_refused():
    failure = InvalidInputException("patient", "Jane Roe", "must be a number")
    assert "Jane" in failure.llm_message
    assert "Jane" not in str(failure)
    assert "Jane" not in repr(failure)
    assert "Jane" not in str(failure.args)


def test_a_system_error_tells_the_model_nothing_of_what_happened():
    failure = SystemException("fetch_order", "psycopg: password of orders_rw is wrong")
    assert "orders_rw" not in failure.explain_to_llm()
    assert "orders_rw" in str(failure)


def test_every_fault_of_a_reply_has_a_line():
    failure = ResponseValidationException(["title: is missing", "price: must be a number"])
    first, *faults = failure.llm_message.splitlines()
    assert "not accepted" in first
    assert faults == ["- title: is missing", "- price: must be a number"]
    assert failure.validation_errors == ("title: is missing", "price: must be a number")


def test_one_fault_given_as_a_text_is_one_fault():
    assert ResponseValidationException("title is missing").validation_errors == ("title is missing",)


def test_a_reply_that_is_no_json_is_told_the_reason_of_the_parser():
    assert "Expecting ','" in JsonParseException("Expecting ',' at line 3").llm_message
    assert "JSON object" in JsonParseException("x").llm_message


def test_a_conversation_that_is_too_large_is_told_with_its_figures():
    failure = TokenEstimateExceedsLimitException(250_000, 200_000, "scout-1")
    for part in ("250,000", "200,000", "scout-1", "shrink"):
        assert part in failure.llm_message
    assert "estimate" in str(failure)
    assert failure.overflow_amount == 50_000
    assert failure.overflow_ratio == 1.25


def test_figures_that_are_not_known_are_left_out():
    failure = TokenEstimateExceedsLimitException(None, None, "scout-1")
    assert failure.overflow_amount is None
    assert failure.overflow_ratio is None
    assert "None" not in failure.llm_message + str(failure)


def test_a_conversation_too_large_after_compaction_has_its_numbers_in_the_log_only():
    failure = ContextOverflowException(250_000, 200_000, "scout-1")
    assert "new conversation" in failure.llm_message
    assert "250,000" in str(failure)
    assert "250,000" not in failure.llm_message
    assert "None" not in str(ContextOverflowException())


def test_a_prompt_that_nobody_holds_names_the_sources_in_the_log_only():
    failure = PromptNotFoundException("greeting", ["files", "database"])
    assert "greeting" in failure.llm_message
    assert "files, database" in str(failure)
    assert "database" not in failure.llm_message


def test_an_account_out_of_money_is_named_with_the_words_of_the_provider():
    failure = QuotaExhaustedException("Anthropic", "research", "scout-1", "Your credit balance is too low")
    for part in ("research", "Anthropic", "scout-1", "Your credit balance is too low.", "Only funding"):
        assert part in failure.llm_message


def test_the_figures_of_a_spend_cap_are_decimals_whatever_they_were_given_as():
    failure = SpendCapExceededException("No more.", cap=10, spent=Decimal("9.90"), committed=0.05, reservation="0.2")
    figures = (failure.cap, failure.spent, failure.committed, failure.reservation)
    assert figures == (Decimal(10), Decimal("9.90"), Decimal("0.05"), Decimal("0.2"))
    assert failure.llm_message == "No more."


def test_a_model_that_does_not_exist_is_answered_with_the_nearest_known_ones():
    failure = ModelNotFoundException("skout-1", ("heavy-1", "scout-1", "scout-2"))
    assert "'skout-1'" in failure.llm_message
    assert "Nearest known: scout-1" in failure.llm_message


def test_a_refusal_names_the_model_the_category_and_the_explanation():
    told = ProviderRefusalException("scout-1", "weapons", "not this").llm_message
    for part in ("scout-1", "weapons", "not this", "another may be"):
        assert part in told
    assert "None" not in ProviderRefusalException("scout-1").llm_message


def test_a_message_made_from_fields_follows_the_fields():
    failure = ProviderRefusalException("scout-1")
    failure.model_id = "scout-2"
    assert "scout-2" in failure.message
    assert failure.message == failure.llm_message == str(failure)


def test_what_can_be_shown_to_a_person_is_a_protocol():
    class Shown(Exception):
        human_message = "Please try later."

    assert isinstance(Shown(), HumanReadable)
    assert not isinstance(ValueError(), HumanReadable)


def test_the_exceptions_for_developers_say_whose_job_it_was_and_cross_processes():
    deadlock = JobDeadlockException("parent", "child", "orders.py:12")
    dependency = DependencyFailedException("job-1")
    for error, parts in ((deadlock, ("parent", "child", "orders.py:12")), (dependency, ("job-1",))):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert all(part in str(again) for part in parts)
        assert not isinstance(error, LLMReadable)
    assert str(NotImplementedException("streaming of speech")) == "streaming of speech"


def test_a_number_beyond_any_meaning_spoils_no_text():
    assert "unknown time" in UpstreamThrottleException("S", "slow", 10**5000).llm_message
    assert "scout" in TokenEstimateExceedsLimitException(10**5000, 5, "scout").llm_message
    assert "S" in UpstreamThrottleException("S", "slow", float("nan")).llm_message


def test_a_secret_is_masked_before_its_text_is_cut():
    # Without the @ that follows it, nobody could tell the password for one.
    secret = "postgres://orders:" + "hunter2" * 12 + "@db/orders"
    for text in (secret + " x" * 200, "x" * 170 + " " + secret, "x " * 70 + secret):
        for failure in (
            InvalidInputException("q", text, "short please"),
            InvalidInputException("q", [text], "short please"),
            ResourceNotFoundException("order", text),
            UncorrectableRuntimeLLMException(text),
        ):
            assert "hunter2" not in failure.llm_message, type(failure)


def test_a_write_that_was_answered_by_something_in_between_may_have_been_carried_out():
    told = errors.Http503Exception(detail(504), outcome_unknown=True).llm_message
    assert told.endswith("It is not known whether it was carried out: it may have been. Check before repeating it.")
    assert "not known" not in errors.Http503Exception(detail(503)).llm_message


def test_an_object_without_a_text_of_its_own_is_shown_by_its_type():
    class Holder:
        def __repr__(self):
            return "Holder(token=abc)"

    told = ExternalServiceException("S", Holder()).llm_message
    assert "<Holder>" in told
    assert "abc" not in told


def test_an_exception_given_as_details_is_shown_by_its_message():
    assert "connection refused" in ExternalServiceException("S", OSError("connection refused")).llm_message
