"""Reading a good answer: its text, its JSON, its type. What cannot be read says why, and nothing of the body."""

import re
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, Generic, Protocol, cast, final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from typing_extensions import TypeVar

T = TypeVar("T", default=Any)
T_co = TypeVar("T_co", covariant=True, default=Any)

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
# Codecs of Python that are no charset of the web; these two take time quadratic in the length.
_NOT_CHARSETS = frozenset({"punycode", "idna"})


class UnreadableAnswerError(Exception):
    """A good status came with a body that is not what was due.

    Attributes:
        reason: Why, in words for the model, without a word of the body.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Reader(Protocol[T_co]):
    """From the body of a good answer to what the caller asked for."""

    @property
    def accept(self) -> str:
        """The Accept header of the request."""
        ...

    @property
    def any_form(self) -> bool:
        """Whether a body of any kind may be what was asked for, a web page too."""
        ...

    def read(self, body: bytes, headers: Mapping[str, str]) -> T_co:
        """Read the body; raises `UnreadableAnswerError`."""
        ...

    def empty(self) -> T_co:
        """The value that says that a search found nothing."""
        ...


@final
class JsonReader(Generic[T]):
    """Reads JSON, as a type when there is one.

    Args:
        into: A pydantic model, a dataclass or any type pydantic knows, or its adapter; None for plain JSON values.
    """

    accept = "application/json"
    any_form = False

    def __init__(self, into: type[T] | TypeAdapter[T] | None) -> None:
        self._adapter = None if into is None else _adapter(into)

    def read(self, body: bytes, headers: Mapping[str, str]) -> T:
        """Read the body. An empty one is None where the type allows it."""
        if not body.strip():
            return self._nothing()
        text = body if _is_plain_json(body, headers) else text_of(body, headers)
        if self._adapter is None:
            return cast("T", _parsed(text))
        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            broken = any(
                fault["type"] == "json_invalid" for fault in error.errors(include_input=False, include_url=False)
            )
            raise UnreadableAnswerError(
                "it is not JSON" if broken else "it does not have the form it should"
            ) from error

    def empty(self) -> T:
        """An empty list, object or None, the first that the type takes.

        Raises:
            TypeError: The type takes none of them.
        """
        if self._adapter is None:
            return cast("T", None)
        for nothing in (b"[]", b"null", b"{}"):
            try:
                return self._adapter.validate_json(nothing)
            except ValidationError:
                continue
        raise TypeError(
            "empty_on_404 needs a type that can say that nothing was found: a list, or one that allows None"
        )

    def _nothing(self) -> T:
        if self._adapter is None:
            return cast("T", None)
        try:
            return self._adapter.validate_python(None)
        except ValidationError as error:
            raise UnreadableAnswerError("it is empty") from error


@final
class TextReader:
    """Reads text by the declared charset, else as UTF-8; bad bytes are replaced."""

    accept = "text/plain, */*;q=0.8"
    any_form = True

    def read(self, body: bytes, headers: Mapping[str, str]) -> str:
        """Read the body."""
        return text_of(body, headers)

    def empty(self) -> str:
        """The empty text."""
        return ""


@final
class BytesReader:
    """Takes the body as it is."""

    accept = "*/*"
    any_form = True

    def read(self, body: bytes, headers: Mapping[str, str]) -> bytes:  # noqa: ARG002 - the protocol has it
        """Give the body."""
        return body

    def empty(self) -> bytes:
        """No bytes."""
        return b""


def text_of(body: bytes, headers: Mapping[str, str]) -> str:
    """Decode a body: by its byte order mark, else the declared charset, else as UTF-8. Never raises.

    Args:
        body: The bytes.
        headers: By lower-case name.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    declared = _declared(headers)
    if declared and declared.lower() not in _NOT_CHARSETS:
        try:
            return body.decode(declared, "replace")
        except (LookupError, ValueError):
            # An unknown charset, or a codec of Python's that is none.
            pass
    return body.decode("utf-8", "replace")


def _declared(headers: Mapping[str, str]) -> str:
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1] if match else ""


def _is_plain_json(body: bytes, headers: Mapping[str, str]) -> bool:
    if _declared(headers).lower() not in {"", "utf-8", "utf8", "us-ascii", "ascii"} or body[:3] == b"\xef\xbb\xbf":
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _parsed(text: bytes | str) -> object:
    try:
        value: object = from_json(text)
    except ValueError as error:
        raise UnreadableAnswerError("it is not JSON") from error
    return value


def _adapter(into: type[T] | TypeAdapter[T]) -> TypeAdapter[T]:
    if isinstance(into, TypeAdapter):
        return into
    try:
        return cast("TypeAdapter[T]", _built(cast("Hashable", into)))
    except TypeError:
        # An annotation with an unhashable part cannot be remembered.
        return TypeAdapter(into)


@lru_cache(maxsize=512)
def _built(into: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter[Any](cast("Any", into))
