"""`@llm_readable`: whatever leaves the function is in the set."""

import inspect
from collections.abc import Callable, Generator
from contextlib import aclosing
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from nucleo.errors import unwrap

P = ParamSpec("P")
R = TypeVar("R")


def llm_readable(function: Callable[P, R]) -> Callable[P, R]:
    """Make every exception that leaves a function a member of the failure set; control signals pass.

    An exception from outside the set becomes its translation, when it is one of a known library, else a
    `SystemException` that names the function.

    Args:
        function: A function or a generator function, sync or async.

    Raises:
        TypeError: It is no function.
    """
    if not callable(function):
        raise TypeError(f"@llm_readable takes a function, not {function!r}")
    component = getattr(function, "__name__", type(function).__name__)
    if inspect.isasyncgenfunction(function):
        return cast("Callable[P, R]", _async_generator(function, component))
    if inspect.isgeneratorfunction(function):
        return cast("Callable[P, R]", _generator(function, component))
    if inspect.iscoroutinefunction(function):
        return cast("Callable[P, R]", _coroutine(function, component))

    @wraps(function)
    def readable_function(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_function


def _coroutine(function: Callable[..., Any], component: str) -> Callable[..., Any]:
    @wraps(function)
    async def readable_coroutine(*args: Any, **kwargs: Any) -> Any:
        try:
            return await function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_coroutine


def _generator(function: Callable[..., Any], component: str) -> Callable[..., Any]:
    @wraps(function)
    def readable_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        try:
            return (yield from cast("Generator[Any, Any, Any]", function(*args, **kwargs)))
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_generator


def _async_generator(function: Callable[..., Any], component: str) -> Callable[..., Any]:
    @wraps(function)
    async def readable_generator(*args: Any, **kwargs: Any) -> Any:
        try:
            # A consumer that stops early closes the inner generator with this one, not whenever it is collected.
            async with aclosing(function(*args, **kwargs)) as items:
                async for item in items:
                    yield item
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_generator
