"""The keywords of a submission, as both doors (dispatcher and context) take them."""

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, TypedDict

from nucleo.jobs.handle import JobHandle

UPSTREAM_RETRIES = 3
"""How often a call is repeated that upstream could not serve, unless the submitter says otherwise."""


class SubmitOptions(TypedDict, total=False):
    """The keywords of `Dispatcher.submit`, where they are documented."""

    after: Sequence[JobHandle[Any]]
    workflow: str | None
    timeout: float | EllipsisType | None
    deadline: float | None
    detached: bool
    tolerate_failed_dependencies: bool
    upstream_retries: int
    max_pause: float
    metadata: Mapping[str, Any] | None
