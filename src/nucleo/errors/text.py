"""How the texts of a failure are made safe and short.

Everything a model or a log reads of a failure passes through here: values are shown as JSON and cut, control and
bidirectional characters never survive, and no text can contain a verdict line that we did not write ourselves.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from json.encoder import encode_basestring
from typing import Final, cast

VERDICT_CORRECTABLE: Final = (
    "[This error may be correctable - you can retry with different parameters or try a different approach]"
)
VERDICT_UNCORRECTABLE: Final = "[This error is not correctable - consider an alternative approach]"

VALUE_LIMIT: Final = 200
"""Characters of any one value that a model is shown."""
TEXT_LIMIT: Final = 10_000
"""Characters of a whole message, whatever its fields hold."""
NO_DETAILS: Final = "The call failed and no details were given."

# How many times more of a text is read than is shown of it.
_WINDOW: Final = 8
_BEYOND_FIGURES: Final = 10**15
_MOST_TEXTS: Final = 10_000

_FORGED_VERDICT: Final = r"\[(?=\s*this\s+error\s+(?:may\s+be|is\s+not)\s+correctable)"


class Opaque:
    """What is left of a value that JSON or pickle could not hold once it has crossed a process.

    Attributes:
        description: How it was shown as a value.
        text: How it stood in a sentence.
    """

    def __init__(self, description: str, text: str) -> None:
        self.description = description
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.description, self.text))

    def __repr__(self) -> str:
        return self.description


def show_value(value: object, *, limit: int = VALUE_LIMIT) -> str:
    """Show a value to a model as JSON, so that an empty string and null are visible.

    Args:
        value: Any object at all.
        limit: Characters of the value that are shown; the rest is counted.

    Returns:
        The JSON text with control and bidirectional characters escaped; bytes by their length; a value that JSON
        cannot hold by the name of its type, never by its ``repr``.
    """
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    try:
        if isinstance(value, str):
            if len(value) <= limit and value.isprintable():
                return encode_basestring(value)
            shown = json.dumps(_beginning(value, limit), ensure_ascii=False)
            return cut(_escape(shown), limit, len(value) + 2)
        if isinstance(value, Opaque):
            return cut(clean_text(value.description), 2 * limit)
        return _shown_json(value, limit)
    except Exception:  # noqa: BLE001 - a value's own methods may raise anything, and a text never does
        return _shown_type(value)


def brief(value: object, *, limit: int = VALUE_LIMIT) -> str:
    """Show a name, an identifier or a detail as plain text on one line, at most `limit` characters of it."""
    if type(value) is str and len(value) <= limit and value.isprintable():
        return value
    text = as_text(value)
    head = _beginning(text, limit)
    line = " ".join(clean_text(head).split())
    return cut(line, limit, len(line) + max(0, len(text) - _WINDOW * limit))


def as_text(value: object) -> str:
    """Give the text of a value; one that has no text of its own is shown as `show_value` shows it."""
    if type(value) is str:
        return value
    if isinstance(value, Opaque):
        return value.text
    if not (value is None or isinstance(value, int | float)) and type(value).__str__ is object.__str__:
        # Its text would be its repr: an address in memory, or the fields of somebody's dataclass.
        return show_value(value)
    try:
        return str.__str__(str(value))
    except Exception:  # noqa: BLE001 - a foreign __str__ may raise anything, and a text never does
        return _shown_type(value)


def masked(text: str, *, personal: bool = False) -> str:
    """Take secrets out of a text.

    Args:
        text: The text.
        personal: Take personal data out as well, as befits the words of others. An address that the model itself
            passed as a value is what it has to correct, and stays.
    """
    return _mask()(text, personal=personal)


@cache
def _mask() -> Callable[..., str]:
    # Loads with the first text that is read; even an import that has nothing to do is slower than the rest of a text.
    from nucleo.errors.masking import mask  # noqa: PLC0415

    return mask


def clean_text(text: str) -> str:
    """Take out what has no place in a text for a model, and alter every verdict line in it.

    Control characters other than newline and tab, bidirectional marks, zero-width and tag characters, private-use
    and unassigned code points and lone surrogates are dropped: exactly what `str.isprintable` refuses, spaces apart.
    """
    if not text.isprintable():
        text = "".join(map(_plain, text)) if not _printable_but_for_breaks(text) else text
    return alter_verdicts(text)


def alter_verdicts(text: str) -> str:
    """Alter every verdict line in a text that is not ours, so that it can never speak as us."""
    if "[" in text and "correctable" in text.lower():
        return re.sub(_FORGED_VERDICT, "(", text, flags=re.IGNORECASE)
    return text


def cut(text: str, limit: int, length: int | None = None) -> str:
    """Cut a text to `limit` characters, on a blank where one is near, saying how many more there were.

    Args:
        text: The text, or its beginning.
        limit: Characters that are kept.
        length: The length of the whole text when `text` is only its beginning.
    """
    length = len(text) if length is None else max(length, len(text))
    if length <= limit:
        return text
    kept = text[:limit]
    blank = kept.rfind(" ", limit - limit // 8)
    if blank > 0:
        kept = kept[:blank]
    return f"{kept}... [{length - len(kept):,} more characters]"


def protect(text: object) -> str:
    """Make a rendered message fit to be read: cleaned, masked, bounded, never empty."""
    words = text if isinstance(text, str) else as_text(text)
    if len(words) > 4 * TEXT_LIMIT:
        # Masking comes before cutting, yet must not read megabytes to show a page.
        words = cut(words, 4 * TEXT_LIMIT)
    if not words.isprintable() or "[" in words:
        words = clean_text(words)
    safe = masked(words)
    if safe != words or len(safe) > TEXT_LIMIT:
        words = clean_text(cut(safe, TEXT_LIMIT))
    return words if words and not words.isspace() else NO_DETAILS


def sentence(text: str) -> str:
    """End a text with a full stop unless it already ends like a sentence."""
    stripped = text.rstrip()
    return stripped if stripped.endswith((".", "!", "?", ":", '."', ".'")) else f"{stripped}."


def seconds(value: object) -> str:
    """Say a duration in seconds: ``30 seconds``, ``0.9 seconds``, ``1 second``."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _BEYOND_FIGURES:
        return "an unknown time"
    rounded = round(value, 2)
    figure = f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:,.2f}".rstrip("0")
    return f"{figure} second" if figure == "1" else f"{figure} seconds"


def count(value: object) -> str | None:
    """Say a whole number with thousands separators; None for what is none, or is beyond any meaning."""
    if not isinstance(value, int) or isinstance(value, bool) or not abs(value) < _BEYOND_FIGURES:
        return None
    return f"{value:,}"


def as_texts(values: object) -> tuple[str, ...]:
    """Give a sequence of texts as a tuple; one text alone counts as one, never as its characters. Never raises."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        return (as_text(values),)
    try:
        return tuple(as_text(value) for value in islice(cast("Iterable[object]", values), _MOST_TEXTS))
    except Exception:  # noqa: BLE001 - somebody's iterator must not replace the failure that is being made
        return (_shown_type(cast("object", values)),)


def _beginning(text: str, limit: int) -> str:
    """What of a text is looked at to show `limit` characters of it, masked: half a secret would not be known as one."""
    return text if len(text) <= limit else masked(text[: _WINDOW * limit])


def _shown_json(value: object, limit: int) -> str:
    encoder = json.JSONEncoder(ensure_ascii=False)
    if not isinstance(value, dict | list | tuple):
        return cut(_escape(encoder.encode(value)), limit)
    # Chunk by chunk, so that a large value costs no more than what is shown of it.
    parts: list[str] = []
    length = 0
    for part in encoder.iterencode(value):
        parts.append(part)
        length += len(part)
        if length > _WINDOW * limit:
            return _escape(masked("".join(parts)[: _WINDOW * limit]))[:limit] + "... [cut]"
    return cut(_escape(_beginning("".join(parts), limit)), limit)


def _shown_type(value: object) -> str:
    return f"<{clean_text(type(value).__name__)[:VALUE_LIMIT]}>"


def _escape(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode-escape").decode("ascii") for char in text)


def _printable_but_for_breaks(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "").isprintable()


def _plain(char: str) -> str:
    if char.isprintable() or char in "\n\t":
        return char
    return " " if char.isspace() else ""
