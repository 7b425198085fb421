"""Failures of something outside: a service that is down, throttles or refuses us."""

from dataclasses import field

from nucleo.errors.branches import UncorrectableLLMException
from nucleo.errors.text import as_text, brief, seconds, sentence

OUTCOME_UNKNOWN = "It is not known whether it was carried out: it may have been. Check before repeating it."


class ExternalServiceException(UncorrectableLLMException):
    """A service is down, answered with a server error, or could not be reached.

    Attributes:
        service_name: The service, as a person would call it.
        error_details: What happened, in words for the model.
        outcome_unknown: A write may have been carried out although no answer came.
    """

    service_name: str
    error_details: str
    outcome_unknown: bool = False

    @property
    def llm_message(self) -> str:
        """Which service, what happened, and whether a write may have been carried out."""
        text = f"{brief(self.service_name)} could not complete the call: {as_text(self.error_details)}"
        return f"{sentence(text)} {OUTCOME_UNKNOWN}" if self.outcome_unknown else text


class UpstreamThrottleException(ExternalServiceException):
    """A service says that it is called too fast. Raise it and let it go: the limiters of the job hear it.

    Attributes:
        retry_after_seconds: How long the service asked to wait; None when it did not say.
    """

    # The third place is the wait: a throttled call was refused, so its outcome is known.
    outcome_unknown: bool = field(default=False, kw_only=True)
    retry_after_seconds: float | None = None

    @property
    def llm_message(self) -> str:
        """Which service, its words, and how long it asked to wait."""
        text = f"{brief(self.service_name)} is limiting how often it may be called: {as_text(self.error_details)}"
        return text + wait_sentence(self.retry_after_seconds, after=text)


class UnauthorizedException(UncorrectableLLMException):
    """A service refused our credentials.

    Attributes:
        service_name: The service, as a person would call it.
        reason: Why, in words for the model; never the credential.
    """

    service_name: str
    reason: str

    @property
    def llm_message(self) -> str:
        """Which service refused us, and why."""
        return f"{brief(self.service_name)} refused our credentials: {as_text(self.reason)}"


class PermissionDeniedException(UncorrectableLLMException):
    """The person the work runs for may not do this, by the application's own rules.

    Attributes:
        message: What is not permitted.
    """

    message: str

    @property
    def llm_message(self) -> str:
        """What is not permitted."""
        return f"Not permitted: {as_text(self.message)}"


class SystemException(UncorrectableLLMException):
    """Something unexpected inside: a bug. The model learns only that something broke.

    Attributes:
        component: The tool's name when a tool broke, else the part of the runtime.
        technical_message: What happened, for the log only.
    """

    component: str
    technical_message: str

    @property
    def llm_message(self) -> str:
        """Where something broke, and no more."""
        return f"A system error occurred in {brief(self.component)}. The operation could not be completed."

    def __str__(self) -> str:
        return f"{brief(self.component)}: {as_text(self.technical_message)}"


def wait_sentence(wait: float | None, *, after: str) -> str:
    """Say how long a service asked to wait, as a sentence that follows the text `after`; empty when it did not."""
    if wait is None:
        return ""
    stop = "" if sentence(after) == after.rstrip() else "."
    return f"{stop} It asked to wait {seconds(wait)} before the next call."
