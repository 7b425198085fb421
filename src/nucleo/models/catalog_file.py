"""The TOML form of a model catalog, read strictly.

    [[models]]
    id = "anthropic:claude-opus-5-5"        # required: provider:name
    provider = "anthropic"                  # what stands before the colon, unless given
    wire_name = "claude-opus-5-5"           # what stands after the colon, unless given
    context_window = 1_000_000
    max_output = 128_000
    prices = { input = 4, output = 20, cached_input = 0.20, currency = "USD" }   # per million tokens
    rpm = 50
    tpm = 100_000
    status = "active"                       # active, legacy, deprecated, retired

Every fault is told with its line, all at once: a typing error in a price must not be found by the bill.
"""

import re
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Final, TypeVar, cast

from nucleo.models.catalog import STATUSES, CatalogError, CatalogFault, ModelEntry, Prices, Status

_HEADER: Final = re.compile(r"\s*\[\[\s*models\s*\]\]")
_KEY: Final = re.compile(r"""\s*["']?([A-Za-z0-9_-]+)["']?\s*[.=]""")
_ERROR_LINE: Final = re.compile(r"at line (\d+)")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")

_T = TypeVar("_T")


def parse_catalog(content: bytes, *, source: str) -> tuple[ModelEntry, ...]:
    """Read the models of a catalog.

    Args:
        content: The file.
        source: What the error calls it.

    Raises:
        CatalogError: Anything in it is wrong; it tells every fault with its line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CatalogError(source, [CatalogFault(line, "this is not UTF-8 text")]) from error
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        found = _ERROR_LINE.search(str(error))
        last = text.count("\n") + 1
        line = int(found[1]) if found else last
        raise CatalogError(source, [CatalogFault(line, f"this is not TOML: {error}")]) from error
    reader = _CatalogReader(_Lines(text))
    entries = reader.entries(document)
    if reader.faults:
        raise CatalogError(source, sorted(reader.faults, key=lambda fault: fault.line))
    return entries


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry stands.

    Attributes:
        line: The line of its header.
        keys: The line of each key.
    """

    line: int
    keys: dict[str, int] = field(default_factory=dict[str, int])

    def line_of(self, key: str) -> int:
        """Give the line of a key, else that of the table it is in, else that of the entry."""
        return self.keys.get(key) or self.keys.get(key.partition(".")[0], self.line)


class _Lines:
    """Finds the lines of entries and keys, which the parser does not tell."""

    def __init__(self, text: str) -> None:
        self.top: dict[str, int] = {}
        self.places: list[_Place] = []
        self._table = ""
        for number, line in enumerate(text.splitlines(), start=1):
            if _HEADER.match(line):
                self.places.append(_Place(number))
                self._table = ""
            elif line.lstrip().startswith("["):
                self._section(number, line)
            elif (key := _KEY.match(line)) is not None:
                known = self.places[-1].keys if self.places else self.top
                known.setdefault(f"{self._table}{key[1]}", number)

    def _section(self, number: int, line: str) -> None:
        names = line.strip().strip("[]").replace('"', "").split(".")
        if names[0].strip() == "models" and self.places and len(names) > 1:
            name = names[1].strip(" ]")
            self.places[-1].keys.setdefault(name, number)
            self._table = f"{name}."
        else:
            self.top.setdefault(names[0].strip(" ]"), number)

    def place(self, index: int) -> _Place:
        # Entries written as one inline array have no headers of their own.
        return self.places[index] if index < len(self.places) else _Place(self.top.get("models", 1))


class _CatalogReader:
    """Reads a parsed document and collects everything that is wrong with it."""

    def __init__(self, lines: _Lines) -> None:
        self.faults: list[CatalogFault] = []
        self._lines = lines

    def entries(self, document: dict[str, Any]) -> tuple[ModelEntry, ...]:
        for key in document.keys() - {"models"}:
            self._fault(self._lines.top.get(key, 1), f"unknown key {key!r}; models stand under [[models]]")
        tables: object = document.get("models", [])
        if not isinstance(tables, list):
            self._fault(self._lines.top.get("models", 1), "'models' must be written as [[models]]")
            return ()
        found: dict[str, ModelEntry] = {}
        for index, table in enumerate(cast("list[object]", tables)):
            place = self._lines.place(index)
            if not isinstance(table, dict):
                self._fault(place.line, "a model must be a table")
                continue
            entry = _EntryReader(cast("dict[str, Any]", table), place, self.faults).entry()
            if entry is not None and entry.id in found:
                self._fault(place.line_of("id"), f"the id {entry.id!r} is there twice")
            elif entry is not None:
                found[entry.id] = entry
        return tuple(found.values())

    def _fault(self, line: int, problem: str) -> None:
        self.faults.append(CatalogFault(line, problem))


class _EntryReader:
    """Reads one model."""

    def __init__(self, table: dict[str, Any], place: _Place, faults: list[CatalogFault]) -> None:
        self._table = table
        self._place = place
        self._faults = faults

    def entry(self) -> ModelEntry | None:
        before = len(self._faults)
        self._refuse_unknown(self._table, ModelEntry.__dataclass_fields__.keys(), "")
        model_id = self._value("id", _text, 'a text such as "anthropic:claude-opus-5-5"') or ""
        provider, colon, name = model_id.partition(":")
        if not (provider and colon and name):
            self._fault("id", "'id' must be given and have the form provider:name")
        status = self._value("status", _text, "a text") or "active"
        if status not in STATUSES:
            self._fault("status", f"'status' must be one of {', '.join(STATUSES)}, not {status!r}")
        count = "a whole number of 1 or more"
        entry = ModelEntry(
            id=model_id,
            provider=self._value("provider", _text, "a text") or provider,
            wire_name=self._value("wire_name", _text, "a text") or name,
            context_window=self._value("context_window", _count, count),
            max_output=self._value("max_output", _count, count),
            prices=self._prices(),
            rpm=self._value("rpm", _count, count),
            tpm=self._value("tpm", _count, count),
            status=cast("Status", status),
        )
        return entry if len(self._faults) == before else None

    def _prices(self) -> Prices | None:
        table: object = self._table.get("prices")
        if table is None:
            return None
        if not isinstance(table, dict):
            self._fault("prices", "'prices' must be a table: { input = 4, output = 20 }")
            return None
        prices = cast("dict[str, Any]", table)
        self._refuse_unknown(prices, Prices.__dataclass_fields__.keys(), "prices.")
        amounts = {
            key: self._read(prices, key, _amount, "an amount of 0 or more", owner="prices.")
            for key in ("input", "output", "cached_input")
        }
        for key in ("input", "output"):
            if key not in prices:
                self._fault("prices", f"'prices.{key}' must be given, per million tokens")
        currency = self._read(prices, "currency", _currency, 'a code such as "USD"', owner="prices.")
        return Prices(
            input=amounts["input"] or Decimal(0),
            output=amounts["output"] or Decimal(0),
            cached_input=amounts["cached_input"],
            currency=currency or "USD",
        )

    def _value(self, key: str, read: Callable[[object], _T | None], form: str) -> _T | None:
        return self._read(self._table, key, read, form)

    def _read(
        self,
        table: dict[str, Any],
        key: str,
        read: Callable[[object], _T | None],
        form: str,
        *,
        owner: str = "",
    ) -> _T | None:
        if key not in table:
            return None
        value = read(table[key])
        if value is None:
            self._fault(f"{owner}{key}", f"'{owner}{key}' must be {form}")
        return value

    def _refuse_unknown(self, table: dict[str, Any], known: Collection[str], owner: str) -> None:
        for key in table.keys() - known:
            near = get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"
            self._fault(f"{owner}{key}", f"unknown key '{owner}{key}'{hint}")

    def _fault(self, key: str, problem: str) -> None:
        self._faults.append(CatalogFault(self._place.line_of(key), problem))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() == value and value else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _amount(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    amount = Decimal(value)
    return amount if amount.is_finite() and amount >= 0 else None


def _currency(value: object) -> str | None:
    return value if isinstance(value, str) and _CURRENCY.fullmatch(value) else None
