"""Tools: functions a model may call, and the boundary that gives every call exactly one result.

Usable alone, in anybody's loop: `call_tool`, `call_tool_sync`, `@llm_readable`, `explain`.
"""

from nucleo.errors.wrapping import explain
from nucleo.tools.boundary import Boundary, ToolFailure
from nucleo.tools.call import call_tool, call_tool_sync
from nucleo.tools.palette import Palette
from nucleo.tools.readable import llm_readable
from nucleo.tools.result import Stage, ToolResult, to_text
from nucleo.tools.secret import Secret
from nucleo.tools.tool import Tool, tool

__all__ = [
    "Boundary",
    "Palette",
    "Secret",
    "Stage",
    "Tool",
    "ToolFailure",
    "ToolResult",
    "call_tool",
    "call_tool_sync",
    "explain",
    "llm_readable",
    "to_text",
    "tool",
]
