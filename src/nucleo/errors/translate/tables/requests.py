"""requests. It keeps the exceptions of urllib3 inside its own, and they say more than it does.

Source: https://requests.readthedocs.io/en/latest/api/#exceptions.
"""

from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered
from nucleo.errors.translate.faults import no_answer
from nucleo.errors.translate.foreign import attribute, entry_of, host_of, text_attribute
from nucleo.errors.translate.tables.urllib3 import pool_failure, pool_host

_PACKAGES: Final = frozenset({"requests"})

_FAULTS: Final = {
    "ChunkedEncodingError": faults.BROKEN,
    "ConnectTimeout": faults.SLOW_TO_CONNECT,
    "ConnectionError": faults.FAILED,
    "ContentDecodingError": faults.UNREADABLE,
    "InvalidHeader": faults.UNSENDABLE,
    "InvalidJSONError": faults.UNSENDABLE,
    "InvalidSchema": faults.UNSENDABLE,
    "InvalidURL": faults.UNSENDABLE,
    "JSONDecodeError": faults.UNREADABLE,
    "MissingSchema": faults.UNSENDABLE,
    "ProxyError": faults.PROXY,
    "ReadTimeout": faults.SILENT,
    "RetryError": faults.FAILED,
    "SSLError": faults.TLS,
    "Timeout": faults.SILENT,
    "TooManyRedirects": faults.REDIRECTS,
}
_URLLIB3_KNOWS: Final = frozenset({faults.BROKEN, faults.FAILED, faults.TLS})


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of requests."""
    url = attribute(error, "request.url") or attribute(error, "response.url")
    named = service or host_of(url) or pool_host(error) or "requests"
    method = text_attribute(error, "request.method")
    fault = entry_of(error, _FAULTS, packages=_PACKAGES)
    if fault in _URLLIB3_KNOWS:
        failure = pool_failure(error, service=named, method=method)
        if failure is not None:
            return failure
    if fault is not None:
        return no_answer(fault, service=named, method=method)
    status = attribute(error, "response.status_code")
    if not isinstance(status, int):
        return None
    return answered(
        Answer(
            service=named,
            url=str(url),
            status=status,
            headers=attribute(error, "response.headers"),
            body=_content_of(error),
            method=method,
        )
    )


def _content_of(error: Exception) -> bytes | None:
    # Not the property: it would read the rest of a stream. The cache behind it is False until then.
    kept: object = getattr(attribute(error, "response"), "__dict__", {}).get("_content")
    return kept if isinstance(kept, bytes) else None
