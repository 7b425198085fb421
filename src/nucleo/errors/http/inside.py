"""Tells a text of a service's inside, a stack or a query, from one that is meant for whoever asked.

Apart from the wording because this is a table of how languages and databases write, asked of every text that may be
quoted. Each entry stands behind a substring test; most texts pass a dozen of them and nothing else.
"""

import re
from typing import Final

_SCAN: Final = 16_384
"""Characters of one text that are looked at; far more than is ever shown."""

_FRAME: Final = re.compile(
    r"at [\w$<>/`-]{1,120}+(?:\.[\w$<>/`-]{1,120}+){1,12}+\(|at \S{1,200}+ in \S{1,200}+:line \d"
)
_SOURCES: Final = (
    *(".java", ".kt", ".scala", ".clj", ".py", ".rb", ".php", ".go", ".cs", ".vb", ".js", ".ts", ".mjs", ".cpp", ".cc"),
    *(".rs", ".ex", ".exs", ".swift", ".pl", ".erl", ".jsx", ".tsx"),
)
_SELECT: Final = re.compile(r"\bselect\s[^;]{1,300}?\sfrom\s", re.DOTALL)
_UPDATE: Final = re.compile(r"\bupdate\s{1,3}\S{1,80}\s{1,3}set\s")
_DATABASE_CODE: Final = re.compile(r"ora-\d{5}|pls-\d{5}")
_PYTHON_FRAME: Final = re.compile(r"file \"[^\"]{1,300}+\", line \d")
_NUMBERED_FRAME: Final = re.compile(r"#\d{1,3}+ (?:/|\S{1,200}+\(|\[internal)")
_NAMED_EXCEPTION: Final = re.compile(r"\b(?:[a-z]\w{0,40}+\.){2,8}+[a-z]\w{0,80}?(?:exception|error)\b")
_DOTTED_SOURCE_LINE: Final = re.compile(r"\bin /[\w/.-]{1,200}+ on line|\bin [a-z]:\\[\w\\. -]{1,200}+:(?:line )?\d")


def is_internal(text: str) -> bool:
    """Tell whether a text is of a service's inside: a stack, a query."""
    lower = text[:_SCAN].lower()
    if "\n" in lower and _has_frame_lines(lower):
        return True
    return _is_trace(lower) or _is_query(lower)


def _is_trace(lower: str) -> bool:
    if "(" in lower and ("(most recent call last)" in lower or (" at " in lower and _has_frame(lower))):
        return True
    if "trace" in lower and ("stack trace:" in lower or "stacktrace:" in lower or "traceback:" in lower):
        return True
    if ":" in lower and _names_source_line(lower):
        return True
    if "line" in lower and (_PYTHON_FRAME.search(lower) or _DOTTED_SOURCE_LINE.search(lower)):
        return True
    if "#" in lower and _NUMBERED_FRAME.search(lower):
        return True
    if "x" in lower and "." in lower and "exception" in lower:
        return "exception in thread" in lower or _NAMED_EXCEPTION.search(lower) is not None
    return "goroutine " in lower or lower.startswith("panic:")


def _has_frame_lines(lower: str) -> bool:
    return "\n    at " in lower or "\n\tat " in lower or "\n  at " in lower or "\n   at " in lower


def _has_frame(lower: str) -> bool:
    at = lower.find("at ")
    while at >= 0:
        if _FRAME.match(lower, at):
            return True
        at = lower.find("at ", at + 3)
    return False


def _names_source_line(lower: str) -> bool:
    """Find ``main.go:42``: a source, a colon and a digit."""
    at = lower.find(":")
    while at >= 0:
        if lower[at + 1 : at + 2].isdigit() and lower[max(0, at - 6) : at].endswith(_SOURCES):
            return True
        at = lower.find(":", at + 1)
    return False


def _is_query(lower: str) -> bool:
    if "q" in lower and ("sqlstate" in lower or "sqlalchemy" in lower or "mysqli_" in lower or "mysql_" in lower):
        return True
    if "select" in lower and _SELECT.search(lower):
        return True
    if "update" in lower and _UPDATE.search(lower):
        return True
    if "-" in lower and _has_database_code(lower):
        return True
    return (
        "insert into " in lower
        or "delete from " in lower
        or "psycopg" in lower
        or "duplicate key value violates" in lower
        or "constraint failed:" in lower
    )


def _has_database_code(lower: str) -> bool:
    return ("ora-" in lower or "pls-" in lower) and _DATABASE_CODE.search(lower) is not None
