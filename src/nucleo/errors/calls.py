"""Failures of a call that was wrong: the model may fix it and call again."""

from collections.abc import Sequence

from nucleo.errors.branches import CorrectableLLMException
from nucleo.errors.text import as_text, as_texts, brief, cut, show_value

_ERRORS_SHOWN = 30


class InvalidInputException(CorrectableLLMException):
    """The input broke a rule: invalid syntax, a blank field, a figure out of range.

    Attributes:
        parameter_name: The parameter as the model knows it; a dotted path for a nested one.
        invalid_value: What was given. The model is shown it; the log never is.
        validation_rule: The rule, written as the way to get it right.
    """

    parameter_name: str
    invalid_value: object
    validation_rule: str

    @property
    def llm_message(self) -> str:
        """The value, the parameter and the rule."""
        name, value = brief(self.parameter_name), show_value(self.invalid_value)
        return f"The value {value} for parameter '{name}' is not valid: {as_text(self.validation_rule)}"

    def __str__(self) -> str:
        return f"invalid {brief(self.parameter_name)}: {as_text(self.validation_rule)}"


class ResourceNotFoundException(CorrectableLLMException):
    """A well-formed identifier that names nothing: a fetch by id found no record.

    A search that finds nothing is no failure: return the empty result.

    Attributes:
        resource_type: What was looked for, as a model would call it: ``"order"``.
        identifier: The identifier that names nothing.
    """

    resource_type: str
    identifier: str

    @property
    def llm_message(self) -> str:
        """What does not exist, and the three ways on."""
        return (
            f"There is no {brief(self.resource_type)} with identifier '{brief(self.identifier)}'. "
            "Check the identifier, try a different one, or find it with another tool."
        )

    def __str__(self) -> str:
        return f"no {brief(self.resource_type)} '{brief(self.identifier)}'"


class GuardrailException(CorrectableLLMException):
    """A guardrail refused the call or the answer.

    Attributes:
        message: Why, and what would be accepted.
    """

    message: str

    @property
    def llm_message(self) -> str:
        """The message."""
        return as_text(self.message)


class JsonParseException(CorrectableLLMException):
    """The model's reply was not the JSON object it was asked for.

    Attributes:
        parse_error: The parser's reason, with the place where it stopped.
    """

    parse_error: str

    @property
    def llm_message(self) -> str:
        """That a JSON object of the asked shape was expected, and the parser's reason."""
        return (
            "The answer was expected to be one JSON object of the shape that was asked for, and nothing else. "
            f"It could not be read as one: {brief(self.parse_error, limit=500)}"
        )

    def __str__(self) -> str:
        return f"the reply is not the JSON object asked for: {brief(self.parse_error, limit=500)}"


class ResponseValidationException(CorrectableLLMException):
    """The model's reply is JSON, but fields are missing or wrong.

    Attributes:
        validation_errors: Every fault, one text each, by the dotted path of its field.
    """

    validation_errors: Sequence[str]

    def __post_init__(self) -> None:
        self.validation_errors = as_texts(self.validation_errors)

    @property
    def llm_message(self) -> str:
        """A line that says the answer was not accepted, then one line for every fault."""
        errors = self.validation_errors
        lines = [f"- {brief(error)}" for error in errors[:_ERRORS_SHOWN]]
        if len(errors) > _ERRORS_SHOWN:
            lines.append(f"- ... and {len(errors) - _ERRORS_SHOWN} more")
        return "\n".join(
            [
                "The answer was not accepted, because it does not have the shape that was asked for:",
                *lines,
            ]
        )

    def __str__(self) -> str:
        faults = "; ".join(brief(error) for error in self.validation_errors[:_ERRORS_SHOWN])
        return cut(f"the reply does not have the shape asked for: {faults}", 2000)
