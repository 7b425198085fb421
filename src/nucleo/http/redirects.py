"""Where a redirect leads, and what may be carried there.

Apart from the exchange because this is where a credential could leave for another host: the transport follows nothing
by itself.
"""

from collections.abc import Iterable
from urllib.parse import unquote_plus

import httpx2

from nucleo.errors.translate.faults import ASTRAY, REDIRECTS, Fault

MOST_REDIRECTS = 5

_MOVED = 301
_FOUND = 302
_SEE_OTHER = 303
_STATUSES = frozenset({301, 302, 303, 307, 308})

_CARRIED_ANYWHERE = ("accept", "accept-encoding", "accept-language", "user-agent")
_OF_THE_BODY = ("content-type", "content-encoding", "content-language")
_REMADE = frozenset({"host", "content-length", "transfer-encoding"})

_SENT_ONCE = Fault(words="it redirected a request whose body can be sent only once", sent=False)


class RedirectRefusedError(Exception):
    """A redirect that is not followed.

    Attributes:
        fault: What the model reads of it.
    """

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.words)


def is_redirect(status: int, location: str | None) -> bool:
    """Whether an answer asks for the request to be sent elsewhere."""
    return status in _STATUSES and bool(location)


def redirected(
    request: httpx2.Request, status: int, location: str, *, hops: int, secrets: Iterable[str]
) -> httpx2.Request:
    """Make the request that follows a redirect.

    On the way to another origin (scheme, host or port) it keeps nothing but what every client sends, and it does not
    go there at all when its address or its body holds a secret. An upgrade of the same host to TLS is the same origin.

    Args:
        request: The request that was answered.
        status: The redirecting status.
        location: The Location header.
        hops: How many redirects have been followed already.
        secrets: What must not reach another host.

    Raises:
        RedirectRefusedError: It is not followed.
    """
    if hops >= MOST_REDIRECTS:
        raise RedirectRefusedError(REDIRECTS)
    url = _target(request.url, location)
    method = _method(request.method, status)
    keeps_body = method == request.method
    body = _body(request) if keeps_body else b""
    if same_origin(request.url, url):
        names = {name.lower() for name in request.headers} - _REMADE
        names -= set() if keeps_body else set(_OF_THE_BODY)
    else:
        _refuse_secrets(str(url).encode() + b"\n" + body, secrets)
        names = {*_CARRIED_ANYWHERE, *(_OF_THE_BODY if keeps_body else ())}
    headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() in names]
    return httpx2.Request(method, url, headers=headers, content=body or None, extensions=request.extensions)


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether two addresses are of one server, an upgrade from HTTP to HTTPS on the usual ports included."""
    if one.origin == other.origin:
        return True
    upgrade = one.scheme == "http" and other.scheme == "https" and one.port is None and other.port is None
    return upgrade and one.host == other.host


def _target(base: httpx2.URL, location: str) -> httpx2.URL:
    try:
        url = base.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise RedirectRefusedError(ASTRAY) from error
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        raise RedirectRefusedError(ASTRAY)
    return url


def _method(method: str, status: int) -> str:
    # Fetch standard, 4.4: a 303 is read with GET; after 301 and 302 every browser has made POST a GET.
    if status == _SEE_OTHER and method != "HEAD":
        return "GET"
    return "GET" if status in {_MOVED, _FOUND} and method == "POST" else method


def _body(request: httpx2.Request) -> bytes:
    try:
        return request.content
    except httpx2.RequestNotRead as error:
        raise RedirectRefusedError(_SENT_ONCE) from error


def _refuse_secrets(sent: bytes, secrets: Iterable[str]) -> None:
    # Bytes of any kind pass through Latin-1 unharmed, so one search finds a secret in text and in binary bodies.
    text = sent.decode("latin-1")
    decoded = unquote_plus(text)
    for secret in secrets:
        form = secret.encode().decode("latin-1")
        if form and (form in text or form in decoded or secret in decoded):
            raise RedirectRefusedError(ASTRAY)
