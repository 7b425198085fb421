"""What a server answered, as one value beside the failure it became."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from nucleo.errors.text import brief

BODY_LIMIT = 64 * 1024
"""Characters of a body that are kept."""
ENDPOINT_LIMIT = 300
"""Characters of a path that are kept."""


@dataclass(frozen=True, slots=True)
class HttpErrorDetail:
    """What the server said, built once with the failure that carries it.

    Attributes:
        status_code: The status the server really sent, whatever class the failure has.
        service: The service, as a person would call it.
        endpoint: The path alone, masked: scheme, host, user, query and fragment carry the caller's own arguments.
        response_body: The raw text, at most 64 KiB of it. For code and logs; it never reaches a model.
        headers: The few headers that matter, lower-case names, never a cookie or a credential.
        retry_after_seconds: How long the server asked to wait; None when it did not say.
        said: What a model may be told of the body; made from the body when not given.
    """

    status_code: int
    service: str
    endpoint: str
    response_body: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    retry_after_seconds: float | None = None
    said: str | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "endpoint", path_of(self.endpoint))
        set_(self, "response_body", self.response_body[:BODY_LIMIT])
        if not _is_wait(self.retry_after_seconds):
            set_(self, "retry_after_seconds", None)
        if self.said is None:
            set_(self, "said", _said(self))
        set_(self, "headers", MappingProxyType(_kept(self.headers)))

    @property
    def sentence(self) -> str:
        """Who answered what where, and what was said."""
        return f"{brief(self.service)} answered HTTP {self.status_code} at {self.endpoint}: {self.said}"

    def __reduce__(self) -> tuple[Any, ...]:
        state = (
            self.status_code,
            self.service,
            self.endpoint,
            self.response_body,
            dict(self.headers),
        )
        return type(self), (*state, self.retry_after_seconds, self.said)

    def to_dict(self) -> dict[str, Any]:
        """Give the wire form. The raw body stays at home: it is nobody's business but the log's."""
        return {
            "status_code": self.status_code,
            "service": self.service,
            "endpoint": self.endpoint,
            "headers": dict(self.headers),
            "retry_after_seconds": self.retry_after_seconds,
            "said": self.said,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "HttpErrorDetail":
        """Read the wire form; what is missing or of another type is left at its default."""
        status, wait = record.get("status_code"), record.get("retry_after_seconds")
        headers = record.get("headers")
        return cls(
            status_code=status if isinstance(status, int) else 0,
            service=str(record.get("service", "")),
            endpoint=str(record.get("endpoint", "")),
            headers=_texts(headers),
            retry_after_seconds=float(wait) if isinstance(wait, int | float) else None,
            said=str(record.get("said") or ""),
        )


def _texts(headers: object) -> dict[str, str]:
    if not isinstance(headers, dict):
        return {}
    return {str(name): str(value) for name, value in cast("dict[object, object]", headers).items()}


def path_of(endpoint: str) -> str:
    """Cut a path or a whole URL to its path, masked, at most 300 characters of it."""
    from nucleo.errors.masking import mask  # noqa: PLC0415 - loads with the first answer

    path = endpoint
    scheme, mark, rest = path.partition("://")
    if mark and "/" not in scheme and "?" not in scheme:
        # The path begins after the host; a URL without one has the root path.
        host_end = min((i for i in map(rest.find, "/?#") if i >= 0), default=len(rest))
        path = rest[host_end:] or "/"
    elif path.startswith("//"):
        slash = path.find("/", 2)
        path = path[slash:] if slash >= 0 else "/"
    for mark in "?#":
        path = path.partition(mark)[0]
    # Cut without a word, so that a path that was cut is still a path, and cutting it again changes nothing.
    return brief(mask(path[: 4 * ENDPOINT_LIMIT])[:ENDPOINT_LIMIT], limit=ENDPOINT_LIMIT) or "/"


def _is_wait(seconds: object) -> bool:
    return isinstance(seconds, int | float) and 0 <= seconds < float("inf")


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    if not headers:
        return {}
    from nucleo.errors.http.headers import kept_headers, lower_headers  # noqa: PLC0415 - as below

    return kept_headers(lower_headers(headers))


def _said(detail: HttpErrorDetail) -> str:
    from nucleo.errors.http.body import read_body  # noqa: PLC0415 - the readers load with the first answer
    from nucleo.errors.http.said import said_of  # noqa: PLC0415

    body = read_body(detail.response_body, detail.headers)
    return said_of(body, status_code=detail.status_code, headers=detail.headers)
