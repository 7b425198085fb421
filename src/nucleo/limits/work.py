"""What the code that runs now belongs to. The dispatcher sets it; clients and limiters read it."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentWork:
    """The job on whose behalf code runs; helper tasks and threads inherit it with their context.

    Attributes:
        job_id: Its id.
        name: Its name.
        deadline: When its time is up, on the clock `now`; None for never.
        holds: Whether the job holds resources at this moment. Asked each time: a helper may outlive its job.
        now: The clock of the deadline, in seconds; the loop's own, which tests replace.
    """

    job_id: str
    name: str
    deadline: float | None = None
    holds: Callable[[], bool] = lambda: False
    now: Callable[[], float] = time.monotonic

    def remaining_seconds(self) -> float | None:
        """Seconds until the deadline, never below 0; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.now())


current_work: ContextVar[CurrentWork | None] = ContextVar("nucleo_current_work", default=None)
"""The current work, or None outside any job."""
