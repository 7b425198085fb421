"""The public test kit: what our own tests use, and what a tool author's tests may use.

It stands above every other part, and no part imports it. Each name is loaded on first use, so
that a test of a failure does not pay for a server.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nucleo.models.scripted import ScriptedModel
    from nucleo.testing.answer import Answer, Fault, Received
    from nucleo.testing.loop import DeadlockError, JumpingLoop, run
    from nucleo.testing.service import FailingService

__all__ = (
    "Answer",
    "DeadlockError",
    "FailingService",
    "Fault",
    "JumpingLoop",
    "Received",
    "ScriptedModel",
    "run",
)

_EXPORTS = {
    "Answer": "nucleo.testing.answer",
    "DeadlockError": "nucleo.testing.loop",
    "FailingService": "nucleo.testing.service",
    "Fault": "nucleo.testing.answer",
    "Received": "nucleo.testing.answer",
    "ScriptedModel": "nucleo.models.scripted",
    "JumpingLoop": "nucleo.testing.loop",
    "run": "nucleo.testing.loop",
}


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_EXPORTS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
