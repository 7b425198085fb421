"""What a line of the table of quirks can say."""

from dataclasses import dataclass, field

from nucleo.errors.http.codes import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """What is particular about a service.

    Attributes:
        hosts: Its hosts, or the ends of them.
        codes: Codes that mean something else here, or only here.
        words: By words in lower case, what a message that has them means under an error status or in a good one.
        statuses: What a status means here when neither a code nor a word has spoken.
        places: Members of the body, without case and separators, in which only this service puts its message.
        milliseconds: Its Retry-After is in milliseconds.
        good: Codes that are no failure in a good status.
        quotes_5xx: Its own words may be quoted also under a 5xx, because they say how to ask for less.
        source: Where it is documented or was seen.
    """

    hosts: tuple[str, ...]
    codes: dict[str, Meaning] = field(default_factory=dict[str, Meaning])
    words: dict[str, Meaning] = field(default_factory=dict[str, Meaning])
    statuses: dict[int, Meaning] = field(default_factory=dict[int, Meaning])
    places: frozenset[str] = frozenset()
    milliseconds: bool = False
    good: frozenset[str] = frozenset()
    quotes_5xx: bool = False
    source: str = ""


def codes(**by_meaning: str) -> dict[str, Meaning]:
    """Give codes by their meaning, whose name is the keyword."""
    return {code: Meaning[name.upper()] for name, codes in by_meaning.items() for code in codes.split()}
