import functools
import subprocess
import sys
from typing import Annotated

import pytest
from pydantic import Field

from nucleo import Palette, Tool, call_tool, tool
from nucleo.errors import CorrectableRuntimeLLMException
from nucleo.testing import run
from nucleo.tools import Secret


def documented(x: int) -> int:
    """Do."""
    return x


class Greeter:
    """Greets."""

    def greet(self, name: str) -> str:
        """Greet somebody."""
        return f"hello {name}"

    async def __call__(self, name: str) -> str:
        return f"called {name}"


def test_a_bound_method_and_an_object_that_is_called_are_tools():
    greet = tool(Greeter().greet)
    assert run(call_tool(greet, {"name": "ada"})).content == "hello ada"
    caller = tool(name="greeter")(Greeter())
    assert not caller.threaded
    assert caller.description == "Greets."
    assert run(call_tool(caller, {"name": "ada"})).content == "called ada"


def generator(x: int):
    """Yield."""
    yield x


async def async_generator(x: int):
    """Yield."""
    yield x


class Forgetful(Tool):
    """Forget."""

    def __init__(self) -> None:
        self.name = "forgetful"

    async def execute(self, x: int) -> int:
        return x


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tool(generator), "return a list"),
        (lambda: tool(async_generator), "return a list"),
        (lambda: tool(Greeter.greet), r"tool\(instance\.greet\)"),
        (lambda: tool(functools.partial(documented, 1)), "write a function around it"),
        (lambda: tool(Greeter), "extends Tool"),
        (lambda: tool(tool(documented)), "already"),
        (lambda: tool("documented"), "takes a function"),
        (lambda: tool(lambda x: x), "name"),
        (lambda: Palette(tool(documented)), "sequence of tools"),
        (lambda: Palette(7), "sequence of tools"),
        (lambda: Palette([Forgetful()]), r"super\(\).__init__"),
        (lambda: Palette([Greeter]), "@tool"),
        (lambda: Tool(), "execute"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_way_to_make_it_one(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_an_annotation_that_is_not_there_is_named():
    def lost(x: "Nowhere") -> str:  # noqa: F821
        """Lose."""

    with pytest.raises(TypeError, match="tool lost: an annotation names 'Nowhere'"):
        tool(lost)


def test_a_parameter_without_schema_is_named_even_where_pydantic_can_check_it():
    from collections.abc import Callable

    def run_it(times: int, what: Callable[[], None]) -> str:
        """Run."""

    with pytest.raises(TypeError, match="the parameter 'what' has no JSON Schema"):
        tool(run_it)


def test_the_name_of_a_class_becomes_words():
    class HTTPFetchOrder(Tool):
        """Fetch."""

        async def execute(self, x: int) -> int:
            return x

    fetch = HTTPFetchOrder()
    assert fetch.name == "http_fetch_order"
    assert run(call_tool(fetch, {"x": 1})).value == 1


def test_only_the_sections_for_developers_are_left_out_of_the_description():
    @tool
    def order(number: str, size: int, note: str = "") -> str:
        """Order something.

        Note:
            Orders cannot be changed.

        Args:
            number (str): Such as ORD-1:
                with the prefix.
            size (Optional[int]): How many. Example: 3
            note: Free text.

        Returns:
            The order.

        Raises:
            ValueError: never.

        Prices are in euro.
        """

    assert order.description == ("Order something.\n\nNote:\n    Orders cannot be changed.\n\nPrices are in euro.")
    said = {name: part["description"] for name, part in order.input_schema["properties"].items()}
    assert said == {"number": "Such as ORD-1: with the prefix.", "size": "How many. Example: 3", "note": "Free text."}


def test_a_default_is_shown_unless_it_is_secret():
    @tool
    def log_in(user: str = "ada", token: Secret[str] = "t0k3n-default", odd: Annotated[int, Field(ge=0)] = 3) -> str:
        """Log in."""

    properties = log_in.input_schema["properties"]
    assert (properties["user"]["default"], properties["odd"]["default"]) == ("ada", 3)
    assert "t0k3n-default" not in str(log_in.for_openai())


def test_read_only_and_timeout_are_kept():
    made = tool(read_only=True, timeout=None, name="other-name")(documented)
    assert (made.read_only, made.timeout, made.name) == (True, None, "other-name")


def test_a_palette_finds_by_name_and_says_what_is_near():
    palette = Palette([tool(documented)])
    assert palette.find("documented").name == "documented"
    assert "documented" in palette
    assert [each.name for each in palette.definitions()] == ["documented"]
    with pytest.raises(CorrectableRuntimeLLMException, match="documented"):
        palette.find("document")


@pytest.mark.parametrize("name", [None, 7, [], "", "x" * 1_000_000, "a\x00b", "\ud800"])
def test_any_name_at_all_is_answered(name):
    result = run(call_tool(Palette([tool(documented)]), "{}", name="?" if name is None else name))
    assert result.is_error
    assert len(result.content) < 500
    result.content.encode()


def test_importing_a_tool_loads_no_client_of_anything():
    program = (
        "import sys\nfrom nucleo import tool\n"
        "@tool\ndef f(x: int) -> int:\n    'Do.'\n    return x\n"
        "heavy = {'httpx', 'httpx2', 'openai', 'anthropic', 'requests', 'aiohttp', 'opentelemetry'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
        "print('nucleo.errors.masking' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]
