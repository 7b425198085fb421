"""Models that runs share: one client for each event loop and model id, closed when its loop ends.

Apart from the resolution because of the lifetime: making a client loads certificates and opens connections, which a
run that makes one call should not pay for by itself.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator

from nucleo.models.resolution import OpenedModel, make_model

_Key = tuple[asyncio.AbstractEventLoop, str]

_lock = threading.Lock()
_shared: dict[_Key, tuple[OpenedModel, AsyncGenerator[OpenedModel, None]]] = {}


async def shared_model(model_id: str) -> OpenedModel:
    """Give the model of an id, with the client that all runs on this event loop share.

    Args:
        model_id: The id, ``provider:name``.

    Raises:
        LLMReadableException: The id or its provider cannot be used; as `resolve_model` says.
    """
    key = (asyncio.get_running_loop(), model_id)
    found = _shared.get(key)
    if found is not None:
        return found[0]
    keeper = _keep(key)
    opened = await anext(keeper)
    with _lock:
        # A loop that was closed without being shut down has left its entries, which would keep it alive for ever.
        for closed in [other for other in _shared if other[0].is_closed()]:
            del _shared[closed]
        _shared[key] = (opened, keeper)
    return opened


async def _keep(key: _Key) -> AsyncGenerator[OpenedModel, None]:
    # A loop ends the asynchronous generators that were begun on it before it closes, the one moment at which a client
    # can still be closed in order.
    opened = make_model(key[1])
    try:
        yield opened
    finally:
        with _lock:
            _shared.pop(key, None)
        await opened.client.aclose()
