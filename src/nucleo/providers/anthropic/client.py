"""The client of Anthropic, on its own SDK."""

import json
from collections.abc import AsyncGenerator
from typing import Any, Final

from nucleo.errors import UnauthorizedException
from nucleo.models import AnswerReader, RawAnswer, Reply, Request, TextDelta, shipped_catalog
from nucleo.providers.anthropic.answer import MessageStream, reply_of
from nucleo.providers.anthropic.wire import prompt_body, request_body
from nucleo.providers.sdk import DEFAULT_TIMEOUT, SdkChannel, chosen, http_client, marked, missing_sdk, number, table

SERVICE: Final = "Anthropic"
DEFAULT_MAX_TOKENS: Final = 8_192
"""Tokens a reply may have where nobody said how many; the API demands a figure."""

_MESSAGES: Final = "/v1/messages"
_COUNT: Final = "/v1/messages/count_tokens"


class AnthropicClient:
    """Asks Claude through the Messages API.

    Args:
        api_key: The key; None takes ``ANTHROPIC_API_KEY``, or whatever else the SDK finds.
        base_url: Another address, of a gateway or a compatible server; None for the SDK's.
        timeout: Seconds of silence after which a call fails. A request may say otherwise.
        max_output_tokens: Tokens a reply may have where the request does not say.
        model: The model to ask when the client is given in place of a model id.
        account: What the owner calls the account, for the message when its money is gone.
        trust_env: Take proxies from the environment.

    Raises:
        UnauthorizedException: There is no key.
        UncorrectableRuntimeLLMException: The SDK is not installed.
    """

    provider = "anthropic"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_output_tokens: int | None = None,
        model: str | None = None,
        account: str | None = None,
        trust_env: bool = False,
    ) -> None:
        try:
            # The SDK is slow to load, and an application may name a provider that it never calls.
            import anthropic  # noqa: PLC0415
        except ImportError as error:
            raise missing_sdk(self.provider, error) from error
        self.model = model or ""
        self._max_output_tokens = max_output_tokens
        connections = http_client(anthropic, timeout=timeout, trust_env=trust_env)
        try:
            sdk = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, max_retries=0, http_client=connections)
        except anthropic.CredentialsError as error:
            raise UnauthorizedException(SERVICE, _NO_KEY) from error
        if not (sdk.api_key or sdk.auth_token or sdk.credentials):
            raise UnauthorizedException(SERVICE, _NO_KEY)
        self._channel = SdkChannel(
            sdk,
            stream_class=anthropic.AsyncStream[object],
            reader=AnswerReader(
                service=SERVICE,
                provider=self.provider,
                account=account,
                secrets=tuple(secret for secret in (sdk.api_key, sdk.auth_token) if secret),
            ),
            timeout=timeout,
        )

    async def complete(self, request: Request) -> Reply:
        """Ask a model and wait for the whole reply; raises as `nucleo.models.ModelClient.complete` does."""
        request = chosen(request, self.model)
        answer = await self._channel.post(_MESSAGES, self._body(request), model=request.model, silence=request.timeout)
        return self._read(answer, request)

    def stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply, None]:
        """Ask a model and give its text as it comes; raises as `nucleo.models.ModelClient.stream` does."""
        return marked(self._stream(chosen(request, self.model)))

    async def count_tokens(self, request: Request) -> int | None:
        """Count the tokens of a request by the API's own counter; raises as `complete` does."""
        request = chosen(request, self.model)
        answer = await self._channel.post(_COUNT, prompt_body(request), model=request.model, silence=request.timeout)
        try:
            value: object = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise self._channel.reader.failure(answer, model=request.model) from error
        counted = number(table(value).get("input_tokens"))
        if counted:
            return counted
        raise self._channel.reader.failure(answer, model=request.model)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._channel.close()

    async def _stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply, None]:
        so_far = MessageStream()
        body = {**self._body(request), "stream": True}
        async for event in self._channel.events(_MESSAGES, body, model=request.model, silence=request.timeout):
            if isinstance(event, RawAnswer):
                yield self._read(event, request)
                return
            delta = so_far.take(event)
            if delta is not None:
                yield delta
        if not so_far.is_complete:
            raise self._channel.broken_off()
        yield reply_of(so_far.whole(), model=request.model)

    def _read(self, answer: RawAnswer, request: Request) -> Reply:
        message = self._channel.reader.json_of(answer, model=request.model, member="content")
        return reply_of(message, model=request.model)

    def _body(self, request: Request) -> dict[str, Any]:
        return request_body(request, max_tokens=self._max_output_tokens or _default_max_tokens(request.model))


_NO_KEY: Final = "there is no API key: set the environment variable ANTHROPIC_API_KEY, or give api_key"


def _default_max_tokens(model: str) -> int:
    entry = shipped_catalog().get(f"{AnthropicClient.provider}:{model}")
    ceiling = None if entry is None else entry.max_output
    return DEFAULT_MAX_TOKENS if ceiling is None else min(DEFAULT_MAX_TOKENS, ceiling)
