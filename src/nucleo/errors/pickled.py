"""What of a failure is pickled: its fields and notes, and the chain behind it laid out in one line.

Apart from the wire form because pickle keeps objects and the wire keeps JSON; what both fear is a value that cannot
cross. A process pool whose result cannot be loaded is broken for everybody, so whatever is kept has been loaded once.
"""

import pickle
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, SupportsIndex

from nucleo.errors.chain import walk_chain
from nucleo.errors.http.detail import HttpErrorDetail
from nucleo.errors.root import ForeignCause, LLMReadableException
from nucleo.errors.text import TEXT_LIMIT, Opaque, as_text, cut, masked, show_value

_TEXTUAL_BITS = 14_000
_CHAIN_LIMIT: Final = 50
_PLAIN: Final = (type(None), bool, int, float, str, bytes, HttpErrorDetail, Opaque)
_DEEPEST: Final = 3
# A failure may hold failures, and even itself; each level is pickled once more to see whether it can be.
_depth: ContextVar[int] = ContextVar("nucleo_pickling_depth", default=0)


def pickled_state(error: BaseException, protocol: SupportsIndex) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Give fields and notes of one of ours, and the causes behind it: our own as themselves, others as text.

    Foreign exceptions often pickle and then fail to load; so they are always rendered.

    Args:
        error: The failure, or a retry signal.
        protocol: The protocol of pickle it is asked for in; what one can hold another may not.
    """
    depth = _depth.get()
    token = _depth.set(depth + 1)
    cargo = _Cargo(protocol=protocol, shallow=depth < _DEEPEST)
    try:
        links = (link for link in walk_chain(error) if not isinstance(link, BaseExceptionGroup))
        causes = tuple(cargo.link(link) for link in islice(links, 1, _CHAIN_LIMIT + 1))
        return cargo.state(error), causes
    finally:
        _depth.reset(token)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cargo:
    protocol: SupportsIndex
    shallow: bool

    def link(self, error: BaseException) -> tuple[Any, Any]:
        if isinstance(error, LLMReadableException) and self.loads(type(error)):
            return type(error), self.state(error)
        if isinstance(error, ForeignCause):
            return None, (error.type_name, error.text)
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        return None, (name, cut(masked(as_text(error), personal=True), TEXT_LIMIT))

    def state(self, error: BaseException) -> dict[str, Any]:
        values: Mapping[str, Any] = error.__dict__
        return {name: self.portable(value) for name, value in values.items()}

    def portable(self, value: object) -> object:
        # The oldest protocols write a number as text, which Python refuses for thousands of digits.
        plain = type(value) in _PLAIN and not (isinstance(value, int) and value.bit_length() > _TEXTUAL_BITS)
        if plain or (self.shallow and not isinstance(value, BaseException) and self.loads(value)):
            return value
        return Opaque(show_value(value), as_text(value))

    def loads(self, value: object) -> bool:
        try:
            pickle.loads(pickle.dumps(value, self.protocol.__index__()))  # noqa: S301 - what was dumped in this line
        except Exception:  # noqa: BLE001 - a lock in a field must not lose the failure on its way out of a pool
            return False
        return True
