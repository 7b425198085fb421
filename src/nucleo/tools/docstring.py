"""What a docstring says of a function and of its parameters, in Google form."""

import inspect
import re
from dataclasses import dataclass, field

_SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Yields|Example|Examples|Attributes|Note):\s*$")
_PARAMETER = re.compile(r"^(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring, read.

    Attributes:
        description: What stands before the first section.
        parameters: What the Args section says of each parameter.
    """

    description: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; an empty one gives an empty description."""
    lines = inspect.cleandoc(text or "").splitlines()
    first = next((i for i, line in enumerate(lines) if _SECTION.match(line)), len(lines))
    description = "\n".join(lines[:first]).strip()
    parameters: dict[str, str] = {}
    section, name, indent = "", "", 0
    for line in lines[first:]:
        heading = _SECTION.match(line)
        if heading:
            section, name = heading[1], ""
            continue
        if section not in {"Args", "Arguments"} or not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        match = _PARAMETER.match(line.strip())
        if match and (not name or depth <= indent):
            name, indent = match[1], depth
            parameters[name] = match[2].strip()
        elif name:
            parameters[name] = f"{parameters[name]} {line.strip()}".strip()
    return Docstring(description, parameters)
