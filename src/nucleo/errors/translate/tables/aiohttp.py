"""aiohttp's client. Its exceptions of answers keep no body, and those of connections tell no method.

Source: https://docs.aiohttp.org/en/stable/client_reference.html#client-exceptions.
"""

from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered
from nucleo.errors.translate.faults import Fault, connect_fault, no_answer
from nucleo.errors.translate.foreign import (
    attribute,
    entry_of,
    host_name,
    host_of,
    nested,
    text_attribute,
)

_PACKAGES: Final = frozenset({"aiohttp"})
_REDIRECTION = 300

_FAULTS: Final = {
    "ClientConnectionError": faults.BROKEN,
    "ClientConnectionResetError": faults.SENDING,
    "ClientConnectorCertificateError": faults.CERTIFICATE,
    "ClientConnectorDNSError": faults.NAME,
    "ClientConnectorError": faults.UNREACHABLE,
    "ClientError": faults.FAILED,
    "ClientHttpProxyError": faults.PROXY,
    "ClientPayloadError": faults.BROKEN,
    "ClientProxyConnectionError": faults.PROXY,
    "ClientSSLError": faults.TLS,
    "ConnectionTimeoutError": faults.SLOW_TO_CONNECT,
    "InvalidURL": faults.UNSENDABLE,
    "NonHttpUrlClientError": faults.UNSENDABLE,
    "RedirectClientError": faults.ASTRAY,
    "ServerFingerprintMismatch": faults.CERTIFICATE,
    "ServerTimeoutError": faults.SILENT,
    "TooManyRedirects": faults.REDIRECTS,
    "UploadAbortedError": faults.SENDING,
}
# Redirect errors are address errors by birth too; which class comes first in their MRO says nothing.
_ASTRAY: Final = {"RedirectClientError": faults.ASTRAY}
_ANSWERED: Final = {"ClientResponseError": True}
_NOT_HTTP: Final = {"BadHttpMessage": True, "HttpProcessingError": True}
_NOT_DECODED: Final = {"ContentEncodingError": True}


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of aiohttp's client."""
    url = attribute(error, "request_info.real_url")
    named = service or host_of(url) or host_name(attribute(error, "host")) or "aiohttp"
    method = text_attribute(error, "request_info.method")
    fault = _client_fault(error)
    if fault is not None:
        return no_answer(fault, service=named, method=method)
    status = attribute(error, "status")
    if not isinstance(status, int):
        return None
    return answered(
        Answer(
            service=named,
            url=str(url),
            status=status,
            headers=attribute(error, "headers"),
            method=method,
        )
    )


def _client_fault(error: Exception) -> Fault | None:
    if entry_of(error, _ASTRAY, packages=_PACKAGES):
        return faults.ASTRAY
    fault = entry_of(error, _FAULTS, packages=_PACKAGES)
    if fault is faults.UNREACHABLE:
        return connect_fault(error)
    if fault is faults.FAILED and entry_of(error, _ANSWERED, packages=_PACKAGES):
        return _answer_fault(error)
    if fault is faults.BROKEN and _made_from(error, _NOT_DECODED):
        return faults.UNREADABLE
    return fault


def _answer_fault(error: Exception) -> Fault | None:
    """Tell an answer that came from one that only looks so; None when the status is the server's own."""
    if _made_from(error, _NOT_HTTP):
        # What is no HTTP is reported as a status 400 that the server never sent.
        return faults.GARBLED
    status = attribute(error, "status")
    if not isinstance(status, int) or status == 0:
        return faults.FAILED
    return None if status >= _REDIRECTION else faults.UNREADABLE


def _made_from(error: Exception, names: dict[str, bool]) -> bool:
    return any(entry_of(cause, names, packages=_PACKAGES) for cause in nested(error))
