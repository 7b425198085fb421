"""What a client for a service says of it, and all that both clients do alike: no I/O.

Apart from the clients so that a hook, a rule or a check is written once for sync and async code.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from ssl import SSLContext
from typing import Any, TypeAlias, TypedDict
from urllib.parse import quote, unquote

import httpx2
from pydantic_core import to_json

from nucleo.errors import InvalidInputException
from nucleo.http.body import ENCODINGS
from nucleo.http.exchange import Exchange
from nucleo.http.redirects import same_origin
from nucleo.http.routes import Route
from nucleo.http.timeouts import LiveTimeouts, Timeouts
from nucleo.limits.work import current_work

Scalar: TypeAlias = str | int | float | bool | None
"""A value of a query parameter or a form field."""

Path: TypeAlias = str | Sequence[str | int]
"""A path below the base address, or its segments, each of which is quoted: the way for what a model says."""

_READING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_NEXT = re.compile(r"<([^<>]{1,2000})>((?:\s*;[^,<]{0,300}){0,10})")
_IS_NEXT = re.compile(r";\s*rel\s*=\s*\"?(?:[^\";]*\s)?next(?:\s[^\";]*)?(?:\"|;|\s*\Z)", re.IGNORECASE)


class Options(TypedDict, total=False):
    """What a single call may say besides its path.

    Attributes:
        params: Query parameters; those that are None are left out, a sequence is repeated.
        json: The body, sent as JSON; pydantic models and dataclasses too.
        data: The body, sent as a form.
        content: The body as it is.
        headers: Further headers.
        operation: ``fetch``, ``search``, ``write`` or ``llm``, when the method does not tell: a search by POST.
        empty_on_404: A 404 is the empty result of a search.
        timeouts: Other timeouts than the client's.
    """

    params: Mapping[str, Scalar | Sequence[Scalar]]
    json: Any
    data: Mapping[str, Scalar]
    content: bytes | str
    headers: Mapping[str, str]
    operation: str
    empty_on_404: bool
    timeouts: Timeouts


class ServiceClient:
    """What the async and the sync client share. Subclass one of those, not this.

    Attributes:
        service_name: The service, as a person would call it; it is what a model reads.
        base_url: Where its paths begin. Without user information: credentials belong into `decorate`.
        timeouts: The longest waits.
        max_body_bytes: How large an answer may be after decompression.
        user_agent: How the client introduces itself.
        ssl_context: The TLS settings, where the system's certificates do not do.
        trust_env: Whether the proxies and certificates that the environment names are used.
        max_pages: After how many pages `pages` gives up.
    """

    service_name: str = ""
    base_url: str = ""
    timeouts: Timeouts = Timeouts()
    max_body_bytes: int = 10_000_000
    user_agent: str = f"nucleo/{version('nucleo')}"
    ssl_context: SSLContext | None = None
    trust_env: bool = False
    max_pages: int = 100

    def build_url(self, path: Path) -> str:
        """Hook: make the address of a path.

        Args:
            path: A path below `base_url` or its segments; a whole address only if it is of the same server, so that
                credentials never go to another one.

        Raises:
            InvalidInputException: A segment is empty or would lead out of its place.
            ValueError: The address is of another server.
        """
        if not isinstance(path, str):
            return f"{self.base_url.rstrip('/')}/{'/'.join(_segment(each) for each in path)}"
        if "://" not in path.partition("?")[0] and not path.startswith("//"):
            _refuse_dots(path)
            return f"{self.base_url.rstrip('/')}/{path.lstrip('/')}" if path else self.base_url
        whole = httpx2.URL(self.base_url).join(path)
        if not same_origin(httpx2.URL(self.base_url), whole):
            raise ValueError(f"the client of {self.service_name} calls its own server only, not another address")
        return str(whole)

    def on_response(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Hook: hear of every answer, good or bad; the place for a throttle header on a good one.

        Args:
            status: The status.
            headers: By lower-case name.
            body: The body, decompressed; of an error its first 64 KiB, of a stream nothing.
        """

    def classify(
        self,
        endpoint: str,  # noqa: ARG002 - for those who override it
        status: int,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        body: bytes,  # noqa: ARG002
    ) -> Exception | None:
        """Hook: give an answer the meaning it has for this service only, as a member of the set.

        Never make a class for one service. None leaves the answer to the common mapping.

        Args:
            endpoint: The path.
            status: The status, also a good one.
            headers: By lower-case name.
            body: The body, decompressed.
        """
        return None

    def secrets(self) -> Iterable[str]:
        """Hook: name what must never be shown besides the credentials that are found in the request."""
        return ()

    def next_page(self, headers: Mapping[str, str], value: object) -> str | None:  # noqa: ARG002 - as in classify
        """Hook: find the address of the page after this one; None after the last. By the Link header, RFC 8288.

        Args:
            headers: By lower-case name.
            value: The page, as it was read.
        """
        for match in _NEXT.finditer(headers.get("link", "")):
            if _IS_NEXT.search(match[2]):
                return match[1]
        return None

    def _prepare(self, method: str, path: Path, accept: str, options: Options) -> Exchange:
        self._check()
        if options.get("empty_on_404"):
            options.setdefault("operation", "search")
        headers = _checked(options.get("headers", {}))
        for name, value in (("Accept", accept), ("Accept-Encoding", ENCODINGS), ("User-Agent", self.user_agent)):
            _default(headers, name, value)
        content = _content(options, headers)
        url = httpx2.URL(self.build_url(path))
        params = {name: value for name, value in options.get("params", {}).items() if value is not None}
        if params:
            url = url.copy_merge_params(params)
        request = httpx2.Request(method, url, headers=headers, content=content)
        operation = options.get("operation") or ("fetch" if request.method in _READING else "write")
        timeouts = LiveTimeouts(options.get("timeouts", self.timeouts), current_work.get())
        return Exchange(self, request, timeouts=timeouts, operation=operation)

    def _route(self, url: httpx2.URL) -> Route:
        return Route.to(url, ssl_context=self.ssl_context, trust_env=self.trust_env)

    def _check(self) -> None:
        kind = type(self).__name__
        if not self.service_name:
            raise ValueError(f"{kind} must say its service_name: it is what a model reads when the service fails")
        url = httpx2.URL(self.base_url)
        if url.scheme not in {"http", "https"} or not url.host:
            raise ValueError(f"{kind} must say its base_url: an address that begins with https:// or http://")
        if url.userinfo or url.query or url.fragment:
            raise ValueError(f"the base_url of {kind} must be without user, query and fragment: set them in decorate")


def _content(options: Options, headers: dict[str, str]) -> bytes | None:
    given = [name for name in ("json", "data", "content") if name in options]
    if len(given) > 1:
        raise TypeError(f"a request has one body: give {' or '.join(given)}, not {len(given)} of them")
    if "json" in options:
        _default(headers, "Content-Type", "application/json")
        return to_json(options["json"])
    if "data" in options:
        _default(headers, "Content-Type", "application/x-www-form-urlencoded")
        fields = {name: value for name, value in options["data"].items() if value is not None}
        return str(httpx2.QueryParams(fields)).encode()
    content = options.get("content")
    return content.encode() if isinstance(content, str) else content


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (name + value).isascii():
            raise ValueError(f"the header {name!r} holds characters beyond ASCII, which no header can: encode it first")
    return dict(headers)


def _default(headers: dict[str, str], name: str, value: str) -> None:
    if name.lower() not in {given.lower() for given in headers}:
        headers[name] = value


def _segment(value: str | int) -> str:
    text = str(value)
    if text.strip() in {"", ".", ".."}:
        raise InvalidInputException("path segment", text, "it must not be empty, '.' or '..'")
    return quote(text, safe="")


def _refuse_dots(path: str) -> None:
    segments = unquote(path.partition("?")[0].partition("#")[0]).replace("\\", "/").split("/")
    if ".." in segments:
        raise InvalidInputException("path", path, "it must not lead upwards with '..'")
