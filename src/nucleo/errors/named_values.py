"""Masks the value of ``name=value``, ``"name": "value"``, ``name: value`` and ``<name>value`` by its name.

Apart from the other masks because these need judgement rather than a shape: which names hold secrets is asked of
`secret_names`, and how sure one must be of the value depends on how it was written. ``token=x`` is an assignment;
``token: x`` may as well be a sentence about a token.
"""

import re
from typing import Final

from nucleo.errors.secret_names import MASK, looks_random, secret_name

_ANCHOR: Final = re.compile(
    r"(?:key|token|secret|pass(?:word|wd|phrase|code)?|pwd|sig|session|sid|credential|cookie|auth|jwt|bearer"
    r"|x-(?:amz|goog)|connectionstring|stringtosign|canonicalrequest)[\w\-\]]{0,32}+",
    re.IGNORECASE,
)
_GAP: Final = re.compile(
    r"(\\{0,3}+[\"'`]?+)\s{0,3}+(=>|[:=>]|%3[dD])?+\s{0,4}+"
    r"(?:(?:provided|supplied|given|id|value|is|was|of)\b[\s:]{1,3}+)?+(\\{0,3}+[\"'`(]|)"
)
_BARE: Final = re.compile(r"[^\s\"'`&,;<>()\[\]{}\\]*+")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,3}+", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\r\n\"'<>]*+")
_WORD_OF_A_MESSAGE: Final = frozenset(
    {"null", "none", "nil", "true", "false", "required", "missing", "invalid", "expired", "empty", "blank", "undefined"}
    | {"string", "integer", "number", "boolean", "object", "array", "revoked", "unknown", "not", "redacted", "bearer"}
    | {"must", "is", "was", "cannot", "should", "basic", "filtered", "hidden", "masked", "denied", "optional"}
)
_QUERY_MARKS: Final = frozenset("?&")
_SHORT_NUMBER: Final = 6


def mask_named_values(text: str) -> str:
    """Mask what stands behind a name that means a secret, and leave the name."""
    pieces: list[str] = []
    done = 0
    for anchor in _ANCHOR.finditer(text):
        if anchor.start() < done:
            continue
        start, end = _secret_after(text, anchor.start(), anchor.end())
        if end > start:
            pieces += (text[done:start], MASK)
            done = end
    if not done:
        return text
    pieces.append(text[done:])
    return "".join(pieces)


def _secret_after(text: str, start: int, end: int) -> tuple[int, int]:
    gap = _GAP.match(text, end)
    if gap is None:
        return 0, 0
    begin = gap.end()
    if begin >= len(text):
        return 0, 0
    first = _name_start(text, start)
    name = text[first:end]
    strength = secret_name(name)
    if not strength:
        return 0, 0
    separator, quote = gap[2], gap[3]
    before = text[first - 1] if first else ""
    if separator == ">" and before != "<":
        return 0, 0
    if not quote and separator == ":" and name.lower().endswith("cookie"):
        line = _LINE.match(text, begin)
        return (begin, line.end()) if line and "=" in line[0] else (0, 0)
    scheme = _SCHEME.match(text, begin) if "uth" in name else None
    if scheme:
        begin = scheme.end()
    stop = _value_end(text, begin, quote, separator)
    value = text[begin:stop]
    # `secret: "x"` is an assignment as well; `secret: x` may be the beginning of a sentence.
    quoted = gap[1] != "" or (quote not in {"", "("} and " " not in value)
    assigned = separator is not None and (separator != ":" or quoted)
    if scheme is not None and separator and value:
        return (begin, stop) if value.lower() not in _WORD_OF_A_MESSAGE else (0, 0)
    if _is_secret(value, strength, assigned=assigned, queried=before in _QUERY_MARKS, name=name):
        return begin, stop
    return 0, 0


def _name_start(text: str, start: int) -> int:
    first = max(0, start - 48)
    while start > first and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    return start


def _value_end(text: str, begin: int, quote: str, separator: str | None) -> int:
    if quote and quote != "(":
        # An escaped quote inside a value does not end it.
        end = text.find(quote, begin)
        while end > 0 and len(quote) == 1 and text[end - 1] == "\\" and separator:
            end = text.find(quote, end + 1)
        if end >= 0:
            return end
    if separator == ">":
        end = text.find("<", begin)
        return len(text) if end < 0 else end
    bare = _BARE.match(text, begin)
    end = bare.end() if bare else begin
    while end > begin and text[end - 1] in ".:!?":
        end -= 1
    return end


def _is_secret(value: str, strength: str, *, assigned: bool, queried: bool, name: str) -> bool:
    if not value or value.lower() in _WORD_OF_A_MESSAGE or MASK[:-1] in value:
        return False
    if "***" in value or "..." in value:
        return " " not in value
    if not assigned:
        if looks_random(value):
            return True
        return strength == "strong" and len(value) > 4 and " " not in value and _has_odd_character(value)  # noqa: PLR2004
    if strength == "strong":
        return True
    if value.isdigit() and len(value) <= _SHORT_NUMBER:
        return False
    if name.lower().endswith(("key", "auth", "session")):
        return queried or looks_random(value)
    return " " not in value


def _has_odd_character(value: str) -> bool:
    return any(char.isdigit() or char in "!@#$%^&*+=~" for char in value)
