"""What the developer's log gets of the demo's failures, one line each.

Apart from the transcript because it is for the other reader: the model is told what it can act on, the log keeps what
the model must not see, such as the stack and the exceptions underneath.
"""

import logging
from types import TracebackType
from typing import Any, Self

from nucleo.errors.chain import walk_chain


class DeveloperLog(logging.Handler):
    """Listens to the log of failures, from ``with`` to the end of the block. Other handlers hear the same as ever."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[str, str] = {}
        self._logger = logging.getLogger("nucleo.failures")

    def __enter__(self) -> Self:
        self._logger.addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record as a line."""
        call_id: Any = getattr(record, "call_id", None)
        if isinstance(call_id, str):
            self._lines[call_id] = _line_of(record)

    def take(self) -> dict[str, str]:
        """Give the lines since the last time, by the id of the call that failed."""
        taken, self._lines = self._lines, {}
        return taken


def _line_of(record: logging.LogRecord) -> str:
    line = f"{record.levelname} {getattr(record, 'failure_type', '')}"
    failure = record.exc_info[1] if record.exc_info else None
    if failure is None:
        return f"{line}, without a stack"
    beneath = [type(link).__name__ for link in walk_chain(failure)][1:]
    return f"{line}, with the stack{f' down to {beneath[-1]}' if beneath else ''}"
