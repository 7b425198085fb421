"""A body that is read as it comes, in bytes or in lines."""

import codecs
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, closing
from typing import final

import httpx2

from nucleo.http.body import AnswerTooLargeError, BrokenPackingError, unpacker
from nucleo.http.exchange import Answer, Exchange


class _Open:
    """What both streams hold."""

    def __init__(self, exchange: Exchange, response: httpx2.Response, answer: Answer) -> None:
        self._exchange = exchange
        self._response = response
        self._answer = answer

    @property
    def status(self) -> int:
        """The status, one of success."""
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by lower-case name."""
        return self._answer.headers


@final
class AnswerStream(_Open):
    """A good answer whose body is still to come."""

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        """The body, decompressed, in the pieces it comes in.

        Raises:
            ExternalServiceException: It broke off.
        """
        try:
            unpack = unpacker(self._response.headers.get("content-encoding", ""))
            async with aclosing(self._response.aiter_raw()) as pieces:
                async for piece in pieces:
                    for unpacked in unpack.feed(piece):
                        yield unpacked
            unpack.finish()
        except (httpx2.HTTPError, BrokenPackingError) as error:
            raise self._exchange.broken_stream(error, self._answer) from error

    async def lines(self) -> AsyncGenerator[str]:
        """The body as lines of UTF-8 without their ends; bad bytes are replaced.

        Raises:
            ExternalServiceException: It broke off, or a line is longer than `ServiceClient.max_body_bytes`.
        """
        lines = LineSplitter(self._exchange.max_body_bytes)
        try:
            async with aclosing(aiter(self)) as pieces:
                async for piece in pieces:
                    for line in lines.feed(piece):
                        yield line
        except AnswerTooLargeError as error:
            raise self._exchange.broken_stream(error, self._answer) from error
        for line in lines.rest():
            yield line


@final
class SyncAnswerStream(_Open):
    """A good answer whose body is still to come."""

    def __iter__(self) -> Generator[bytes]:
        """The body, decompressed, in the pieces it comes in.

        Raises:
            ExternalServiceException: It broke off.
        """
        try:
            unpack = unpacker(self._response.headers.get("content-encoding", ""))
            for piece in self._response.iter_raw():
                yield from unpack.feed(piece)
            unpack.finish()
        except (httpx2.HTTPError, BrokenPackingError) as error:
            raise self._exchange.broken_stream(error, self._answer) from error

    def lines(self) -> Generator[str]:
        """The body as lines of UTF-8 without their ends; bad bytes are replaced.

        Raises:
            ExternalServiceException: It broke off, or a line is longer than `ServiceClient.max_body_bytes`.
        """
        lines = LineSplitter(self._exchange.max_body_bytes)
        try:
            with closing(iter(self)) as pieces:
                for piece in pieces:
                    yield from lines.feed(piece)
        except AnswerTooLargeError as error:
            raise self._exchange.broken_stream(error, self._answer) from error
        yield from lines.rest()


@final
class LineSplitter:
    r"""Lines out of pieces. A line ends with ``\n`` or ``\r\n``.

    Args:
        limit: Characters that a line may have.
    """

    def __init__(self, limit: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._limit = limit
        self._open: list[str] = []
        self._length = 0

    def feed(self, piece: bytes) -> list[str]:
        """Take a piece and give the lines that it completes.

        Raises:
            AnswerTooLargeError: A line is longer than the limit.
        """
        *complete, last = self._decoder.decode(piece).split("\n")
        found: list[str] = []
        for part in complete:
            found.append("".join((*self._open, part)).removesuffix("\r"))
            self._open, self._length = [], 0
        self._open.append(last)
        self._length += len(last)
        if self._length > self._limit:
            raise AnswerTooLargeError
        return found

    def rest(self) -> list[str]:
        """The last line, when no line end follows it."""
        last = "".join((*self._open, self._decoder.decode(b"", final=True)))
        return [last] if last else []
