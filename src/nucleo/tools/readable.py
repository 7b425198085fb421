"""`@llm_readable`: whatever leaves the function is in the set."""

import inspect
from collections.abc import Callable
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
        function: A function, sync or async, or an async generator.
    """
    component = getattr(function, "__name__", type(function).__name__)
    if inspect.isasyncgenfunction(function):
        return cast("Callable[P, R]", _generator(function, component))
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def readable_coroutine(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
                raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

        return cast("Callable[P, R]", readable_coroutine)

    @wraps(function)
    def readable_function(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_function


def _generator(function: Callable[..., Any], component: str) -> Callable[..., Any]:
    @wraps(function)
    async def readable_generator(*args: Any, **kwargs: Any) -> Any:
        try:
            async for item in function(*args, **kwargs):
                yield item
        except BaseException as error:  # noqa: BLE001 - unwrap raises what must pass
            raise unwrap(error, component=component)  # noqa: B904 - unwrap sets the cause

    return readable_generator
