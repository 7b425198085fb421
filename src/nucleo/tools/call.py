"""Calling a tool without a dispatcher: in somebody's own loop, or without any loop at all."""

import asyncio
import contextvars
import threading
from typing import Any

from nucleo.errors import LLMReadableException
from nucleo.jobs import Dispatcher, Resources, start_body
from nucleo.limits import current_work
from nucleo.tools.boundary import Boundary, FailureHook
from nucleo.tools.jobs import call_job
from nucleo.tools.palette import Palette
from nucleo.tools.result import Stage, ToolResult
from nucleo.tools.tool import Tool


async def call_tool(
    target: Tool[..., Any] | Palette,
    arguments: object,
    *,
    name: str | None = None,
    call_id: str = "",
    on_failure: FailureHook | None = None,
) -> ToolResult:
    """Call a tool as a model asked for it.

    Args:
        target: The tool, or a palette of tools.
        arguments: The arguments as they came: an object, its JSON text, or None for none.
        name: Which tool of a palette; it may not exist.
        call_id: The id of the model's call, for logs and hooks.
        on_failure: Told once when the call fails: the stage, the failure, and what the model reads.

    Returns:
        The result, also of a call that failed: it never raises a failure. A cancel of the caller passes untouched.

    Raises:
        TypeError: The target is neither, or a palette was given without a name.
    """
    if isinstance(target, Palette):
        if name is None:
            raise TypeError(
                "call_tool on a palette needs the name of the tool: call_tool(palette, arguments, name=...)"
            )
        found = target.get(name)
        if found is None:
            return target.unknown_result(name, call_id=call_id, on_failure=on_failure)
        target = found
    elif not isinstance(target, Tool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise TypeError(f"call_tool takes a tool or a palette, not {target!r}; put @tool above the function")
    if target.needs_job:
        return await _call_in_dispatcher(target, arguments, call_id, on_failure)
    boundary = Boundary(target.name, call_id=call_id, on_failure=on_failure)
    boundary.watch_cancels()
    values = boundary.arguments(arguments, target)
    if isinstance(values, ToolResult):
        return values
    call = _call_in_thread if target.threaded else _call_here
    return await call(target, values, boundary)


def call_tool_sync(
    target: Tool[..., Any] | Palette,
    arguments: object,
    *,
    name: str | None = None,
    call_id: str = "",
    on_failure: FailureHook | None = None,
) -> ToolResult:
    """Call a tool from code without an event loop. As `call_tool`; from inside a loop it blocks that loop."""
    call = call_tool(target, arguments, name=name, call_id=call_id, on_failure=on_failure)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(call)
    return _run_beside(call)


async def _call_here(tool: Tool[..., Any], values: dict[str, Any], boundary: Boundary) -> ToolResult:
    clock = asyncio.timeout(tool.timeout)
    try:
        async with clock:
            value = await tool.invoke(values, Resources(), None)
    except BaseException as error:  # noqa: BLE001 - the seam where a tool call returns
        if clock.expired() and boundary.passing(error) is None:
            # However it chose to leave: what a stopped body raises on its way out is the casualty of the stop.
            return boundary.timed_out(tool.timeout, may_still_run=False, cause=error)
        return boundary.raised(error, Stage.BODY)
    return boundary.succeeded(value)


async def _call_in_thread(tool: Tool[..., Any], values: dict[str, Any], boundary: Boundary) -> ToolResult:
    outcome = start_body(
        lambda: tool.invoke(values, Resources(), None),
        name=f"tool {tool.name}",
        loop=asyncio.get_running_loop(),
        ended=lambda: None,
    )
    done, _ = await asyncio.wait([outcome], timeout=tool.timeout)
    if not done:
        return boundary.timed_out(tool.timeout, may_still_run=True)
    value, error = outcome.result()
    return boundary.succeeded(value) if error is None else boundary.raised(error, Stage.BODY)


async def _call_in_dispatcher(
    tool: Tool[..., Any], arguments: object, call_id: str, on_failure: FailureHook | None
) -> ToolResult:
    """Run the call as a job of its own, for a body that has resources or looks at its context."""
    outer = current_work.set(None)
    try:
        async with Dispatcher() as dispatcher:
            handle = dispatcher.submit(call_job(tool, call_id, arguments, on_failure))
            try:
                return await handle
            except LLMReadableException as failure:
                boundary = Boundary(tool.name, call_id=call_id, on_failure=on_failure)
                return boundary.stopped(failure, threaded=tool.threaded)
    finally:
        current_work.reset(outer)


def _run_beside(call: Any) -> ToolResult:
    results: list[ToolResult] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(call))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            errors.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="call_tool_sync", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
