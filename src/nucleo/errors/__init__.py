"""The failure set: what can go wrong, in words for whoever has to act next.

    LLMReadable (protocol)
    LLMReadableException (sealed)
    ├── LLMReadableCheckedException (sealed): two messages, one for the model and one for the log
    │   ├── CorrectableLLMException (open, abstract)
    │   │   ├── InvalidInputException
    │   │   │   ├── Http400Exception
    │   │   │   ├── Http413Exception
    │   │   │   └── Http422Exception
    │   │   ├── ResourceNotFoundException
    │   │   │   └── Http404Exception
    │   │   ├── GuardrailException
    │   │   ├── JsonParseException
    │   │   └── ResponseValidationException
    │   └── UncorrectableLLMException (open, abstract)
    │       ├── ExternalServiceException
    │       │   ├── Http500Exception
    │       │   ├── Http502Exception
    │       │   ├── Http503Exception
    │       │   ├── HttpUnmappedStatusException
    │       │   └── UpstreamThrottleException
    │       │       └── Http429Exception
    │       ├── UnauthorizedException
    │       │   ├── Http401Exception
    │       │   └── Http403Exception
    │       ├── PermissionDeniedException
    │       ├── SystemException
    │       ├── JobCancelledException
    │       ├── CancellationException
    │       ├── JobTimeoutException
    │       ├── TokenEstimateExceedsLimitException
    │       ├── ContextOverflowException
    │       └── PromptNotFoundException
    └── LLMReadableRuntimeException (sealed): one message for both readers
        ├── CorrectableRuntimeLLMException (open)
        └── UncorrectableRuntimeLLMException (open)
            ├── QuotaExhaustedException
            ├── SpendCapExceededException
            ├── ModelNotFoundException
            └── ProviderRefusalException

Outside the tree, never addressed to a model: `DependencyFailedException`, `JobDeadlockException`,
`NotImplementedException`, and the retry signals of `nucleo.errors.retry`.

The standard library only: a tool author can depend on this alone.
"""

from typing import TYPE_CHECKING, Any

from nucleo.errors.accounts import (
    ModelNotFoundException,
    ProviderRefusalException,
    QuotaExhaustedException,
    SpendCapExceededException,
)
from nucleo.errors.branches import (
    CorrectableLLMException,
    CorrectableRuntimeLLMException,
    LLMReadableCheckedException,
    LLMReadableRuntimeException,
    UncorrectableLLMException,
    UncorrectableRuntimeLLMException,
)
from nucleo.errors.calls import (
    GuardrailException,
    InvalidInputException,
    JsonParseException,
    ResourceNotFoundException,
    ResponseValidationException,
)
from nucleo.errors.developer import (
    DependencyFailedException,
    JobDeadlockException,
    NotImplementedException,
)
from nucleo.errors.http.detail import (
    HttpErrorDetail,
)
from nucleo.errors.http.failures import (
    Http400Exception,
    Http401Exception,
    Http403Exception,
    Http404Exception,
    Http413Exception,
    Http422Exception,
    Http429Exception,
    Http500Exception,
    Http502Exception,
    Http503Exception,
    HttpErrorResponse,
    HttpUnmappedStatusException,
)
from nucleo.errors.retry import (
    OutputTruncationRetryException,
    OverloadRetryException,
    RateLimitRetryException,
    ResponseCorrectionRetryException,
    TransientErrorRetryException,
    UpstreamRetryException,
)
from nucleo.errors.root import (
    HumanReadable,
    LLMReadable,
    LLMReadableException,
)
from nucleo.errors.services import (
    ExternalServiceException,
    PermissionDeniedException,
    SystemException,
    UnauthorizedException,
    UpstreamThrottleException,
)
from nucleo.errors.text import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
)
from nucleo.errors.work import (
    CancellationException,
    ContextOverflowException,
    JobCancelledException,
    JobTimeoutException,
    PromptNotFoundException,
    TokenEstimateExceedsLimitException,
)
from nucleo.errors.wrapping import (
    explain,
    readable,
    unwrap,
    unwrap_runtime,
    wrap_with_context,
)

if TYPE_CHECKING:
    from nucleo.errors.record import failure_from_dict
    from nucleo.errors.translate import register_translation

__all__ = [
    "VERDICT_CORRECTABLE",
    "VERDICT_UNCORRECTABLE",
    "CancellationException",
    "ContextOverflowException",
    "CorrectableLLMException",
    "CorrectableRuntimeLLMException",
    "DependencyFailedException",
    "ExternalServiceException",
    "GuardrailException",
    "Http400Exception",
    "Http401Exception",
    "Http403Exception",
    "Http404Exception",
    "Http413Exception",
    "Http422Exception",
    "Http429Exception",
    "Http500Exception",
    "Http502Exception",
    "Http503Exception",
    "HttpErrorDetail",
    "HttpErrorResponse",
    "HttpUnmappedStatusException",
    "HumanReadable",
    "InvalidInputException",
    "JobCancelledException",
    "JobDeadlockException",
    "JobTimeoutException",
    "JsonParseException",
    "LLMReadable",
    "LLMReadableCheckedException",
    "LLMReadableException",
    "LLMReadableRuntimeException",
    "ModelNotFoundException",
    "NotImplementedException",
    "OutputTruncationRetryException",
    "OverloadRetryException",
    "PermissionDeniedException",
    "PromptNotFoundException",
    "ProviderRefusalException",
    "QuotaExhaustedException",
    "RateLimitRetryException",
    "ResourceNotFoundException",
    "ResponseCorrectionRetryException",
    "ResponseValidationException",
    "SpendCapExceededException",
    "SystemException",
    "TokenEstimateExceedsLimitException",
    "TransientErrorRetryException",
    "UnauthorizedException",
    "UncorrectableLLMException",
    "UncorrectableRuntimeLLMException",
    "UpstreamRetryException",
    "UpstreamThrottleException",
    "explain",
    "failure_from_dict",
    "readable",
    "register_translation",
    "unwrap",
    "unwrap_runtime",
    "wrap_with_context",
]


# The tables of foreign libraries load with the first foreign exception, the wire form with the first record.
_LATER = {"failure_from_dict": "nucleo.errors.record", "register_translation": "nucleo.errors.translate"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - needed at most once a name

    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value
