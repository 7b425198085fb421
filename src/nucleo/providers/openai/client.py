"""The client of OpenAI and of every server that speaks its chat completions, on OpenAI's own SDK."""

import os
from collections.abc import AsyncGenerator
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from nucleo.errors import UnauthorizedException
from nucleo.models import AnswerReader, RawAnswer, Reply, Request, TextDelta
from nucleo.providers.openai.answer import CompletionStream, choice_error, reply_of
from nucleo.providers.openai.wire import request_body
from nucleo.providers.sdk import DEFAULT_TIMEOUT, SdkChannel, chosen, http_client, marked, missing_sdk

LimitField: TypeAlias = Literal["max_completion_tokens", "max_tokens"]

_KEY_VARIABLE: Final = "OPENAI_API_KEY"
_NO_KEY: Final = f"there is no API key: set the environment variable {_KEY_VARIABLE}, or give api_key"
_KEYLESS: Final = "none"
"""What is sent as a key to a server that was named without one; a local server asks for none."""
_COMPLETIONS: Final = "/chat/completions"
_OWN_HOSTS: Final = (".openai.com", ".openai.azure.com")


class OpenAIClient:
    """Asks a model through chat completions: OpenAI, or any compatible server by its address.

    Args:
        api_key: The key; None takes ``OPENAI_API_KEY``. A server given by `base_url` may do without.
        base_url: The address of a compatible server, as far as ``/chat/completions``; None for OpenAI's own or
            ``OPENAI_BASE_URL``.
        timeout: Seconds of silence after which a call fails. A request may say otherwise.
        model: The model to ask when the client is given in place of a model id.
        service: What the server is called in failures; None for OpenAI, or the host of `base_url` where that is a name.
        account: What the owner calls the account, for the message when its money is gone.
        limit_field: What the server calls the limit of output tokens; None for ``max_completion_tokens`` at OpenAI
            and Azure and ``max_tokens`` elsewhere.
        trust_env: Take proxies from the environment.

    Raises:
        UnauthorizedException: There is no key.
        UncorrectableRuntimeLLMException: The SDK is not installed.
    """

    provider = "openai"

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        model: str | None = None,
        service: str | None = None,
        account: str | None = None,
        limit_field: LimitField | None = None,
        trust_env: bool = False,
    ) -> None:
        try:
            # The SDK is slow to load, and an application may name a provider that it never calls.
            import openai  # noqa: PLC0415
        except ImportError as error:
            raise missing_sdk(self.provider, error) from error
        self.model = model or ""
        key = api_key or os.environ.get(_KEY_VARIABLE) or (_KEYLESS if base_url else None)
        if key is None:
            raise UnauthorizedException("OpenAI", _NO_KEY)
        sdk = openai.AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            http_client=http_client(openai, timeout=timeout, trust_env=trust_env),
        )
        host = urlsplit(str(sdk.base_url)).hostname or ""
        own = f".{host}".endswith(_OWN_HOSTS)
        self._limit_field = limit_field or ("max_completion_tokens" if own else "max_tokens")
        self._channel = SdkChannel(
            sdk,
            stream_class=openai.AsyncStream[object],
            reader=AnswerReader(
                service=service or ("OpenAI" if own else _name_of(host)),
                provider=self.provider if own else "",
                account=account,
                secrets=() if key == _KEYLESS else (key,),
            ),
            timeout=timeout,
        )

    async def complete(self, request: Request) -> Reply:
        """Ask a model and wait for the whole reply; raises as `nucleo.models.ModelClient.complete` does."""
        request = chosen(request, self.model)
        answer = await self._channel.post(
            _COMPLETIONS, self._body(request), model=request.model, silence=request.timeout
        )
        return self._read(answer, request)

    def stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply, None]:
        """Ask a model and give its text as it comes; raises as `nucleo.models.ModelClient.stream` does."""
        return marked(self._stream(chosen(request, self.model)))

    async def count_tokens(self, request: Request) -> int | None:
        """Chat completions have no counter."""
        del request
        return None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._channel.close()

    async def _stream(self, request: Request) -> AsyncGenerator[TextDelta | Reply, None]:
        so_far = CompletionStream()
        body = {**self._body(request), "stream": True, "stream_options": {"include_usage": True}}
        async for chunk in self._channel.events(_COMPLETIONS, body, model=request.model, silence=request.timeout):
            if isinstance(chunk, RawAnswer):
                yield self._read(chunk, request)
                return
            delta = so_far.take(chunk)
            if delta is not None:
                yield delta
        completion = so_far.whole()
        if error := choice_error(completion):
            raise self._channel.event_failure({"error": error}, endpoint=_COMPLETIONS, model=request.model)
        reply = reply_of(completion, model=request.model) if so_far.is_complete else None
        if reply is None:
            raise self._channel.broken_off()
        yield reply

    def _read(self, answer: RawAnswer, request: Request) -> Reply:
        reader = self._channel.reader
        completion = reader.json_of(answer, model=request.model, member="choices")
        if error := choice_error(completion):
            raise self._channel.event_failure({"error": error}, endpoint=answer.endpoint, model=request.model)
        reply = reply_of(completion, model=request.model)
        if reply is None:
            raise reader.failure(answer, model=request.model)
        return reply

    def _body(self, request: Request) -> dict[str, Any]:
        return request_body(request, limit_field=self._limit_field)


def _name_of(host: str) -> str:
    # An address says nothing to a reader, and an internal one is nobody's business.
    return host if "." in host and host.rpartition(".")[2].isalpha() else "The model server"
