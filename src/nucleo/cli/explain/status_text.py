"""The answer that a client library writes into the text of its exception, as it stands in a traceback.

Apart from the stand-ins because what is made here is no exception: an answer has a meaning of its own, by its status.
The patterns are the ``__str__`` of each library's exception of a bad status, as its current release writes it.
"""

import ast
import json
import re
from dataclasses import dataclass
from typing import Final

from nucleo.cli.explain.pasted_response import PastedResponse
from nucleo.cli.explain.pasted_traceback import PastedException

_SDK: Final = re.compile(r"Error code: (?P<status>\d{3})(?: - (?P<body>.*))?", re.DOTALL)
_HTTPX: Final = re.compile(r"[A-Z][a-z]+ (?:error|response) '(?P<status>\d{3})[^']*' for url '(?P<url>[^']*)'")
_REQUESTS: Final = re.compile(r"(?P<status>\d{3}) (?:Client|Server) Error: .*? for url: (?P<url>\S+)")
_URLLIB: Final = re.compile(r"HTTP Error (?P<status>\d{3}): ")
_AIOHTTP: Final = re.compile(r"(?P<status>\d{3}), message=[^\n]*?(?:url='(?P<url>[^']*)'|$)")

_PATTERNS: Final = {
    "aiohttp": _AIOHTTP,
    "anthropic": _SDK,
    "httpx": _HTTPX,
    "httpx2": _HTTPX,
    "openai": _SDK,
    "requests": _REQUESTS,
    "urllib": _URLLIB,
}
_BODY_LIMIT: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAnswer:
    """An answer of which a traceback tells.

    Attributes:
        response: What is known of it. Its headers are not.
        library: The top-level package whose exception told of it.
        class_name: The exception.
        url: What was asked; empty when the text does not tell.
        is_model_call: Whether the library calls nothing but models.
    """

    response: PastedResponse
    library: str
    class_name: str
    url: str = ""
    is_model_call: bool = False


def stated_answer(pasted: PastedException) -> StatedAnswer | None:
    """Find the answer that an exception, or one behind it, tells of in its text; the outermost counts."""
    current: PastedException | None = pasted
    while current is not None:
        library = current.qualified_name.partition(".")[0]
        pattern = _PATTERNS.get(library)
        match = None if pattern is None else pattern.match(current.message)
        if match is not None:
            told = match.groupdict()
            return StatedAnswer(
                response=PastedResponse(status=int(match["status"]), body=_body(told.get("body") or "")),
                library=library,
                class_name=current.qualified_name,
                url=told.get("url") or "",
                is_model_call=pattern is _SDK,
            )
        current = current.behind
    return None


def _body(written: str) -> bytes:
    """Give the body as it came: the SDKs print the object they read, the way Python writes one."""
    if len(written) <= _BODY_LIMIT:
        try:
            return json.dumps(ast.literal_eval(written)).encode()
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return written.encode("utf-8", "replace")
