"""Exceptions outside the set: addressed to a developer, never to a model."""

from collections.abc import Callable
from typing import Any


class DependencyFailedException(RuntimeError):
    """A job that this one depends on failed for good; its failure is the cause.

    Attributes:
        dependency_id: The id of the job that failed.
    """

    def __init__(self, dependency_id: str) -> None:
        super().__init__(dependency_id)
        self.dependency_id = dependency_id

    def __str__(self) -> str:
        return f"the job {self.dependency_id}, which this one depends on, failed"


class JobDeadlockException(RuntimeError):
    """A job waited for another while it holds resources.

    Attributes:
        job: The job that waited.
        awaited: The job it waited for.
        call_site: The line that waited, as ``file:line``.
    """

    def __init__(self, job: str, awaited: str, call_site: str) -> None:
        super().__init__(job, awaited, call_site)
        self.job = job
        self.awaited = awaited
        self.call_site = call_site

    def __str__(self) -> str:
        return (
            f"{self.job} holds resources and waits for {self.awaited} at {self.call_site}. "
            f"Submit it with after=[...] instead, and read the result with context.dependency(...)."
        )

    def __reduce__(
        self,
    ) -> tuple[Callable[..., "JobDeadlockException"], tuple[Any, ...], dict[str, Any]]:
        return type(self), (self.job, self.awaited, self.call_site), self.__dict__


class NotImplementedException(RuntimeError):
    """A planned surface that is not built. The message says which."""
