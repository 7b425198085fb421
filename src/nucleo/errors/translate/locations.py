"""Places inside a JSON document as a model writes them: ``items.3.id``.

Apart from `arguments` because answers have places too.
"""

from collections.abc import Iterable

from nucleo.errors.text import brief

_PATH_LIMIT = 120


def dotted(location: Iterable[object], *, below: str = "") -> str:
    """Join the steps of a pydantic location to one path, at most 120 characters of it.

    Args:
        location: Names of fields and indexes of lists.
        below: The path that all of it hangs under.
    """
    steps = ([below] if below else []) + [str(step) for step in location]
    return brief(".".join(steps), limit=_PATH_LIMIT)
