"""The thinker: a model that is asked what to do next, and does it with tools, until it has an answer."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin

from nucleo.agents.answer import AnswerType
from nucleo.agents.run import ThinkerJob
from nucleo.models import Message, ModelClient, check_model_id
from nucleo.tools import Palette, Tool

In = TypeVar("In")
Out = TypeVar("Out")


class Thinker(Generic[In, Out]):
    """A task for a model: instructions, tools, and the type of the answer.

    Made directly, or as a subclass that sets the same names as class attributes:

        class OrderAgent(Thinker[str, OrderAnswer]):
            instructions = "Answer the customer's question about an order."
            tools = (find_order,)
            model = "anthropic:claude-sonnet-5"

        answer = await dispatcher.submit(OrderAgent().job("Where is order 1042?"))

    Args:
        instructions: What the model is told to do.
        tools: The tools it may call; names must differ.
        model: ``"provider:name"``, or a `ModelClient`.
        output: The type of the answer. ``str`` for plain text; else the model is asked for JSON of that type.
        name: How people call it in logs and events; the class name unless given.
        max_turns: Model calls of one run, corrections apart, before it ends as failed.
        repeat_limit: At this many identical failures of one call it is not run again; at the next the run ends.
        max_output_tokens: Output tokens of each model call; None for the provider's default.
        output_ceiling: Output tokens that a cut reply is asked again with; None for what the catalog says.
        temperature: Sampling temperature; None for the provider's default.

    Raises:
        TypeError: No instructions or no model was given, an option is not of its kind, or the answer type has no
            JSON Schema.
        ValueError: A limit is out of its range, two tools have one name, or the model id names no provider.
    """

    instructions: ClassVar[str] = ""
    tools: ClassVar[Sequence[Tool[..., Any]]] = ()
    model: ClassVar[str | ModelClient | None] = None

    def __init__(
        self,
        instructions: str | None = None,
        *,
        tools: Sequence[Tool[..., Any]] | Palette | None = None,
        model: str | ModelClient | None = None,
        output: type[Out] | None = None,
        name: str | None = None,
        max_turns: int = 50,
        repeat_limit: int = 3,
        max_output_tokens: int | None = None,
        output_ceiling: int | None = None,
        temperature: float | None = None,
    ) -> None:
        cls = type(self)
        self.name = name or cls.__name__
        self.prompt = _instructions(cls.instructions if instructions is None else instructions, self.name)
        offered = cls.tools if tools is None else tools
        self.palette = offered if isinstance(offered, Palette) else Palette(offered)
        chosen = cls.model if model is None else model
        if chosen is None:
            raise TypeError(f"{self.name} has no model: give model='provider:name' or a ModelClient")
        self.chosen_model: str | ModelClient = check_model_id(chosen) if isinstance(chosen, str) else chosen
        self.answer_type = AnswerType[Out](output or cast("type[Out]", _declared_output(cls)))
        self.max_turns = _at_least_one("max_turns", max_turns)
        self.repeat_limit = _at_least_one("repeat_limit", repeat_limit)
        self.max_output_tokens = max_output_tokens and _at_least_one("max_output_tokens", max_output_tokens)
        self.output_ceiling = output_ceiling and _at_least_one("output_ceiling", output_ceiling)
        self.temperature = temperature
        shape = self.answer_type.instruction()
        self.system = f"{self.prompt}\n\n{shape}" if shape else self.prompt

    def job(self, task: In, *, history: Sequence[Message] = ()) -> ThinkerJob[In, Out]:
        """Make a job of one run.

        Args:
            task: What the model is asked: text as it stands, any other value as JSON.
            history: A conversation to go on from, such as the transcript of an earlier run, however that ended.

        Returns:
            A job whose result is the answer. After the run its handle has `ended_by` and `transcript`, however it
            ended.
        """
        return ThinkerJob(self, task, history)


def _instructions(text: object, name: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise TypeError(f"{name} has no instructions: say in words what the model is to do")
    return text.strip()


def _at_least_one(name: str, given: int) -> int:
    value = cast("object", given)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, not {value}")
    return value


def _declared_output(cls: type[Any]) -> type[Any]:
    """Find the answer type in ``class X(Thinker[In, Out])``; plain text where none is declared."""
    for base in cls.__mro__:
        for declared in base.__dict__.get("__orig_bases__", ()):
            origin = get_origin(declared)
            if isinstance(origin, type) and issubclass(origin, Thinker):
                output = get_args(declared)[1]
                if not isinstance(output, TypeVar):
                    return cast("type[Any]", output)
    return str
