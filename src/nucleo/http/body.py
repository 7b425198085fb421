"""The body of an answer as it comes in: unpacked piece by piece, and counted after unpacking.

Apart from the exchange because this is where a small answer could become a large one. The transport's own unpacking is
not used: it takes a packed body that breaks off for a whole one.
"""

import zlib
from collections.abc import Iterator
from typing import Final, Protocol, final

_PIECE: Final = 64 * 1024
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
"""`zlib` finds out by itself which of the two it is."""
_RAW: Final = -zlib.MAX_WBITS

ENCODINGS: Final = "gzip, deflate"
"""What is asked for in Accept-Encoding: only what can be unpacked under a limit."""


class AnswerTooLargeError(Exception):
    """More came than the client is ready to hold."""


class BrokenPackingError(Exception):
    """A body is packed and cannot be unpacked, or breaks off."""


class Unpacker(Protocol):
    """From the bytes on the wire to those of the body."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Unpack a piece into pieces of at most 64 KiB; raises `BrokenPackingError`."""
        ...

    def finish(self) -> None:
        """Hear that the body has ended; raises `BrokenPackingError` when the packing has not."""
        ...


def unpacker(encoding: str) -> Unpacker:
    """Make the unpacker of a Content-Encoding.

    Raises:
        BrokenPackingError: It is one that was not asked for.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate":
            return _Packed()
        case _:
            raise BrokenPackingError(encoding)


@final
class _Plain:
    def feed(self, piece: bytes) -> Iterator[bytes]:
        yield piece

    def finish(self) -> None:
        pass


@final
class _Packed:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        held_back = False
        while piece or held_back:
            if self._zlib.eof:
                # A gzip file may be several, one after the other; what is no packing any more is padding.
                if not piece.startswith(b"\x1f\x8b"):
                    return
                self._zlib = zlib.decompressobj(_GZIP_OR_ZLIB)
            unpacked = self._unpacked(piece)
            piece = self._zlib.unconsumed_tail or self._zlib.unused_data
            # At the limit zlib may have taken all of the input and still hold output of it.
            held_back = len(unpacked) == _PIECE
            if unpacked:
                yield unpacked

    def finish(self) -> None:
        if self._begun and not self._zlib.eof:
            raise BrokenPackingError("it breaks off")

    def _unpacked(self, piece: bytes) -> bytes:
        try:
            unpacked = self._zlib.decompress(piece, _PIECE)
        except zlib.error as error:
            if self._begun:
                raise BrokenPackingError(str(error)) from error
            # Half of the servers mean by "deflate" what the word says, not what RFC 9110 says it means.
            self._zlib, self._begun = zlib.decompressobj(_RAW), True
            return self._unpacked(piece)
        self._begun = True
        return unpacked


@final
class Collector:
    """Keeps the body of one answer.

    Args:
        limit: Bytes that are kept.
        encoding: The Content-Encoding.
        complain: Whether more than that is an error; else the rest is left unread.

    Raises:
        BrokenPackingError: The encoding is one that was not asked for.
    """

    def __init__(self, limit: int, *, encoding: str, complain: bool) -> None:
        self._limit = limit
        self._complain = complain
        self._unpacker = unpacker(encoding)
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> bool:
        """Take what came over the wire; False when no more is wanted.

        Raises:
            AnswerTooLargeError: The limit is passed.
            BrokenPackingError: It cannot be unpacked.
        """
        for unpacked in self._unpacker.feed(piece):
            self._pieces.append(unpacked)
            self._size += len(unpacked)
            if self._size > self._limit:
                if self._complain:
                    raise AnswerTooLargeError
                return False
        return True

    def finish(self) -> None:
        """Hear that the body has ended.

        Raises:
            BrokenPackingError: The packing has not.
        """
        self._unpacker.finish()

    def body(self) -> bytes:
        """What was kept, no more than the limit."""
        return b"".join(self._pieces)[: self._limit]
