"""Which names stand for a secret, and which values look like one.

Apart from the masks because two readers ask: the masks, for ``name=value`` in a text, and the reader of a JSON body,
for a key and its value.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal

MASK: Final = "[masked]"
"""What stands in place of a secret."""

Strength = Literal["strong", "weak", ""]

_STRONG: Final = re.compile(
    r"passw|passphrase|passcode|secret|apikey|"
    r"(?:access|private|auth|account|subscription|signing|encryption|shared|master|license|service|functions|admin|ssh)key|"
    r"authoriz|credential|signature|cookie|session(?:id|key|token)|(?:access|refresh|id|auth|security|bearer|csrf)token|"
    r"xsrf|jwt|connectionstring|stringtosign|canonicalrequest|securestring|\A(?:xamz|xgoog)"
)
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WEAK_LAST: Final = frozenset(
    {"token", "sig", "pw", "pwd", "pass", "auth", "session", "sid", "pin", "otp", "key", "bearer"}
)
# Names that end like a secret and are none: figures, cursors and keys of a table. `signature_version` and its like
# say how something was signed, not with what.
_HARMLESS_LAST: Final = frozenset(
    {"type", "version", "method", "algorithm", "count", "limit", "length", "policy", "format", "name", "expires", "ttl"}
)
_HARMLESS_BEFORE: Final = frozenset(
    {"max", "min", "page", "next", "continuation", "per", "unexpected", "primary", "foreign", "sort", "partition"}
    | {"cursor", "object", "issue", "query", "group", "unique", "routing", "cache", "idempotency", "duplicate"}
)
_PERSONAL: Final = frozenset(
    {"email", "ip", "clientip", "remoteaddr", "remoteip", "ipaddress", "callerip", "userip", "sourceip", "phone"}
    | {"account", "accountid", "organization", "organizationid", "organisation", "organisationid", "org", "orgid"}
    | {"tenant", "tenantid", "teamid", "subscriptionid", "emailaddress", "username", "callerid", "principalid"}
)

_SHORTEST_WITH_PUNCTUATION: Final = 40
FEW_DIGITS: Final = 3
"""Digits that make a word look generated; names of fields and models seldom have so many."""


def secret_name(name: str) -> Strength:
    """Say whether a field or parameter of this name holds a secret.

    Args:
        name: A name in any convention: ``X-Amz-Security-Token``, ``apiKey``, ``access_token``.

    Returns:
        ``"strong"`` when the value is a secret whatever it looks like, ``"weak"`` when it is one unless it plainly
        is something else (``key``, ``token``), and an empty text otherwise.
    """
    words = [word.lower() for word in _WORDS.findall(name[-64:])]
    while words and words[-1].isdigit():
        words.pop()
    if not words or words[-1] in _HARMLESS_LAST:
        return ""
    if _STRONG.search("".join(words)):
        return "strong"
    if words[-1] in _WEAK_LAST and not (len(words) > 1 and words[-2] in _HARMLESS_BEFORE):
        return "weak"
    return ""


def personal_name(name: str) -> bool:
    """Say whether a field of this name holds a person's, a caller's or an account's identity."""
    return "".join(word.lower() for word in _WORDS.findall(name[:64])) in _PERSONAL


def looks_random(value: str, *, shortest: int = 8) -> bool:
    """Say whether a value has the look of a generated secret rather than of a word, a name or a path."""
    if len(value) < shortest or " " in value:
        return False
    if ("/" in value or "." in value) and len(value) < _SHORTEST_WITH_PUNCTUATION:
        return False
    digits = count_digits(value)
    if FEW_DIGITS <= digits < len(value):
        return True
    letters = value.isalpha()
    if letters and value.isupper():
        return len(value) >= 14  # noqa: PLR2004 - longer than a word that is shouted
    rest = value[1:]
    mixed = rest != rest.lower() and rest != rest.upper()
    if len(value) < 16:  # noqa: PLR2004 - a camel-cased name is as long
        return False
    return (mixed and digits > 0) or (letters and len(value) >= 32)  # noqa: PLR2004


def masked_at(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Put the mask in place of some parts of a text; of parts that overlap the first counts."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += (text[done:start], MASK)
            done = end
    return "".join((*pieces, text[done:]))


def lower_case(text: str) -> str:
    """Give the lower case of a text at the same length: one letter has a lower case of two characters."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


_NO_DIGITS: Final = bytes(byte for byte in range(256) if not 48 <= byte <= 57)  # noqa: PLR2004 - "0" to "9"


def count_digits(text: str) -> int:
    """Count the ASCII digits of a text."""
    return len(text.encode("utf-8", "replace").translate(None, _NO_DIGITS))
