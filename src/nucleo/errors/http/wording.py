"""Making a service's words fit to be quoted to a model: one line, masked, without what is internal or could command.

Quoted data is never instruction. An order hidden in the one useful sentence cannot be filtered out; the quotation
marks, the label and the bound are the defence against that. What can be taken out is: escapes, chat-template marks,
roles at the start of a line, links, markup, stacks, paths, hosts and secrets.
"""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final

from nucleo.errors.masking import mask
from nucleo.errors.text import clean_text

_SCAN: Final = 16_384
"""Characters of one text that are looked at; far more than is ever shown."""
_ANSI: Final = re.compile(
    r"\x1b(?:\[[0-?]{0,16}[ -/]{0,4}[@-~]|[@-Z\\-_])|\x9b[0-?]{0,16}[@-~]|(?<![\w])\[\d{1,3}(?:;\d{1,3}){0,4}[mJKH]"
)
_TEMPLATE: Final = re.compile(r"<\|([^|<>\n]{0,60})\|>|\[/?INST\]|<</?SYS>>|</?s>")
_OWN_TAG: Final = re.compile(
    r"</?(?:tool_result|function_results?|system|assistant|user|llm_message|result|instructions?)[^<>\n]{0,80}>",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(r"(?m)(^|\n)[ \t]*(human|assistant|user|system|developer|tool)[ \t]*:", re.IGNORECASE)
_IMAGE: Final = re.compile(r"!?\[([^\[\]\n]{0,200})\]\(([^()\n]{0,600})\)")
_LINK: Final = re.compile(r"\b(?:https?|ftp|file)://[^\s\"'<>)\]]{1,2000}", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z!][^<>]{0,400}>")
_COMMENT: Final = re.compile(r"<!--[^>]{0,4000}-->|<(script|style)\b[^>]{0,200}>[^<]{0,8000}(?:</\1>)?", re.IGNORECASE)
_COMBINING: Final = re.compile(
    r"([\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]{2})[\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]{1,400}"
)
_PATH: Final = re.compile(
    r"(?<![\w/.:])(?:/(?:usr|var|home|etc|opt|srv|app|go|root|tmp|mnt|proc|lib|build|workspace|Users)/[\w./@+-]{1,300}"
    r"|[A-Za-z]:\\[\w\\. -]{1,300})"
)
_HOST: Final = re.compile(
    r"\b(?:[a-z0-9-]{1,63}\.){1,6}(?:internal|local|localdomain|svc|cluster|corp|lan|intranet)\b(?::\d{1,5})?",
    re.IGNORECASE,
)
_TRACE: Final = re.compile(
    r"traceback \(most recent call last\)|^\s{0,8}at [\w.$<>]{1,200}\(|\.java:\d|\bgoroutine \d|^panic:|stack trace:|\b#\d+ /"
    r"|\bfile \"[^\"]{1,300}\", line \d|\.(?:py|rb|php|go|cs|js|ts):\d+|\bin /[\w/.-]{1,200} on line|exception in thread"
    r"|\bat \S{1,120} in \S{1,200}:line \d|system\.\w{1,60}exception",
    re.IGNORECASE | re.MULTILINE,
)
_SQL: Final = re.compile(
    r"\bsqlstate\b|\bselect\s.{1,300}\sfrom\s|\binsert\s+into\s|\bupdate\s\S{1,80}\sset\s|\bdelete\s+from\s|ora-\d{5}"
    r"|\bpsycopg|\bmysqli?_|\bsqlalchemy\b|duplicate key value violates",
    re.IGNORECASE,
)


_INTERNAL_HINTS: Final = (
    *("trace", "goroutine", "panic:", "exception", "line", " at ", ".java:", ".py:", ".rb:", ".php", ".go:", ".cs:"),
    *(".js:", ".ts:", "#0", "#1", "sql", "select", "insert", "update", "delete", "ora-", "psycopg", "duplicate key"),
)
_HOST_HINTS: Final = (".int", ".lo", ".svc", ".cl", ".co", ".lan")
_ROLES: Final = ("human", "assistant", "user", "system", "developer", "tool")
_MARKS: Final = re.compile(r"[<\[|\\/&@!]")
_BETWEEN: Final = "\n\x1e\n"
"""Between texts that are masked in one go; nothing that was cleaned can contain it."""


def is_internal(text: str) -> bool:
    """Tell whether a text is of a service's inside: a stack, a query."""
    part = text[:_SCAN]
    lower = part.lower()
    for hint in _INTERNAL_HINTS:
        if hint in lower:
            return bool(_TRACE.search(part) or _SQL.search(part))
    return False


def one_line(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Make a text one clean line, masked. Time is linear in what is looked at, which is bounded.

    Args:
        text: Any text of a service.
        secrets: What the caller itself sent to prove who it is.
    """
    return clean_lines([text], secrets=secrets)[0]


def clean_lines(texts: Sequence[str], *, secrets: Iterable[str] = ()) -> list[str]:
    """Make each text one clean line, masked; as `one_line`, with one pass of the masks over all of them."""
    cleaned = [_without_commands(text[:_SCAN]) for text in texts]
    masked = mask(_BETWEEN.join(cleaned), secrets=secrets).split(_BETWEEN)
    if len(masked) != len(cleaned):
        # A mask that reached from one text into the next, such as a private key without an end.
        masked = [mask(text, secrets=secrets) for text in cleaned]
    return [_without_places(text) for text in masked]


def _without_commands(text: str) -> str:
    """Take out escapes, markup, chat-template marks and roles: what could be more than words."""
    if text.isascii() and text.isprintable() and not _MARKS.search(text):
        starts_with_role = ":" in text and text[:16].lstrip().lower().startswith(_ROLES)
        return _ROLE.sub(r"\1\2 -", text) if starts_with_role else text
    text = clean_text(_ANSI.sub("", text))
    if "<" in text or "&" in text:
        text = _COMMENT.sub(" ", text)
        text = _TEMPLATE.sub(r" \1 ", text)
        text = _OWN_TAG.sub(" ", text)
        text = _TAG.sub(" ", text)
        text = html.unescape(text) if "&" in text else text
        text = _TEMPLATE.sub(r" \1 ", _TAG.sub(" ", text)) if "<" in text else text
    elif "[" in text:
        text = _TEMPLATE.sub(" ", text)
    text = _ROLE.sub(r"\1\2 -", text)
    if "](" in text:
        text = _IMAGE.sub(r"\1", text)
    return text


def _without_places(text: str) -> str:
    """Take out links, paths and hosts of a service's inside, and make the text one line."""
    if "://" in text:
        text = _LINK.sub("[link]", text)
    if "/" in text or "\\" in text:
        text = _PATH.sub("[path]", text)
    if "." in text:
        lower = text.lower()
        for hint in _HOST_HINTS:
            if hint in lower:
                text = _HOST.sub("[host]", text)
                break
    if not text.isascii():
        text = clean_text(_COMBINING.sub(r"\1", text))
    return " ".join(text.split())
