"""The entry point: ``nucleo demo`` and ``nucleo explain``."""

import argparse
import asyncio
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from nucleo.cli.explain import KEYS, OPERATIONS, ExplainInput, explain_command
from nucleo.errors import LLMReadableException

_INTERRUPTED = 130
"""What a shell gives for a command that Ctrl-C ended: 128 and the number of the signal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The words after ``nucleo``; None for those of this process.

    Returns:
        The exit code: 0 for success, 1 when the command's own answer is no or nobody reads it, 2 for input that cannot
        be used, 130 after Ctrl-C.
    """
    _accept_every_character()
    options = _parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        code = command(options)
        # Here, and not when Python exits: what cannot be written any more is to be noticed now.
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more at exit, when it flushes what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _accept_every_character() -> None:
    """Let a terminal that cannot show a character show its code: a service may answer in any script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nucleo", description="Failures that behave, for LLM agents in Python.")
    parser.add_argument("--version", action="version", version=f"nucleo {version('nucleo')}")
    parser.set_defaults(command=partial(_no_command, parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_demo(commands)
    _add_explain(commands)
    return parser


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="an agent works against a real service that misbehaves on a schedule",
        description="Starts an order service on loopback that misbehaves on a schedule, and lets an agent answer "
        "customers' questions from it. Shows at every failure what the model read and what it did next. Without a key "
        "in ANTHROPIC_API_KEY or OPENAI_API_KEY, a scripted policy stands in for the model. Exits with 0 if every "
        "question ended right, 1 if one did not, 2 if the model cannot be used.",
    )
    demo.add_argument("--model", metavar="PROVIDER:NAME", help="run on this model")
    demo.set_defaults(command=_demo)


def _add_explain(commands: Any) -> None:
    keys = "\n".join(f"  {key:<16} {meaning}" for key, meaning in KEYS.items())
    explain = commands.add_parser(
        "explain",
        help="what a model would read of a response or an exception",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Shows the class that a response or an exception becomes, the verdict, the text a model reads,\n"
        "the wait, and what limiters would do. Reads from standard input, or takes an import path:\n\n"
        '  curl -si https://api.example.com/orders/7 | nucleo explain --service "the order service"\n'
        "  nucleo explain --service PubChem < traceback.txt\n"
        "  nucleo explain mypackage.errors:LedgerClosed 'closed for the night'",
        epilog='--json prints {"failure": null} for an answer that is none, else {"failure": {...}} with\n'
        f"{keys}\n\n"
        "Exits with 0, or with 2 when the input cannot be used.",
    )
    explain.add_argument("exception", nargs="?", help="import path of an exception: package.module:name")
    explain.add_argument("message", nargs="?", help="its message, when the path names a class")
    explain.add_argument("--service", help="the service that was called, as a person would call it")
    explain.add_argument("--url", default="", help="the URL or path that was asked; its host selects known quirks")
    explain.add_argument("--method", help="the method of the request, such as POST")
    explain.add_argument("--operation", choices=OPERATIONS, help="what was being done (default: by the method)")
    explain.add_argument(
        "--status", type=_status, help="the status, 100 to 599, for a body that was pasted without its head"
    )
    explain.add_argument("--json", action="store_true", help="print one JSON object")
    explain.set_defaults(command=_explain)


def _status(written: str) -> int:
    if not (written.isascii() and written.isdigit() and 100 <= int(written) <= 599):  # noqa: PLR2004 - HTTP's own range
        raise argparse.ArgumentTypeError(f"{written!r} is no HTTP status: give a number from 100 to 599")
    return int(written)


def _no_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    del options
    parser.print_help(sys.stderr)
    return 2


def _demo(options: argparse.Namespace) -> int:
    from nucleo.cli.demo import demo  # noqa: PLC0415 - explain must not wait for an HTTP client to load

    # Python prints the warnings of libraries where no handler is; the transcript shows what there is to be told.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return asyncio.run(demo(options.model))
    except LLMReadableException as failure:
        print(f"nucleo demo: {' '.join(str(failure).split())}", file=sys.stderr)
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
