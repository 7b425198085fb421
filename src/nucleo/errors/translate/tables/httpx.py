"""httpx and httpx2, and httpcore beneath them: one table, because their classes have the same names and meanings.

Source: the exception hierarchy at https://www.python-httpx.org/exceptions/.
"""

from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered
from nucleo.errors.translate.faults import Fault, connect_fault, no_answer
from nucleo.errors.translate.foreign import attribute, entry_of, host_of, package_of, text_attribute

PACKAGES: Final = frozenset({"httpcore", "httpcore2", "httpx", "httpx2"})

_FAULTS: Final = {
    "CloseError": faults.BROKEN,
    "ConnectError": faults.UNREACHABLE,
    "ConnectTimeout": faults.SLOW_TO_CONNECT,
    "DecodingError": faults.UNREADABLE,
    "HTTPError": faults.FAILED,
    "InvalidURL": faults.UNSENDABLE,
    "LocalProtocolError": faults.UNSENDABLE,
    "NetworkError": faults.BROKEN,
    "PoolTimeout": faults.POOL,
    "ProtocolError": faults.GARBLED,
    "ProxyError": faults.PROXY,
    "ReadError": faults.BROKEN,
    "ReadTimeout": faults.SILENT,
    "RemoteProtocolError": faults.GARBLED,
    "TimeoutException": faults.SILENT,
    "TooManyRedirects": faults.REDIRECTS,
    "UnsupportedProtocol": faults.UNSENDABLE,
    "WriteError": faults.SENDING,
    "WriteTimeout": faults.SLOW_TO_SEND,
}

# h11 and httpcore have one class for a peer that went away and for one that speaks no HTTP; only the words differ.
_WENT_AWAY: Final = ("disconnected", "closed connection")
# The one protocol error of our own side that is found when the headers have left already (h11's body writer).
_BODY_LENGTH: Final = "declared Content-Length"


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of httpx or httpx2."""
    url = attribute(error, "request.url")
    named = service or host_of(url) or package_of(error, PACKAGES)
    method = text_attribute(error, "request.method")
    status = attribute(error, "response.status_code")
    if isinstance(status, int):
        return answered(
            Answer(
                service=named,
                url=str(url),
                status=status,
                headers=attribute(error, "response.headers"),
                body=content_of(error),
                method=method,
            )
        )
    fault = client_fault(error)
    return None if fault is None else no_answer(fault, service=named, method=method)


def client_fault(error: BaseException) -> Fault | None:
    """Say which fault an exception of httpx is; None for a mistake in the use of the library."""
    fault = entry_of(error, _FAULTS, packages=PACKAGES)
    if fault is faults.UNREACHABLE:
        return connect_fault(error)
    if fault is faults.UNSENDABLE and _BODY_LENGTH in str(error):
        return faults.SENDING
    if fault is faults.GARBLED and any(words in str(error) for words in _WENT_AWAY):
        return faults.BROKEN
    return fault


def content_of(error: BaseException) -> bytes | None:
    """Give the body of an exception's answer if it has been read: the property raises where it has not."""
    content = attribute(error, "response.content")
    return content if isinstance(content, bytes) else None
