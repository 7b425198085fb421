"""What is seen of the work: one frozen dataclass for each thing that can happen to a job."""

from dataclasses import dataclass
from typing import Protocol

from nucleo.errors import LLMReadableException


class TokenUsage(Protocol):
    """What a model call used, in tokens."""

    @property
    def input_tokens(self) -> int:
        """Tokens sent."""
        ...

    @property
    def output_tokens(self) -> int:
        """Tokens received."""
        ...

    @property
    def cached_tokens(self) -> int:
        """Tokens of the input that the provider had kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """Something that happened to a job.

    Attributes:
        job_id: The job.
        name: Its name.
        workflow: The workflow it belongs to.
        at: When, in seconds on the loop's clock.
    """

    job_id: str
    name: str
    workflow: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSubmitted(JobEvent):
    """The dispatcher heard of the job.

    Attributes:
        parent_id: The job that submitted it, if one did.
    """

    parent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStarted(JobEvent):
    """A body is about to run.

    Attributes:
        attempt: Which run of it, from 1.
    """

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWaiting(JobEvent):
    """The job waits and holds nothing.

    Attributes:
        reason: What for.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCompleted(JobEvent):
    """The job ended with a result. Terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailed(JobEvent):
    """The job ended with a failure. Terminal.

    Attributes:
        failure: What the waiters get.
    """

    failure: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCancelled(JobEvent):
    """The job was stopped by a cancel. Terminal.

    Attributes:
        reason: Why, as far as anyone said.
    """

    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTimedOut(JobEvent):
    """The job was stopped by its time budget. Terminal.

    Attributes:
        budget_seconds: The budget that ran out.
    """

    budget_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress(JobEvent):
    """The body says how far it is.

    Attributes:
        message: What it is doing.
        percent: How much is done, 0 to 100, when it knows.
    """

    message: str
    percent: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNotification(JobEvent):
    """The body tells a person something.

    Attributes:
        message: What.
    """

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRetrying(JobEvent):
    """The body will run again.

    Attributes:
        attempt: The run that comes, counted from 1 like `JobStarted.attempt`.
        pause_seconds: How long the job pauses before it.
        reason: What asked for it.
    """

    attempt: int
    pause_seconds: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed(JobEvent):
    """A tool call failed.

    Attributes:
        tool: The tool, by the name that was called.
        call_id: The id of the model's call.
        stage: Where in the boundary it failed.
        text: Exactly what the model read.
        failure: The failure itself.
    """

    tool: str
    call_id: str
    stage: str
    text: str
    failure: LLMReadableException


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(JobEvent):
    """A model answered.

    Attributes:
        model: The model's id.
        stop_reason: Why it stopped.
        usage: What the call used.
    """

    model: str
    stop_reason: str
    usage: TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsLost(JobEvent):
    """The subscriber was too slow; its oldest events were dropped. Job, name and workflow are empty.

    Attributes:
        count: How many.
    """

    count: int


TERMINAL_EVENTS = (JobCompleted, JobFailed, JobCancelled, JobTimedOut)
"""Every submitted job publishes exactly one of these, before its handle settles."""
