"""Arguments that are never told back: `Secret[str]` in an annotation."""

from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

T = TypeVar("T")


class SecretMark:
    """Marks an annotation as secret; see `Secret`."""


Secret: TypeAlias = Annotated[T, SecretMark()]
"""``Secret[str]``: a parameter whose value no failure ever shows. The body gets the plain value."""


def is_secret(annotation: Any) -> bool:
    """Tell whether an annotation is secret: marked by `Secret`, or one of pydantic's secret types."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return any(isinstance(mark, SecretMark) for mark in marks) or is_secret(inner)
    if hasattr(annotation, "get_secret_value"):
        return True
    return any(is_secret(part) for part in get_args(annotation) if not isinstance(part, str))


def secret_texts(value: object) -> list[str]:
    """Give the texts in a secret value that must be masked wherever they come up."""
    reveal = getattr(value, "get_secret_value", None)
    if callable(reveal):
        value = reveal()
    if value is None or isinstance(value, bool):
        return []
    text = value if isinstance(value, str) else str(value)
    # A secret of a character or two would mask half of any text and is none.
    return [text] if len(text) > 2 else []  # noqa: PLR2004 - see above
