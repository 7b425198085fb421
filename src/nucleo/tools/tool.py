"""What a tool is: a function with a docstring and annotations, or the long form, a subclass of `Tool`."""

import inspect
import math
import re
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, Final, Generic, ParamSpec, TypeVar, cast, overload

from nucleo.jobs import Job, JobContext, Requirements, Resources
from nucleo.models import ToolDefinition
from nucleo.tools.docstring import read_docstring
from nucleo.tools.signature import Choices, read_signature, with_choices

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_TIMEOUT: Final = 30.0
"""Seconds a call of a tool may take unless it says otherwise."""
# What both Anthropic and OpenAI accept: https://docs.anthropic.com/en/api/messages, `tools.name`.
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NO_CHOICES: Final[Choices] = {}


class Tool(Generic[P, R]):
    """Something a model may call.

    Most tools are functions under `@tool`. The long form is a subclass: its docstring is the description, the
    parameters of its `execute` are the arguments, and `requirements` says what it needs:

        class Compound(Tool):
            '''Fetch one compound by its id.'''

            timeout = 10.0

            def requirements(self) -> Requirements:
                return Requirements(resources={"database": connect})

            async def execute(self, cid: int, resources: Resources, context: JobContext) -> str: ...

    Calling a tool object calls its body directly, with the types it declares and no boundary around it.

    Attributes:
        name: What a model calls it by.
        description: What it does, for the model.
        timeout: Seconds that a call may take; None for no limit.
        read_only: It promises that nothing observable changes.
        threaded: Its body is synchronous and runs in a thread.

    Raises:
        TypeError: It has no docstring, or a parameter without an annotation or with one that has no JSON Schema.
        ValueError: Its name or its timeout is none.
    """

    name: str = ""
    description: str = ""
    timeout: float | None = DEFAULT_TIMEOUT
    read_only: bool = False
    choices: ClassVar[Choices] = _NO_CHOICES

    def __init__(self) -> None:
        cls = type(self)
        body: Callable[..., Any] | None = getattr(self, "execute", None)
        if body is None:
            raise TypeError(f"tool {cls.__name__} has no body: define execute(self, ..., resources, context)")
        self._define(
            body,
            name=self.name or _snake(cls.__name__),
            docstring=cls.__doc__ if "__doc__" in cls.__dict__ else None,
            timeout=self.timeout,
            read_only=self.read_only,
            choices=cls.choices,
        )

    def _define(
        self,
        body: Callable[..., Any],
        *,
        name: str,
        docstring: str | None,
        timeout: float | None,
        read_only: bool,
        choices: Choices,
    ) -> None:
        read = read_docstring(docstring)
        self.name = _checked_name(name)
        self.description = self.description or read.description
        if not self.description:
            raise TypeError(
                f"tool {name} has no docstring: say in it what the tool does, for the model that may call it"
            )
        self.timeout = _checked_timeout(name, timeout)
        self.read_only = read_only
        self.threaded = not inspect.iscoroutinefunction(body)
        self.signature = read_signature(body, name=name, descriptions=read.parameters)
        unknown = set(choices) - set(self.signature.names)
        if unknown:
            raise ValueError(f"tool {name}: choices for {', '.join(sorted(unknown))}, which it has no parameter for")
        self.current_choices = choices
        self._body = body

    def requirements(self) -> Requirements:
        """Say what the body needs. Asked before every call."""
        return _NOTHING

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, an object; with the values that choices have at this moment."""
        schema = self.signature.schema
        return with_choices(schema, self.current_choices) if self.current_choices else schema

    def definition(self) -> ToolDefinition:
        """Give what a model is shown of the tool."""
        return ToolDefinition(self.name, self.description, self.input_schema)

    def for_anthropic(self) -> dict[str, Any]:
        """Give the definition in the format of Anthropic's Messages API."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def for_openai(self) -> dict[str, Any]:
        """Give the definition in the format of OpenAI's chat completions."""
        function = {"name": self.name, "description": self.description, "parameters": self.input_schema}
        return {"type": "function", "function": function}

    def invoke(self, values: dict[str, Any], resources: Resources, context: JobContext | None) -> Any:
        """Call the body with checked arguments; what comes back is the value, or awaitable where it is async."""
        values = self.signature.bound(values, resources, context)
        positional = self.signature.positional
        if positional:
            return self._body(*[values.pop(name) for name in positional if name in values], **values)
        return self._body(**values)

    def job(self, *args: Any, **arguments: Any) -> Job[Any]:
        """Make a job of one call, whose result is the tool's value and whose failures are typed.

        Args:
            args: Nothing: arguments of a tool have names.
            arguments: The arguments, checked like a model's when the job runs.

        Raises:
            TypeError: An argument was given by position.
        """
        from nucleo.tools.jobs import value_job  # noqa: PLC0415 - the jobs of a tool need the tool

        if args:
            raise TypeError(f"{self.name}.job takes arguments by name, such as {self.name}.job({self._example()})")
        return value_job(self, arguments)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the body directly."""
        return cast("R", self._body(*args, **kwargs))

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    def _example(self) -> str:
        return f"{next(iter(self.signature.names), 'name')}=..."


class FunctionTool(Tool[P, R]):
    """A tool made of a function by `@tool`."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        read_only: bool = False,
        choices: Choices = _NO_CHOICES,
    ) -> None:
        self.description = ""
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "")
        self.__wrapped__ = function
        self._define(
            function,
            name=name or self.__name__,
            docstring=function.__doc__,
            timeout=timeout,
            read_only=read_only,
            choices=choices,
        )


@overload
def tool(function: Callable[P, Coroutine[Any, Any, R]], /) -> Tool[P, Coroutine[Any, Any, R]]: ...
@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    read_only: bool = False,
    choices: Choices = _NO_CHOICES,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function with a docstring and annotations.

    Args:
        function: The function, sync or async. A parameter annotated `Resources` or `JobContext` is injected and not
            shown to the model.
        options: ``name`` (the function's), ``timeout`` in seconds (30; None for no limit), ``read_only`` (nothing
            observable changes), ``choices`` (by parameter, a function that gives the values it may have).

    Raises:
        TypeError: The function has no docstring, or a parameter without an annotation or without JSON Schema.
        ValueError: The name or the timeout is none.
    """
    if function is None:

        def decorate(decorated: Callable[..., Any]) -> Tool[..., Any]:
            return FunctionTool(decorated, **options)

        return decorate
    if not callable(function):
        raise TypeError(f"@tool takes a function, not {function!r}; options are given by name: @tool(timeout=5)")
    return FunctionTool(function, **options)


_NOTHING: Final = Requirements()


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a tool: use 1 to 64 letters, digits, underscores and hyphens")
    return name


def _checked_timeout(name: str, given: float | None) -> float | None:
    if given is None:
        return None
    timeout = cast("object", given)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"tool {name}: timeout is a number of seconds or None, not {timeout!r}")
    if not (timeout > 0 and math.isfinite(timeout)):
        raise ValueError(f"tool {name}: timeout is a positive number of seconds, or None for no limit, not {timeout!r}")
    return float(timeout)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
