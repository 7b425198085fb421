"""A real HTTP server on loopback that fails in every way a service can.

Apart from the rest of the kit because it opens sockets and runs threads. It speaks HTTP over raw
sockets: a server library would repair, refuse or hide most of what is to be shown here.
"""

import contextlib
import selectors
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias, final

from nucleo.testing.answer import Answer, Planned, Received

_Place: TypeAlias = str | Callable[[str], bool]

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_HEAD_END = b"\r\n\r\n"
_READ_BYTES = 65_536
_JOIN_SECONDS = 10.0


@final
class FailingService:
    """A service on loopback that answers, or fails to answer, as planned.

    Use it as a context manager. It keeps connections alive as a good server does, serves each in
    a thread of its own, and on leaving closes every socket and ends every thread.

    Args:
        tls: The server's side of TLS, its certificate loaded; None for plain HTTP.
        host: The loopback address to listen on; another one than 127.0.0.1 is another host.
        refuse: Hold the port and refuse every connection to it.

    Attributes:
        requests: What was received, in the order of arrival.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        refuse: bool = False,
    ) -> None:
        self.requests: list[Received] = []
        self._tls = tls
        self._host = host
        self._refuse = refuse
        self._plan: list[tuple[str, _Place, deque[Planned]]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: set[socket.socket] = set()
        self._defects: list[BaseException] = []
        self._listener: socket.socket | None = None
        self._waker: socket.socket | None = None
        self._connections = 0

    @property
    def port(self) -> int:
        """The port it listens on.

        Raises:
            RuntimeError: When the service is not running.
        """
        if self._listener is None:
            raise RuntimeError("the service is not running: enter it with `with` first")
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Scheme, host and port, without a slash at the end."""
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://{self._host}:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections have been accepted so far."""
        return self._connections

    def on(self, method: str, path: _Place, *answers: Planned) -> Self:
        """Plan the answers to a request: one after the other, the last one from then on.

        A later plan for the same request goes before an earlier one.

        Args:
            method: The method, or ``*`` for any.
            path: The exact path without its query, or a function that accepts a path.
            answers: Answers, or functions that make one from what was received.

        Returns:
            The service, for one more plan.

        Raises:
            ValueError: When there is no answer.
        """
        if not answers:
            raise ValueError(f"no answer was given for {method} {path}")
        with self._lock:
            self._plan.insert(0, (method.upper(), path, deque(answers)))
        return self

    def __enter__(self) -> Self:
        self._listener = socket.create_server((self._host, 0), backlog=128) if not self._refuse else self._held_port()
        if not self._refuse:
            awake, self._waker = socket.socketpair()
            self._spawn(self._accept, self._listener, awake)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()
        if exc is None and self._defects:
            raise self._defects[0]

    def _held_port(self) -> socket.socket:
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        held.bind((self._host, 0))
        return held

    def _close(self) -> None:
        self._closing.set()
        if self._waker is not None:
            self._waker.close()
        with self._lock:
            open_sockets = tuple(self._sockets)
        for each in open_sockets:
            _shut(each)
        for thread in tuple(self._threads):
            thread.join(_JOIN_SECONDS)
            if thread.is_alive():
                raise RuntimeError(f"{thread.name} of the failing service did not end")
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _spawn(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="failing-service", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket, awake: socket.socket) -> None:
        with awake, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(awake, selectors.EVENT_READ)
            while True:
                selector.select()
                if self._closing.is_set():
                    return
                self._welcome(listener.accept()[0])

    def _welcome(self, connection: socket.socket) -> None:
        # Without this an answer in two writes waits for the client's delayed acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            self._sockets.add(connection)
            self._connections += 1
            number = self._connections
        self._spawn(self._serve, connection, number)

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            wire = _Wire(connection, number)
            while not self._closing.is_set() and self._serve_one(wire):
                pass
        except (OSError, _NotHttpError):
            # The client left, or never spoke HTTP: nothing of the service's plan went wrong.
            pass
        except Exception as error:  # noqa: BLE001  a defect of the plan is reported where the test leaves
            self._defects.append(error)
        finally:
            with self._lock:
                self._sockets.discard(connection)
            connection.close()

    def _serve_one(self, wire: "_Wire") -> bool:
        head = wire.read_head()
        if head is None:
            return False
        with self._lock:
            planned = self._choose(head.method, head.path)
        early = isinstance(planned, Answer) and planned.fault == "reset_early"
        received = head if early else wire.read_body(head)
        with self._lock:
            self.requests.append(received)
        answer = planned if isinstance(planned, Answer) else planned(received)
        if answer.delay > 0 and self._closing.wait(answer.delay):
            return False
        return self._send(wire, received, answer)

    def _choose(self, method: str, path: str) -> Planned:
        for wanted, place, answers in self._plan:
            fits = place(path) if callable(place) else place == path
            if fits and wanted in {"*", method}:
                return answers.popleft() if len(answers) > 1 else answers[0]
        return Answer(501, body=f"no answer is planned for {method} {path}")

    def _send(self, wire: "_Wire", received: Received, answer: Answer) -> bool:
        if answer.raw is not None:
            wire.send(answer.raw)
            return False
        if answer.fault in {"reset", "reset_early"}:
            wire.reset()
            return False
        if answer.fault == "hang":
            self._closing.wait()
            return False
        if answer.fault == "close":
            return False
        wire.send(answer.head())
        if answer.has_body and received.method != "HEAD":
            for piece in answer.pieces():
                wire.send(piece)
                if answer.pace > 0 and self._closing.wait(answer.pace):
                    return False
        if answer.fault == "reset_in_body":
            wire.reset()
        if answer.fault == "hang_in_body":
            self._closing.wait()
        asked_to_close = "close" in received.headers.get("connection", "").lower()
        return answer.fault is None and not asked_to_close


class _NotHttpError(Exception):
    """What came is not a request."""


class _Wire:
    """One connection: requests in, bytes out."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self._connection = connection
        self._number = number
        self._buffer = b""

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def reset(self) -> None:
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._connection.close()

    def read_head(self) -> Received | None:
        """The next request without its body; None when the client has closed."""
        while _HEAD_END not in self._buffer:
            if not self._fill():
                return None
        head, self._buffer = self._buffer.split(_HEAD_END, 1)
        lines = head.decode("latin-1").split("\r\n")
        try:
            method, target, _ = lines[0].split(" ")
        except ValueError:
            raise _NotHttpError(lines[0][:100]) from None
        path, _, query = target.partition("?")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            name, value = name.strip().lower(), value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return Received(method=method, path=path, query=query, headers=headers, body=b"", connection=self._number)

    def read_body(self, head: Received) -> Received:
        """The same request with its body."""
        if "chunked" in head.headers.get("transfer-encoding", "").lower():
            body = self._read_chunks()
        else:
            body = self._read_exactly(int(head.headers.get("content-length", "0")))
        return Received(
            method=head.method,
            path=head.path,
            query=head.query,
            headers=head.headers,
            body=body,
            connection=head.connection,
        )

    def _read_chunks(self) -> bytes:
        chunks: list[bytes] = []
        while size := int(self._read_line().split(b";")[0], 16):
            chunks.append(self._read_exactly(size))
            self._read_line()
        while self._read_line():
            pass
        return b"".join(chunks)

    def _read_line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            self._fill_or_give_up()
        line, self._buffer = self._buffer.split(b"\r\n", 1)
        return line

    def _read_exactly(self, size: int) -> bytes:
        parts, missing = [self._buffer], size - len(self._buffer)
        while missing > 0:
            self._buffer = b""
            self._fill_or_give_up()
            parts.append(self._buffer)
            missing -= len(self._buffer)
        whole = b"".join(parts)
        self._buffer = whole[size:]
        return whole[:size]

    def _fill(self) -> bool:
        data = self._connection.recv(_READ_BYTES)
        self._buffer += data
        return bool(data)

    def _fill_or_give_up(self) -> None:
        if not self._fill():
            raise _NotHttpError("the client closed in the middle of its request")


def _shut(connection: socket.socket) -> None:
    # Past SSLSocket's own method, which would take the TLS state from under the serving thread.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
