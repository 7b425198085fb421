"""Making a service's words fit to be quoted to a model: one line, masked, without what is internal or could command.

Quoted data is never instruction. An order hidden in the one useful sentence cannot be filtered out; the quotation
marks, the label and the bound are the defence against that. What can be taken out is: escapes, chat-template marks,
roles at the start of a line, links, markup, paths, hosts and secrets. Each step stands behind a test for a character
or a part that it needs, since most messages need none.
"""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final

from nucleo.errors.masking import mask
from nucleo.errors.text import alter_verdicts, clean_text

_SCAN: Final = 16_384
"""Characters of one text that are looked at; far more than is ever shown."""
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]{0,16}[ -/]{0,4}[@-~]|[@-Z\\-_])|\x9b[0-?]{0,16}[@-~]")
_TEMPLATE: Final = re.compile(r"<[|\uff5c]([^|\uff5c<>\n]{0,60})[|\uff5c]>|</?s>|<</?SYS>>")
_INST: Final = re.compile(r"\[/?INST\]", re.IGNORECASE)
_ROLE: Final = re.compile(
    r"(?:(?<=\n)|\A)([ \t#*]{0,8}+(?:human|assistant|user|system|developer|tool|instruction)s?+[ \t*]{0,4}+):",
    re.IGNORECASE,
)
_ROLES: Final = ("human", "assistant", "user", "system", "developer", "tool", "instruction", "#", "*")
_IMAGE: Final = re.compile(r"!?\[([^\[\]\n]{0,200}+)\]\([^()\n]{0,600}+\)")
_LINK: Final = re.compile(r"(?:https?|ftp|file|wss?)://[^\s\"'<>)\]]{1,2000}+", re.IGNORECASE)
_WWW: Final = re.compile(r"\bwww\.[^\s\"'<>)\]]{1,500}+", re.IGNORECASE)
_TAG: Final = re.compile(r"</?([a-zA-Z!?][\w:-]{0,60}+)([^<>]{0,400}+)>")
_COMMENT: Final = re.compile(
    r"<!--(?:[^-]|-(?!->)){0,4000}+(?:-->)?|<(script|style)\b[^>]{0,200}+>[^<]{0,8000}+(?:</\1>)?"
)
_ELEMENTS: Final = frozenset(
    (
        *("a", "abbr", "address", "area", "article", "aside", "b", "base", "blockquote", "body", "br"),
        *("button", "caption", "center", "cite", "code", "col", "dd", "del", "details", "div", "dl", "dt"),
        *("em", "embed", "fieldset", "figure", "font", "footer", "form", "frame", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "label"),
        *("legend", "li", "link", "main", "map", "mark", "meta", "nav", "noscript", "object", "ol", "option"),
        *("p", "param", "pre", "samp", "script", "section", "select", "small", "span", "strike", "strong"),
        *("style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot"),
        *("th", "thead", "title", "tr", "tt", "u", "ul", "var", "video", "xml", "tool_result", "tool_use"),
        *("function_results", "function_result", "function_calls", "invoke", "system", "assistant", "user"),
        *("human", "llm_message", "result", "instructions", "instruction", "prompt", "message", "thinking"),
    )
)
_COMBINING: Final = re.compile(
    r"([\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]{2})[\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]++"
)
# The roots of a file system; those that an address of a service may begin with as well need three parts or a file.
_PATH: Final = re.compile(
    r"(?<![\w/.:])(?:/(?:usr|var|etc|opt|srv|tmp|mnt|proc|private|nix|run|boot|Library|Applications)/[\w./@+-]{1,300}+"
    r"|/(?:home|root|app|go|lib|build|code|workspace|Users)(?:/[\w.@+-]{1,100}+){2,20}+"
    r"|/(?:home|root|app|go|lib|build|code|workspace|Users)/[\w@+-]{1,100}+\.[a-z]{1,5}\b"
    r"|[A-Za-z]:\\(?:Program Files(?: \(x86\))?)?[\w\\.$~()-]{1,300}+)"
)
_HOST: Final = re.compile(
    r"\b(?:[a-z0-9-]{1,63}\.){1,6}(?:internal|local|localdomain|svc|cluster|corp|lan|intranet)\b(?::\d{1,5})?"
    r"|\blocalhost:\d{1,5}",
    re.IGNORECASE,
)
_HOST_HINTS: Final = (".int", ".lo", ".svc", ".cl", ".co", ".lan", "localhost:")
_BETWEEN: Final = "\n\x1e\n"
"""Between texts that are masked in one go; nothing that was cleaned can contain it."""


def one_line(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Make a text one clean line, masked. Time is linear in what is looked at, which is bounded.

    Args:
        text: Any text of a service.
        secrets: What the caller itself sent to prove who it is.
    """
    return clean_lines([text], secrets=secrets)[0]


def clean_lines(texts: Sequence[str], *, secrets: Iterable[str] = ()) -> list[str]:
    """Make each text one clean line, masked; as `one_line`, with one pass of the masks over all of them."""
    cleaned = [_without_commands(text[:_SCAN]) if text else "" for text in texts]
    joined = _BETWEEN.join(cleaned)
    all_masked = mask(joined, secrets=secrets)
    masked = cleaned if all_masked == joined else all_masked.split(_BETWEEN)
    if len(masked) != len(cleaned):
        # A mask that reached from one text into the next, such as a private key without an end.
        masked = [mask(text, secrets=secrets) for text in cleaned]
    return [_without_places(text) if text else "" for text in masked]


def _without_commands(text: str) -> str:
    """Take out escapes, markup, chat-template marks and roles: what could be more than words."""
    if not (text.isascii() and text.isprintable()):
        text = clean_text(_ANSI.sub("", text) if "\x1b" in text or "\x9b" in text else text)
    if "<" in text or "&" in text:
        text = _without_markup(text)
    if "[" in text:
        text = _INST.sub(" ", text) if "INST]" in text.upper() else text
        text = _IMAGE.sub(r"\1", text) if "](" in text else text
    if ":" in text and ("\n" in text or text[:16].lstrip().lower().startswith(_ROLES)):
        text = _ROLE.sub(r"\1 -", text)
    return text


def _without_markup(text: str) -> str:
    if "&" in text:
        # Once only: what was escaped twice was meant to be read as it stands.
        text = clean_text(_ANSI.sub("", html.unescape(text)))
    if "<" not in text:
        return text
    text = _COMMENT.sub(" ", text) if "<!--" in text or "<s" in text else text
    text = _TEMPLATE.sub(r" \1 ", text)
    text = _TAG.sub(_plain_tag, text)
    return text.replace("<|", " ").replace("<\uff5c", " ")


def _plain_tag(found: re.Match[str]) -> str:
    name, rest = found[1], found[2]
    if name.lower() in _ELEMENTS or name[0] in "!?" or rest or found[0][1] == "/":
        return " "
    # `parameter <q>` and `List<String>` are words about a thing, not markup.
    return f"[{name}]"


def _without_places(text: str) -> str:
    """Take out links, paths and hosts of a service's inside, and make the text one line."""
    if "/" in text:
        text = _PATH.sub("[path]", _LINK.sub("[link]", text) if "://" in text else text)
    elif "\\" in text:
        text = _PATH.sub("[path]", text)
    if "." in text:
        text = _without_hosts(text)
    if not text.isascii():
        text = clean_text(_COMBINING.sub(r"\1", text))
    elif text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return alter_verdicts(text) if "[" in text else text
    # Last, since what was taken out may have stood between the parts of a verdict.
    return alter_verdicts(" ".join(text.split()))


def _without_hosts(text: str) -> str:
    lower = text.lower()
    if "www." in lower:
        text = _WWW.sub("[link]", text)
    for hint in _HOST_HINTS:
        if hint in lower:
            return _HOST.sub("[host]", text)
    return text
