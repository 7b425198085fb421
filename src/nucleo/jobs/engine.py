"""What the jobs of one start of a dispatcher share. Thrown away at its stop, so that a dispatcher can start afresh."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from enum import Enum
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, final
from weakref import WeakSet

from nucleo.jobs.events import JobEvent
from nucleo.jobs.stream import EventStream
from nucleo.jobs.threads import ThreadPlaces

if TYPE_CHECKING:
    from nucleo.jobs.dispatcher import Dispatcher
    from nucleo.jobs.execution import Execution


class Door(Enum):
    """Who may still submit."""

    OPEN = "open"
    CHILDREN_ONLY = "children only"
    """The dispatcher waits for its jobs, and those may need more jobs to end well."""
    SHUT = "shut"


@final
class Engine:
    """The loop, the places, the listeners and the jobs of one start.

    Args:
        dispatcher: Whose start it is.
        random: Where pauses and ids are drawn from.
        max_threads: Synchronous bodies at once.
        stream: Who listens.
        submit: The door. Handed in, because the door stands on everything that this is part of.
    """

    __slots__ = (
        "_idle",
        "_thread",
        "counter",
        "dispatcher",
        "door",
        "executions",
        "logged",
        "loop",
        "places",
        "prefix",
        "random",
        "stragglers",
        "stream",
        "submit",
    )

    def __init__(
        self,
        dispatcher: "Dispatcher",
        *,
        random: Random,
        max_threads: int,
        stream: EventStream,
        submit: Callable[..., Any],
    ) -> None:
        self.dispatcher = dispatcher
        self.random = random
        self.stream = stream
        self.submit = submit
        self.loop = asyncio.get_running_loop()
        self.places = ThreadPlaces(max_threads)
        self.executions: dict[str, Execution] = {}
        self.stragglers: dict[str, Execution] = {}
        self.logged: WeakSet[BaseException] = WeakSet()
        self.door = Door.OPEN
        self.prefix = f"job-{random.getrandbits(32):08x}-"
        self.counter = count(1)
        self._thread = threading.get_ident()
        self._idle: asyncio.Future[None] | None = None

    @property
    def is_stopping(self) -> bool:
        """Whether the end of the block has begun."""
        return self.door is not Door.OPEN

    def publish(self, event: JobEvent) -> None:
        """Publish from any thread; after the end of the loop there is nobody to tell."""
        if threading.get_ident() == self._thread:
            self.stream.publish(event)
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.stream.publish, event)

    def forget(self, execution: "Execution") -> None:
        """A job has settled."""
        self.executions.pop(execution.id, None)
        if not self.executions and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def drain(self, grace_seconds: float) -> None:
        """Wait for all jobs, cancel what is left after the grace, and wait for the ends of those.

        A cancel of the waiter cuts the grace short and goes on when every job has ended.
        """
        self.door = Door.CHILDREN_ONLY
        self._cancel(each for each in self.executions.values() if each.is_paused)
        interrupted: asyncio.CancelledError | None = None
        try:
            if grace_seconds > 0:
                await self._until_idle(grace_seconds)
        except asyncio.CancelledError as error:
            interrupted = error
        self.door = Door.SHUT
        while self.executions:
            self._cancel(self.executions.values())
            try:
                await self._until_idle(None)
            except asyncio.CancelledError as error:
                interrupted = error
        if interrupted is not None:
            raise interrupted

    async def _until_idle(self, seconds: float | None) -> None:
        if self.executions:
            self._idle = self.loop.create_future()
            await asyncio.wait([self._idle], timeout=seconds)

    @staticmethod
    def _cancel(executions: "Iterable[Execution]") -> None:
        for execution in tuple(executions):
            execution.cancel("the dispatcher is stopping")
