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

from nucleo.errors.known_keys import mask_known_keys
from nucleo.errors.named_values import mask_named_values
from nucleo.errors.personal_data import mask_personal_data
from nucleo.errors.secret_names import MASK, count_digits, lower_case

LONGEST: Final = 256 * 1024
"""Characters beyond which a text is cut before it is masked: nothing that long is shown to anyone."""


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
    for step in _STEPS:
        text = step(text)
    lower = lower_case(text)
    if "bearer" in lower or "basic" in lower:
        text = _SCHEMED.sub(_masked_scheme, text)
        lower = lower_case(text)
    digits = count_digits(text)
    text = mask_known_keys(mask_named_values(text, lower, digits=digits), digits=digits)
    return mask_personal_data(text, lower, digits=digits) if personal else text


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
_SHORTEST_WORDLESS: Final = 20
_JWT: Final = re.compile(r"eyJ[\w-]{6,}+(?:\.[\w-]*+){0,4}+")
_STARRED: Final = re.compile(
    r"(?<![\w*•-])[\w-]{0,40}+(?:[*•]{3,}+[\w-]{1,40}+)++[*•]*+|(?<![\w*•-])[\w-]{1,40}+[*•]{3,}+"
)
_URL_START: Final = re.compile(r"://([^\s\"'<>\\]{1,512}+)")
_PATH_TOKEN: Final = re.compile(
    r"(/bot\d{1,12}+:)[^\s/\"'<>]++|(/services/T\w{2,16}+/B\w{2,16}+/)\w++|(/webhooks/\d{1,24}+/)[\w-]++"
)
_GO_DSN: Final = re.compile(r"(?<![\w:@.-])[\w.-]{1,64}+:[^\s@\"'<>]{1,128}+(?=@(?:tcp|unix)\()")


def _mask_private_keys(text: str) -> str:
    if "-" not in text or "-----BEGIN" not in text:
        return text
    pieces: list[str] = []
    done = 0
    while (start := text.find("-----BEGIN", done)) >= 0:
        end = _PEM_END.search(text, start)
        pieces += (text[done:start], MASK)
        done = end.end() if end else len(text)
    return "".join((*pieces, text[done:]))


def _masked_scheme(found: re.Match[str]) -> str:
    value = found[3].rstrip(".")
    words = value.replace("-", "").replace(".", "")
    # "Bearer authentication is required": a word after the scheme is no credential.
    if words.isalpha() and (words[1:].islower() or words.isupper()) and len(words) < _SHORTEST_WORDLESS:
        return found[0]
    return f"{found[1]}{found[2]}{MASK}{found[3][len(value) :]}"


def _mask_web_tokens(text: str) -> str:
    return _JWT.sub(MASK, text) if "J" in text and "eyJ" in text else text


def _mask_starred(text: str) -> str:
    if ("*" in text and "***" in text) or "•" in text:
        return _STARRED.sub(MASK, text)
    return text


def _mask_addresses(text: str) -> str:
    if "/" not in text and "@" not in text:
        return text
    if "@" in text:
        text = _GO_DSN.sub(MASK, _URL_START.sub(_without_user, text))
    for hint in ("/bot", "/services/T", "/webhooks/"):
        if hint in text:
            return _PATH_TOKEN.sub(lambda found: f"{found[1] or found[2] or found[3]}{MASK}", text)
    return text


def _without_user(found: re.Match[str]) -> str:
    address = found[1]
    authority = re.split(r"[/?#]", address, maxsplit=1)[0]
    at = authority.rfind("@")
    if at < 0:
        _, colon, port = authority.partition(":")
        # A slash in a password: what follows the colon is then no port.
        at = address.rfind("@") if colon and not port.isdigit() else -1
    return found[0] if at < 0 else f"://{MASK}{address[at:]}"


_STEPS: Final[tuple[Callable[[str], str], ...]] = (
    _mask_private_keys,
    _mask_web_tokens,
    _mask_addresses,
    _mask_starred,
)
