"""Reading a response as people paste it: the output of ``curl -si``."""

import re
from dataclasses import dataclass

_STATUS_LINE = re.compile(rb"HTTP/[\d.]{1,8} (\d{3})(?: [^\r\n]*)?(?:\r?\n|\Z)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_HEAD_LIMIT = 256 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedResponse:
    """An HTTP response as it was pasted.

    Attributes:
        status: Its status.
        headers: Name and value, in order.
        body: The raw body.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def read_response(pasted: bytes) -> PastedResponse | None:
    """Read the output of ``curl -si``; None when it does not begin with a status line.

    Interim answers, a proxy's own answer and followed redirects come first; the last one is what was answered.
    """
    # What a terminal or a shell puts in front is no part of the answer.
    rest = pasted.removeprefix(_BYTE_ORDER_MARK).lstrip()
    found: PastedResponse | None = None
    while (line := _STATUS_LINE.match(rest)) is not None:
        # From the end of the status line itself, so that a head without a header has an end too.
        start = line.end() - (2 if line[0].endswith(b"\r\n") else 1)
        head_end = _HEAD_END.search(rest, start, start + _HEAD_LIMIT)
        head = rest[line.end() : head_end.start() if head_end else len(rest)]
        rest = rest[head_end.end() :] if head_end else b""
        found = PastedResponse(status=int(line[1]), headers=tuple(_headers(head)), body=rest)
    return found


def _headers(head: bytes) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line in head.decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            pairs.append((name.strip(), value.strip()))
    return pairs
