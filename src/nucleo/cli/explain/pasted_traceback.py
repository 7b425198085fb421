"""Reading a Python traceback as people paste it: its causes and its groups, not its frames.

The format is that of `traceback.TracebackException`: https://docs.python.org/3/library/traceback.html. What stands in a
bar (``|``) belongs to a group; the column of the bar tells whose.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

CHAIN_LIMIT: Final = 100
"""Exceptions of one chain, and members of one group, that are kept; the last ones, which are the outermost."""
DEPTH_LIMIT: Final = 20
"""Groups inside groups that are kept."""

_NAME: Final = r"(?:(?:[^\W\d]\w*|<locals>)\.)*[^\W\d]\w*"
_EXCEPTION: Final = re.compile(rf"({_NAME})(?::(?:\s(.*))?)?", re.DOTALL)
_TITLE: Final = "Traceback (most recent call last):"
_HEADER: Final = re.compile(rf"^(?P<margin>.*?)(?:\+ )?(?:Exception Group )?{re.escape(_TITLE)}\s*$")
_CAUSE: Final = "The above exception was the direct cause of the following exception:"
_CONTEXT: Final = "During handling of the above exception, another exception occurred:"
_RULE: Final = re.compile(r"^(\s*)\+(-\+)?-{4,}(?: (?:\d+|\.\.\.) -{4,})?\s*$")
_BARRED: Final = re.compile(r"^(\s*)\|(?: |$)")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_LAST_LINES: Final = 1000
_SUFFIXES: Final = ("Error", "error", "Exception", "Exit", "Interrupt", "Warning", "Group", "Timeout", "Iteration")
_GROUP_COUNT: Final = re.compile(r"\s?\(\d+ sub-exceptions?\)$")


@dataclass(slots=True, kw_only=True)
class PastedException:
    """One exception of a traceback.

    Attributes:
        qualified_name: Its class, with the module as the traceback printed it.
        message: Its text.
        behind: What it was raised from, or while handling what.
        is_cause: Whether `behind` is its cause, and not only its context.
        members: The exceptions of a group.
    """

    qualified_name: str
    message: str
    behind: "PastedException | None" = None
    is_cause: bool = False
    members: "list[PastedException]" = field(default_factory=list["PastedException"])


@dataclass(slots=True)
class _Level:
    """The lines behind one bar, and between them the members of the group they told of."""

    column: int
    content: "list[str | list[PastedException]]" = field(default_factory=list["str | list[PastedException]"])


def read_traceback(pasted: str) -> PastedException | None:
    """Read the exception that a traceback ends with; None when no line names a class.

    A single line that names a class will do as well.
    """
    lines = [_COLOUR.sub("", line) for line in pasted.replace("\r\n", "\n").split("\n")]
    return _chain(_nested(_without_margin(lines)))


def _header(line: str) -> re.Match[str] | None:
    # The cheap look first: most lines of a long text are none.
    return _HEADER.match(line) if _TITLE in line else None


def _without_margin(lines: list[str]) -> list[str]:
    """Drop what comes before the first header, and what a log or a page puts in front of every line."""
    for place, line in enumerate(lines):
        header = _header(line)
        if header is None:
            continue
        margin = header["margin"].removesuffix("  ") if "Exception Group" in line else header["margin"]
        return [rest.removeprefix(margin) for rest in lines[place:]]
    return lines


def _nested(lines: Sequence[str]) -> "list[str | list[PastedException]]":
    """Sort the lines by the bars they stand behind; the members of a group become one entry among its lines."""
    levels = [_Level(-1)]
    for line in lines:
        rule, barred = _RULE.match(line), _BARRED.match(line)
        if rule is not None and len(levels) > 1:
            column = len(rule[1])
            _close(levels, column + 1)
            if rule[2]:
                levels[-1].content.append([])
                levels.append(_Level(column + 2))
            elif levels[-1].column == column:
                # The next member of the same group, or its end, after which nothing follows.
                _close(levels, column)
                levels.append(_Level(column))
            continue
        column = _column_of(line, barred, levels[-1].column)
        _close(levels, column + 1)
        if column > levels[-1].column:
            levels.append(_Level(column))
        levels[-1].content.append(line[column + 2 :] if column >= 0 and _is_drawn(line, column) else line)
    _close(levels, 0)
    return levels[0].content


def _column_of(line: str, barred: re.Match[str] | None, current: int) -> int:
    """Tell the column of the bar that a line stands behind; -1 for one outside every group."""
    if barred is not None:
        return len(barred[1])
    if _header(line):
        return line.index("+") if "+ Exception Group" in line else -1
    # Python draws no bar before the second line of a message, and none before an empty one.
    return -1 if line in {_CAUSE, _CONTEXT} else current


def _is_drawn(line: str, column: int) -> bool:
    return line[column : column + 1] in {"|", "+"} and not line[:column].strip()


def _close(levels: list[_Level], column: int) -> None:
    """End every level from this column on: what it told of is a member of the group below it, or goes on there."""
    while len(levels) > 1 and levels[-1].column >= column:
        ended = levels.pop()
        below = levels[-1].content
        members = below[-1] if below and isinstance(below[-1], list) else None
        if members is None:
            # The outermost group has a bar of its own, with nobody's members around it.
            below.extend(ended.content)
        elif len(levels) <= DEPTH_LIMIT and len(members) < CHAIN_LIMIT:
            found = _chain(ended.content)
            if found is not None:
                members.append(found)


def _chain(content: "Sequence[str | list[PastedException]]") -> PastedException | None:
    """Read the exceptions of a chain, one after another, each behind the one that follows it."""
    last: PastedException | None = None
    for told, is_cause in list(_parts(content))[-CHAIN_LIMIT:]:
        found = _exception(told)
        if found is not None:
            found.behind, found.is_cause = last, is_cause
            last = found
    return last


def _parts(
    content: "Sequence[str | list[PastedException]]",
) -> "Iterator[tuple[list[str | list[PastedException]], bool]]":
    part: list[str | list[PastedException]] = []
    is_cause = False
    for entry in content:
        if isinstance(entry, str) and entry.strip() in {_CAUSE, _CONTEXT}:
            yield part, is_cause
            part, is_cause = [], entry.strip() == _CAUSE
        else:
            part.append(entry)
    yield part, is_cause


def _exception(part: "Sequence[str | list[PastedException]]") -> PastedException | None:
    lines = [line for line in part if isinstance(line, str)]
    members = [member for entry in part if isinstance(entry, list) for member in entry]
    start = _start(lines)
    match = None if start is None else _EXCEPTION.fullmatch("\n".join(lines[start:]).rstrip())
    if match is None:
        return None
    message = (match[2] or "").strip()
    if members:
        message = _GROUP_COUNT.sub("", message)
    return PastedException(qualified_name=match[1], message=message, members=members)


def _start(lines: Sequence[str]) -> int | None:
    """Find the line that names the class: the first after the frames, which are further in."""
    headers = [place for place, line in enumerate(lines) if _header(line)]
    if headers:
        after = range(headers[-1] + 1, len(lines))
        return next((place for place in after if lines[place].strip() and not lines[place].startswith(" ")), None)
    last = range(len(lines) - 1, max(-1, len(lines) - 1 - _LAST_LINES), -1)
    return next((place for place in last if _names_class(lines[place])), None)


def _names_class(line: str) -> bool:
    match = _EXCEPTION.fullmatch(line.rstrip())
    if match is None:
        return False
    package, _, name = match[1].rpartition(".")
    return name.endswith(_SUFFIXES) or (bool(package) and name[0].isupper())
