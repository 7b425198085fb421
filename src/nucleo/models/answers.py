"""What an answer of a model provider means when it is no reply.

Apart from the providers because it is the same for all of them: a status, a body and headers go through
`nucleo.errors.http`, what a client library raised through the translations, and the failure learns which model it is
about.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, cast

from nucleo.errors import (
    ExternalServiceException,
    Http404Exception,
    HttpErrorDetail,
    HttpUnmappedStatusException,
    LLMReadableException,
    ModelNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    TokenEstimateExceedsLimitException,
)
from nucleo.models.catalog import shipped_catalog

_REDIRECTION: Final = 300
_NOT_FOUND: Final = 404
_UNREADABLE: Final = "it sent an unreadable answer"
_PAGE: Final = "it sent a web page instead of a reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """An answer as it came.

    Attributes:
        endpoint: The path or URL that was called.
        status: The status.
        headers: The headers in pairs.
        body: The bytes of the body.
    """

    endpoint: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReader:
    """Reads the answers of one provider for one account.

    Attributes:
        service: The provider, as a person would call it.
        provider: Its prefix in model ids.
        account: The account, as the owner would call it; None when nobody said.
        secrets: What was sent to prove who we are; it is masked wherever it comes back.
    """

    service: str
    provider: str
    account: str | None = None
    secrets: tuple[str, ...] = ()

    def failure(self, answer: RawAnswer, *, model: str, is_error: bool = False) -> LLMReadableException:
        """Give a bad answer its meaning.

        Args:
            answer: The answer. A good status counts as an answer that cannot be used.
            model: The model that was asked.
            is_error: The answer carries an error in place of a reply, whatever its status.
        """
        # The reader of answers loads with the first bad one.
        from nucleo.errors.http import http_failure, inspect_response  # noqa: PLC0415

        read = http_failure if is_error or answer.status >= _REDIRECTION else inspect_response
        failure = read(
            self.service,
            answer.endpoint,
            answer.status,
            answer.body,
            headers=answer.headers,
            operation="llm",
            secrets=self.secrets,
        )
        if failure is None:
            return self.unreadable(_PAGE if answer.body.lstrip()[:1] == b"<" else _UNREADABLE)
        return self._named(failure, model)

    def json_of(self, answer: RawAnswer, *, model: str, member: str) -> dict[str, Any]:
        """Read a good answer.

        Args:
            answer: The answer.
            model: The model that was asked.
            member: The member that makes an object a reply, a list.

        Raises:
            LLMReadableException: It is no reply: a failure in a good status, a web page, broken JSON.
        """
        try:
            value: object = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise self.failure(answer, model=model) from error
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        is_error = bool(fields.get("error"))
        if is_error or not isinstance(fields.get(member), list):
            raise self.failure(answer, model=model, is_error=is_error)
        return fields

    def foreign(self, error: Exception, *, model: str) -> LLMReadableException | None:
        """Give the meaning of what a client library raised; None when it is no matter of the provider."""
        from nucleo.errors.translate import translate  # noqa: PLC0415 - loads with the first failure

        failure = translate(error, service=self.service)
        return None if failure is None else self._named(failure, model)

    def unreadable(self, details: str = _UNREADABLE) -> ExternalServiceException:
        """Make the failure of an answer with a good status that is no reply."""
        return ExternalServiceException(self.service, details)

    def _named(self, failure: LLMReadableException, model: str) -> LLMReadableException:
        """Tell a failure what only the caller knows: the model and the account."""
        match failure:
            case Http404Exception() | HttpUnmappedStatusException() if _names_missing_model(failure.http, model):
                return ModelNotFoundException(model, wire_names(self.provider), http=failure.http)
            case ModelNotFoundException():
                failure.model_id = model
                failure.known = failure.known or wire_names(self.provider)
            case TokenEstimateExceedsLimitException():
                failure.model_name = model
            case ProviderRefusalException():
                failure.model_id = model
            case QuotaExhaustedException():
                failure.model_name = failure.model_name or model
                failure.account = self.account or failure.account
            case _:
                pass
        return failure


def _names_missing_model(answer: HttpErrorDetail | None, model: str) -> bool:
    """Tell whether a 404 names the model that was asked for, which only the caller can see."""
    if answer is None or answer.status_code != _NOT_FOUND or not model:
        return False
    # A web page may repeat anything; an error of the API speaks of what is missing.
    return answer.response_body.lstrip().startswith("{") and model in answer.response_body


def wire_names(provider: str) -> tuple[str, ...]:
    """Give the names that a provider has for its models, as far as the shipped catalog knows."""
    return tuple(entry.wire_name for entry in shipped_catalog() if entry.provider == provider)
