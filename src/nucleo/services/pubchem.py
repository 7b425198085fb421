"""PubChem's compounds over PUG REST, and the tools a model uses them with.

Sources: https://pubchem.ncbi.nlm.nih.gov/docs/pug-rest (addresses, faults, properties),
https://pubchem.ncbi.nlm.nih.gov/docs/dynamic-request-throttling (the header, the four colours) and
https://pubchem.ncbi.nlm.nih.gov/docs/programmatic-access (30 seconds a request, 5 requests a second).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from nucleo.errors import (
    Http429Exception,
    HttpErrorDetail,
    HttpUnmappedStatusException,
    InvalidInputException,
    ResourceNotFoundException,
    readable,
)
from nucleo.errors.http.headers import kept_headers
from nucleo.http import ApiClient, Timeouts
from nucleo.tools import Tool, tool

MOST_COMPOUNDS: Final = 100
"""Compounds asked for in one call: what fits into an address and into PubChem's 30 seconds."""

_PROPERTIES: Final = (
    "Title",
    "IUPACName",
    "MolecularFormula",
    "MolecularWeight",
    "SMILES",
    "InChIKey",
    "XLogP",
    "TPSA",
    "HBondDonorCount",
    "HBondAcceptorCount",
)

_GAUGE: Final = re.compile(r"(Request Count|Request Time|Service) status:\s*(Green|Yellow|Red|Black)\s*\((\d{1,5})%\)")
# In a path a slash separates, quoted or not: PubChem's server takes such names in the body only.
_NOT_IN_A_PATH: Final = re.compile(r"[/\\]")

_ACCEPTED: Final = 202
_BLOCKABLE: Final = frozenset({403, 503})
_TIMEOUT: Final = 504

_BLOCKED: Final = "it blocks our calls for now, because its limit on the number or the time of requests is used up"
_TOO_BROAD: Final = (
    "the request took longer than it allows (30 seconds). Narrow it: ask for fewer compounds at once or for something "
    "more specific"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """One indicator of PubChem's throttling.

    Attributes:
        colour: ``Green`` below half of the limit, ``Yellow`` below three quarters, ``Red`` up to it, ``Black`` beyond.
        percent: How much of the limit is used.
    """

    colour: Literal["Green", "Yellow", "Red", "Black"]
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """What PubChem says of our use of it, and of everybody's, with every answer.

    Attributes:
        count: Our number of requests.
        time: Their running time.
        service: The load of the server that answered.
    """

    count: Gauge
    time: Gauge
    service: Gauge

    @property
    def is_blocking(self) -> bool:
        """Whether our calls are refused because of us."""
        return "Black" in {self.count.colour, self.time.colour}

    @classmethod
    def read(cls, header: str) -> Self | None:
        """Read the header ``X-Throttling-Control``; None when it is not of the documented form."""
        found = {
            match[1]: Gauge(colour=cast("Any", match[2]), percent=int(match[3]))
            for match in _GAUGE.finditer(header[:1_000])
        }
        if len(found) < 3:  # noqa: PLR2004 - all three, or it is another header
            return None
        return cls(count=found["Request Count"], time=found["Request Time"], service=found["Service"])


class Compound(BaseModel):
    """A compound. What PubChem has not computed is None.

    Attributes:
        cid: PubChem's identifier.
        title: The usual name.
        iupac_name: The systematic name.
        formula: The molecular formula.
        weight: The molecular weight, in g/mol.
        smiles: The structure as SMILES, with stereochemistry.
        inchi_key: The structure as hashed InChI.
        xlogp: The computed octanol-water partition coefficient.
        tpsa: The topological polar surface area, in square angstroms.
        donors: Hydrogen bond donors.
        acceptors: Hydrogen bond acceptors.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    cid: int = Field(validation_alias="CID")
    title: str | None = Field(None, validation_alias="Title")
    iupac_name: str | None = Field(None, validation_alias="IUPACName")
    formula: str | None = Field(None, validation_alias="MolecularFormula")
    weight: float | None = Field(None, validation_alias="MolecularWeight")
    # The property was renamed in 2025, and a mirror may still have the old name.
    smiles: str | None = Field(None, validation_alias=AliasChoices("SMILES", "IsomericSMILES", "smiles"))
    inchi_key: str | None = Field(None, validation_alias="InChIKey")
    xlogp: float | None = Field(None, validation_alias="XLogP")
    tpsa: float | None = Field(None, validation_alias="TPSA")
    donors: int | None = Field(None, validation_alias="HBondDonorCount")
    acceptors: int | None = Field(None, validation_alias="HBondAcceptorCount")


class _Table(BaseModel):
    properties: list[Compound] = Field(validation_alias="Properties")


class _Properties(BaseModel):
    table: _Table = Field(validation_alias="PropertyTable")


class _Identifiers(BaseModel):
    cids: list[int] = Field(default=[], validation_alias="CID")


class _Found(BaseModel):
    identifiers: _Identifiers = Field(default=_Identifiers(), validation_alias="IdentifierList")


class PubChem(ApiClient):
    """PubChem's compounds.

    Attributes:
        throttling: What the last answer said of our use of the service; None before the first.
    """

    service_name = "PubChem"
    base_url = "https://pubchem.ncbi.nlm.nih.gov/rest/pug"
    # PubChem gives up by itself after 30 seconds; its words for that are better than our silence.
    timeouts = Timeouts(read=35.0)
    throttling: Throttling | None = None

    def on_response(self, status: int, headers: Mapping[str, str], body: bytes) -> None:  # noqa: ARG002 - the hook's
        """Keep what the answer says of our use of the service."""
        self.throttling = Throttling.read(headers.get("x-throttling-control", "")) or self.throttling

    def classify(self, endpoint: str, status: int, headers: Mapping[str, str], body: bytes) -> Exception | None:
        """Map what only PubChem does: blocking told in a header, and requests that are too broad."""
        throttling = Throttling.read(headers.get("x-throttling-control", ""))
        if status in _BLOCKABLE and throttling is not None and throttling.is_blocking:
            return Http429Exception(_detail(endpoint, status, headers, body, said=_BLOCKED))
        if status == _ACCEPTED or (status == _TIMEOUT and _fault_code(body) == "PUGREST.Timeout"):
            return HttpUnmappedStatusException(_detail(endpoint, status, headers, body, said=_TOO_BROAD))
        return None

    async def find(self, name: str) -> list[int]:
        """Search compounds by name: the identifiers of those that have it, best first; empty when none has.

        Args:
            name: A common or systematic name, or another identifier such as a CAS number.

        Raises:
            InvalidInputException: The name is blank.
            LLMReadableException: PubChem did not answer as asked.
        """
        wanted = name.strip()
        if not wanted:
            raise InvalidInputException("name", name, "it must not be blank")
        if _NOT_IN_A_PATH.search(wanted) or wanted in {".", ".."}:
            found = await self.post(
                ("compound", "name", "cids", "JSON"),
                data={"name": wanted},
                into=_Found,
                operation="search",
                empty_on_404=True,
            )
        else:
            found = await self.get(("compound", "name", wanted, "cids", "JSON"), into=_Found, empty_on_404=True)
        # Compound 0 is how some searches say that there is none.
        return [cid for cid in found.identifiers.cids if cid > 0]

    async def compound(self, cid: int) -> Compound:
        """Fetch one compound.

        Args:
            cid: PubChem's identifier.

        Raises:
            InvalidInputException: The identifier is not a positive number.
            ResourceNotFoundException: There is no such compound.
            LLMReadableException: PubChem did not answer as asked.
        """
        return (await self.compounds([cid]))[0]

    async def compounds(self, cids: Sequence[int]) -> list[Compound]:
        """Fetch several compounds in one call.

        Args:
            cids: PubChem's identifiers, at most 100.

        Raises:
            InvalidInputException: There is none, more than 100, or one is not a positive number.
            ResourceNotFoundException: One of the compounds does not exist.
            LLMReadableException: PubChem did not answer as asked.
        """
        for cid in cids:
            if cid < 1:
                raise InvalidInputException("cid", cid, "it must be a whole number from 1 up")
        if not 1 <= len(cids) <= MOST_COMPOUNDS:
            raise InvalidInputException("cids", len(cids), f"give from 1 to {MOST_COMPOUNDS} identifiers")
        wanted = ",".join(map(str, cids))
        path = f"compound/cid/{wanted}/property/{','.join(_PROPERTIES)}/JSON"
        table = (await self.get(path, into=_Properties)).table
        # A compound that does not exist may come back with its number and nothing else.
        known = {each.cid: each for each in table.properties if each.model_fields_set - {"cid"}}
        for cid in cids:
            if cid not in known:
                raise ResourceNotFoundException("PubChem compound", str(cid))
        return [known[cid] for cid in cids]


def pubchem_tools(client: PubChem) -> Sequence[Tool[..., Any]]:
    """Make the tools by which a model uses PubChem.

    Args:
        client: The client that they share.
    """

    @tool(read_only=True, timeout=60.0)
    async def pubchem_find_compounds(name: str) -> list[int]:
        """Search PubChem for compounds by name, synonym or CAS number.

        Args:
            name: The name to search for, such as "aspirin".

        Returns:
            The PubChem compound identifiers (CIDs), best first; an empty list when no compound has that name.
        """
        with readable("PubChem", parameter="name", value=name, step="compound search"):
            return await client.find(name)

    @tool(read_only=True, timeout=60.0)
    async def pubchem_get_compound(cid: int) -> Compound:
        """Fetch a compound of PubChem: its names, formula, weight, structure and computed properties.

        Args:
            cid: The PubChem compound identifier (CID), such as 2244.
        """
        with readable("PubChem", parameter="cid", value=cid, step="compound fetch"):
            return await client.compound(cid)

    @tool(read_only=True, timeout=60.0)
    async def pubchem_get_compounds(cids: list[int]) -> list[Compound]:
        """Fetch up to 100 compounds of PubChem at once, with the properties that `pubchem_get_compound` gives.

        Args:
            cids: The PubChem compound identifiers (CIDs).
        """
        with readable("PubChem", parameter="cids", value=cids, step="compound fetch"):
            return await client.compounds(cids)

    return (pubchem_find_compounds, pubchem_get_compound, pubchem_get_compounds)


def _fault_code(body: bytes) -> str:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    fault = cast("dict[str, object]", value).get("Fault") if isinstance(value, dict) else None
    code = cast("dict[str, object]", fault).get("Code") if isinstance(fault, dict) else None
    return code if isinstance(code, str) else ""


def _detail(endpoint: str, status: int, headers: Mapping[str, str], body: bytes, *, said: str) -> HttpErrorDetail:
    return HttpErrorDetail(
        status,
        PubChem.service_name,
        endpoint,
        body.decode("utf-8", "replace"),
        kept_headers(headers),
        said=said,
    )
