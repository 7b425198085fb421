"""What of a web page may be told: its title, its first heading and its first sentence, as text.

Apart from the rest because a page is made to be seen, and what is not seen (comments, scripts, attributes, hidden
parts) is where orders to a reader are put. The page is walked with `str.find`; no parser, no entities, no network.
"""

import re
from typing import Final

_SCAN: Final = 32_768
_UNSEEN: Final = (("<!--", "-->"), ("<script", "</script"), ("<style", "</style"), ("<template", "</template"))
_HIDDEN: Final = re.compile(
    r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|opacity\s{0,3}:\s{0,3}0|font-size\s{0,3}:\s{0,3}0"
    r"|aria-hidden|\bhidden\b|\bsr-only|left\s{0,3}:\s{0,3}-\d{3}|color\s{0,3}:\s{0,3}(?:white|#fff|transparent)"
)
_TAG: Final = re.compile(r"<[a-z][^<>]{0,2000}+>")
_LINES: Final = (("title", 300), ("h1", 300), ("h2", 300), ("p", 600))
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)")


def lines_of(text: str) -> list[str]:
    """Give the title, the first heading and the first sentence of a page, raw, those that can be seen."""
    seen = _seen(text[:_SCAN])
    lower = seen.lower()
    hidden = _first_hidden(lower)
    found: list[str] = []
    for name, limit in _LINES:
        if name == "h2" and len(found) > 1:
            continue
        line = _element(seen, lower, name, limit, len(seen) if name == "title" else hidden)
        if line:
            found.append(_first_sentence(line) if name == "p" else line)
    return found


def _seen(text: str) -> str:
    lower = text.lower()
    for start_mark, end_mark in _UNSEEN:
        if start_mark not in lower:
            continue
        pieces: list[str] = []
        done = 0
        while (start := lower.find(start_mark, done)) >= 0:
            pieces.append(text[done:start])
            end = lower.find(end_mark, start + len(start_mark))
            done = len(text) if end < 0 else end + len(end_mark)
        pieces.append(text[done:])
        text = " ".join(pieces)
        lower = text.lower()
    return text


def _first_hidden(lower: str) -> int:
    """Find the first element that is there and not seen; nothing behind it is told, wherever it ends."""
    for tag in _TAG.finditer(lower):
        if _HIDDEN.search(tag[0]):
            return tag.start()
    return len(lower)


def _element(text: str, lower: str, name: str, limit: int, until: int) -> str:
    start = lower.find(f"<{name}")
    while start >= 0 and lower[start + 1 + len(name) : start + 2 + len(name)] not in {">", " ", "\n", "\t", "\r"}:
        start = lower.find(f"<{name}", start + 1)
    if start < 0 or start >= until:
        return ""
    begin = lower.find(">", start) + 1
    if not begin:
        return ""
    end = lower.find(f"</{name}", begin, begin + 2 * limit)
    end = begin + limit if end < 0 else min(end, begin + limit)
    return text[begin : min(end, until)].strip()


def _first_sentence(text: str) -> str:
    end = _SENTENCE_END.search(text)
    return text if end is None else text[: end.end()]
