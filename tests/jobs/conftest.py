import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from nucleo.jobs import Job, JobContext, Resources


class Body(Job[Any]):
    """A job whose body is a function of its context."""

    def __init__(
        self,
        function: Callable[[JobContext], Any],
        *,
        name: str = "body",
        leaf: bool = True,
        timeout: float | None = 30.0,
    ) -> None:
        self.function = function
        self.name = name
        self.orchestrator = not leaf
        self.timeout = timeout if leaf else None

    async def run(self, resources: Resources, context: JobContext) -> Any:
        return await self.function(context)


@pytest.fixture
def body() -> type[Body]:
    return Body


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


@pytest.fixture
def others() -> Callable[[], set["asyncio.Task[Any]"]]:
    """The tasks of the loop besides the one that asks."""
    return lambda: asyncio.all_tasks() - {asyncio.current_task()}
