"""``nucleo explain``: what a response or an exception becomes, and what everybody is told of it."""

from nucleo.cli.explain.command import OPERATIONS, ExplainInput, explain_command
from nucleo.cli.explain.report import KEYS

__all__ = ("KEYS", "OPERATIONS", "ExplainInput", "explain_command")
