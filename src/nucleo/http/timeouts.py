"""How long each phase of a request may take, and never longer than the current job has left."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nucleo.limits.work import CurrentWork

SHARE_OF_JOB = 0.9
"""Of a job's remaining time, what a silent service may use: the failure must be the service's, not the job's."""

_SHORTEST_SECONDS = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """The longest waits, in seconds.

    Attributes:
        connect: For a connection, its TLS handshake included.
        read: For the next bytes of the answer.
        write: For the service to take the next bytes of the request.
        pool: For one of the pool's connections to become free.
    """

    connect: float = 5.0
    read: float = 20.0
    write: float = 20.0
    pool: float = 10.0

    def __post_init__(self) -> None:
        for name in ("connect", "read", "write", "pool"):
            seconds = getattr(self, name)
            if not seconds > 0:
                raise ValueError(f"the {name} timeout must be a positive number of seconds, not {seconds!r}")


class LiveTimeouts(Mapping[str, float]):
    """The timeouts of one call, cut to what the job has left at the moment a phase asks.

    A mapping because that is how the transport takes them; it asks once as each phase begins, so that what one phase
    has used up is no longer there for the next.

    Attributes:
        phase: The phase that asked last; None before the first.
    """

    def __init__(self, timeouts: Timeouts, work: CurrentWork | None) -> None:
        self._timeouts = {
            "connect": timeouts.connect,
            "read": timeouts.read,
            "write": timeouts.write,
            "pool": timeouts.pool,
        }
        self._work = work
        self.phase: str | None = None

    def __getitem__(self, phase: str) -> float:
        seconds = self._timeouts[phase]
        self.phase = phase
        share = self.share_seconds()
        return seconds if share is None else min(seconds, share)

    def __iter__(self) -> Iterator[str]:
        return iter(self._timeouts)

    def __len__(self) -> int:
        return len(self._timeouts)

    def share_seconds(self) -> float | None:
        """What the call may use of the job's remaining time, in seconds; None outside a job and without a deadline."""
        remaining = None if self._work is None else self._work.remaining_seconds()
        return None if remaining is None else max(_SHORTEST_SECONDS, remaining * SHARE_OF_JOB)

    def check(self) -> None:
        """Stop a body that comes in drops, in code that nothing else can stop.

        Raises:
            TimeoutError: The job has no time left.
        """
        if self._work is not None and self._work.remaining_seconds() == 0:
            raise TimeoutError
