"""Anthropic: the Messages API through its official SDK (``pip install 'nucleo[anthropic]'``)."""

from nucleo.providers.anthropic.client import AnthropicClient

__all__ = ["AnthropicClient"]
