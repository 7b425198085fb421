"""Reading what people paste: the output of ``curl -si``, or a Python traceback."""

import re
from dataclasses import dataclass

_STATUS_LINE = re.compile(rb"HTTP/[\d.]+ (\d{3})(?: [^\r\n]*)?\r?\n")
_LAST_LINE = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::\s?(.*))?$", re.DOTALL)
_HEAD_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedResponse:
    """An HTTP response as it was pasted.

    Attributes:
        status: Its status.
        headers: Name and value, in order.
        body: The raw body.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PastedException:
    """The exception at the end of a traceback.

    Attributes:
        qualified_name: Its class, with the module as the traceback printed it.
        message: Its text.
    """

    qualified_name: str
    message: str


def read_response(pasted: bytes) -> PastedResponse | None:
    """Read the output of ``curl -si``; None when it does not begin with a status line.

    Interim answers, a proxy's own answer and followed redirects come first; the last one is what was answered.
    """
    rest = pasted.lstrip()
    found: PastedResponse | None = None
    while (match := _STATUS_LINE.match(rest)) is not None:
        head_end = re.search(rb"\r?\n\r?\n", rest[:_HEAD_LIMIT])
        head = rest[match.end() : head_end.start() if head_end else len(rest)]
        rest = rest[head_end.end() :] if head_end else b""
        found = PastedResponse(status=int(match[1]), headers=tuple(_headers(head)), body=rest)
    return found


def read_traceback(pasted: str) -> PastedException | None:
    """Read the exception a traceback ends with; None when there is no traceback and no line that names a class."""
    lines = pasted.rstrip().splitlines()
    start = next((i for i in range(len(lines) - 1, -1, -1) if _names_class(lines[i])), None)
    if start is None:
        return None
    match = _LAST_LINE.match("\n".join(lines[start:]))
    if match is None:
        return None
    return PastedException(qualified_name=match[1], message=(match[2] or "").strip())


def _names_class(line: str) -> bool:
    match = _LAST_LINE.match(line)
    if match is None:
        return False
    name = match[1].rpartition(".")[2]
    return "." in match[1] or name.endswith(("Error", "Exception", "Exit", "Interrupt", "Warning", "Group", "Timeout"))


def _headers(head: bytes) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line in head.decode("latin-1").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            pairs.append((name.strip(), value.strip()))
    return pairs
