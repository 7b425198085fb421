"""The ways in which no answer comes, in words, and whether a write may have happened all the same.

Apart from the tables so that a refused connection reads the same, whichever library met it.
"""

import errno
from dataclasses import dataclass
from typing import Final

from nucleo.errors.services import ExternalServiceException
from nucleo.errors.translate.foreign import is_kind, nested

IDEMPOTENT_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods that may be repeated without harm (RFC 9110, 9.2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One way in which no answer comes.

    Attributes:
        words: What the model reads after "<service> could not complete the call: ".
        sent: The request had begun to be sent, or nothing says that it had not.
    """

    words: str
    sent: bool


NAME = Fault(words="it could not be reached: its name could not be looked up", sent=False)
REFUSED = Fault(words="it could not be reached: the connection was refused", sent=False)
UNREACHABLE = Fault(words="it could not be reached: no connection could be made", sent=False)
SLOW_TO_CONNECT = Fault(words="it could not be reached: no connection within the time limit", sent=False)
CERTIFICATE = Fault(words="it could not be reached safely: its TLS certificate is not trusted", sent=False)
TLS = Fault(words="it could not be reached: no secure connection could be made", sent=False)
PROXY = Fault(words="it could not be reached through the proxy in between", sent=False)
POOL = Fault(words="the request was not sent: no connection became free within the time limit", sent=False)
UNSENDABLE = Fault(
    words="the request was not sent: its address, its headers or its body cannot be sent as they are",
    sent=False,
)
SENDING = Fault(words="the connection broke while the request was being sent", sent=True)
SLOW_TO_SEND = Fault(words="it did not take the request within the time limit", sent=True)
SILENT = Fault(words="no answer within the time limit", sent=True)
BROKEN = Fault(words="the connection broke before the answer was complete", sent=True)
FAILED = Fault(words="the connection failed", sent=True)
GARBLED = Fault(words="what came back is not a valid HTTP answer", sent=True)
# An answer did come in these: what became of the call is no more unknown than after any other answer.
UNREADABLE = Fault(words="it sent an unreadable answer", sent=False)
REDIRECTS = Fault(words="it redirected the request too many times", sent=False)
ASTRAY = Fault(words="it redirected the request to an address that cannot be called", sent=False)

_UNREACHABLE_ERRNOS: Final = frozenset(
    {
        errno.EADDRNOTAVAIL,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENETUNREACH,
    }
)
_BROKEN_ERRNOS: Final = frozenset({errno.ENETRESET, errno.ENOTCONN, errno.ESHUTDOWN})


def no_answer(fault: Fault, *, service: str, method: str | None, writes: bool = True) -> ExternalServiceException:
    """Make the failure of a call that got no answer.

    Args:
        fault: What happened.
        service: The service, the host or the library that is named.
        method: The method of the request; None counts as one that must not be repeated.
        writes: Whether a call of this kind changes anything at all; a call of a model does not.
    """
    repeatable = method is not None and method.upper() in IDEMPOTENT_METHODS
    return ExternalServiceException(service, fault.words, fault.sent and writes and not repeatable)


def system_fault(error: BaseException) -> Fault | None:
    """Say which network fault an exception of Python itself is; None for one that is none, like a missing file."""
    if is_kind(error, "socket.gaierror", "socket.herror"):
        return NAME
    if is_kind(error, "ssl.SSLCertVerificationError"):
        return CERTIFICATE
    if is_kind(error, "ssl.SSLEOFError", "ssl.SSLZeroReturnError"):
        return BROKEN
    if is_kind(error, "ssl.SSLError"):
        return TLS
    return _connection_fault(error)


def connect_fault(error: BaseException) -> Fault:
    """Say why no connection came about, by what the exception was made from; nothing had been sent."""
    for cause in nested(error):
        fault = system_fault(cause)
        if fault is SILENT:
            return SLOW_TO_CONNECT
        if fault is BROKEN:
            return TLS if is_kind(cause, "ssl.SSLError") else UNREACHABLE
        if fault is not None:
            return fault
    return UNREACHABLE


def _connection_fault(error: BaseException) -> Fault | None:
    if isinstance(error, ConnectionRefusedError):
        return REFUSED
    if isinstance(error, ConnectionError):
        return BROKEN
    if isinstance(error, TimeoutError):
        return SILENT
    code = error.errno if isinstance(error, OSError) else None
    if code in _UNREACHABLE_ERRNOS:
        return UNREACHABLE
    return BROKEN if code in _BROKEN_ERRNOS else None
