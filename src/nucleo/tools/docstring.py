"""What a docstring says of a function and of its parameters, in Google form."""

import inspect
import re
from dataclasses import dataclass, field
from typing import Final

_HEADING: Final = re.compile(
    r"(Args|Arguments|Parameters|Keyword Args|Keyword Arguments|Returns|Return|Raises|Yields|Yield|Attributes):\s*"
)
_OF_PARAMETERS: Final = frozenset({"Args", "Arguments", "Parameters", "Keyword Args", "Keyword Arguments"})
_PARAMETER: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*)|)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """A docstring, read.

    Attributes:
        description: All of it but the sections that are about parameters, results and exceptions: those are said
            elsewhere, or are no business of a model.
        parameters: What the Args section says of each parameter.
    """

    description: str
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; an empty one gives an empty description."""
    kept: list[str] = []
    of_parameters: list[str] = []
    section = ""
    for line in inspect.cleandoc(text or "").splitlines():
        heading = _HEADING.fullmatch(line)
        if heading:
            section = heading[1]
        elif section and (not line.strip() or line[0].isspace()):
            if section in _OF_PARAMETERS:
                of_parameters.append(line)
        else:
            section = ""
            kept.append(line)
    return Docstring(description="\n".join(kept).strip(), parameters=_parameters(of_parameters))


def _parameters(lines: list[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    name, indent = "", 0
    for line in lines:
        words = line.strip()
        depth = len(line) - len(line.lstrip())
        match = _PARAMETER.match(words)
        if match and (not name or depth <= indent):
            name, indent = match[1], depth
            parameters[name] = (match[2] or "").strip()
        elif name and words:
            parameters[name] = f"{parameters[name]} {words}".strip()
    return parameters
