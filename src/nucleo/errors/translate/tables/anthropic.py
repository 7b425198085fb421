"""The SDK of Anthropic, also as it is used through Bedrock and Vertex.

Source: https://docs.anthropic.com/en/api/errors and https://github.com/anthropics/anthropic-sdk-python.
"""

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate.tables.model_sdk import Sdk

_SDK = Sdk(
    package="anthropic",
    model_routes=(
        "/complete",
        "/messages",
        "/messages/count_tokens",
        "/invoke",
        "/invoke-with-response-stream",
        ":rawPredict",
        ":streamRawPredict",
    ),
)


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of the anthropic package."""
    return _SDK.translation(error, service)
