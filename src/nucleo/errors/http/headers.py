"""Headers as one lower-case mapping, whatever a client or a paste gives."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

RawHeaders: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Any, Any]]
"""Headers as clients have them: a mapping or pairs, of text or bytes."""

# What is kept beside a failure. Everything else may carry a cookie, a credential or another caller's data.
_KEPT: Final = frozenset(
    {
        "content-type",
        "date",
        "retry-after",
        "retry-after-ms",
        "x-ms-retry-after-ms",
        "x-should-retry",
        "server",
        "x-amzn-errortype",
        "x-error-code",
        "x-rejection-reason",
        "x-throttling-control",
        "grpc-status",
        "grpc-message",
    }
)
_KEPT_PREFIXES: Final = ("ratelimit", "x-ratelimit", "x-rate-limit", "anthropic-ratelimit")
_REQUEST_IDS: Final = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-ms-request-id",
    "apim-request-id",
    "x-correlation-id",
    "x-trace-id",
    "cf-ray",
)
_VALUE_LIMIT: Final = 8_192


def lower_headers(headers: RawHeaders | None) -> dict[str, str]:
    """Give headers with lower-case names; repeated ones are joined by a comma. Never raises."""
    found: dict[str, str] = {}
    for name, value in _pairs(headers):
        key, text = _text(name).strip().lower(), _text(value)[:_VALUE_LIMIT]
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Give the few headers that matter to whoever reads a failure."""
    return {
        name: value
        for name, value in headers.items()
        if name in _KEPT or name in _REQUEST_IDS or name.startswith(_KEPT_PREFIXES)
    }


def request_id(headers: Mapping[str, str]) -> str | None:
    """Find the service's own id of the request, for whoever asks its support."""
    return next((headers[name] for name in _REQUEST_IDS if headers.get(name)), None)


def _pairs(headers: RawHeaders | None) -> list[tuple[object, object]]:
    if not headers:
        return []
    try:
        # A client's own mapping may fold or hide repeated names; its pairs do not.
        multi = getattr(headers, "multi_items", None)
        source: Any = headers
        if callable(multi):
            source = multi()
        elif isinstance(headers, Mapping):
            source = cast("Mapping[Any, Any]", headers).items()
        return [(pair[0], pair[1]) for pair in cast("Iterable[Any]", source)]
    except Exception:  # noqa: BLE001 - whatever was given as headers, the answer still gets its meaning
        return []


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - see above
        return ""
