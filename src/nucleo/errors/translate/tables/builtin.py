"""The network faults among Python's own exceptions.

They say nothing of whom they happened with: a `TimeoutError` may be of a lock, a `BrokenPipeError` of a child process.
So they are a service's only when a service is named. That they are kinds of `OSError` means nothing either: a missing
file is one too, and no network fault.
"""

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate.faults import no_answer, system_fault


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate a network fault of Python itself, when a service is named."""
    fault = system_fault(error)
    if service is None or fault is None:
        return None
    return no_answer(fault, service=service, method=None)
