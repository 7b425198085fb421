"""Making an exception that stands for a pasted one: of its own class where that is at hand, else of its name.

Nothing is imported for it: a pasted text must not decide what code runs here. The translations know a foreign
exception by the name of its class, so a stand-in of that name is translated like the real one.
"""

import ast
import re
import socket
import ssl
import sys
from collections.abc import Sequence
from typing import Final, cast

from nucleo.cli.explain.pasted_traceback import PastedException
from nucleo.errors import HttpErrorDetail, LLMReadableException
from nucleo.errors.retry import RetrySignal
from nucleo.errors.root import known_type, rebuild

# The classes that no translation knows by their own names, each with the one of its parents that it knows.
_KNOWN_PARENTS: Final = {
    "aiohttp.client_exceptions.ClientOSError": "ClientConnectionError",
    "aiohttp.client_exceptions.ServerConnectionError": "ClientConnectionError",
    "aiohttp.client_exceptions.ServerDisconnectedError": "ClientConnectionError",
    "aiohttp.client_exceptions.SocketTimeoutError": "ServerTimeoutError",
    "aiohttp.client_exceptions.UnixClientConnectorError": "ClientConnectorError",
}
_ERRNO: Final = re.compile(r"\[Errno (-?\d{1,5})\] (.*)", re.DOTALL)
_ERRNO_INSIDE: Final = re.compile(r"\[Errno (-?\d{1,5})\] ([^'\")>]*)")
_CAUSED_BY: Final = re.compile(r"\(Caused by (\w+)\(")
_URLOPEN: Final = "<urlopen error "
_STATUS_CLASS: Final = re.compile(r"Http(\d{3})Exception")


class StandIns:
    """Makes the stand-ins of one traceback, and knows which of them are of the set or a signal of the dispatcher.

    Attributes:
        bare: The members and signals among them by identity, each with what was pasted: their fields are not in a
            traceback, so of these nothing but the class is known.
    """

    def __init__(self) -> None:
        self.bare: dict[int, PastedException] = {}

    def make(self, pasted: PastedException) -> BaseException:
        """Make the exception with everything behind it."""
        chain = [pasted]
        while chain[-1].behind is not None:
            chain.append(chain[-1].behind)
        behind: BaseException | None = None
        for each in reversed(chain):
            error = self._one(each)
            if behind is not None:
                error.__context__ = behind
                if each.is_cause:
                    error.__cause__ = behind
            if id(error) not in self.bare:
                # Network libraries keep what went wrong beneath as an attribute; their translations look for it there.
                _set(error, "reason", behind or _reason_in(each.message))
            behind = error
        return cast("BaseException", behind)

    def _one(self, pasted: PastedException) -> BaseException:
        ours = _bare(pasted)
        if ours is not None:
            self.bare[id(ours)] = pasted
            return ours
        if pasted.members:
            return BaseExceptionGroup(pasted.message, [self.make(member) for member in pasted.members])
        kind = _loaded_class(pasted.qualified_name)
        error = None if kind is None else instance(kind, pasted.message)
        if error is None or isinstance(error, BaseExceptionGroup):
            error = named(pasted.qualified_name, pasted.message)
        return error


def instance(kind: type[BaseException], message: str) -> BaseException | None:
    """Make an exception of a class from its text alone; None where the class wants more."""
    code = _ERRNO.fullmatch(message)
    if code is not None and issubclass(kind, OSError):
        arguments: Sequence[object] = (int(code[1]), code[2])
    elif kind is KeyError:
        # It prints its key as it is written in code.
        arguments = (_literal(message),)
    else:
        arguments = (message,) if message else ()
    try:
        return kind(*arguments)
    except Exception:  # noqa: BLE001 - a class that wants more than a message may raise anything
        return None


def named(qualified_name: str, message: str) -> Exception:
    """Make an exception of a class made for it, which has the name of another and nothing else of it."""
    module, _, name = qualified_name.rpartition(".")
    names = [parent for parent in (_KNOWN_PARENTS.get(qualified_name), name) if parent is not None]
    kind: type[Exception] = Exception
    for each in names:
        kind = cast("type[Exception]", type(each, (kind,), {"__module__": module or "builtins"}))
    return kind(message) if message else kind()


def _bare(pasted: PastedException) -> LLMReadableException | RetrySignal | None:
    module, _, name = pasted.qualified_name.rpartition(".")
    if module.partition(".")[0] != "nucleo":
        return None
    known = known_type(name)
    if known is not None:
        return rebuild(known, {"http": _answer_of(name)}, ())
    signal = _loaded_class(pasted.qualified_name)
    return rebuild(signal, {}, ()) if signal is not None and issubclass(signal, RetrySignal) else None


def _answer_of(name: str) -> HttpErrorDetail | None:
    status = _STATUS_CLASS.fullmatch(name)
    return None if status is None else HttpErrorDetail(int(status[1]), "the service", "/")


def _loaded_class(qualified_name: str) -> type[BaseException] | None:
    module_name, _, name = qualified_name.rpartition(".")
    module = sys.modules.get(module_name or "builtins")
    # The module's dict, not getattr: a lazy module would import something.
    found: object = None if module is None else vars(module).get(name)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _reason_in(message: str) -> BaseException | None:
    """Read what a network library says in brackets about the exception beneath its own."""
    code = _ERRNO_INSIDE.search(message)
    beneath = None if code is None else _system_error(int(code[1]), code[2])
    if beneath is None and message.startswith(_URLOPEN):
        if "[SSL" in message:
            return ssl.SSLCertVerificationError(message) if "CERTIFICATE" in message else ssl.SSLError(message)
        return TimeoutError(message) if "timed out" in message else None
    caused = _CAUSED_BY.search(message)
    if caused is None:
        return beneath
    error = named(f"urllib3.exceptions.{caused[1]}", message)
    _set(error, "reason", beneath)
    return error


def _system_error(code: int, words: str) -> OSError:
    # Looking up a name has error codes of its own, below zero.
    return socket.gaierror(code, words) if code < 0 else OSError(code, words)


def _literal(text: str) -> object:
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, str | int | float | bytes) else text


def _set(error: BaseException, name: str, value: object) -> None:
    try:
        setattr(error, name, value)
    except (AttributeError, TypeError):
        # A class with slots, or a property without a setter, goes without.
        return
