"""Jobs and the dispatcher: everything that runs is a job, and ends in exactly one way."""

from nucleo.jobs.context import JobContext
from nucleo.jobs.dispatcher import Dispatcher, DispatcherSnapshot, JobSnapshot, run
from nucleo.jobs.events import (
    TERMINAL_EVENTS,
    EventsLost,
    JobCancelled,
    JobCompleted,
    JobEvent,
    JobFailed,
    JobNotification,
    JobProgress,
    JobRetrying,
    JobStarted,
    JobSubmitted,
    JobTimedOut,
    JobWaiting,
    ModelCalled,
    ToolFailed,
)
from nucleo.jobs.handle import JobHandle
from nucleo.jobs.job import Job
from nucleo.jobs.resources import Requirements, Resources
from nucleo.jobs.states import JobState
from nucleo.jobs.threads import start_body

__all__ = [
    "TERMINAL_EVENTS",
    "Dispatcher",
    "DispatcherSnapshot",
    "EventsLost",
    "Job",
    "JobCancelled",
    "JobCompleted",
    "JobContext",
    "JobEvent",
    "JobFailed",
    "JobHandle",
    "JobNotification",
    "JobProgress",
    "JobRetrying",
    "JobSnapshot",
    "JobStarted",
    "JobState",
    "JobSubmitted",
    "JobTimedOut",
    "JobWaiting",
    "ModelCalled",
    "Requirements",
    "Resources",
    "ToolFailed",
    "run",
    "start_body",
]
