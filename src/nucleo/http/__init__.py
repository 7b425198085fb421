"""A client for one HTTP service, whose failures are members of the set.

Every answer has its meaning by `nucleo.errors.http`, every silence by `nucleo.errors.translate`; nothing is repeated.
"""

from nucleo.http.client import ApiClient
from nucleo.http.pool import ConnectionPool, close_connections
from nucleo.http.service_client import Options, Path
from nucleo.http.stream import AnswerStream, SyncAnswerStream
from nucleo.http.sync_client import SyncApiClient
from nucleo.http.sync_pool import SyncConnectionPool
from nucleo.http.timeouts import Timeouts

__all__ = (
    "AnswerStream",
    "ApiClient",
    "ConnectionPool",
    "Options",
    "Path",
    "SyncAnswerStream",
    "SyncApiClient",
    "SyncConnectionPool",
    "Timeouts",
    "close_connections",
)
