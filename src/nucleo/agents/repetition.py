"""What a model that runs in circles is told, and when its run ends."""

import json
from dataclasses import dataclass
from typing import Any

from nucleo.errors import (
    CorrectableRuntimeLLMException,
    LLMReadableException,
    UncorrectableRuntimeLLMException,
)
from nucleo.models import ToolCall

UNKNOWN_TOOL_LIMIT = 5
"""Calls of tools that do not exist, one after the other, after which a run ends."""


@dataclass(slots=True)
class _Failing:
    text: str
    correctable: bool
    times: int = 1


class Repetition:
    """Counts, per run, how often the same call failed in the same way.

    The same call is the same tool with the same arguments, whatever the order of their keys. A success forgets it.

    Args:
        limit: At this time the call is not run again and the model is told so; at the next one the run ends.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failing: dict[tuple[str, str], _Failing] = {}
        self._unknown_in_a_row = 0

    def refusal(self, call: ToolCall) -> LLMReadableException | None:
        """Say why a call is not run again; None when it may run."""
        # Nothing fails in most runs, and then no call needs a key.
        failing = self._failing.get(_key(call)) if self._failing else None
        if failing is None or failing.times < self._limit - 1:
            return None
        text = (
            f"{failing.text}\nThis same call has failed in this same way {failing.times} times, so it was not run "
            "again. Do not repeat it: change the arguments, take another way, or say that it cannot be done."
        )
        if failing.correctable:
            return CorrectableRuntimeLLMException(text)
        return UncorrectableRuntimeLLMException(text)

    def note(self, call: ToolCall, failure: LLMReadableException | None, *, unknown_tool: bool) -> bool:
        """Take note of how a call ended.

        Args:
            call: The call.
            failure: Its failure, None when it succeeded.
            unknown_tool: There is no tool of that name.

        Returns:
            Whether the run must end: this is one repetition too many.
        """
        self._unknown_in_a_row = self._unknown_in_a_row + 1 if unknown_tool else 0
        if failure is None:
            if self._failing:
                self._failing.pop(_key(call), None)
            return False
        key = _key(call)
        failing = self._failing.get(key)
        text = failure.llm_message
        if failing is None or (failing.text != text and not text.startswith(failing.text)):
            self._failing[key] = _Failing(text, failure.is_correctable)
            failing = self._failing[key]
        else:
            failing.times += 1
        return failing.times > self._limit or self._unknown_in_a_row >= UNKNOWN_TOOL_LIMIT


def _key(call: ToolCall) -> tuple[str, str]:
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return call.name, call.arguments if isinstance(call.arguments, str) else ""
    try:
        return call.name, json.dumps(arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return call.name, repr(arguments)[:10_000]
