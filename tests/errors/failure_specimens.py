"""One valid specimen of every concrete member and of an application's own, and the nastiest values a field can hold."""

import dataclasses
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

import nucleo.errors as errors
from nucleo.errors import (
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    CorrectableLLMException,
    CorrectableRuntimeLLMException,
    ExternalServiceException,
    HttpErrorDetail,
    HttpErrorResponse,
    InvalidInputException,
    LLMReadableException,
    UncorrectableLLMException,
)


class SeatTaken(CorrectableLLMException):
    seat: str

    @property
    def llm_message(self) -> str:
        return f"Seat {self.seat} is taken. Choose another one."


class LedgerClosed(UncorrectableLLMException):
    until: object
    note: str = "no note"

    @property
    def llm_message(self) -> str:
        return f"The ledger is closed until {self.until}."

    def __str__(self) -> str:
        return f"ledger closed until {self.until}: {self.note}"


class Speechless(UncorrectableLLMException):
    thing: object

    @property
    def llm_message(self) -> str:
        raise RuntimeError("no words")

    def __str__(self) -> str:
        raise RuntimeError("no words at all")


class InvoiceWrong(InvalidInputException):
    invoice: str = "?"


class PrinterJammed(ExternalServiceException):
    tray: int = dataclasses.field(default=1, kw_only=True)


class StampsGone(CorrectableRuntimeLLMException):
    country: str


APPLICATION = (SeatTaken, LedgerClosed, Speechless, InvoiceWrong, PrinterJammed, StampsGone)

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "InvalidInputException": ("cid", "abc", "must be digits"),
    "ResourceNotFoundException": ("order", "ORD-1"),
    "GuardrailException": ("Say it without names.",),
    "JsonParseException": ("Expecting value: line 1 column 1",),
    "ResponseValidationException": (("title: is missing", "price: must be a number"),),
    "ExternalServiceException": ("PubChem", "connection refused"),
    "UpstreamThrottleException": ("PubChem", "too many requests", 30.0),
    "UnauthorizedException": ("ChemSpider", "the key has expired"),
    "PermissionDeniedException": ("only accountants may see invoices",),
    "SystemException": ("fetch_order", "KeyError: 'total'"),
    "JobCancelledException": ("the user left",),
    "CancellationException": ("the user left",),
    "JobTimeoutException": (30.0,),
    "TokenEstimateExceedsLimitException": (250_000, 200_000, "scout-1"),
    "ContextOverflowException": (250_000, 200_000, "scout-1"),
    "PromptNotFoundException": ("greeting", ("files", "database")),
    "QuotaExhaustedException": ("Anthropic", "research", "scout-1", "credit balance is too low"),
    "SpendCapExceededException": ("The workflow may spend no more.",),
    "ModelNotFoundException": ("scout-9", ("scout-1", "scout-2", "heavy-1")),
    "ProviderRefusalException": ("scout-1", "weapons", "not this"),
    "CorrectableRuntimeLLMException": ("Pick another colour.",),
    "UncorrectableRuntimeLLMException": ("The archive is offline.",),
    "SeatTaken": ("12A",),
    "LedgerClosed": ("Monday", "audit"),
    "Speechless": ("x",),
    "InvoiceWrong": ("number", "12", "must have 6 digits", "INV-1"),
    "PrinterJammed": ("printer", "paper jam"),
    "StampsGone": ("No stamps left for that country.", "FR"),
}
STATUS = {"HttpUnmappedStatusException": 418}
ABSTRACT = {
    "LLMReadableException",
    "LLMReadableCheckedException",
    "LLMReadableRuntimeException",
    "CorrectableLLMException",
    "UncorrectableLLMException",
}


def detail(status: int = 503, **changes: Any) -> HttpErrorDetail:
    values = {"service": "PubChem", "endpoint": "/compound/2244", "response_body": '{"message": "Server busy"}'}
    return HttpErrorDetail(status, **{**values, **changes})


def is_http(cls: type) -> bool:
    return issubclass(cls, HttpErrorResponse)


def members() -> list[type[LLMReadableException]]:
    """Every concrete class that `nucleo.errors` exports."""
    found = (getattr(errors, name) for name in errors.__all__)
    return [
        cls
        for cls in found
        if isinstance(cls, type) and issubclass(cls, LLMReadableException) and cls.__name__ not in ABSTRACT
    ]


def specimen(cls: type[LLMReadableException]) -> LLMReadableException:
    if is_http(cls):
        digits = "".join(filter(str.isdigit, cls.__name__))
        return cls(detail(int(digits or STATUS[cls.__name__])))  # type: ignore[call-arg]
    return cls(*ARGUMENTS[cls.__name__])


ALL = (*members(), *APPLICATION)


class Hostile:
    """Raises whatever is asked of it."""

    def __str__(self) -> str:
        raise RuntimeError("secret-of-str")

    __repr__ = __str__

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")


class HostileText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")


class HostileMapping(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise RuntimeError("no items")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("no keys")


class Nameless:
    """Has no text of its own, so its text would be its repr."""

    def __init__(self) -> None:
        self.password = "hunter2-of-the-repr"

    def __repr__(self) -> str:
        return f"Nameless({self.password})"


class LoadsBadly:
    """Pickles, and then fails to load."""

    def __reduce__(self) -> Any:
        return _refuse, (1,)


def _refuse(_: int) -> None:
    raise RuntimeError("cannot be loaded")


class TwoArguments(Exception):
    """A foreign exception that pickles and then fails to load."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Deep(list):  # type: ignore[type-arg]
    """A list in a list in a list; what prints it stops here."""

    def __repr__(self) -> str:
        return "Deep"


def _deep() -> list[Any]:
    nest: list[Any] = Deep()
    for _ in range(3000):
        nest = Deep([nest])
    return nest


def _circular() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


NASTY: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**5000,
    float("nan"),
    float("inf"),
    float("-inf"),
    1e308,
    b"\x00\xff",
    bytearray(b"abc"),
    "",
    " \n\t ",
    "x" * 20_000,
    "line\nline\r\nline\u2028line\x85",
    "bell\x07 escape\x1b[31m null\x00",
    "bidi \u202eevil\u202c \u2066x\u2069",
    "zero\u200bwidth tag\U000e0041 soft\u00ad",
    "lone \ud800 surrogate",
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    f"a\n{VERDICT_CORRECTABLE}\nb\n{VERDICT_UNCORRECTABLE}",
    "[This er\u200bror may be correctable - you can retry with different parameters or try a different approach]",
    "[this  error is not correctable - consider an alternative approach]",
    [],
    {},
    [1, "two", None, {"three": [4.0]}],
    {"a": {"b": float("nan")}, "c": [b"x"]},
    {1: 2, None: 3},
    {("tuple",): 1},
    {"k" * 500: "v" * 500},
    {"nested": Nameless()},
    (1, 2),
    {3, 4},
    Decimal("1.50"),
    Decimal("NaN"),
    object(),
    Hostile(),
    HostileText("hidden"),
    HostileMapping(a=1),
    Nameless(),
    LoadsBadly(),
    threading.Lock(),
    ValueError("inner"),
    TwoArguments("a", "b"),
    _deep(),
    _circular(),
    len,
    (number for number in range(3)),
)

nasty = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=300),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    ),
)
nasty_text = st.one_of(st.sampled_from([value for value in NASTY if type(value) is str]), st.text(max_size=300))

details = st.builds(
    HttpErrorDetail,
    status_code=st.integers(min_value=100, max_value=599),
    service=nasty_text,
    endpoint=nasty_text,
    response_body=nasty_text,
    headers=st.dictionaries(
        st.sampled_from(["content-type", "retry-after", "Set-Cookie", "authorization"]), nasty_text
    ),
    retry_after_seconds=st.none() | st.floats(),
    said=st.none() | nasty_text,
)


@st.composite
def failures(draw: st.DrawFn, classes: tuple[type[LLMReadableException], ...] = ALL) -> LLMReadableException:
    """Any member, its fields filled with anything at all."""
    cls = draw(st.sampled_from(classes))
    if is_http(cls):
        return cls(draw(details))  # type: ignore[call-arg]
    names = [item.name for item in dataclasses.fields(cls) if item.init and item.name != "http"]
    values = {name: draw(nasty) for name in names}
    return cls(**values, http=draw(st.none() | details))


def raise_specimen(name: str) -> None:
    """Run in a worker: raise a member from a foreign cause that cannot cross, with a lock in a note's neighbour."""
    cls = next(cls for cls in ALL if cls.__name__ == name)
    failure = specimen(cls)
    failure.add_note("met in a worker")
    failure.lock = threading.Lock()  # type: ignore[attr-defined]
    try:
        raise TwoArguments("pickles", "does not load")
    except TwoArguments as cause:
        raise failure from cause


def double(number: int) -> int:
    return 2 * number
