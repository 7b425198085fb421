"""What the SDKs of Anthropic and OpenAI have in common: one generator made both, on one HTTP client.

Apart from the two providers because the exchange is the same and the wire formats are not. An SDK carries the request:
address, credentials, headers, connections. What comes back is taken as it came, because an answer that is no reply has
to be read by `nucleo.errors.http` and not by a model of what a reply should be.
"""

import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from typing import Any, Final, cast

import httpx2

from nucleo.errors import ExternalServiceException, LLMReadableException, UncorrectableRuntimeLLMException
from nucleo.limits import current_work
from nucleo.models import AnswerReader, RawAnswer, Reply, Request, TextDelta, mark_final

CONNECT_SECONDS: Final = 5.0
POOL_SECONDS: Final = 10.0
DEFAULT_TIMEOUT: Final = 300.0
"""Seconds of silence a provider is given: a long reply that is not streamed is silent until it is whole."""
_SHARE_OF_DEADLINE: Final = 0.9
"""So that silence is told as the provider's, and not as a job that ran out of time."""

_GOOD_STATUS: Final = 200
_REDIRECTION: Final = 300
_BROKEN_OFF: Final = "its answer ended before it was complete"


class SdkChannel:
    """One SDK client, and the reading of what it brings.

    Args:
        sdk: The asynchronous client of the SDK, its retries off.
        stream_class: The SDK's class of a stream of events.
        reader: Gives bad answers their meaning.
        timeout: Seconds of silence that a request is given unless it says otherwise.
    """

    def __init__(
        self,
        sdk: Any,
        *,
        stream_class: Any,
        reader: AnswerReader,
        timeout: float,
    ) -> None:
        self.reader = reader
        self._sdk = sdk
        self._stream_class = stream_class
        self._timeout = timeout

    async def post(self, path: str, body: dict[str, Any], *, model: str, silence: float | None) -> RawAnswer:
        """Send a request and read the whole answer.

        Raises:
            LLMReadableException: No answer came, or one with a bad status.
        """
        try:
            response: httpx2.Response = await self._sdk.post(
                path, cast_to=httpx2.Response, body=body, options=self._request_options(silence)
            )
        except Exception as error:
            failure = self._failure(error, model)
            if failure is None:
                raise
            raise failure from error
        return _raw(response)

    async def events(
        self, path: str, body: dict[str, Any], *, model: str, silence: float | None
    ) -> AsyncGenerator[dict[str, Any] | RawAnswer, None]:
        """Send a request and give the events of its answer; or the whole answer, when it is no stream.

        Raises:
            LLMReadableException: No answer came, one with a bad status, an error as an event, or it broke off.
        """
        stream: Any = None
        try:
            stream = await self._sdk.post(
                path,
                cast_to=object,
                body=body,
                options=self._request_options(silence),
                stream=True,
                stream_cls=self._stream_class,
            )
            response: httpx2.Response = stream.response
            if "text/event-stream" not in response.headers.get("content-type", "").lower():
                await response.aread()
                yield _raw(response)
                return
            async for event in stream:
                if isinstance(event, dict):
                    yield cast("dict[str, Any]", event)
        except Exception as error:
            failure = None if isinstance(error, LLMReadableException) else self._failure(error, model)
            if failure is None:
                raise
            raise failure from error
        finally:
            if stream is not None:
                await stream.close()

    def broken_off(self) -> ExternalServiceException:
        """Make the failure of a stream that ended without saying why the model stopped."""
        return self.reader.unreadable(_BROKEN_OFF)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    def _request_options(self, silence: float | None) -> dict[str, Any]:
        return {"timeout": request_timeout(self._timeout if silence is None else silence)}

    def event_failure(
        self,
        event: object,
        *,
        endpoint: str,
        model: str,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> LLMReadableException:
        """Read an error that came inside a good answer.

        Args:
            event: The error in its envelope.
            endpoint: The path or URL that was called.
            model: The model that was asked.
            headers: The headers of the answer.
        """
        kept = tuple(pair for pair in headers if pair[0].lower() != "content-type")
        answer = RawAnswer(
            endpoint=endpoint,
            status=_GOOD_STATUS,
            headers=(*kept, ("content-type", "application/json")),
            body=json.dumps(event, default=str).encode(),
        )
        return self.reader.failure(answer, model=model, is_error=True)

    def _failure(self, error: Exception, model: str) -> LLMReadableException | None:
        """Give the meaning of what the SDK or its HTTP client raised; None for a defect of the calling code."""
        held: object = getattr(error, "response", None)
        response = held if isinstance(held, httpx2.Response) else None
        if response is not None and response.status_code >= _REDIRECTION:
            return self.reader.failure(_raw(response), model=model)
        event = _error_event(error)
        if event is None:
            return self.reader.foreign(error, model=model)
        pairs = () if response is None else tuple(response.headers.multi_items())
        return self.event_failure(event, endpoint=_url_of(error), model=model, headers=pairs)


def http_client(module: Any, *, timeout: float, trust_env: bool) -> httpx2.AsyncClient:
    """Make the connections of an SDK, with its own defaults for keeping them alive.

    Redirects are not followed: a provider's API has none, and the key would travel to another host.

    Args:
        module: The SDK.
        timeout: Seconds of silence.
        trust_env: Take proxies from the environment.
    """
    client: httpx2.AsyncClient = module.DefaultAsyncHttpxClient(
        timeout=request_timeout(timeout), follow_redirects=False, trust_env=trust_env
    )
    return client


def request_timeout(silence: float) -> httpx2.Timeout:
    """Give the timeouts of a request, each at most 90 % of what is left of the current job's time."""
    work = current_work.get()
    left = None if work is None else work.remaining_seconds()
    limit = silence if left is None else max(0.001, min(silence, left * _SHARE_OF_DEADLINE))
    return httpx2.Timeout(limit, connect=min(CONNECT_SECONDS, limit), pool=min(POOL_SECONDS, limit))


def chosen(request: Request, model: str) -> Request:
    """Give a request its model: its own, else the one of the client.

    Raises:
        UncorrectableRuntimeLLMException: Neither names one.
    """
    if request.model:
        return request
    if not model:
        raise UncorrectableRuntimeLLMException("No model was named: name one in the request, or as the client's model.")
    return replace(request, model=model)


def missing_sdk(provider: str, error: ImportError) -> UncorrectableRuntimeLLMException:
    """Make the failure of a provider whose SDK is not installed."""
    failure = UncorrectableRuntimeLLMException(
        f"The model provider '{provider}' needs a package that is not installed: pip install 'nucleo[{provider}]'."
    )
    failure.__cause__ = error
    return failure


async def marked(
    parts: AsyncGenerator[TextDelta | Reply, None],
) -> AsyncGenerator[TextDelta | Reply, None]:
    """Give the parts of a streamed reply on, and mark a failure that comes after the first text as final."""
    characters = 0
    try:
        async for part in parts:
            if isinstance(part, TextDelta):
                characters += len(part.text)
            yield part
    except LLMReadableException as failure:
        if characters:
            mark_final(failure, characters=characters)
        raise
    finally:
        await parts.aclose()


def number(value: object) -> int:
    """Read a count of tokens; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def table(value: object) -> dict[str, Any]:
    """Read a JSON object; empty for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def tables(value: object) -> list[dict[str, Any]]:
    """Read a list of JSON objects; what is none is left out."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def text(value: object) -> str:
    """Read a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def _raw(response: httpx2.Response) -> RawAnswer:
    items: Iterable[tuple[str, str]] = response.headers.multi_items()
    return RawAnswer(
        endpoint=str(response.request.url),
        status=response.status_code,
        headers=tuple(items),
        body=response.content,
    )


def _error_event(error: Exception) -> object:
    """Give the error that a stream carried as an event, in its envelope; None when there was none."""
    body: object = getattr(error, "body", None)
    if isinstance(body, dict):
        # One SDK keeps the envelope, the other what was inside.
        fields = cast("dict[str, Any]", body)
        return fields if "error" in fields else {"error": fields}
    return {"error": {"message": body}} if isinstance(body, str) and body else None


def _url_of(error: Exception) -> str:
    request: object = getattr(error, "request", None)
    return str(request.url) if isinstance(request, httpx2.Request) else "/"
