"""Where synchronous bodies run: a daemon thread each, a bounded number of them at once.

Apart from the life of a job because a thread can outlive its job: nothing can stop one, so past
its grace the job settles and the thread keeps its place, and its name, until it really ends.
"""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, final


@final
class BodyThread(threading.Thread):
    """One synchronous body on its way.

    A daemon: a body that never returns must not keep the interpreter from exiting.

    Args:
        name: The thread's name, as a debugger shows it.
        body: What to run, without arguments.
        deliver: Called on the loop with the value and the error, one of which is ``None``.
        loop: The loop to deliver to.
    """

    def __init__(
        self,
        *,
        name: str,
        body: Callable[[], object],
        deliver: Callable[[object, BaseException | None], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.is_busy = True
        self._body = body
        self._deliver = deliver
        self._loop = loop
        self._context = contextvars.copy_context()

    def run(self) -> None:
        """Run the body with the job's context variables and hand over how it ended."""
        value: object = None
        error: BaseException | None = None
        try:
            value = self._context.run(self._body)
        except BaseException as raised:  # noqa: BLE001 - the seam where a body ends; the job judges it
            error = raised
        try:
            self._loop.call_soon_threadsafe(self._deliver, value, error)
        except RuntimeError:
            # The loop was closed while the body ran on; nobody is left to be told.
            pass
        finally:
            # Only now: a loop that sees no busy thread may conclude that nothing will wake it.
            self.is_busy = False


@final
class ThreadPlaces:
    """How many body threads may run at once, first come first served.

    Args:
        capacity: The most at once.
    """

    __slots__ = ("_free", "_queue")

    def __init__(self, capacity: int) -> None:
        self._free = capacity
        self._queue: deque[asyncio.Future[None]] = deque()

    def try_take(self) -> bool:
        """Take a place if one is free and nobody came before."""
        if self._free > 0 and not self._queue:
            self._free -= 1
            return True
        return False

    async def take(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait in line for a place; a cancelled wait leaves the line and takes nothing."""
        turn: asyncio.Future[None] = loop.create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled() or not turn.done():
                self._queue.remove(turn)
            else:
                # The place and the cancel came in the same step: the place goes to the next.
                self.give()
            raise

    def give(self) -> None:
        """Give a place back, to the next in line if there is one."""
        self._free += 1
        while self._free > 0 and self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                self._free -= 1
                turn.set_result(None)


def start_body(
    body: Callable[[], object],
    *,
    name: str,
    loop: asyncio.AbstractEventLoop,
    ended: Callable[[], None],
) -> asyncio.Future[tuple[Any, BaseException | None]]:
    """Start a thread for a synchronous body.

    Args:
        body: What to run.
        name: The thread's name.
        loop: The loop of the job.
        ended: Called on the loop when the thread has ended, whether or not anyone still waits.

    Returns:
        A future of the value and the error. A pair, because a future refuses ``StopIteration``.
    """
    outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def deliver(value: object, error: BaseException | None) -> None:
        ended()
        if not outcome.done():
            outcome.set_result((value, error))

    BodyThread(name=name, body=body, deliver=deliver, loop=loop).start()
    return outcome
