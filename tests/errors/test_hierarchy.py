import importlib
import pkgutil
import re

import pytest

import nucleo
import nucleo.errors as errors
from nucleo.errors import (
    CorrectableLLMException,
    CorrectableRuntimeLLMException,
    HttpErrorResponse,
    InvalidInputException,
    LLMReadableCheckedException,
    LLMReadableException,
    LLMReadableRuntimeException,
    UncorrectableLLMException,
    UncorrectableRuntimeLLMException,
    UpstreamRetryException,
)

CONTRACT = """
LLMReadableException
  LLMReadableCheckedException
    CorrectableLLMException
      InvalidInputException
        Http400Exception Http413Exception Http422Exception
      ResourceNotFoundException
        Http404Exception
      GuardrailException JsonParseException ResponseValidationException
    UncorrectableLLMException
      ExternalServiceException
        Http500Exception Http502Exception Http503Exception HttpUnmappedStatusException
        UpstreamThrottleException
          Http429Exception
      UnauthorizedException
        Http401Exception Http403Exception
      PermissionDeniedException SystemException
      JobCancelledException CancellationException JobTimeoutException
      TokenEstimateExceedsLimitException ContextOverflowException PromptNotFoundException
  LLMReadableRuntimeException
    CorrectableRuntimeLLMException
    UncorrectableRuntimeLLMException
      QuotaExhaustedException SpendCapExceededException ModelNotFoundException ProviderRefusalException
"""


def edges_of(drawing: str) -> set[tuple[str, str]]:
    """Read a drawing of a tree, by indentation, as pairs of child and parent."""
    edges: set[tuple[str, str]] = set()
    path: list[tuple[int, str]] = []
    for line in drawing.splitlines():
        names = re.findall(r"\b[A-Z]\w+Exception\b", line.partition(":")[0])
        if not names:
            continue
        indent = re.search(r"[A-Z]", line).start()
        while path and path[-1][0] >= indent:
            path.pop()
        for name in names:
            edges.add((name, path[-1][1] if path else ""))
        path.append((indent, names[-1]))
    return edges


def members_of_the_package() -> set[type[LLMReadableException]]:
    for module in pkgutil.walk_packages(nucleo.__path__, "nucleo."):
        if module.name != "nucleo.__main__":
            importlib.import_module(module.name)
    found: set[type[LLMReadableException]] = set()
    pending: list[type[LLMReadableException]] = [LLMReadableException]
    while pending:
        cls = pending.pop()
        if cls not in found and cls.__module__.startswith("nucleo."):
            found.add(cls)
            pending.extend(cls.__subclasses__())
    return found


def test_the_classes_of_the_package_are_the_contract_and_nothing_more():
    edges = set()
    for cls in members_of_the_package():
        parents = [base.__name__ for base in cls.__bases__ if issubclass(base, LLMReadableException)]
        assert len(parents) <= 1
        edges.add((cls.__name__, parents[0] if parents else ""))
    assert edges == edges_of(CONTRACT)


def test_the_tree_drawn_in_the_package_is_the_contract():
    drawing = errors.__doc__.partition("LLMReadable (protocol)")[2].partition("Outside the tree")[0]
    assert edges_of(drawing) == edges_of(CONTRACT)


def test_every_member_is_exported_and_named_in_the_manual_page():
    names = {child for child, _ in edges_of(CONTRACT)}
    assert names <= set(errors.__all__)


def test_exactly_the_eleven_classes_of_statuses_carry_an_answer():
    carriers = {cls.__name__ for cls in members_of_the_package() if issubclass(cls, HttpErrorResponse)}
    assert carriers == {child for child, _ in edges_of(CONTRACT) if child.startswith("Http")}
    assert len(carriers) == 11


def test_no_failure_is_a_control_signal_and_no_signal_is_a_failure():
    from asyncio import CancelledError

    for cls in members_of_the_package():
        assert issubclass(cls, Exception)
        assert not issubclass(cls, CancelledError)
    assert not issubclass(UpstreamRetryException, Exception)
    assert not hasattr(UpstreamRetryException, "llm_message")


@pytest.mark.parametrize("branch", [LLMReadableException, LLMReadableCheckedException, LLMReadableRuntimeException])
@pytest.mark.parametrize("abstract", [True, False])
def test_a_sealed_branch_refuses_outsiders_when_the_class_is_made_and_names_what_to_extend(branch, abstract):
    with pytest.raises(TypeError, match="is sealed, Intruder cannot extend it") as refusal:
        type(branch)("Intruder", (branch,), {"llm_message": property(lambda self: "x")}, abstract=abstract)
    for name in (
        CorrectableLLMException,
        UncorrectableLLMException,
        CorrectableRuntimeLLMException,
        UncorrectableRuntimeLLMException,
    ):
        assert name.__name__ in str(refusal.value)


def test_taking_the_name_of_a_branch_does_not_open_the_seal():
    with pytest.raises(TypeError, match="sealed"):
        type("CorrectableLLMException", (LLMReadableException,), {"__module__": "nucleo.errors.branches.fake"})


def test_the_answer_of_a_service_is_carried_by_no_class_of_an_application():
    with pytest.raises(TypeError, match="closed"):

        class MyStatus(HttpErrorResponse, InvalidInputException):
            pass

    with pytest.raises(TypeError, match="closed"):

        class MyNotFound(errors.Http404Exception):
            pass


def test_a_retry_signal_of_an_application_is_refused():
    with pytest.raises(TypeError, match="closed"):

        class MySignal(UpstreamRetryException):
            pass


@pytest.mark.parametrize("open_branch", [CorrectableLLMException, UncorrectableLLMException])
def test_a_class_that_says_nothing_to_the_model_is_refused(open_branch):
    with pytest.raises(TypeError, match="define the property llm_message"):
        type("Silent", (open_branch,), {})


def test_a_message_that_is_no_property_is_refused():
    with pytest.raises(TypeError, match="must be a property"):
        type("Wrong", (CorrectableLLMException,), {"llm_message": "text"})


@pytest.mark.parametrize("what", [{"is_correctable": False}, {"explain_to_llm": lambda self: "x"}])
def test_the_verdict_belongs_to_the_branch(what):
    with pytest.raises(TypeError, match="changes the verdict"):
        type("Doubtful", (InvalidInputException,), what)


def test_a_class_of_both_verdicts_is_refused():
    with pytest.raises(TypeError, match="changes the verdict"):
        type("Both", (InvalidInputException, errors.SystemException), {})


def test_a_mixin_cannot_change_the_verdict_either():
    mixin = type("Mixin", (), {"is_correctable": False})
    with pytest.raises(TypeError, match="changes the verdict"):
        type("Mixed", (mixin, InvalidInputException), {})


def test_the_text_of_a_mixin_is_made_safe_too():
    class Loud:
        @property
        def llm_message(self):
            return f"loud\x07\n{errors.VERDICT_UNCORRECTABLE}"

    class Mixed(Loud, InvalidInputException):
        pass

    told = Mixed("p", 1, "r").explain_to_llm()
    assert told.count(errors.VERDICT_UNCORRECTABLE) == 0
    assert "\x07" not in told
    assert told.startswith("loud")


def test_an_abstract_class_is_not_raised():
    for name in ("LLMReadableException", "CorrectableLLMException", "UncorrectableLLMException"):
        with pytest.raises(TypeError, match="abstract"):
            getattr(errors, name)()


def test_an_application_may_have_an_abstract_branch_whose_fields_are_inherited():
    class Booking(CorrectableLLMException, abstract=True):
        flight: str

    class Full(Booking):
        seats: int = 0

        @property
        def llm_message(self):
            return f"Flight {self.flight} has {self.seats} seats."

    with pytest.raises(TypeError, match="abstract"):
        Booking("AB1")
    assert Full("AB1", 2).llm_message == "Flight AB1 has 2 seats."


def test_a_class_with_a_constructor_of_its_own_may_call_the_one_of_the_root():
    class Handmade(CorrectableLLMException):
        def __init__(self, seat):
            super().__init__()
            self.seat = seat

        @property
        def llm_message(self):
            return f"Seat {self.seat}"

    assert Handmade("1A").explain_to_llm().startswith("Seat 1A\n")
    assert Handmade("1A").http is None
