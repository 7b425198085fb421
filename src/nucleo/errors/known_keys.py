"""Masks the keys and tokens that services issue in a shape of their own, told by their first characters.

Apart from the other masks because this is a table that grows with every service that marks its keys. The prefixes are
those that the services document and that secret scanners look for.
"""

import re
from typing import Final

from nucleo.errors.secret_names import MASK, count_digits, looks_random

# Those that end in what separates words are looked for at the separators of a text, of which there are few.
_HYPHENATED: Final = (
    *("sk-", "glpat-", "xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xai-", "pypi-", "tvly-"),
    *("pplx-", "nvapi-", "tskey-", "key-", "pat-", "csk-", "NRAK-", "PMAK-", "SECRET-KEY-", "sq0atp-", "sq0csp-"),
    *("glrt-", "gldt-", "gloas-", "ctx7sk-", "rk-", "pk-", "lin-", "CFPAT-", "EZAK-", "EZTK-", "pul-", "bkua-"),
)
_UNDERSCORED: Final = (
    *("sk_", "pk_", "rk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glsa_", "hf_", "gsk_"),
    *("r8_", "npm_", "dop_v1_", "shpat_", "shpss_", "shpca_", "shppa_", "figd_", "sntrys_", "sntryu_", "lin_api_"),
    *("ntn_", "secret_", "sbp_", "jina_", "e2b_", "lsv2_", "dckr_pat_", "fw_", "rpa_", "ops_", "pat_", "api_", "key_"),
    *("phc_", "phx_", "pul_", "rnd_", "tfp_", "glc_", "sq0_", "lip_", "vc_", "cfut_", "akm_", "pscale_pw_"),
)
_BARE: Final = ("AKIA", "ASIA", "AROA", "AIza", "EAA", "ATATT3", "ATCTT3", "SG.", "hvs.", "ya29.", "dapi")
_ALL: Final = (*_HYPHENATED, *_UNDERSCORED, *_BARE)
_HYPHENATED_TAILS: Final = frozenset(prefix[-3:-1] for prefix in _HYPHENATED)
_UNDERSCORED_TAILS: Final = frozenset(prefix[-3:-1] for prefix in _UNDERSCORED)
_LONGEST_PREFIX: Final = max(map(len, _ALL))
_KEY: Final = re.compile(
    "(?<![A-Za-z0-9])("
    + "|".join(map(re.escape, sorted(_ALL, key=len, reverse=True)))
    + r")([\w*•…\-]*+(?:\.{2,}+[\w*-]++|\.[\w-]{16,}+)*+(?:\.{3})?+)"
)
_SHORTEST_TAIL: Final = 8
_FEW_DIGITS: Final = 3


def mask_known_keys(text: str, *, digits: int) -> str:
    """Mask keys of known shape, also those of which the service has masked a part itself.

    Args:
        text: The text.
        digits: How many digits it has.
    """
    return _KEY.sub(_masked, text) if _may_hold_key(text, digits) else text


def _may_hold_key(text: str, digits: int) -> bool:
    if "-" in text and has_prefix(text, "-", _HYPHENATED, _HYPHENATED_TAILS):
        return True
    if "_" in text and has_prefix(text, "_", _UNDERSCORED, _UNDERSCORED_TAILS):
        return True
    if "A" in text and ("AKIA" in text or "ASIA" in text or "AIza" in text or "EAA" in text or "AROA" in text):
        return True
    if digits < _FEW_DIGITS:
        return False
    return "dapi" in text or "SG." in text or "ya29." in text or "hvs." in text or "ATATT3" in text or "ATCTT3" in text


def has_prefix(text: str, separator: str, prefixes: tuple[str, ...], tails: frozenset[str]) -> bool:
    """Say whether one of the prefixes, all of which end in the separator, stands in a text.

    Args:
        text: The text.
        separator: What the prefixes end in.
        prefixes: The prefixes.
        tails: The two characters before the separator of each, by which nearly every place is told apart at once.
    """
    if tails.isdisjoint([part[-2:] for part in text.split(separator)]):
        return False
    at = text.find(separator)
    while at >= 0:
        if text[at - 2 : at] in tails and text[max(0, at - _LONGEST_PREFIX) : at + 1].endswith(prefixes):
            return True
        at = text.find(separator, at + 1)
    return False


def _masked(found: re.Match[str]) -> str:
    tail = found[2].rstrip(".")
    hidden = "*" in tail or "…" in tail or "•" in tail or ".." in found[2]
    if not hidden and not _is_generated(found[1], tail):
        # `sk-learn`, `hf_hub_download`, `key-value`: words that only begin like a key.
        return found[0]
    return MASK + ("." if found[0].endswith(".") and not found[0].endswith("...") else "")


def _is_generated(prefix: str, tail: str) -> bool:
    if len(tail) < _SHORTEST_TAIL:
        return False
    if tail.replace("_", "").replace("-", "").islower() and count_digits(tail) < _FEW_DIGITS:
        return False
    if prefix in _SHARED:
        # Names of fields begin like this as well.
        return looks_random(tail.replace("_", "").replace("-", ""))
    return not prefix[-1].isalpha() or looks_random(tail) or tail.isupper()


_SHARED: Final = frozenset(
    {"api_", "key_", "key-", "pat-", "pat_", "ops_", "fw_", "vc_", "secret_", "pk-", "rk-", "lin-"}
)
