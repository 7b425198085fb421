"""The typed answer of a thinker: how the model is asked for it, and how its reply becomes a value."""

import json
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from nucleo.errors import JsonParseException, ResponseValidationException
from nucleo.errors.text import brief

T = TypeVar("T")

_FENCE = "```"


class AnswerType(Generic[T]):
    """The type an answer must have.

    Raises:
        TypeError: The type has no JSON Schema, so no model could be asked for it.
    """

    def __init__(self, output: type[T]) -> None:
        self._plain = output is str
        self.schema: dict[str, Any] | None = None
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(output)
            if not self._plain:
                self.schema = self._adapter.json_schema()
        except PydanticUserError as error:
            raise TypeError(
                f"the answer type {output!r} has no JSON Schema, so no model can be asked for it. Use a pydantic "
                "model, a dataclass, a TypedDict or a type of the standard library"
            ) from error

    def instruction(self) -> str:
        """Say to the model what shape the final answer has; empty for plain text."""
        if self.schema is None:
            return ""
        kind = "object" if self.schema.get("type") == "object" else "value"
        return (
            f"When you have the final answer, reply with one JSON {kind} and nothing else, no prose and no code fence. "
            f"It must match this JSON Schema:\n{json.dumps(self.schema, ensure_ascii=False)}"
        )

    def read(self, text: str) -> T:
        """Read the model's reply as the answer.

        Args:
            text: The text of the reply.

        Raises:
            JsonParseException: It is not the JSON that was asked for.
            ResponseValidationException: It is JSON, but fields are missing or wrong; every fault is listed.
        """
        if self._plain:
            if not text.strip():
                raise ResponseValidationException(["the answer is empty"])
            return cast("T", text)
        try:
            return self._adapter.validate_json(_unfenced(text))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
        # Outside the handler: the model's mistake must not drag pydantic's report along as its context.
        if any(fault["type"] == "json_invalid" for fault in faults):
            raise JsonParseException(str(faults[0]["msg"]))
        raise ResponseValidationException([_fault_line(fault["loc"], fault["msg"]) for fault in faults])


def _fault_line(path: tuple[int | str, ...], rule: str) -> str:
    where = ".".join(map(str, path)) or "the answer"
    return brief(f"{where}: {rule}")


def _unfenced(text: str) -> str:
    """Take the JSON out of the code fence that models put around it in spite of everything."""
    body = text.strip()
    start = body.find(_FENCE)
    end = body.rfind(_FENCE)
    if start < 0 or end <= start or body.startswith(("{", "[")):
        return body
    inside = body[start + len(_FENCE) : end]
    first_line, _, rest = inside.partition("\n")
    return rest if first_line.strip().isalpha() else inside
