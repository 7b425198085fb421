"""http.client, whose errors urllib.request lets through while it waits for an answer and reads it."""

from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.faults import no_answer
from nucleo.errors.translate.foreign import entry_of

_FAULTS: Final = {
    "BadStatusLine": faults.GARBLED,
    "HTTPException": faults.GARBLED,
    "ImproperConnectionState": None,
    "IncompleteRead": faults.BROKEN,
    "InvalidURL": faults.UNSENDABLE,
    "NotConnected": None,
    "RemoteDisconnected": faults.BROKEN,
    "UnimplementedFileMode": None,
}


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of http.client; a connection used out of turn is a defect of the caller: None."""
    fault = entry_of(error, _FAULTS, packages=frozenset({"http"}))
    if fault is None:
        return None
    return no_answer(fault, service=service or "http.client", method=None)
