"""The tools that a model may call, by name."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from nucleo.errors import CorrectableRuntimeLLMException
from nucleo.errors.accounts import nearest
from nucleo.errors.text import as_text, brief
from nucleo.jobs import Job, JobContext, Resources
from nucleo.models import ToolDefinition
from nucleo.tools.boundary import Boundary, FailureHook
from nucleo.tools.jobs import call_job
from nucleo.tools.result import Stage, ToolResult
from nucleo.tools.tool import Tool

_ALL_NAMED = 12


class Palette:
    """A set of tools with distinct names.

    Args:
        tools: The tools. May be empty where a model needs none.

    Raises:
        TypeError: Something in it is no tool.
        ValueError: Two tools have one name.
    """

    def __init__(self, tools: Iterable[Tool[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool[..., Any]] = {}
        if isinstance(tools, Tool) or not isinstance(tools, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise TypeError(f"a palette takes a sequence of tools, such as [find_order], not {tools!r}")
        for each in tools:
            if not isinstance(each, Tool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
                raise TypeError(f"{each!r} is no tool: put @tool above the function, or make an instance of the class")
            if not each.name or "signature" not in vars(each):
                raise TypeError(f"{type(each).__name__} is no tool yet: call super().__init__() in its __init__")
            if each.name in self._tools:
                raise ValueError(f"two tools are called {each.name!r}: give one of them another name, @tool(name=...)")
            self._tools[each.name] = each
        self._definitions: tuple[ToolDefinition, ...] | None = None

    def find(self, name: str) -> Tool[..., Any]:
        """Give the tool of a name.

        Raises:
            CorrectableRuntimeLLMException: There is none; the nearest names are given.
        """
        found = self.get(name)
        if found is None:
            raise self._unknown(name)
        return found

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Give what a model is shown of the tools."""
        if self._definitions is None:
            definitions = tuple(each.definition() for each in self._tools.values())
            if any(each.has_choices for each in self._tools.values()):
                # Choices are asked each time.
                return definitions
            self._definitions = definitions
        return self._definitions

    def call_job(
        self, call_id: str, name: str, raw_arguments: object, *, on_failure: FailureHook | None = None
    ) -> Job[ToolResult]:
        """Make the job of one call as a model asked for it.

        Args:
            call_id: The id of the model's call.
            name: The tool that was asked for; it may not exist.
            raw_arguments: The arguments as they came: an object or its JSON text.
            on_failure: Told once when the call fails.

        Returns:
            A job whose result is the one result of the call, failure or not. Only what stops the job itself, such as
            its time budget or a cancel, makes the job fail; `Boundary.stopped` makes a result of that.
        """
        found = self.get(name)
        if found is None:
            return _UnknownToolJob(name, call_id, self._unknown(name), on_failure)
        return call_job(found, call_id, raw_arguments, on_failure)

    def unknown_result(self, name: str, *, call_id: str = "", on_failure: FailureHook | None = None) -> ToolResult:
        """Give the result of a call of a tool that does not exist."""
        return _UnknownToolJob(name, call_id, self._unknown(name), on_failure).refused(None)

    def get(self, name: str) -> Tool[..., Any] | None:
        """Give the tool of a name, or None."""
        # A model may ask for anything, and not everything can be looked up.
        asked = cast("object", name)
        return self._tools.get(asked) if isinstance(asked, str) else None

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def _unknown(self, name: str) -> CorrectableRuntimeLLMException:
        names = list(self._tools)
        if not names:
            hint = "There are no tools here: answer without them."
        elif len(names) <= _ALL_NAMED:
            hint = f"The tools are {', '.join(_nearest_first(name, names))}."
        else:
            near = nearest(as_text(name), names)
            hint = f"Of the {len(names)} tools, look at {', '.join(near)}."
        return CorrectableRuntimeLLMException(f"There is no tool '{brief(name, limit=64)}'. {hint}")


class _UnknownToolJob(Job[ToolResult]):
    timeout: float | None = None

    def __init__(
        self, name: str, call_id: str, failure: CorrectableRuntimeLLMException, on_failure: FailureHook | None
    ) -> None:
        self.name = brief(name, limit=64) or "(no name)"
        self._call_id = call_id
        self._on_failure = on_failure
        self._failure = failure

    async def run(self, resources: Resources, context: JobContext) -> ToolResult:
        """Give the result of a call that could not be made."""
        del resources
        return self.refused(context)

    def refused(self, context: JobContext | None) -> ToolResult:
        """Give that result."""
        boundary = Boundary(self.name, call_id=self._call_id, on_failure=self._on_failure, context=context)
        return boundary.failed(self._failure, Stage.LOOKUP)


def _nearest_first(name: str, names: list[str]) -> list[str]:
    near = nearest(as_text(name), names)
    return near + [each for each in names if each not in near]
