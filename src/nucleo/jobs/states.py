"""The states of a job and the one table that says which may follow which."""

from enum import Enum
from typing import Final


class JobState(Enum):
    """Where a job is in its life."""

    QUEUED = "queued"
    """Submitted; its dependencies are not there yet, or its first step has not come."""
    RUNNING = "running"
    """Its body runs, or what belongs to it: its resources open or close."""
    WAITING = "waiting"
    """It waits for a place, or pauses before it runs again, and holds nothing."""
    CANCELLING = "cancelling"
    """It was told to stop and has not ended yet."""
    COMPLETED = "completed"
    """It ended with a result."""
    FAILED = "failed"
    """It ended with a failure."""
    CANCELLED = "cancelled"
    """It was stopped by a cancel."""
    TIMED_OUT = "timed out"
    """It was stopped by its time budget."""

    # By identity, in C: the table below is asked several times for every job.
    __hash__ = object.__hash__

    @property
    def is_terminal(self) -> bool:
        """Whether a job in this state has ended."""
        return not TRANSITIONS[self]


_ENDS: Final = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT})

TRANSITIONS: Final[dict[JobState, frozenset[JobState]]] = {
    # Out of QUEUED straight to an end: refused at the door, a failed dependency, a cancel before the first step.
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.WAITING, JobState.CANCELLING}) | _ENDS,
    JobState.RUNNING: frozenset({JobState.WAITING, JobState.CANCELLING}) | _ENDS,
    JobState.WAITING: frozenset({JobState.RUNNING, JobState.CANCELLING}) | _ENDS,
    # A body in its grace may still return, fail or be overtaken by a cancel.
    JobState.CANCELLING: _ENDS,
    JobState.COMPLETED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
    JobState.TIMED_OUT: frozenset(),
}
"""What may follow what. The first end wins, because nothing follows an end."""
