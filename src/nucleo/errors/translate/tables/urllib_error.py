"""urllib.request and its errors. It reports connecting and sending by `URLError`, and reading by nothing of its own.

Source: https://docs.python.org/3/library/urllib.error.html and ``AbstractHTTPHandler.do_open``.
"""

from io import BytesIO
from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.translate import faults
from nucleo.errors.translate.answers import Answer, answered
from nucleo.errors.translate.faults import Fault, no_answer, system_fault
from nucleo.errors.translate.foreign import attribute, host_of, text_attribute

_LIBRARY: Final = "urllib"
# HTTPRedirectHandler.inf_msg begins so; the status beside it is that of the last redirect.
_LOOP: Final = "infinite loop"


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an exception of urllib.error. None of them tells the method of the request."""
    status = attribute(error, "code")
    if not isinstance(status, int):
        return no_answer(_opening_fault(error), service=service or _LIBRARY, method=None)
    url = text_attribute(error, "filename") or ""
    named = service or host_of(url) or _LIBRARY
    if _LOOP in str(attribute(error, "msg")):
        return no_answer(faults.REDIRECTS, service=named, method=None)
    return answered(
        Answer(
            service=named,
            url=url,
            status=status,
            headers=attribute(error, "headers"),
            body=_content_of(error),
        )
    )


def _opening_fault(error: Exception) -> Fault:
    if attribute(error, "content") is not None:
        # ContentTooShortError of urlretrieve.
        return faults.BROKEN
    reason = attribute(error, "reason")
    if not isinstance(reason, BaseException):
        return faults.UNSENDABLE
    fault = system_fault(reason)
    if fault is faults.SILENT:
        # Waiting for the answer is not inside the part that this error wraps.
        return faults.SLOW_TO_CONNECT
    return faults.SENDING if fault is faults.BROKEN else fault or faults.FAILED


def _content_of(error: Exception) -> bytes | None:
    # Only a body that is in memory already; anything else would be read from the socket here.
    kept = attribute(error, "fp")
    return kept.getvalue() if isinstance(kept, BytesIO) else None
