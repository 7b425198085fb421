"""What of a failure is pickled: its fields and notes, and the chain behind it laid out in one line.

Apart from the wire form because pickle keeps objects and the wire keeps JSON; what both fear is a value that cannot
cross. A process pool whose result cannot be loaded is broken for everybody, so whatever is kept has been loaded once.
"""

import pickle
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

from nucleo.errors.chain import walk_chain
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.root import ForeignCause, LLMReadableException
from nucleo.errors.text import TEXT_LIMIT, Opaque, as_text, cut, masked, show_value

_CHAIN_LIMIT: Final = 50
_PLAIN: Final = (type(None), bool, int, float, str, bytes, HttpErrorDetail, Opaque)
_DEEPEST: Final = 3
# A failure may hold failures, and even itself; each level is pickled once more to see whether it can be.
_depth: ContextVar[int] = ContextVar("nucleo_pickling_depth", default=0)


def pickled_state(error: BaseException) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Give fields and notes of one of ours, and the causes behind it: our own as themselves, others as text.

    Foreign exceptions often pickle and then fail to load; so they are always rendered.
    """
    depth = _depth.get()
    token = _depth.set(depth + 1)
    try:
        links = (_link(link) for link in walk_chain(error) if not isinstance(link, BaseExceptionGroup))
        causes = tuple(entry for entry, _ in zip(links, range(_CHAIN_LIMIT + 1), strict=False))
        return _state(error, depth), causes[1:]
    finally:
        _depth.reset(token)


def _link(error: BaseException) -> tuple[Any, Any]:
    if isinstance(error, LLMReadableException) and _loads(type(error)):
        return type(error), _state(error, _depth.get())
    if isinstance(error, ForeignCause):
        return None, (error.type_name, error.text)
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return None, (name, cut(masked(as_text(error)), TEXT_LIMIT))


def _state(error: BaseException, depth: int) -> dict[str, Any]:
    values: Mapping[str, Any] = error.__dict__
    return {name: _portable(value, depth) for name, value in values.items()}


def _portable(value: object, depth: int) -> object:
    if type(value) in _PLAIN or (depth < _DEEPEST and not isinstance(value, BaseException) and _loads(value)):
        return value
    return Opaque(show_value(value), as_text(value))


def _loads(value: object) -> bool:
    try:
        pickle.loads(pickle.dumps(value))  # noqa: S301 - what was dumped in this very line
    except Exception:  # noqa: BLE001 - a lock in a field must not lose the failure on its way out of a pool
        return False
    return True
