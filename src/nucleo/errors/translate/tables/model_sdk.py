"""What the SDKs of openai and anthropic have in common: they are made by the same generator, on httpx2.

Apart from their two files because the shape is one and the routes are not.
"""

import json
from dataclasses import dataclass
from typing import Final, cast

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered, hidden_failure
from nucleo.errors.translate.faults import Fault, no_answer
from nucleo.errors.translate.foreign import attribute, entry_of, host_of, nested, text_attribute
from nucleo.errors.translate.tables.httpx import client_fault, content_of

_STREAM_FAILED = Fault(words="it broke its answer off with an error", sent=False)
_GOOD_STATUS = 200
_REDIRECTION = 300

_FAULTS: Final = {
    "APIConnectionError": faults.FAILED,
    "APIResponseValidationError": faults.UNREADABLE,
    "APITimeoutError": faults.SILENT,
    "ContentFilterFinishReasonError": Fault(words="its content filter withheld the answer", sent=False),
    "LengthFinishReasonError": Fault(
        words="the answer reached the limit of its length before it was complete", sent=False
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sdk:
    """One SDK.

    Attributes:
        package: Its name, also the name of the service when nothing better is known.
        model_routes: How the paths end that call a model. Such a call changes nothing, so it is never a write whose
            outcome is unknown, and its answers are read as those of a model.
    """

    package: str
    model_routes: tuple[str, ...]

    def translation(self, error: Exception, service: str | None) -> LLMReadableException | None:
        """Translate an exception of this SDK."""
        url = attribute(error, "request.url") or attribute(error, "response.request.url")
        named = service or host_of(url) or self.package
        on_model = str(attribute(url, "path") or "").endswith(self.model_routes)
        method = text_attribute(error, "request.method")
        fault = self._fault(error)
        if fault is not None:
            return no_answer(fault, service=named, method=method, writes=not on_model)
        if not self._is_api_error(error):
            return None
        status = attribute(error, "response.status_code")
        answer = Answer(
            service=named,
            url=str(url),
            status=status if isinstance(status, int) else _GOOD_STATUS,
            headers=attribute(error, "response.headers"),
            body=_body_of(error),
            method=method,
            operation="llm" if on_model else None,
        )
        if answer.status >= _REDIRECTION:
            return answered(answer)
        # An error that came as an event of a stream, after a good status.
        return hidden_failure(answer) or no_answer(_STREAM_FAILED, service=named, method=method, writes=False)

    def _fault(self, error: Exception) -> Fault | None:
        fault = entry_of(error, _FAULTS, packages=frozenset({self.package}))
        if fault is None or fault.sent is False:
            return fault
        # The SDK says that the connection failed; the exception of its client, which it keeps, says how.
        inner = (client_fault(cause) for cause in nested(error))
        return next((found for found in inner if found is not None), fault)

    def _is_api_error(self, error: Exception) -> bool:
        return bool(entry_of(error, {"APIError": True}, packages=frozenset({self.package})))


def _body_of(error: Exception) -> bytes | str | None:
    content = content_of(error)
    if content:
        return content
    body = attribute(error, "body")
    if isinstance(body, dict):
        fields = cast("dict[object, object]", body)
        # One of the two keeps the envelope, the other only what was inside.
        body = fields if "error" in fields else {"error": fields}
    try:
        return content if body is None else json.dumps(body)
    except (TypeError, ValueError, RecursionError):
        return content
