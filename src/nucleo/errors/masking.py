"""Takes secrets and personal data out of a text before anybody, model or log, is shown it.

Apart from the reading of HTTP bodies because every message of the failure set passes through here. Each mask stands
behind a substring test, so that an ordinary sentence costs a few microseconds, and no pattern here backtracks: runs
are possessive or bounded, and what needs judgement is judged in code once a candidate is found. What is masked:
private keys, values named like a secret, bearer and basic credentials, web tokens, keys of known shape (also when the
service has masked a part itself), user information in URLs, e-mail and network addresses, account identifiers, and
every secret the caller names.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from nucleo.errors.named_values import mask_named_values
from nucleo.errors.secret_names import MASK, looks_random

LONGEST: Final = 256 * 1024
"""Characters beyond which a text is cut before it is masked: nothing that long is shown to anyone."""

_Step = Callable[[str], str]


def mask(text: str, *, secrets: Iterable[str] = (), personal: bool = True) -> str:
    """Replace what is secret or personal in a text by ``[masked]`` and keep the rest readable.

    Takes time linear in the length of the text. Masking a masked text changes nothing.

    Args:
        text: Any text; more than 256 Ki characters are cut first, and the cut is said.
        secrets: Values that are masked wherever they stand, exactly: as they are, percent-encoded and as JSON
            escapes them. What follows ``Bearer`` or ``Basic`` in one counts as a secret of its own.
        personal: Whether e-mail addresses, network addresses and account identifiers are masked as well.
    """
    if len(text) > LONGEST:
        text = _shortened(text)
    if secrets:
        text = _mask_given(text, secrets)
    if len(text) < _SHORTEST_SECRET:
        return text
    lower = text.lower()
    if _may_hold_secrets(lower):
        for triggers, step in _STEPS:
            for trigger in triggers:
                if trigger in lower:
                    text = step(text)
                    break
    if _KEY_RUN.search(text):
        for trigger in _KEY_TRIGGERS:
            if trigger in text:
                text = _KEY.sub(_masked_key, text)
                break
    return _mask_personal(text, lower) if personal else text


def _shortened(text: str) -> str:
    # The word at the cut is dropped whole: half a secret matches no pattern and is still a secret.
    head = text[:LONGEST]
    end = max(head.rfind(" ", LONGEST - 4096), head.rfind("\n", LONGEST - 4096))
    head = head[: end if end > 0 else LONGEST - 4096]
    return f"{head}... [{len(text) - len(head):,} more characters]"


# --- what the caller names -------------------------------------------------------------------------------------------

_SHORTEST_SECRET: Final = 6
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]+")
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey|negotiate)\s+(\S.*)", re.IGNORECASE | re.DOTALL)


def _mask_given(text: str, secrets: Iterable[str]) -> str:
    forms: set[str] = set()
    for secret in (secrets,) if isinstance(secrets, str) else secrets:
        # Half a dozen characters make a secret; a shorter one is masked only where it stands as a word of its own.
        forms.update(_forms_of(secret))
    for form in sorted(forms, key=len, reverse=True):
        if form not in text:
            continue
        if len(form) >= _SHORTEST_SECRET:
            text = text.replace(form, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", MASK, text)
    return text


def _forms_of(secret: str) -> Iterable[str]:
    secret = secret.strip()
    if not secret:
        return
    yield secret
    if not _UNRESERVED.fullmatch(secret):
        yield from _encoded_forms(secret)
        scheme = _SCHEME.fullmatch(secret)
        if scheme:
            yield from _forms_of(scheme[1])
            yield from _decoded_pair(scheme[1])


def _encoded_forms(secret: str) -> Iterable[str]:
    from json import dumps  # noqa: PLC0415 - only a secret with unusual characters needs the encoders
    from urllib.parse import quote, quote_plus, unquote  # noqa: PLC0415

    secret = secret.encode("utf-8", "replace").decode()
    for form in (quote(secret, safe=""), quote(secret), quote_plus(secret), quote(secret, safe="/:@")):
        yield form
        yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form)
    for form in (secret, dumps(secret)[1:-1], dumps(secret, ensure_ascii=False)[1:-1]):
        yield form
        yield form.replace("/", "\\/")
    if "%" in secret:
        yield unquote(secret)


def _decoded_pair(basic: str) -> Iterable[str]:
    from base64 import b64decode  # noqa: PLC0415 - only for basic credentials

    try:
        pair = b64decode(basic, validate=True).decode()
    except ValueError:
        return
    yield pair
    _, colon, password = pair.partition(":")
    if colon and password:
        yield password


# --- shapes ----------------------------------------------------------------------------------------------------------

_PEM_END: Final = re.compile(r"-----END[^-]{0,64}+-{3,}+")
_SCHEMED: Final = re.compile(r"\b(bearer|basic)(\s{1,3}+|%20|\+)([\w.~+/=*\-…•]{6,}+)", re.IGNORECASE)
_JWT: Final = re.compile(r"eyJ[\w-]{6,}+(?:\.[\w-]*+){0,4}+")
_STARRED: Final = re.compile(
    r"(?<![\w*•-])[\w-]{0,40}+(?:[*•]{3,}+[\w-]{1,40}+)++[*•]*+|(?<![\w*•-])[\w-]{1,40}+[*•]{3,}+"
)
_URL_START: Final = re.compile(r"://([^\s\"'<>\\]{1,512}+)")
_PATH_TOKEN: Final = re.compile(
    r"(/bot\d{1,12}+:)[^\s/\"'<>]++|(/services/T\w{2,16}+/B\w{2,16}+/)\w++|(/webhooks/\d{1,24}+/)[\w-]++"
)
_GO_DSN: Final = re.compile(r"(?<![\w:@])[\w.-]{1,64}+:[^\s@\"'<>]{1,128}+(?=@(?:tcp|unix)\()")


def _mask_private_keys(text: str) -> str:
    pieces: list[str] = []
    done = 0
    while (start := text.find("-----BEGIN", done)) >= 0:
        end = _PEM_END.search(text, start)
        pieces += (text[done:start], MASK)
        done = end.end() if end else len(text)
    return "".join((*pieces, text[done:]))


def _mask_schemes(text: str) -> str:
    return _SCHEMED.sub(_masked_scheme, text)


def _masked_scheme(found: re.Match[str]) -> str:
    value = found[3].rstrip(".")
    words = value.replace("-", "").replace(".", "")
    # "Bearer authentication is required": a word after the scheme is no credential.
    if words.isalpha() and (words[1:].islower() or words.isupper()) and len(words) < 20:
        return found[0]
    return f"{found[1]}{found[2]}{MASK}{found[3][len(value) :]}"


def _mask_web_tokens(text: str) -> str:
    return _JWT.sub(MASK, text)


def _mask_starred(text: str) -> str:
    return _STARRED.sub(MASK, text)


def _mask_user_information(text: str) -> str:
    return _GO_DSN.sub(MASK, _URL_START.sub(_without_user, text))


def _without_user(found: re.Match[str]) -> str:
    address = found[1]
    authority = re.split(r"[/?#]", address, maxsplit=1)[0]
    at = authority.rfind("@")
    if at < 0:
        _, colon, port = authority.partition(":")
        # A slash in a password: what follows the colon is then no port.
        at = address.rfind("@") if colon and not port.isdigit() else -1
    return found[0] if at < 0 else f"://{MASK}{address[at:]}"


def _mask_path_tokens(text: str) -> str:
    return _PATH_TOKEN.sub(lambda found: f"{found[1] or found[2] or found[3]}{MASK}", text)


_NAMED_TRIGGERS: Final = (
    *("key", "token", "secret", "pass", "pwd", "sig", "session", "sid", "credential", "cookie", "auth", "jwt"),
    *("bearer", "x-amz", "x-goog", "connectionstring", "stringtosign", "canonicalrequest"),
)
_STEPS: Final[tuple[tuple[tuple[str, ...], _Step], ...]] = (
    (("-----begin",), _mask_private_keys),
    (("bearer", "basic"), _mask_schemes),
    (_NAMED_TRIGGERS, mask_named_values),
    (("eyj",), _mask_web_tokens),
    (("/bot", "/services/t", "/webhooks/"), _mask_path_tokens),
    (("@",), _mask_user_information),
    (("***", "•••"), _mask_starred),
)


def _may_hold_secrets(lower: str) -> bool:
    """Say quickly of most texts that no step above has anything to do; a part of every trigger is asked for.

    Written out because this is on the way of every message that is read: a loop over a table costs five times as much.
    """
    return (
        "key" in lower
        or "tok" in lower
        or "sec" in lower
        or "pas" in lower
        or "pwd" in lower
        or "sig" in lower
        or "ses" in lower
        or "sid" in lower
        or "red" in lower
        or "coo" in lower
        or "aut" in lower
        or "jwt" in lower
        or "bea" in lower
        or "bas" in lower
        or "x-" in lower
        or "str" in lower
        or "cano" in lower
        or "eyj" in lower
        or "@" in lower
        or "**" in lower
        or "••" in lower
        or "--" in lower
        or "/bot" in lower
        or "/serv" in lower
        or "/webh" in lower
    )


# --- keys of known shape ---------------------------------------------------------------------------------------------

_KEY_PREFIXES: Final = (
    *("sk-", "sk_", "pk_", "rk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glsa_"),
    *("xox", "xapp-", "hf_", "gsk_", "xai-", "r8_", "npm_", "pypi-", "dop_v1_", "shpat_", "shpss_", "shpca_", "shppa_"),
    *("SG.", "hvs.", "ya29.", "AKIA", "ASIA", "AROA", "AIza", "EAA", "dapi", "figd_", "ATATT3", "ATCTT3", "sntrys_"),
    *("lin_api_", "ntn_", "secret_", "tvly-", "pplx-", "nvapi-", "sbp_", "sq0", "jina_", "e2b_", "lsv2_", "tskey-"),
    *("dckr_pat_", "key-", "pat-", "patr", "fw_", "csk-", "rpa_", "NRAK-", "PMAK-", "AGE-SECRET-KEY-", "ops_", "pat_"),
)
_KEY_TRIGGERS: Final = _KEY_PREFIXES
# The shortest key is a prefix of three and eight more; one that the service has masked itself may be shorter.
_KEY_RUN: Final = re.compile(r"[^ ]{11}")
_KEY: Final = re.compile(
    "(?<![A-Za-z0-9])("
    + "|".join(map(re.escape, sorted(_KEY_PREFIXES, key=len, reverse=True)))
    + r")([\w*•…\-]*+(?:\.{2,}+[\w*-]++|\.[\w-]{16,}+)*+(?:\.{3})?+)"
)


def _masked_key(found: re.Match[str]) -> str:
    tail = found[2].rstrip(".")
    hidden = "*" in tail or "…" in tail or "•" in tail or ".." in found[2]
    if not hidden:
        if len(tail) < 8 or (tail.replace("_", "").replace("-", "").islower() and not _has_digits(tail, 3)):
            # `sk-learn`, `hf_hub_download`, `key-value`: words that only begin like a key.
            return found[0]
        if found[1][-1].isalpha() and not looks_random(tail) and not tail.isupper():
            return found[0]
    return MASK + ("." if found[0].endswith(".") and not found[0].endswith("...") else "")


def _has_digits(text: str, count: int) -> bool:
    return sum(map(text.count, "0123456789")) >= count


# --- personal data ---------------------------------------------------------------------------------------------------

_EMAIL: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,128}+(?:@|%40)[A-Za-z0-9][\w-]*+(?:\.[\w-]++)*?\.[A-Za-z]{2,24}+(?![\w-])"
)
_IPV4: Final = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w|-)")
_IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
_NOT_AN_ADDRESS: Final = ("ec", "ec:", "ec number", "version", "v", "ver", "release", "section")
_DOTTED: Final = tuple(f".{digit}" for digit in "0123456789")

_IDENTIFIER: Final = r"[A-Za-z0-9][\w-]{4,}+"
_ACCOUNT: Final = re.compile(
    r"\b(?:(organi[sz]ation|org|account|tenant|team|subscription|principal|(?:object|client|app|application|user|owner)[ _-]?id)"
    rf"(?:s/|/|(?:[ _-]?id)?[\s:=#]{{1,3}}+)(?:id\s)?+[\"'`(]?)({_IDENTIFIER})",
    re.IGNORECASE,
)
_ACCOUNT_SHAPES: Final = re.compile(
    r"\b(?:org|acct|team|tenant|user)[-_](?=[A-Za-z]{0,8}\d|[A-Z]{6})[A-Za-z0-9]{6,}+"
    r"|\bAC[0-9a-f]{32}\b|(?<=:)\d{12}(?=:)|\b\d{12}(?=\.dkr\.)"
)
# What identifies an account has five digits or six capitals.
_IDENTIFYING: Final = re.compile(r"[A-Z]{6}|\d(?:\D{0,24}\d){4}")
_MISSING: Final = re.compile(
    r"['\"`)]?\s+(?:was |is |were |could |can)?(?:not\b|does\s?n|unknown|missing)", re.IGNORECASE
)


def _mask_personal(text: str, lower: str) -> str:
    if "@" in lower or "%40" in lower:
        text = _EMAIL.sub(MASK, text)
    if lower.count(".") >= 3:
        for dotted in _DOTTED:
            if dotted in lower:
                text = _IPV4.sub(_masked_address, text)
                break
    if "::" in lower or lower.count(":") >= 7:
        text = _IPV6.sub(_masked_address6, text)
    if _may_name_accounts(text, lower) and _IDENTIFYING.search(text):
        return _ACCOUNT_SHAPES.sub(MASK, _ACCOUNT.sub(_masked_account, text))
    return text


def _may_name_accounts(text: str, lower: str) -> bool:
    return (
        "org" in lower
        or "acc" in lower
        or "tenant" in lower
        or "team" in lower
        or "subsc" in lower
        or "princip" in lower
        or "user" in lower
        or " id" in lower
        or "_id" in lower
        or "arn:" in lower
        or ".dkr." in lower
        or "AC" in text
    )


def _masked_address(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 12) : found.start()].lower().rstrip()
    if before.endswith(_NOT_AN_ADDRESS) or any(int(part) > 255 for part in found[0].split(".")):
        return found[0]
    return MASK


def _masked_address6(found: re.Match[str]) -> str:
    address = found[0]
    whole = "::" in address or address.count(":") == 7
    return MASK if whole and any(map(str.isdigit, address)) else address


def _masked_account(found: re.Match[str]) -> str:
    value = found[2]
    if not _has_digits(value, 5) and not (value.isupper() and len(value) > 7):
        return found[0]
    if _MISSING.match(found.string, found.end()):
        # What was not found is what the model needs to correct.
        return found[0]
    return found[0][: len(found[0]) - len(value)] + MASK
