"""What is agreed when a job is submitted, and how long a body is waited for when it should leave."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from nucleo.jobs.execution import Execution

GRACE_SHARE: Final = 0.1
SHORTEST_GRACE_SECONDS: Final = 0.5
LONGEST_GRACE_SECONDS: Final = 30.0
UNTIMED_GRACE_SECONDS: Final = 5.0
"""The grace of a body without a budget: an orchestrator, which has nothing to close."""

MOST_CANCELS: Final = 5
"""A body that swallows this many cancels, a grace apart, is left behind like a thread that does not return."""


def grace_of(budget_seconds: float | None) -> float:
    """Give the seconds between telling a body that its time is up and cancelling it."""
    if budget_seconds is None:
        return UNTIMED_GRACE_SECONDS
    return min(max(budget_seconds * GRACE_SHARE, SHORTEST_GRACE_SECONDS), LONGEST_GRACE_SECONDS)


class Terms(NamedTuple):
    """What was agreed at submission. A tuple, because one is made for every job.

    Attributes:
        after: The jobs this one waits for.
        tolerates_failures: Whether it runs although one of them failed.
        is_detached: Whether it lives on without waiters and without the job that started it.
        timeout: Seconds for each run of the body.
        deadline: The end of the whole job on the loop's clock.
        deadline_seconds: The same as a budget, for people.
        upstream_retries: How often a call is repeated that upstream could not serve.
        max_pause: The longest pause in seconds before a repetition.
        metadata: The caller's own.
    """

    after: "tuple[Execution, ...]"
    tolerates_failures: bool
    is_detached: bool
    timeout: float | None
    deadline: float | None
    deadline_seconds: float | None
    upstream_retries: int
    max_pause: float
    metadata: Mapping[str, Any] | None


class Stage:
    """Where the job's task is, for whoever wants to stop it. Plain numbers: this is on the way of every job."""

    BEFORE: Final = 0
    """Its first step has not come."""
    WAITING: Final = 1
    """It waits for something and holds nothing: a cancel reaches it at once."""
    BODY: Final = 2
    """User code runs."""
    CLOSING: Final = 3
    """Its resources close, or its children end: it is given its grace first."""
