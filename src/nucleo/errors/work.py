"""Failures of the work itself: a job that was stopped, a conversation that does not fit, a prompt nobody holds."""

from collections.abc import Sequence

from nucleo.errors.branches import UncorrectableLLMException
from nucleo.errors.text import as_texts, brief, count, seconds, sentence


class JobCancelledException(UncorrectableLLMException):
    """The dispatcher stopped the job on a cancel.

    Attributes:
        reason: Why, for the log; None when nobody said.
    """

    reason: str | None = None

    @property
    def llm_message(self) -> str:
        """That there is no result because of a cancel."""
        return "It was cancelled before it finished, so there is no result."

    def __str__(self) -> str:
        return self.llm_message if self.reason is None else f"{self.llm_message} Reason: {brief(self.reason)}"


class CancellationException(UncorrectableLLMException):
    """The signal that a running job gets from `JobContext.check_cancellation` when it should stop.

    Attributes:
        reason: Why, for the log; None when nobody said.
    """

    reason: str | None = None

    @property
    def llm_message(self) -> str:
        """That the work was asked to stop."""
        return "It was asked to stop before it finished, so there is no result."

    def __str__(self) -> str:
        return self.llm_message if self.reason is None else f"{self.llm_message} Reason: {brief(self.reason)}"


class JobTimeoutException(UncorrectableLLMException):
    """The dispatcher stopped the job on its time budget.

    Attributes:
        budget_seconds: The budget that ran out; None when it is not known.
    """

    budget_seconds: float | None = None

    @property
    def llm_message(self) -> str:
        """Which budget ran out."""
        if self.budget_seconds is None:
            return "Its time budget ran out before it finished, so there is no result."
        return f"Its time budget of {seconds(self.budget_seconds)} ran out before it finished, so there is no result."


class TokenEstimateExceedsLimitException(UncorrectableLLMException):
    """The conversation does not fit the model's window, by an estimate or by the provider's own word.

    Attributes:
        estimated_tokens: Tokens of what would be sent; None when the provider did not say.
        model_limit: Tokens of the window; None when the provider did not say.
        model_name: The model.
    """

    estimated_tokens: int | None
    model_limit: int | None
    model_name: str

    @property
    def overflow_amount(self) -> int | None:
        """Tokens over the limit; None when a figure is unknown."""
        if self.estimated_tokens is None or self.model_limit is None:
            return None
        return self.estimated_tokens - self.model_limit

    @property
    def overflow_ratio(self) -> float | None:
        """Estimate divided by limit; None when a figure is unknown or the limit is 0."""
        if self.estimated_tokens is None or not self.model_limit:
            return None
        return self.estimated_tokens / self.model_limit

    @property
    def llm_message(self) -> str:
        """Both figures, the model, and that the conversation must shrink first."""
        figures = _figures(self.estimated_tokens, self.model_limit)
        said = "" if self.http is None else f" {sentence(self.http.sentence)}"
        model = brief(self.model_name)
        return f"The conversation is too large for the model {model}{figures}.{said} It must shrink first."

    def __str__(self) -> str:
        figures = _figures(self.estimated_tokens, self.model_limit)
        return f"by estimate the conversation is too large for {brief(self.model_name)}{figures}"


class ContextOverflowException(UncorrectableLLMException):
    """Even after compaction the conversation does not fit the model's window.

    Attributes:
        estimated_tokens: Tokens of what would be sent, when known.
        model_limit: Tokens of the window, when known.
        model_name: The model, when known.
    """

    estimated_tokens: int | None = None
    model_limit: int | None = None
    model_name: str | None = None

    @property
    def llm_message(self) -> str:
        """That a smaller conversation is the only way on."""
        return (
            "The conversation is too large for the model even after it was shortened. "
            "Start a new conversation, or bring less into it."
        )

    def __str__(self) -> str:
        model = "" if self.model_name is None else f" for {brief(self.model_name)}"
        figures = _figures(self.estimated_tokens, self.model_limit)
        return f"the conversation is too large{model} even after compaction{figures}"


class PromptNotFoundException(UncorrectableLLMException):
    """No prompt source holds the key that was asked for.

    Attributes:
        prompt_key: The key.
        sources: Names of the sources that were asked, in order.
    """

    prompt_key: str
    sources: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.sources = as_texts(self.sources)

    @property
    def llm_message(self) -> str:
        """Which key no source holds."""
        return f"No prompt source holds the key '{brief(self.prompt_key)}'."

    def __str__(self) -> str:
        asked = ", ".join(map(brief, self.sources)) or "none"
        return f"no prompt source holds the key '{brief(self.prompt_key)}' (asked: {asked})"


def _figures(tokens: int | None, limit: int | None) -> str:
    parts: list[str] = []
    shown_tokens, shown_limit = count(tokens), count(limit)
    if shown_tokens is not None:
        parts.append(f"about {shown_tokens} tokens")
    if shown_limit is not None:
        parts.append(f"the limit is {shown_limit} tokens")
    return f" ({', '.join(parts)})" if parts else ""
