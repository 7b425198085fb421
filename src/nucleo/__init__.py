"""Nucleo: a runtime for LLM agents inside your own process, built around failures that behave.

Names load with their first use, so that ``import nucleo`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nucleo.agents import Thinker
    from nucleo.http import ApiClient, SyncApiClient
    from nucleo.jobs import Dispatcher, Job, JobContext, JobHandle, run
    from nucleo.tools import Palette, Tool, ToolResult, call_tool, call_tool_sync, explain, llm_readable, tool

__all__ = [
    "ApiClient",
    "Dispatcher",
    "Job",
    "JobContext",
    "JobHandle",
    "Palette",
    "SyncApiClient",
    "Thinker",
    "Tool",
    "ToolResult",
    "call_tool",
    "call_tool_sync",
    "explain",
    "llm_readable",
    "run",
    "tool",
]

_HOMES = {
    "Thinker": "agents",
    "ApiClient": "http",
    "SyncApiClient": "http",
    "Dispatcher": "jobs",
    "Job": "jobs",
    "JobContext": "jobs",
    "JobHandle": "jobs",
    "run": "jobs",
    "Palette": "tools",
    "Tool": "tools",
    "ToolResult": "tools",
    "call_tool": "tools",
    "call_tool_sync": "tools",
    "explain": "tools",
    "llm_readable": "tools",
    "tool": "tools",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - needed at most once a name

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
