"""What was said between a person, a model and its tools, kept so that it can always be sent again."""

from nucleo.conversation.transcript import INTERRUPTED, Transcript

__all__ = ["INTERRUPTED", "Transcript"]
