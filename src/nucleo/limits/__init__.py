"""How fast: what the current work holds and how long it has, and what an answer means for a limiter."""

from nucleo.limits.upstream import UpstreamEffect, UpstreamFailure, effect_of
from nucleo.limits.work import CurrentWork, current_work

__all__ = ["CurrentWork", "UpstreamEffect", "UpstreamFailure", "current_work", "effect_of"]
