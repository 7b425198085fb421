"""What the runtime asks of a model provider, and nothing more.

Apart from the values so that whoever writes a provider has one page to implement.
"""

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from nucleo.models.reply import Reply, TextDelta
from nucleo.models.request import Request


@runtime_checkable
class ModelClient(Protocol):
    """A connection to one provider. It keeps no conversation and repeats nothing by itself.

    What it raises is a failure of the set, never a retry signal: who waits is decided above it, by
    `nucleo.models.retry_signal`.
    """

    async def complete(self, request: Request) -> Reply:
        """Ask a model and wait for the whole reply.

        Raises:
            UpstreamThrottleException: The provider limits how often it may be called.
            ExternalServiceException: It failed, or no readable answer came.
            QuotaExhaustedException: The account is out of money or quota.
            UnauthorizedException: The key is missing or refused.
            ModelNotFoundException: The provider has no such model.
            TokenEstimateExceedsLimitException: The conversation is too long for the model.
            ProviderRefusalException: The model or its provider declined.
            InvalidInputException: The provider refuses the request as it is.
        """
        ...

    def stream(self, request: Request) -> AsyncIterator[TextDelta | Reply]:
        """Ask a model and give its text as it comes, then the whole reply.

        Raises:
            LLMReadableException: As `complete` does. A failure after the first piece of text is final: the
                failure is marked so, see `nucleo.models.is_final_failure`.
        """
        ...

    async def count_tokens(self, request: Request) -> int | None:
        """Count the tokens of a request by the provider's own counter; None when it has none."""
        ...

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        ...
