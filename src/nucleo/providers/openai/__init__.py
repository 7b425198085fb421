"""OpenAI and compatible servers: chat completions through the official SDK (``pip install 'nucleo[openai]'``)."""

from nucleo.providers.openai.client import OpenAIClient

__all__ = ["OpenAIClient"]
