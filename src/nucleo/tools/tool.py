"""What a tool is: a function with a docstring and annotations, or the long form, a subclass of `Tool`."""

import inspect
import math
import re
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar, Final, Generic, ParamSpec, TypeVar, cast, overload

from nucleo.jobs import Job, JobContext, Requirements, Resources
from nucleo.jobs.resources import NOTHING
from nucleo.models import ToolDefinition
from nucleo.tools.choices import Choices, with_choices
from nucleo.tools.docstring import read_docstring
from nucleo.tools.signature import read_signature

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
V = TypeVar("V")

DEFAULT_TIMEOUT: Final = 30.0
"""Seconds a call of a tool may take unless it says otherwise."""
# What both Anthropic and OpenAI accept: https://docs.anthropic.com/en/api/messages, `tools.name`.
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Tool(Generic[P, R_co]):
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
    choices: ClassVar[Choices] = {}

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
        choices: object,
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
        self.threaded = not _is_async(body, name)
        self.signature, self._choices = read_signature(body, name=name, descriptions=read.parameters, choices=choices)
        self.has_choices = bool(self._choices)
        has_needs = type(self).requirements is not cast("Any", Tool).requirements
        self.needs_job = has_needs or self.signature.context is not None
        self._body = body

    def requirements(self) -> Requirements:
        """Say what the body needs. Asked before every call."""
        return NOTHING

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, an object; with the values that choices have at this moment."""
        schema = self.signature.schema
        if not self._choices:
            return schema
        return with_choices(schema, self._choices, shown=self.signature.shown, tool=self.name)

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
        signature = self.signature
        if signature.injects:
            values = signature.bound(values, resources, context)
        positional = signature.positional
        if positional:
            first = [values.pop(name, default) for name, default in positional]
            return self._body(*first, **values)
        return self._body(**values)

    @overload
    def job(self: "Tool[..., Coroutine[Any, Any, V]]", **arguments: Any) -> Job[V]: ...
    @overload
    def job(self: "Tool[..., V]", **arguments: Any) -> Job[V]: ...
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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the body directly."""
        return cast("R_co", self._body(*args, **kwargs))

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"

    def _example(self) -> str:
        return f"{next(iter(self.signature.shown), 'name')}=..."


class FunctionTool(Tool[P, R_co]):
    """A tool made of a function by `@tool`."""

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        name: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        read_only: bool = False,
        choices: Choices | None = None,
    ) -> None:
        _check_function(function)
        self.description = ""
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", "")
        self.__wrapped__ = function
        self._define(
            function,
            name=self.__name__ if name is None else name,
            docstring=function.__doc__,
            timeout=timeout,
            read_only=read_only,
            choices=choices,
        )


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    read_only: bool = False,
    choices: Choices | None = None,
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
    return FunctionTool(function, **options)


def _check_function(function: object) -> None:
    if not callable(function):
        raise TypeError(f"@tool takes a function, not {function!r}; options are given by name: @tool(timeout=5)")
    if inspect.isclass(function):
        raise TypeError(
            f"@tool takes a function, not the class {function.__name__}: a class that is a tool extends Tool"
        )
    if isinstance(function, Tool):
        raise TypeError(f"{function!r} is a tool already")
    if isinstance(function, partial):
        raise TypeError("@tool takes a function, not a partial, which has no docstring: write a function around it")


def _is_async(body: Callable[..., Any], name: str) -> bool:
    target = body if inspect.isroutine(body) else type(body).__call__
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise TypeError(f"tool {name} yields, but a call has one result: collect what it yields and return a list")
    return inspect.iscoroutinefunction(target)


def _checked_name(given: str) -> str:
    name = cast("object", given)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name for a tool: use 1 to 64 letters, digits, underscores and hyphens, "
            "@tool(name='find_order')"
        )
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
    return _WORD.sub("_", name).lower()
