"""An answer, read once, with what is known of its circumstances."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from nucleo.errors.http.body import Body, read_body
from nucleo.errors.http.fault import Fault, read_fault, say_more
from nucleo.errors.http.headers import RawHeaders, lower_headers
from nucleo.errors.http.quirk import Quirk
from nucleo.errors.http.quirks import quirk_of
from nucleo.errors.http.retry_after import parse_retry_after


@dataclass(slots=True)
class Answer:
    """An answer and its circumstances.

    Attributes:
        service: Who answered.
        status: The status.
        body: The body, read.
        fault: What the body says of the failure.
        headers: Headers with lower-case names.
        quirk: What is particular about the service, if anything is known.
        operation: What was being done.
        wait: Seconds it asked to wait, or None.
    """

    service: str
    status: int
    body: Body
    fault: Fault
    headers: dict[str, str]
    quirk: Quirk | None
    operation: str
    wait: float | None


def read_answer(
    service: str,
    endpoint: str,
    status: int,
    body: str | bytes,
    *,
    headers: RawHeaders | None,
    operation: str,
    now: datetime | float | None,
) -> Answer:
    """Read an answer; arguments as in `nucleo.errors.http.mapping.inspect_response`."""
    names = lower_headers(headers)
    read = read_body(body, names)
    quirk = quirk_of(_host(endpoint))
    wait = parse_retry_after(names, now=now, body=read, milliseconds=quirk is not None and quirk.milliseconds)
    fault = read_fault(read, names)
    if quirk is not None and quirk.places:
        say_more(fault, read, quirk.places)
    return Answer(service, status, read, fault, names, quirk, operation, wait)


def _host(endpoint: str) -> str:
    if "://" not in endpoint[:40]:
        return ""
    try:
        return urlsplit(endpoint[:4096]).netloc
    except ValueError:
        return ""
