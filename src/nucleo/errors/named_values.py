"""Masks the value of ``name=value``, ``"name": "value"``, ``name: value``, ``<name>value`` and ``the name value``.

Apart from the other masks because these need judgement rather than a shape: which names hold secrets is asked of
`secret_names`, and how sure one must be of the value depends on how it was written. ``token=x`` is an assignment;
``token: x`` may as well be the beginning of a sentence about a token. The text is searched for what stands between a
name and a value, which is rare and found fast, and only the words around it are looked at; every look is bounded.
"""

import re
from typing import Final

from nucleo.errors.secret_names import FEW_DIGITS, MASK, looks_random, masked_at, secret_name

_NAME_ENDS: Final = (
    *("key", "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "pass", "signature", "sig"),
    *("session", "sessionid", "session_id", "session-id", "sid", "credential", "credentials", "cookie", "cookies"),
    *("auth", "authorization", "authentication", "jwt", "bearer", "csrf", "xsrf", "connectionstring", "securestring"),
    *("connection_string", "stringtosign", "canonicalrequest", "session_token", "keyid", "key_id"),
)
_NAME_TAILS: Final = frozenset(end[-3:] for end in _NAME_ENDS)
_LAST_LETTERS: Final = frozenset(end[-2:] for end in _NAME_ENDS)
_AROUND_NAMES: Final = " \t\"'`\\[]-_0123456789"
_LONGEST_NAME: Final = 48
_LONGEST_VALUE: Final = 4_096
_OPENING: Final = re.compile(r"(>?)\s{0,4}+(\\{0,3}+[\"'`]|)")
_BARE: Final = re.compile(r"[^\s\"'`&,;<>()\[\]{}\\]{0,256}+")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,3}+", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\r\n\"'<>]{0,4096}+")
_WORD_OF_A_MESSAGE: Final = frozenset(
    {"null", "none", "nil", "true", "false", "required", "missing", "invalid", "expired", "empty", "blank", "undefined"}
    | {"string", "integer", "number", "boolean", "object", "array", "revoked", "unknown", "not", "redacted", "bearer"}
    | {"must", "is", "was", "cannot", "should", "basic", "filtered", "hidden", "masked", "denied", "optional"}
)
_SHORT_NUMBER: Final = 6
_SHORTEST_PASSWORD: Final = 4

_SPOKEN: Final = ("key", "token", "secret", "password", "signature", "session", "credential")
_SPOKEN_VALUE: Final = re.compile(
    r"(?:key|token|secret|password|signature|session|credential)(s?+(?:[ _-]id)?+)"
    r"(?:\s{1,3}+(?:provided|supplied|given|value|is|was|of))?+[\s:]{1,3}+[\"'`(]?+([\w+/=~.*-]{8,512}+)",
    re.IGNORECASE,
)


def mask_named_values(text: str, lower: str, *, digits: int) -> str:
    """Mask what stands behind a name that means a secret, and leave the name.

    Args:
        text: The text.
        lower: The text in lower case, of the same length.
        digits: How many digits it has; with fewer than three, no value in running speech looks like a secret.
    """
    spans = _assigned(text, lower)
    if digits >= FEW_DIGITS:
        spans += _spoken(text, lower)
    return masked_at(text, spans) if spans else text


def _assigned(text: str, lower: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    signed = "x-amz-" in lower or "x-goog-" in lower
    for separator in ("=", ":", ">", "%3d"):
        done = 0
        at = lower.find(separator)
        while at >= 0:
            nearest = lower[at - 2 : at]
            if at >= done and (nearest in _LAST_LETTERS or not nearest.isalpha() or signed):
                head = lower[max(0, at - _LONGEST_NAME) : at].rstrip(_AROUND_NAMES)
                named = head[-3:] in _NAME_TAILS and head.endswith(_NAME_ENDS)
                if named or (signed and ("x-amz-" in head or "x-goog-" in head)):
                    span = _value_at(text, at, separator)
                    if span is not None:
                        spans.append(span)
                        done = span[1]
            at = lower.find(separator, at + 1)
    return spans


def _value_at(text: str, at: int, separator: str) -> tuple[int, int] | None:
    name_end = at
    while name_end and text[name_end - 1] in " \t\"'`\\]":
        name_end -= 1
    start = _name_start(text, name_end)
    name, before = text[start:name_end], text[start - 1 : start]
    strength = secret_name(name)
    if not strength or (separator == ">" and before != "<"):
        return None
    if separator == ">" and text[at + 1 : at + 2] in {" ", '"', "'", "", ","}:
        # `<SecretStr> is not valid`: a name for what is not shown, not an element with a value.
        return None
    opening = _OPENING.match(text, at + len(separator))
    begin = opening.end() if opening else at + len(separator)
    quote = opening[2] if opening else ""
    if not quote and separator == ":" and name.lower().endswith(("cookie", "cookies")):
        line = _LINE.match(text, begin) if "=" in text[begin : begin + _LONGEST_NAME] else None
        return (begin, line.end()) if line else None
    scheme = _SCHEME.match(text, begin) if "uth" in name else None
    if scheme:
        begin = scheme.end()
    end = _value_end(text, begin, quote, separator)
    value = text[begin:end]
    if not value or value.lower() in _WORD_OF_A_MESSAGE or MASK[:-1] in value:
        return None
    # `secret: "x"` is an assignment as well; `secret: x` may be the beginning of a sentence.
    assigned = separator != ":" or name_end < at or (quote != "" and " " not in value)
    queried = before != "" and before in "?&"
    sure = scheme is not None or _is_secret(value, strength, assigned=assigned, queried=queried, name=name)
    return (begin, end) if sure else None


def _name_start(text: str, end: int) -> int:
    first = max(0, end - _LONGEST_NAME)
    start = end
    while start > first and (text[start - 1].isalnum() or text[start - 1] in "_-.["):
        start -= 1
    return start


def _value_end(text: str, begin: int, quote: str, separator: str) -> int:
    last = min(len(text), begin + _LONGEST_VALUE)
    if quote:
        # An escaped quote inside a value does not end it; a value without an end was cut off.
        end = text.find(quote, begin, last)
        while end > 0 and len(quote) == 1 and text[end - 1] == "\\":
            end = text.find(quote, end + 1, last)
        return last if end < 0 else end
    if separator == ">":
        end = text.find("<", begin, last)
        return last if end < 0 else end
    bare = _BARE.match(text, begin)
    end = bare.end() if bare else begin
    while end > begin and text[end - 1] in ".:!?":
        end -= 1
    return end


def _is_secret(value: str, strength: str, *, assigned: bool, queried: bool, name: str) -> bool:
    if "***" in value or "..." in value:
        return " " not in value
    if not assigned:
        if looks_random(value):
            return True
        return (
            strength == "strong" and len(value) > _SHORTEST_PASSWORD and " " not in value and _has_odd_character(value)
        )
    if strength == "strong":
        return True
    if value.isdigit() and len(value) <= _SHORT_NUMBER:
        return False
    if name.lower().endswith(("key", "auth", "session")):
        return queried or looks_random(value)
    return " " not in value


def _has_odd_character(value: str) -> bool:
    return any(char.isdigit() or char in "!@#$%^&*+=~" for char in value)


def _spoken(text: str, lower: str) -> list[tuple[int, int]]:
    """Find what is said of a secret in running speech: ``the API key 'x' is not valid``."""
    spans: list[tuple[int, int]] = []
    for word in _SPOKEN:
        at = lower.find(word)
        while at >= 0:
            said = _SPOKEN_VALUE.match(text, at)
            if said is not None:
                value = said[2].rstrip(".")
                name = text[_name_start(text, at) : at + len(word)]
                if looks_random(value) and secret_name(name):
                    spans.append((said.start(2), said.start(2) + len(value)))
            at = lower.find(word, at + len(word))
    return spans
