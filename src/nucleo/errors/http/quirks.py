"""What only one service does, keyed by host: data, a line each with its source.

A host matches itself and everything below it. A service's own client can do more in `classify`.
"""

from dataclasses import dataclass, field
from typing import Final

from nucleo.errors.http.codes import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """What is particular about a service.

    Attributes:
        host: The host, or the end of it.
        codes: Codes that mean something else here, or only here.
        words: By words in lower case, what a message that has them means under an error status or in a good one.
        statuses: What a status without any other evidence means here.
        milliseconds: Its Retry-After is in milliseconds.
        good: Codes that are no failure in a good status.
        quotes_5xx: Its own words may be quoted also under a 5xx, because they say how to ask for less.
        source: Where it is documented or was seen.
    """

    host: str
    codes: dict[str, Meaning] = field(default_factory=dict[str, Meaning])
    words: dict[str, Meaning] = field(default_factory=dict[str, Meaning])
    statuses: dict[int, Meaning] = field(default_factory=dict[int, Meaning])
    milliseconds: bool = False
    good: frozenset[str] = frozenset()
    quotes_5xx: bool = False
    source: str = ""


QUIRKS: Final = (
    Quirk(
        host="ops.epo.org",
        codes={"individualquotaperhour": Meaning.THROTTLE, "registeredquotaperweek": Meaning.QUOTA},
        words={"fair use policy": Meaning.THROTTLE},
        milliseconds=True,
        source="EPO OPS RESTful web services reference guide: throttling and fair use",
    ),
    Quirk(
        host="pubchem.ncbi.nlm.nih.gov",
        codes={"pugresttimeout": Meaning.SERVICE},
        quotes_5xx=True,
        source="PUG REST: status codes; a time-out is answered by asking for less",
    ),
    Quirk(
        host="ncbi.nlm.nih.gov",
        words={"possible misuse": Meaning.THROTTLE, "api rate limit exceeded": Meaning.THROTTLE},
        source="NCBI usage policies: a blocked address",
    ),
    Quirk(
        host="eutils.ncbi.nlm.nih.gov",
        words={
            "cannot get document summary": Meaning.NOT_FOUND,
            "api rate limit exceeded": Meaning.THROTTLE,
            "backend failed": Meaning.SERVICE,
        },
        statuses={200: Meaning.INPUT},
        source="NCBI E-utilities: an ERROR element in a 200 is about the request, unless its words say otherwise",
    ),
    Quirk(
        host="huggingface.co",
        codes={
            "reponotfound": Meaning.NOT_FOUND,
            "gatedrepo": Meaning.FORBIDDEN,
            "revisionnotfound": Meaning.NOT_FOUND,
        },
        source="huggingface_hub: X-Error-Code; a missing repository answers 401",
    ),
    Quirk(
        host="api.openalex.org",
        words={"invalid query parameters": Meaning.INPUT},
        source="OpenAlex: a wrong filter answered 403 before 2026",
    ),
    Quirk(
        host="api.github.com",
        words={"login attempt": Meaning.UNAUTHORIZED},
        source="GitHub REST: rate limits and abuse; login attempts",
    ),
    Quirk(
        host="kinesis",
        codes={"limitexceeded": Meaning.THROTTLE},
        source="Kinesis API: LimitExceededException is a rate here, elsewhere a fixed cap",
    ),
    Quirk(
        host="export.arxiv.org",
        statuses={503: Meaning.THROTTLE},
        source="arXiv API: a 503 with Retry-After is its rate limit",
    ),
    Quirk(
        host="maps.googleapis.com",
        codes={"invalidrequest": Meaning.INPUT, "zeroresults": Meaning.SERVICE},
        good=frozenset({"ok", "zeroresults"}),
        source="Google Maps web services: status codes in the body",
    ),
    Quirk(
        host="production.plaid.com",
        codes={"itemloginrequired": Meaning.UNAUTHORIZED},
        source="Plaid: item errors",
    ),
    Quirk(
        host="api.stripe.com",
        codes={"insufficientfunds": Meaning.INPUT, "carddeclined": Meaning.INPUT, "carderror": Meaning.INPUT},
        source="Stripe: 402 is about the customer's card, never about our account",
    ),
    Quirk(
        host="api.biorxiv.org",
        codes={"nopostsfound": Meaning.NOT_FOUND},
        source="bioRxiv API: nothing found in a 200",
    ),
)
"""The table."""


def quirk_of(host: str) -> Quirk | None:
    """Find what is particular about a host; of several the longest name."""
    host = host.lower().rpartition("@")[2].partition(":")[0]
    if not host:
        return None
    found = [quirk for quirk in QUIRKS if _matches(host, quirk.host)]
    return max(found, key=lambda quirk: len(quirk.host), default=None)


def _matches(host: str, name: str) -> bool:
    if "." not in name:
        return host.startswith(f"{name}.")
    return host == name or host.endswith(f".{name}")
