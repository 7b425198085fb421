"""What a failing service is told to answer, and what it says of what it was asked.

Apart from the server because these are values: a test names, keeps and compares them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs

Fault: TypeAlias = Literal[
    "reset",
    "reset_early",
    "reset_in_body",
    "close",
    "truncated",
    "bad_chunk",
    "hang",
    "hang_in_body",
]
"""What goes wrong instead of, or after, the answer:

* ``reset``: the whole request is read, then a TCP reset, no byte of an answer.
* ``reset_early``: a TCP reset as soon as the head was read, the body of the request unread.
* ``reset_in_body``: head and body go out, less than announced, then a TCP reset.
* ``close``: the whole request is read, then a clean close, no byte of an answer.
* ``truncated``: as ``reset_in_body``, with a clean close.
* ``bad_chunk``: a chunked body, then a chunk whose size is no number.
* ``hang``: the request is read and nothing comes until the service is closed.
* ``hang_in_body``: as ``reset_in_body``, and then nothing comes until the service is closed.
"""

MISSING_BYTES = 1_000
"""By how much the announced length is larger than what is sent, under the faults in a body."""

_WITHOUT_BODY = frozenset({204, 304})
_INFORMATIONAL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came over the wire.

    Attributes:
        method: In capitals.
        path: As sent, still percent-encoded, without the query.
        query: As sent, without the question mark; empty when there was none.
        headers: By lower-case name; repeats are joined with a comma.
        body: Decoded from chunks when it came in chunks.
        connection: Which connection it came over, counted from 1.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    connection: int = 1

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The query, decoded."""
        return parse_qs(self.query, keep_blank_values=True)

    def json(self) -> Any:
        """The body, read as JSON.

        Raises:
            ValueError: When it is not JSON.
        """
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, or one way of not answering.

    Attributes:
        status: The HTTP status code.
        headers: Sent as they are; pairs when a name is repeated. ``Content-Type`` and the length
            are added unless named here.
        body: Bytes as they are; text as UTF-8; a mapping or a list as JSON; a tuple of bytes as
            the chunks of a chunked answer.
        fault: What goes wrong, see `Fault`.
        delay: Seconds before the first byte.
        pace: Seconds between the chunks of a body that is a tuple: an answer in drops.
        chunked: Send the body in chunks, without a length.
        raw: These very bytes instead of all of the above; then the connection is closed.
    """

    status: int = 200
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = field(default_factory=dict[str, str])
    body: bytes | str | Mapping[str, Any] | list[Any] | tuple[bytes, ...] = b""
    fault: Fault | None = None
    delay: float = 0.0
    pace: float = 0.0
    chunked: bool = False
    raw: bytes | None = None

    def head(self) -> bytes:
        """The status line and the headers, with the empty line after them."""
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}"]
        lines += [f"{name}: {value}" for name, value in self._pairs()]
        return b"".join(_encode(line) + b"\r\n" for line in lines) + b"\r\n"

    def payload(self) -> bytes:
        """The body as it goes over the wire, as far as it is sent."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes]:
        """The payload in the pieces that `pace` parts."""
        chunks = self._chunks()
        if not self._is_chunked:
            return list(chunks)
        sent = [b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks if chunk]
        if self.fault == "bad_chunk":
            return [*sent, b"zz\r\n"]
        return sent if self.fault is not None else [*sent, b"0\r\n\r\n"]

    @property
    def has_body(self) -> bool:
        """Whether HTTP allows a body under this status."""
        return self.status >= _INFORMATIONAL and self.status not in _WITHOUT_BODY

    @property
    def _is_chunked(self) -> bool:
        return self.chunked or self.fault == "bad_chunk" or isinstance(self.body, tuple)

    def _chunks(self) -> tuple[bytes, ...]:
        match self.body:
            case tuple():
                return self.body
            case bytes():
                return (self.body,)
            case str():
                return (self.body.encode(),)
            case _:
                return (json.dumps(self.body).encode(),)

    def _pairs(self) -> list[tuple[str, str]]:
        given = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        pairs = list(given)
        names = {name.lower() for name, _ in pairs}
        if "content-type" not in names and not isinstance(self.body, bytes | tuple):
            kind = "text/plain; charset=utf-8" if isinstance(self.body, str) else "application/json"
            pairs.append(("Content-Type", kind))
        if self._is_chunked:
            pairs.append(("Transfer-Encoding", "chunked"))
        elif self.has_body and "content-length" not in names:
            missing = 0 if self.fault is None else MISSING_BYTES
            pairs.append(("Content-Length", str(len(self.payload()) + missing)))
        return pairs


Planned: TypeAlias = Answer | Callable[[Received], Answer]
"""An answer, or a function that makes one from the request."""


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unheard Of"


def _encode(line: str) -> bytes:
    # Old servers send Latin-1 and new ones UTF-8; what Latin-1 can hold goes out as Latin-1.
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode()
