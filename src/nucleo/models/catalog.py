"""Which models there are, and what is known of each.

Apart from reading the file because an application may say in code what it knows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from nucleo.errors import ModelNotFoundException

Status: TypeAlias = Literal["active", "legacy", "deprecated", "retired"]
STATUSES: Final[tuple[Status, ...]] = ("active", "legacy", "deprecated", "retired")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a model costs, per million tokens.

    Attributes:
        input: Input tokens.
        output: Output tokens.
        cached_input: Input tokens read from the provider's cache; None: as other input.
        currency: The currency, by its ISO 4217 code.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """What is known of one model.

    Attributes:
        id: What an application calls it, ``provider:name``.
        provider: The provider's name in the entry-point group ``nucleo.models``.
        wire_name: What the provider calls it.
        context_window: Tokens of input and output together; None when not known.
        max_output: Tokens a reply may have at most; None when not known.
        prices: What it costs; None when not known, or when no fixed price says it.
        rpm: Requests a minute the account may make; None when not known.
        tpm: Tokens a minute the account may use; None when not known.
        status: Where it is in its life.
    """

    id: str
    provider: str
    wire_name: str
    context_window: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    rpm: int | None = None
    tpm: int | None = None
    status: Status = "active"


@dataclass(frozen=True, slots=True)
class CatalogFault:
    """One thing that is wrong in a catalog file.

    Attributes:
        line: The line, counted from 1.
        problem: What is wrong and how it is right.
    """

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


class CatalogError(ValueError):
    """A catalog that cannot be used. It tells everything that is wrong at once.

    Attributes:
        source: The file.
        faults: What is wrong, by line.
    """

    def __init__(self, source: str, faults: Iterable[CatalogFault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__("\n".join([f"{source} is no usable model catalog:", *map(str, self.faults)]))


@dataclass(frozen=True, slots=True)
class ModelCatalog:
    """The models an application may use. It does not change; `with_entries` gives a larger one.

    Attributes:
        entries: The models.

    Raises:
        ValueError: Two entries have one id.
    """

    entries: tuple[ModelEntry, ...]
    _by_id: dict[str, ModelEntry] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id: dict[str, ModelEntry] = {}
        for entry in self.entries:
            if entry.id in by_id:
                raise ValueError(f"the catalog holds two models of the id {entry.id!r}")
            by_id[entry.id] = entry
        object.__setattr__(self, "_by_id", by_id)

    @classmethod
    def from_toml(cls, path: str | Path) -> "ModelCatalog":
        """Read a catalog from a TOML file; `nucleo.models.catalog_file` has the form.

        Raises:
            CatalogError: Anything in it is wrong: an unknown key, a value of another kind, two models of one id.
            OSError: It cannot be read.
        """
        # Whoever writes the catalog in code never pays for the TOML parser.
        from nucleo.models.catalog_file import parse_catalog  # noqa: PLC0415

        source = Path(path)
        return cls(parse_catalog(source.read_bytes(), source=str(path)))

    def find(self, model_id: str) -> ModelEntry:
        """Give the model of an id.

        Raises:
            ModelNotFoundException: The catalog does not hold it; the nearest ids are named.
        """
        entry = self._by_id.get(model_id)
        if entry is None:
            raise ModelNotFoundException(model_id, tuple(self._by_id))
        return entry

    def get(self, model_id: str) -> ModelEntry | None:
        """Give the model of an id, or None."""
        return self._by_id.get(model_id)

    def with_entries(self, entries: Iterable[ModelEntry]) -> "ModelCatalog":
        """Give a catalog in which these entries are added; one of a known id takes its place."""
        return ModelCatalog(tuple((self._by_id | {entry.id: entry for entry in entries}).values()))

    def __iter__(self) -> Iterator[ModelEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, model_id: object) -> bool:
        return model_id in self._by_id


@cache
def shipped_catalog() -> ModelCatalog:
    """Give the catalog that ships with the package: a few well-known models, as their providers describe them."""
    return ModelCatalog.from_toml(Path(__file__).with_name("shipped.toml"))
