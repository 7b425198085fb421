"""Models: what they are asked and what they answer, in no provider's format; which there are; who carries the calls.

Light to import: no provider's package, no HTTP client and no pydantic is loaded before a client is made.
"""

from nucleo.errors import ModelNotFoundException
from nucleo.models.answers import AnswerReader, RawAnswer
from nucleo.models.catalog import (
    CatalogError,
    CatalogFault,
    ModelCatalog,
    ModelEntry,
    Prices,
    shipped_catalog,
)
from nucleo.models.client import ModelClient
from nucleo.models.messages import (
    AssistantMessage,
    Block,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallResult,
    ToolResultsMessage,
    UserMessage,
    with_distinct_ids,
)
from nucleo.models.reply import Reply, TextDelta, Usage, assemble_reply
from nucleo.models.request import Request, ToolDefinition
from nucleo.models.resolution import OpenedModel, check_model_id, open_model, resolve_model
from nucleo.models.scripted import ScriptedModel
from nucleo.models.shared import shared_model
from nucleo.models.signals import is_final_failure, mark_final, retry_signal
from nucleo.models.stop import StopReason, normalise_stop_reason
from nucleo.models.turns import AnswerTurn, turns

__all__ = [
    "AnswerReader",
    "AnswerTurn",
    "AssistantMessage",
    "Block",
    "CatalogError",
    "CatalogFault",
    "Message",
    "ModelCatalog",
    "ModelClient",
    "ModelEntry",
    "ModelNotFoundException",
    "OpenedModel",
    "Prices",
    "RawAnswer",
    "Reply",
    "Request",
    "ScriptedModel",
    "StopReason",
    "TextBlock",
    "TextDelta",
    "ThinkingBlock",
    "ToolCall",
    "ToolCallResult",
    "ToolDefinition",
    "ToolResultsMessage",
    "Usage",
    "UserMessage",
    "assemble_reply",
    "check_model_id",
    "is_final_failure",
    "mark_final",
    "normalise_stop_reason",
    "open_model",
    "resolve_model",
    "retry_signal",
    "shared_model",
    "shipped_catalog",
    "turns",
    "with_distinct_ids",
]
