"""Masks what identifies a person, a caller or an account: e-mail and network addresses, account numbers.

Apart from the masks of secrets because a text may be shown with these to its owner and never with a secret.
"""

import re
from typing import Final

from nucleo.errors.known_keys import has_prefix
from nucleo.errors.secret_names import MASK, count_digits, lower_case, masked_at

_EMAIL: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,128}+(?:@|%40)[A-Za-z0-9][\w-]{0,63}+(?:\.[\w-]{1,63}+){1,8}+", re.ASCII
)
_IPV4: Final = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w|-)", re.ASCII)
_IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
# `EC 1.1.1.1` is an enzyme and `version 1.2.3.4` a version.
_NOT_AN_ADDRESS: Final = ("ec", "ec:", "ec number", "version", "v", "ver", "release", "section")
_HIGHEST_BYTE: Final = 255

_ACCOUNT_WORDS: Final = ("org", "account", "tenant", "team", "subscription", "principal")
_OWNERS: Final = ("object", "client", "app", "application", "user", "owner")
_LONGEST_OWNER: Final = 12
_BEFORE_ID: Final = frozenset(" _-tpnr")
_ACCOUNT: Final = re.compile(
    r"(?:organi[sz]ation|org|account|tenant|team|subscription|principal"
    r"|(?:object|client|app|application|user|owner)[ _-]?id)"
    r"(?:s/|/|(?:[ _-]?id)?[\"'`]?[\s:=#]{1,3}+)(?:id\s)?+[\"'`(]?([A-Za-z0-9][\w-]{4,128}+)",
    re.IGNORECASE,
)
_MISSING: Final = re.compile(
    r"['\"`)]?\s{1,3}+(?:was |is |were |could )?"
    r"(?:not (?:be )?(?:found|known|valid)|does(?: not|n't) exist|unknown|missing)",
    re.IGNORECASE,
)
# Stripe, Twilio and AWS write an account without calling it one.
_ACCOUNT_SHAPES: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:org|acct|team|tenant|user)[-_](?=[A-Za-z]{0,8}\d|[A-Z]{6})[A-Za-z0-9]{6,128}+"
    r"|\bAC[0-9a-f]{32}\b|(?<=:)\d{12}(?=:)|\b\d{12}(?=\.dkr\.)"
)
_HYPHENATED: Final = ("org-", "team-", "tenant-", "user-")
_UNDERSCORED: Final = ("org_", "acct_", "team_", "tenant_", "user_")
_HYPHENATED_TAILS: Final = frozenset(prefix[-3:-1] for prefix in _HYPHENATED)
_UNDERSCORED_TAILS: Final = frozenset(prefix[-3:-1] for prefix in _UNDERSCORED)
_DIGITS_OF_AN_ACCOUNT: Final = 12
_COLONS: Final = 7
_LONGEST_GROUP: Final = 4
_DIGITS: Final = frozenset("0123456789")
_FEW_DIGITS: Final = 5


def mask_personal_data(text: str, lower: str, *, digits: int) -> str:
    """Mask addresses and account identifiers.

    Args:
        text: The text.
        lower: The text in lower case.
        digits: How many digits it has; an account number has five.
    """
    if "@" in text or ("%" in text and "%40" in text):
        text = _EMAIL.sub(_masked_email, text)
    if digits:
        if "." in text and _has_dotted_digits(text):
            text = _IPV4.sub(_masked_address, text)
        if ":" in text and _has_near_colons(text):
            text = _IPV6.sub(_masked_address6, text)
        if digits >= _FEW_DIGITS:
            text = _mask_accounts(text, lower)
    if _may_hold_shape(text, digits):
        text = _ACCOUNT_SHAPES.sub(MASK, text)
    return text


def _may_hold_shape(text: str, digits: int) -> bool:
    if "-" in text and has_prefix(text, "-", _HYPHENATED, _HYPHENATED_TAILS):
        return True
    if "_" in text and has_prefix(text, "_", _UNDERSCORED, _UNDERSCORED_TAILS):
        return True
    return digits >= _DIGITS_OF_AN_ACCOUNT and ("arn:" in text or "AC" in text or ".dkr." in text)


def _masked_email(found: re.Match[str]) -> str:
    name = found[0].rpartition(".")[2]
    # `pkg@1.2.3` is a version; what ends a host's name has letters.
    return MASK if any(map(str.isalpha, name)) else found[0]


def _has_dotted_digits(text: str) -> bool:
    return not _DIGITS.isdisjoint([part[:1] for part in text.split(".")[1:]])


def _has_near_colons(text: str) -> bool:
    between = text.split(":")[1:-1]
    return bool(between) and min(map(len, between)) <= _LONGEST_GROUP


def _masked_address(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 12) : found.start()].lower().rstrip()
    if before.endswith(_NOT_AN_ADDRESS) or any(int(part) > _HIGHEST_BYTE for part in found[0].split(".")):
        return found[0]
    return MASK


def _masked_address6(found: re.Match[str]) -> str:
    address = found[0]
    whole = "::" in address or address.count(":") == _COLONS
    return MASK if whole and any(map(str.isdigit, address)) else address


def _mask_accounts(text: str, lower: str) -> str:
    spans: set[tuple[int, int]] = set()
    lower = lower if len(lower) == len(text) else lower_case(text)
    for word in _ACCOUNT_WORDS:
        at = lower.find(word)
        while at >= 0:
            found = None if at and lower[at - 1].isalnum() else _ACCOUNT.match(text, at)
            if found is not None and _is_account(found):
                spans.add(found.span(1))
            at = lower.find(word, at + len(word))
    for word in ("id ", "id:", "id=", 'id"', "id'"):
        at = lower.find(word)
        while at >= 0:
            found = _owner_id(text, lower, at) if at and lower[at - 1] in _BEFORE_ID else None
            if found is not None and _is_account(found):
                spans.add(found.span(1))
            at = lower.find(word, at + len(word))
    return masked_at(text, spans) if spans else text


def _owner_id(text: str, lower: str, at: int) -> re.Match[str] | None:
    """Read ``client id 'x'`` from the place of its ``id``."""
    head = lower[max(0, at - _LONGEST_OWNER) : at].rstrip(" _-")
    for owner in _OWNERS:
        if head.endswith(owner):
            start = lower.rfind(owner, 0, at)
            return _ACCOUNT.match(text, start)
    return None


def _is_account(found: re.Match[str]) -> bool:
    if count_digits(found[1]) < _FEW_DIGITS:
        return False
    # What was not found is what the model needs to correct.
    return _MISSING.match(found.string, found.end()) is None
