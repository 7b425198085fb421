"""Agents: a thinker asks a model what to do next until it has an answer."""

from nucleo.agents.thinker import Thinker

__all__ = ["Thinker"]
