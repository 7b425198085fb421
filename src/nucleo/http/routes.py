"""Which way a request leaves: directly or through a proxy, and with which TLS settings."""

import urllib.request
from dataclasses import dataclass
from ssl import SSLContext
from typing import Self

import httpx2


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way out; a pool has one set of connections for each.

    Attributes:
        proxy: The proxy's address; None for a direct connection.
        ssl_context: Own TLS settings; None for the system's certificates.
        trust_env: Whether ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are heeded.
    """

    proxy: str | None = None
    ssl_context: SSLContext | None = None
    trust_env: bool = False

    @classmethod
    def to(cls, url: httpx2.URL, *, ssl_context: SSLContext | None, trust_env: bool) -> Self:
        """Find the way to an address.

        Args:
            url: The address.
            ssl_context: Own TLS settings.
            trust_env: Whether the environment's proxies and certificates are used.
        """
        proxy = _proxy_of(url) if trust_env else None
        return cls(proxy=proxy, ssl_context=ssl_context, trust_env=trust_env)

    @property
    def verify(self) -> SSLContext | bool:
        """The TLS settings as the transport takes them; certificates are always verified."""
        return True if self.ssl_context is None else self.ssl_context


def _proxy_of(url: httpx2.URL) -> str | None:
    if urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
