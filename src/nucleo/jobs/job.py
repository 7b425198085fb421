"""What can be run: a name, a budget, what it needs, and a body."""

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from nucleo.jobs.resources import NOTHING, Requirements, Resources

if TYPE_CHECKING:
    from nucleo.jobs.context import JobContext

T = TypeVar("T")

DEFAULT_TIMEOUT_SECONDS = 30.0
"""The budget of a leaf that names none."""


class Job(Generic[T]):
    """One piece of work, submitted to a dispatcher.

    A **leaf** (a tool call, a model call) declares what it needs, holds it while it runs and may neither submit nor
    await other jobs. An **orchestrator** (a thinker, a doer) holds nothing and has no timeout of its own; it alone
    submits and awaits jobs. Subclass it and define `run`, or for a synchronous body set ``threaded`` and define
    `run_sync`. A job may run several times, on fresh resources each time, and keeps its own state between runs.

    Attributes:
        name: How people and models call it; the class name unless set.
        timeout: Seconds for each run of the body, ``None`` for no limit. 30 for leaves, none for orchestrators.
        orchestrator: Whether it submits and awaits other jobs.
        threaded: Whether its body is `run_sync`, in a daemon thread of its own.
    """

    name: str = "Job"
    timeout: float | None = DEFAULT_TIMEOUT_SECONDS
    orchestrator: bool = False
    threaded: bool = False

    _has_own_name: ClassVar[bool] = False
    _has_own_timeout: ClassVar[bool] = False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = cls.__dict__
        if "name" in own:
            cls._has_own_name = True
        elif not cls._has_own_name:
            cls.name = cls.__name__
        if "timeout" in own:
            cls._has_own_timeout = True
        elif own.get("orchestrator") is True and not cls._has_own_timeout:
            cls.timeout = None

    def requirements(self) -> Requirements:
        """Say what the body needs. Asked before every run."""
        return NOTHING

    async def run(self, resources: Resources, context: "JobContext") -> T:
        """Do the work. What it raises reaches the waiter as a member of the failure set.

        Args:
            resources: What `requirements` asked for, opened.
            context: The job's own view of itself.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no run")

    def run_sync(self, resources: Resources, context: "JobContext") -> T:
        """Do the work of a threaded job, with the job's context variables.

        Args:
            resources: What `requirements` asked for, opened.
            context: The job's own view of itself; its methods may be called from the thread.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no run_sync")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
