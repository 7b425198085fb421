"""The SDK of OpenAI, also as it is used against compatible services.

Source: https://github.com/openai/openai-python, the section on handling errors.
"""

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate.tables.model_sdk import Sdk

_SDK = Sdk(
    package="openai",
    model_routes=(
        "/chat/completions",
        "/completions",
        "/embeddings",
        "/images/generations",
        "/moderations",
        "/responses",
        "/responses/input_tokens",
    ),
)


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of the openai package."""
    return _SDK.translation(error, service)
