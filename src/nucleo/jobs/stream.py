"""The stream of events: whoever publishes is never held up and never hears of a subscriber's trouble."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Protocol, Self, final

from nucleo.jobs.events import EventsLost, JobEvent

logger = logging.getLogger("nucleo.events")


class _Subscriber(Protocol):
    def offer(self, event: JobEvent) -> None: ...

    def finish(self) -> None: ...


class _Buffer:
    """What a subscriber has not taken yet: bounded, the oldest goes first, and the loss is counted."""

    __slots__ = ("_events", "_lost", "_workflow")

    def __init__(self, capacity: int, workflow: str | None) -> None:
        self._events: deque[JobEvent] = deque(maxlen=capacity)
        self._lost = 0
        self._workflow = workflow

    def put(self, event: JobEvent) -> bool:
        if self._workflow is not None and event.workflow != self._workflow:
            return False
        if len(self._events) == self._events.maxlen:
            self._lost += 1
        self._events.append(event)
        return True

    def take(self) -> JobEvent | None:
        if self._lost:
            count, self._lost = self._lost, 0
            return EventsLost(job_id="", name="", workflow="", at=self._events[0].at, count=count)
        return self._events.popleft() if self._events else None


@final
class EventIterator(AsyncIterator[JobEvent]):
    """The events from now on, one by one; ends when the dispatcher has ended. For one reader."""

    def __init__(self, stream: "EventStream", buffer: _Buffer) -> None:
        self._tap = _Tap(buffer)
        self._stream = stream
        stream.add(self._tap)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> JobEvent:
        tap = self._tap
        while True:
            event = tap.buffer.take()
            if event is not None:
                return event
            if tap.ended:
                raise StopAsyncIteration
            tap.wake = asyncio.get_running_loop().create_future()
            try:
                await tap.wake
            finally:
                tap.wake = None

    async def aclose(self) -> None:
        """Stop listening; a reader that waits is let go."""
        self._stream.remove(self._tap)
        self._tap.finish()

    def __del__(self) -> None:
        self._stream.remove(self._tap)


@final
class _Tap:
    """The stream's end of an iterator. Apart from it, so that a dropped iterator can be collected."""

    __slots__ = ("buffer", "ended", "wake")

    def __init__(self, buffer: _Buffer) -> None:
        self.buffer = buffer
        self.ended = False
        self.wake: asyncio.Future[None] | None = None

    def offer(self, event: JobEvent) -> None:
        if self.buffer.put(event):
            self._wake()

    def finish(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


@final
class _Listener:
    """A callback, called on the loop in the order of events, never by the publisher itself."""

    __slots__ = ("_buffer", "_callback", "_loop", "_scheduled")

    def __init__(
        self, buffer: _Buffer, callback: Callable[[JobEvent], object], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._buffer = buffer
        self._callback = callback
        self._loop = loop
        self._scheduled = False

    def offer(self, event: JobEvent) -> None:
        if self._buffer.put(event) and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._drain)

    def finish(self) -> None:
        self._drain()

    def _drain(self) -> None:
        self._scheduled = False
        while (event := self._buffer.take()) is not None:
            try:
                self._callback(event)
            except Exception:  # a subscriber's bug is the subscriber's
                logger.exception("a subscriber failed on %s", type(event).__name__)


@final
class EventStream:
    """Who listens to a dispatcher.

    Args:
        capacity: Events that each subscriber may be behind before it loses the oldest.

    Attributes:
        has_listeners: Whether an event would be seen by anyone; if not, it need not be made.
    """

    __slots__ = ("_capacity", "_subscribers", "has_listeners")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._subscribers: list[_Subscriber] = []
        self.has_listeners = False

    def publish(self, event: JobEvent) -> None:
        """Hand an event to everyone who listens. On the loop's thread."""
        for subscriber in tuple(self._subscribers):
            subscriber.offer(event)

    def events(self, workflow: str | None) -> EventIterator:
        """Listen from now on, as an iterator."""
        return EventIterator(self, _Buffer(self._capacity, workflow))

    def subscribe(
        self, callback: Callable[[JobEvent], object], workflow: str | None, loop: asyncio.AbstractEventLoop
    ) -> Callable[[], None]:
        """Listen from now on, as a callback; what comes back stops it."""
        listener = _Listener(_Buffer(self._capacity, workflow), callback, loop)
        self.add(listener)
        return lambda: self.remove(listener)

    def add(self, subscriber: _Subscriber) -> None:
        """Begin to serve a subscriber."""
        self._subscribers.append(subscriber)
        self.has_listeners = True

    def remove(self, subscriber: _Subscriber) -> None:
        """Serve a subscriber no longer; one that is not served is no error."""
        if subscriber in self._subscribers:
            self._subscribers.remove(subscriber)
            self.has_listeners = bool(self._subscribers)

    def finish(self) -> None:
        """Let every subscriber have what is left for it, and end."""
        subscribers, self._subscribers = self._subscribers, []
        self.has_listeners = False
        for subscriber in subscribers:
            subscriber.finish()
