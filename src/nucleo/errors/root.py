"""The root of the failure set: construction, sealing, copying and pickling of every member.

A failure is a class and its fields. The fields are declared by annotation, the texts are rendered from them when
somebody reads, and nothing is stored twice; that is why a member pickles, hashes, and compares by identity, whoever
wrote it. The root does all of this once, in `__init_subclass__`, so that no subclass can forget it.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    Self,
    SupportsIndex,
    TypeVar,
    cast,
    dataclass_transform,
    final,
    runtime_checkable,
)
from weakref import WeakValueDictionary

from nucleo.errors.text import (
    NO_DETAILS,
    VERDICT_CORRECTABLE,
    VERDICT_UNCORRECTABLE,
    protect,
)

if TYPE_CHECKING:
    from nucleo.errors.http.detail import HttpErrorDetail


@runtime_checkable
class LLMReadable(Protocol):
    """Whatever can say to a model, in plain words, what went wrong."""

    @property
    def llm_message(self) -> str:
        """What the model is told: plain, actionable, without stack or internals."""
        ...


@runtime_checkable
class HumanReadable(Protocol):
    """Whatever can be shown to a person."""

    @property
    def human_message(self) -> str:
        """The sentence that a person is shown."""
        ...


@dataclass_transform(eq_default=False, field_specifiers=(field,))
@dataclass(init=False, eq=False, repr=False)
class LLMReadableException(Exception):
    """Any failure that a model may read. Sealed: extend one of the four open branches instead.

    Attributes:
        http: What the server answered, or None when no answer came.
    """

    is_correctable: ClassVar[bool] = False
    """Whether other arguments, or another call, can help."""

    http: "HttpErrorDetail | None" = field(default=None, kw_only=True)

    def __init__(self, *, http: "HttpErrorDetail | None" = None) -> None:
        if type(self) is LLMReadableException:
            _abstract(self)
        self.http = http

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        super().__init_subclass__()
        _check_seal(cls)
        _check_verdict(cls)
        for name in ("llm_message", "__str__"):
            _guard_text(cls, name)
        if abstract:
            dataclass(init=False, eq=False, repr=False)(cls)
            # Plain assignment to a method is what both checkers forbid.
            setattr(cls, "__init__", _abstract)  # noqa: B010
            return
        if cls.llm_message is LLMReadableException.llm_message:
            raise TypeError(f"{cls.__qualname__} does not say what the model reads: define the property llm_message")
        if _ANNOTATED & cls.__dict__.keys():
            dataclass(eq=False, repr=False)(cls)
        _KNOWN[wire_type(cls)] = cls

    @property
    def llm_message(self) -> str:
        """What the model is told: plain, actionable, without stack or internals. Never raises."""
        return NO_DETAILS

    def __str__(self) -> str:
        """What the log is told: one technical line. Never raises."""
        return self.llm_message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @final
    def explain_to_llm(self) -> str:
        """Give the text a model reads: the message, and the verdict line of the branch."""
        verdict = VERDICT_CORRECTABLE if self.is_correctable else VERDICT_UNCORRECTABLE
        return f"{self.llm_message}\n{verdict}"

    def to_dict(self) -> dict[str, Any]:
        """Give the wire form of this failure: JSON values only. See `nucleo.errors.record`."""
        from nucleo.errors.record import failure_to_dict  # noqa: PLC0415 - the record needs the root

        return failure_to_dict(self)

    if not TYPE_CHECKING:
        # The tuple that BaseException keeps would hold the arguments a second time, and only the positional ones.
        @property
        def args(self) -> tuple[str, ...]:
            """The text for the log, as other exceptions have it."""
            return (str(self),)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        from nucleo.errors.pickled import pickled_state  # noqa: PLC0415 - it needs the root

        return rebuild, (type(self), *pickled_state(self, protocol))

    def __copy__(self) -> Self:
        return _linked(rebuild(type(self), dict(self.__dict__), ()), self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = rebuild(type(self), {}, ())
        memo[id(self)] = twin
        twin.__dict__.update({name: _deepest_copy(value, memo) for name, value in self.__dict__.items()})
        return _linked(twin, self)


class ForeignCause(Exception):
    """What is left of an exception from outside the set once its failure was pickled: its class and its text.

    Foreign exceptions often pickle and then fail to load, which would take the failure, or a whole process pool,
    with them.

    Attributes:
        type_name: The qualified name of its class.
        text: Its message.
    """

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(type_name, text)
        self.type_name = type_name
        self.text = text

    def __str__(self) -> str:
        return f"{self.type_name}: {self.text}"


Failure = TypeVar("Failure", bound=LLMReadableException)
Rebuilt = TypeVar("Rebuilt", bound=BaseException)

_KNOWN: WeakValueDictionary[str, type[LLMReadableException]] = WeakValueDictionary()
# How a class says that it has annotations, from Python 3.11 to 3.14. One without needs no constructor of its own.
_ANNOTATED = frozenset({"__annotations__", "__annotate__", "__annotate_func__"})
_BRANCHES = "nucleo.errors.branches."
_SEALED = {
    "LLMReadableException": ("LLMReadableCheckedException", "LLMReadableRuntimeException"),
    "LLMReadableCheckedException": ("CorrectableLLMException", "UncorrectableLLMException"),
    "LLMReadableRuntimeException": ("CorrectableRuntimeLLMException", "UncorrectableRuntimeLLMException"),
}


def known_type(name: str) -> type[LLMReadableException] | None:
    """Find a concrete member of the set by its wire name."""
    return _KNOWN.get(name)


def wire_type(cls: type[LLMReadableException]) -> str:
    """Give the name a class has on the wire: bare for our own, with its module for an application's."""
    ours = cls.__module__.startswith("nucleo.")
    return cls.__qualname__ if ours else f"{cls.__module__}.{cls.__qualname__}"


def rebuild(cls: type[Rebuilt], state: Mapping[str, Any], causes: tuple[tuple[Any, Any], ...]) -> Rebuilt:
    """Make a failure again from its fields and notes; no constructor runs.

    Args:
        cls: Its class.
        state: Fields and notes.
        causes: The chain behind it in order: class and state of one of ours, or None with name and text of another.
    """
    failure = cls.__new__(cls)
    failure.__dict__.update(state)
    link: BaseException = failure
    for kind, content in causes:
        link.__cause__ = ForeignCause(*content) if kind is None else rebuild(kind, content, ())
        link = link.__cause__
    return failure


def _linked(twin: Failure, original: BaseException) -> Failure:
    notes = twin.__dict__.get("__notes__")
    if isinstance(notes, list):
        # A note added to one of the two is not the other's.
        twin.__dict__["__notes__"] = list(cast("list[object]", notes))
    twin.__cause__ = original.__cause__
    twin.__context__ = original.__context__
    twin.__suppress_context__ = original.__suppress_context__
    return twin


def _deepest_copy(value: object, memo: dict[int, Any]) -> object:
    # On trial: a copy that breaks off leaves halves in the memo, which the next field would be given as whole.
    trial = dict(memo)
    try:
        twin = copy.deepcopy(value, trial)
    except Exception:  # noqa: BLE001 - a lock in a field must not make its failure impossible to copy
        return value
    memo.update(trial)
    return twin


def _abstract(self: LLMReadableException, *args: Any, **options: Any) -> None:
    """The constructor of an abstract class, which a subclass with one of its own may still call."""
    if type(self).__init__ in {_abstract, LLMReadableException.__init__}:
        raise TypeError(f"{type(self).__name__} is abstract; raise one of its concrete subclasses")
    LLMReadableException.__init__(self, *args, **options)


def _check_seal(cls: type[LLMReadableException]) -> None:
    for parent in cls.__bases__:
        if parent is LLMReadableException or parent.__module__ == _BRANCHES[:-1]:
            permitted = _SEALED.get(parent.__name__)
            ours = f"{cls.__module__}." == _BRANCHES and cls.__qualname__ in (permitted or ())
            if permitted is not None and not ours:
                raise TypeError(
                    f"{parent.__name__} is sealed, {cls.__qualname__} cannot extend it. Extend CorrectableLLMException "
                    "when other arguments can help, UncorrectableLLMException when they cannot, or, where no two "
                    "messages are needed, CorrectableRuntimeLLMException or UncorrectableRuntimeLLMException."
                )


def _check_verdict(cls: type[LLMReadableException]) -> None:
    """Hold the verdict to be the branch's: the model must read the same words for the same branch."""
    if f"{cls.__module__}." == _BRANCHES:
        return
    verdicts = {parent.is_correctable for parent in cls.__bases__ if issubclass(parent, LLMReadableException)}
    if verdicts != {cls.is_correctable} or cls.explain_to_llm is not LLMReadableException.explain_to_llm:
        raise TypeError(
            f"{cls.__qualname__} changes the verdict of its branch: extend a correctable class or an uncorrectable "
            "one, and define neither is_correctable nor explain_to_llm."
        )


def _guard_text(cls: type[LLMReadableException], name: str) -> None:
    """Wrap a text that a class, or a mixin of it, defines, so that it is safe and never raises, whoever wrote it."""
    owner = next(parent for parent in cls.__mro__ if name in parent.__dict__)
    if owner is not cls and issubclass(owner, LLMReadableException):
        return
    defined = owner.__dict__[name]
    if isinstance(defined, property) and defined.fget is not None:
        setattr(cls, name, property(guarded(defined.fget), doc=defined.__doc__))
    elif name == "__str__" and callable(defined):
        setattr(cls, name, guarded(defined))
    else:
        raise TypeError(f"{cls.__qualname__}.{name} must be a property that returns a str")


def guarded(render: Callable[[Any], object]) -> Callable[[Any], str]:
    """Make a function that renders a text of a failure safe: its result is protected, and it never raises."""

    @wraps(render)
    def text(self: object) -> str:
        try:
            return protect(render(self))
        except Exception:  # noqa: BLE001 - fields may hold anything, and a text never raises
            return NO_DETAILS

    return text
