"""From an exception of another library to a member of the set.

Apart from the tables because it only finds the right one; what a library's exceptions mean is the table's matter.
"""

from importlib import import_module
from typing import Final, cast

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate.registry import Translation, ask, qualified_name, registered_translation

_BY_PACKAGE: Final = {
    "aiohttp": "aiohttp",
    "anthropic": "anthropic",
    "httpcore": "httpx",
    "httpcore2": "httpx",
    "httpx": "httpx",
    "httpx2": "httpx",
    "openai": "openai",
    "requests": "requests",
    "sqlite3": "sqlite",
    "urllib3": "urllib3",
}
"""The table of a library, by the top-level package that its classes say they are of."""

_BY_CLASS: Final = {
    "builtins.ConnectionError": "builtin",
    "builtins.OSError": "builtin",
    "builtins.TimeoutError": "builtin",
    "http.client.HTTPException": "http_client",
    "http.client.RemoteDisconnected": "http_client",
    "json.decoder.JSONDecodeError": "unreadable",
    "pydantic.v1.error_wrappers.ValidationError": "unreadable",
    "pydantic_core._pydantic_core.ValidationError": "unreadable",
    "socket.gaierror": "builtin",
    "ssl.SSLError": "builtin",
    "urllib.error.URLError": "urllib_error",
}
"""The table of single classes, by their qualified names."""


def translate(error: BaseException, *, service: str | None = None) -> LLMReadableException | None:
    """Say what an exception of another library means.

    Nothing of the library is imported and nothing is read from a network: the class is known by its names, and only
    what the exception already holds is looked at. Only the exception itself is judged, not its chain.

    Args:
        error: Whatever was raised.
        service: The service that was called, as a person would call it. Without it a service failure names the host
            of the request, else the library; an IP address is never named. Exceptions that say nothing of a service
            by themselves, such as `TimeoutError`, `ConnectionError`, ``JSONDecodeError`` and
            ``pydantic.ValidationError``, mean something only when a service is named.

    Returns:
        The failure, with the answer as its ``http`` when one came; None when the exception is not known, when it is a
        control signal, a group, or a failure of the set already, and when it is a defect of the calling code (a
        stream read twice, a missing file). A write is said to have an unknown outcome when its request had begun to be
        sent and no answer came. Where an exception does not tell the method, it counts as a write: one look too many
        costs less than one order too many. The cause is not set.
    """
    if not isinstance(error, Exception) or isinstance(error, LLMReadableException | BaseExceptionGroup):
        return None
    return registered_translation(error, service) or _built_in(error, service)


def _built_in(error: Exception, service: str | None) -> LLMReadableException | None:
    asked: set[str] = set()
    for kind in type(error).__mro__:
        name = qualified_name(kind)
        table = _BY_CLASS.get(name) or _BY_PACKAGE.get(name.partition(".")[0])
        if table is None or table in asked:
            continue
        asked.add(table)
        failure = ask(_table(table), error, service, name)
        if failure is not None:
            return failure
    return None


def _table(name: str) -> Translation:
    # A table loads with the first exception of its library; after that, import_module is a look-up.
    module = import_module(f"nucleo.errors.translate.tables.{name}")
    return cast("Translation", module.translation)
