"""The entry point: ``nucleo demo`` and ``nucleo explain``."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from nucleo.cli.explain import OPERATIONS, ExplainInput, explain_command
from nucleo.errors import LLMReadableException


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The words after ``nucleo``; None for those of this process.

    Returns:
        The exit code: 0 for success, 1 when the command's own answer is no, 2 for input that cannot be used.
    """
    options = _parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more at exit when it flushes what is left.
        sys.stdout = None
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nucleo", description="Failures that behave, for LLM agents in Python.")
    parser.add_argument("--version", action="version", version=f"nucleo {version('nucleo')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="an agent works against a real service that misbehaves on a schedule")
    demo.add_argument("--model", metavar="PROVIDER:NAME", help="run on this model instead of the scripted policy")
    demo.set_defaults(command=_demo)

    explain = commands.add_parser(
        "explain",
        help="what a model would read of a response or an exception",
        description="Reads an HTTP response (curl -si URL | nucleo explain) or a Python traceback from standard input, "
        "or takes an exception by its import path, and shows the class it becomes, the verdict, the text a model "
        "reads, the wait, and what limiters would do.",
    )
    explain.add_argument("exception", nargs="?", help="import path of an exception: package.module:name")
    explain.add_argument("message", nargs="?", help="its message, when the path names a class")
    explain.add_argument("--service", help="the service that was called, as a person would call it")
    explain.add_argument("--url", default="", help="the URL or path that was asked; its host selects known quirks")
    explain.add_argument("--method", default=None, help="the method of the request, such as POST")
    explain.add_argument("--operation", choices=OPERATIONS, help="what was being done (default: by the method)")
    explain.add_argument("--status", type=int, help="the status, for a body that was pasted without its head")
    explain.add_argument("--json", action="store_true", help="print one JSON object")
    explain.set_defaults(command=_explain)
    return parser


def _demo(options: argparse.Namespace) -> int:
    from nucleo.cli.demo import demo  # noqa: PLC0415 - explain must not wait for an HTTP client to load

    try:
        return asyncio.run(demo(options.model))
    except LLMReadableException as failure:
        print(f"nucleo demo: {failure}", file=sys.stderr)
        return 2


def _explain(options: argparse.Namespace) -> int:
    return explain_command(
        ExplainInput(
            exception=options.exception,
            message=options.message,
            service=options.service,
            url=options.url,
            method=options.method,
            operation=options.operation,
            status=options.status,
            as_json=options.json,
        )
    )
