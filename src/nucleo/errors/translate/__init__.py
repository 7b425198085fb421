"""What other libraries raise, in members of the set: one table per library, none of them imported.

Apart from the rest of `nucleo.errors` because it knows foreign names: `tables` holds what is known of each library, and
a table loads with the first exception of its library, so that importing the failure set costs nothing of this.
"""

from typing import TYPE_CHECKING, Any

from nucleo.errors.translate.registry import Translation, register_translation
from nucleo.errors.translate.translation import translate

if TYPE_CHECKING:
    from nucleo.errors.translate.arguments import invalid_arguments

__all__ = [
    "Translation",
    "invalid_arguments",
    "register_translation",
    "translate",
]


def __getattr__(name: str) -> Any:
    if name != "invalid_arguments":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Only the boundary of a tool reads faults of arguments; whoever only raises failures never pays for it.
    from nucleo.errors.translate.arguments import invalid_arguments  # noqa: PLC0415

    return invalid_arguments
