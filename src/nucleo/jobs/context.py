"""A job's own view of itself: what its body may ask and say while it runs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Unpack, cast

from nucleo.errors import CancellationException as StopSignal
from nucleo.jobs.events import JobEvent, JobNotification, JobProgress
from nucleo.jobs.execution import Execution
from nucleo.jobs.handle import JobHandle, execution_of
from nucleo.jobs.job import Job
from nucleo.jobs.options import SubmitOptions

if TYPE_CHECKING:
    from nucleo.jobs.dispatcher import Dispatcher

T = TypeVar("T")

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class JobContext:
    """What a body is given beside its resources. Everything but `submit` may be called from a thread."""

    CancellationException: ClassVar[type[StopSignal]] = StopSignal

    __slots__ = ("_execution",)

    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    @property
    def job_id(self) -> str:
        """The job's id."""
        return self._execution.id

    @property
    def workflow(self) -> str:
        """The workflow it belongs to."""
        return self._execution.workflow

    @property
    def handle(self) -> JobHandle[Any]:
        """The handle its submitter holds; `ended_by` and `transcript` are set through it."""
        return self._execution.handle or JobHandle(self._execution)

    @property
    def dispatcher(self) -> "Dispatcher":
        """The dispatcher that runs it."""
        return self._execution.engine.dispatcher

    @property
    def attempt(self) -> int:
        """Which run of the body this is, from 1; every re-run counts, whatever asked for it."""
        return self._execution.attempt

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the submitter attached."""
        return self._execution.terms.metadata or _EMPTY

    @property
    def cancelled(self) -> bool:
        """Whether the job was cancelled."""
        return self._execution.is_cancelled

    @property
    def timed_out(self) -> bool:
        """Whether its time budget is spent; what is left is its grace."""
        return self._execution.is_timed_out

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the budget of this run or the deadline of the job is spent; ``None`` without either."""
        work = self._execution.work
        return None if work is None else work.remaining_seconds()

    def check_cancellation(self) -> None:
        """Leave if the job should stop. For bodies that compute for long without awaiting.

        Raises:
            CancellationException: When it was cancelled or its time budget is spent.
        """
        execution = self._execution
        if execution.is_cancelled:
            raise StopSignal(execution.reason)
        if execution.is_timed_out:
            raise StopSignal("its time budget is spent")

    def publish(self, progress: str, percent: float | None = None) -> None:
        """Say how far the job is.

        Args:
            progress: What it is doing.
            percent: How much is done, 0 to 100, when it knows.
        """
        self._execution.announce(JobProgress, message=progress, percent=percent)

    def notify(self, message: str) -> None:
        """Tell a person something."""
        self._execution.announce(JobNotification, message=message)

    def announce(self, kind: type[JobEvent], **fields: Any) -> None:
        """Publish an event of any class as this job, which fills in its id, name, workflow and the time."""
        self._execution.announce(kind, **fields)

    def dependency(self, handle: JobHandle[T]) -> T:
        """Give the result of a job that this one was submitted ``after``.

        Raises:
            ValueError: When this job was not submitted after it.
            BaseException: Its failure, when this job tolerates failed dependencies.
        """
        execution = execution_of(handle)
        outcome = execution.outcome
        if execution not in self._execution.terms.after or outcome is None:
            raise ValueError(f"{self._execution.name} was not submitted with after=[<{handle.name} {handle.id}>]")
        if outcome.failure is not None:
            raise outcome.failure.with_traceback(outcome.traceback)
        return cast("T", outcome.value)

    def submit(self, job: Job[T], **options: Unpack[SubmitOptions]) -> JobHandle[T]:
        """Start another job as part of this one; the keywords are those of `Dispatcher.submit`.

        It inherits the workflow and the deadline, and is cancelled with this job unless detached. Only orchestrators
        may: from a leaf the handle that comes back has already failed.
        """
        engine = self._execution.engine
        return cast("JobHandle[T]", engine.submit(engine, job, parent=self._execution, **options))
