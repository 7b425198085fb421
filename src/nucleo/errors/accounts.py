"""Failures about models and money that the runtime raises: one message for both readers."""

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from nucleo.errors.branches import RENDERED_MESSAGE, UncorrectableRuntimeLLMException
from nucleo.errors.text import as_text, as_texts, brief, sentence

if TYPE_CHECKING:
    from decimal import Decimal

_NEAREST = 5


class QuotaExhaustedException(UncorrectableRuntimeLLMException):
    """The account at a provider is out of money or of its plan's allowance.

    Attributes:
        provider: Who keeps the account.
        account: The account, as the caller knows it.
        model_name: The model that was asked for, when there is one.
        provider_detail: The provider's own words, when given.
    """

    message: str = field(init=False, default=RENDERED_MESSAGE)
    provider: str
    account: str
    model_name: str | None = None
    provider_detail: str | None = None

    @property
    def llm_message(self) -> str:
        """Which account is out of money, and that only funding it helps."""
        model = "" if self.model_name is None else f", asked for the model {brief(self.model_name)},"
        said = "" if not self.provider_detail else f" {sentence(as_text(self.provider_detail))}"
        return (
            f"The account {brief(self.account)} at {brief(self.provider)}{model} is out of credit or quota.{said} "
            "Only funding the account or raising its limit helps."
        )


class SpendCapExceededException(UncorrectableRuntimeLLMException):
    """Admission refused the job under the spend cap of its workflow.

    Attributes:
        cap: What the workflow may spend in all.
        spent: What has been spent.
        committed: What running work has reserved.
        reservation: What this job would have reserved.
    """

    cap: "Decimal | None" = field(default=None, kw_only=True)
    spent: "Decimal | None" = field(default=None, kw_only=True)
    committed: "Decimal | None" = field(default=None, kw_only=True)
    reservation: "Decimal | None" = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("cap", "spent", "committed", "reservation"):
            setattr(self, name, _decimal(getattr(self, name)))


class ModelNotFoundException(UncorrectableRuntimeLLMException):
    """The catalog, or the provider, holds no model under the id.

    Attributes:
        model_id: The id that was asked for.
        known: The ids that exist, of which the nearest are named.
    """

    message: str = field(init=False, default=RENDERED_MESSAGE)
    model_id: str
    known: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.known = as_texts(self.known)

    @property
    def llm_message(self) -> str:
        """The id, and the nearest known ids."""
        near = nearest(as_text(self.model_id), as_texts(self.known))
        hint = f" Nearest known: {', '.join(map(brief, near))}." if near else ""
        said = "" if self.http is None else f" {sentence(self.http.sentence)}"
        return f"There is no model '{brief(self.model_id)}'.{said}{hint}"


class ProviderRefusalException(UncorrectableRuntimeLLMException):
    """The provider declined the call. The same model is not asked again; another may be.

    Attributes:
        model_id: The model that declined.
        category: The provider's category, when given.
        explanation: The provider's explanation, when given.
    """

    message: str = field(init=False, default=RENDERED_MESSAGE)
    model_id: str
    category: str | None = None
    explanation: str | None = None

    @property
    def llm_message(self) -> str:
        """Which model declined, the category and the explanation."""
        category = f" (category: {brief(self.category)})" if self.category else ""
        said = f": {brief(self.explanation, limit=1000)}" if self.explanation else ""
        text = sentence(f"The model {brief(self.model_id)} declined the request{category}{said}")
        return f"{text} The same model is not asked again; another may be."


def nearest(name: str, known: Sequence[str], *, count: int = _NEAREST) -> list[str]:
    """Give the known names nearest to `name`, the closest first; a few of all where none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a failure that is read pays for it

    close = get_close_matches(name[:100], [text[:100] for text in known[:1000]], n=count, cutoff=0.5)
    return close or list(known[:count])


def _decimal(figure: object) -> "Decimal | None":
    if figure is None:
        return None
    from decimal import Decimal, InvalidOperation  # noqa: PLC0415 - only figures need it, and it is slow to load

    try:
        return figure if isinstance(figure, Decimal) else Decimal(as_text(figure))
    except (InvalidOperation, ValueError):
        return None
