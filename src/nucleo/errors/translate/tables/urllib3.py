"""urllib3, alone and beneath requests.

Its exceptions tell the host and the path of a request, and never the method.
Source: https://urllib3.readthedocs.io/en/stable/reference/urllib3.exceptions.html.
"""

import re
from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered
from nucleo.errors.translate.faults import Fault, connect_fault, no_answer, system_fault
from nucleo.errors.translate.foreign import attribute, entry_of, host_name, is_kind, nested, text_attribute

_PACKAGES: Final = frozenset({"urllib3"})

_FAULTS: Final = {
    "ConnectTimeoutError": faults.SLOW_TO_CONNECT,
    "DecodeError": faults.UNREADABLE,
    "EmptyPoolError": faults.POOL,
    "HostChangedError": faults.UNSENDABLE,
    "IncompleteRead": faults.BROKEN,
    "InvalidChunkLength": faults.BROKEN,
    "InvalidHeader": faults.UNSENDABLE,
    "LocationValueError": faults.UNSENDABLE,
    "NameResolutionError": faults.NAME,
    "NewConnectionError": faults.UNREACHABLE,
    "ProtocolError": faults.BROKEN,
    "ProxyError": faults.PROXY,
    "ReadTimeoutError": faults.SILENT,
    "SSLError": faults.TLS,
    "TimeoutError": faults.SILENT,
}

# ResponseError.SPECIFIC_ERROR of urllib3: the only trace of a status that its own retries gave up on.
_GAVE_UP_ON: Final = re.compile(r"too many (\d{3}) error responses")
_REDIRECTS: Final = "too many redirects"


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of urllib3."""
    return pool_failure(error, service=service or pool_host(error) or "urllib3", method=None)


def pool_failure(error: BaseException, *, service: str, method: str | None) -> LLMReadableException | None:
    """Make the failure that an exception of urllib3 means, wherever inside `error` it is."""
    for cause in nested(error):
        if is_kind(cause, "urllib3.exceptions.ResponseError"):
            return _given_up(error, str(cause), service=service, method=method)
        fault = _pool_fault(cause)
        if fault is not None:
            return no_answer(fault, service=service, method=method)
    return None


def pool_host(error: BaseException) -> str | None:
    """Give the host of the request from the pool, or the connection, that an exception keeps."""
    for cause in nested(error):
        for path in ("pool.host", "conn.host"):
            found = attribute(cause, path) if path != "pool.host" or _has_pool(cause) else None
            host = host_name(found)
            if host is not None:
                return host
    return None


def _has_pool(error: BaseException) -> bool:
    # The connection errors have a deprecated property of this name, and reading it warns.
    return "pool" in getattr(error, "__dict__", {})


def _pool_fault(error: BaseException) -> Fault | None:
    fault = entry_of(error, _FAULTS, packages=_PACKAGES)
    if fault is faults.UNREACHABLE:
        return connect_fault(error)
    if fault is faults.TLS:
        # Raised of a handshake and of a connection that broke later; only what is inside can tell.
        found = (system_fault(cause) for cause in nested(error))
        return next((known for known in found if known is not None), fault)
    if fault is faults.BROKEN and any(_is_garbled(cause) for cause in nested(error)):
        return faults.GARBLED
    return fault


def _is_garbled(error: BaseException) -> bool:
    # RemoteDisconnected is a BadStatusLine to http.client, though no line came at all.
    return is_kind(
        error, "http.client.BadStatusLine", "http.client.LineTooLong", "http.client.UnknownProtocol"
    ) and not is_kind(error, "http.client.RemoteDisconnected")


def _given_up(error: BaseException, words: str, *, service: str, method: str | None) -> LLMReadableException | None:
    if _REDIRECTS in words:
        return no_answer(faults.REDIRECTS, service=service, method=method)
    status = _GAVE_UP_ON.search(words)
    if status is None:
        return no_answer(faults.FAILED, service=service, method=method)
    paths = (text_attribute(cause, "url") for cause in nested(error))
    url = next((path for path in paths if path is not None), "/")
    # urllib3 repeats only what it was told may be repeated, so this was no write at risk.
    return answered(Answer(service=service, url=url, status=int(status[1]), method=method or "GET"))
