"""What the chat completions of OpenAI, and of the many servers that speak the same, are sent.

Source: https://developers.openai.com/api/reference/resources/chat.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from nucleo.models import AnswerTurn, AssistantMessage, Message, Request, turns

_SCHEMA_NAME: Final = "answer"


def request_body(request: Request, *, limit_field: str) -> dict[str, Any]:
    """Render a request.

    Args:
        request: The request.
        limit_field: What the server calls the limit of output tokens.

    Raises:
        SystemException: A tool call of the conversation lacks its result, or the other way round.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    messages.extend(_messages(request.messages))
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
    if request.max_output_tokens is not None:
        body[limit_field] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.output_schema is not None:
        body["response_format"] = _response_format(request.output_schema)
    return body


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    for turn in turns(messages):
        if isinstance(turn, AnswerTurn):
            yield from _answers(turn)
        else:
            yield from _assistant(turn)


def _answers(turn: AnswerTurn) -> Iterator[dict[str, Any]]:
    """One message a result, and before any text: the API wants the results right behind their calls."""
    for result in turn.results:
        # The wire has no flag for a failure; the text says it.
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.readable_content}
    for text in turn.texts:
        yield {"role": "user", "content": text}


def _assistant(message: AssistantMessage) -> Iterator[dict[str, Any]]:
    """Thoughts stay at home: the API keeps its own, and other servers refuse them."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.safe_name, "arguments": call.arguments_text or "{}"},
        }
        for call in message.tool_calls
    ]
    said = message.text if message.text.strip() else None
    if calls:
        yield {"role": "assistant", "content": said, "tool_calls": calls}
    elif said is not None:
        yield {"role": "assistant", "content": said}


def _response_format(schema: dict[str, Any]) -> dict[str, Any]:
    form = {"name": _SCHEMA_NAME, "schema": schema, "strict": _can_be_strict(schema)}
    return {"type": "json_schema", "json_schema": form}


def _can_be_strict(schema: object) -> bool:
    """Tell whether the API can enforce a schema: every object closed, every property required.

    Asked to enforce another one it refuses the request. Source:
    https://developers.openai.com/api/docs/guides/structured-outputs.
    """
    if isinstance(schema, list):
        return all(map(_can_be_strict, cast("list[object]", schema)))
    if not isinstance(schema, dict):
        return True
    fields = cast("dict[str, Any]", schema)
    if fields.get("type") == "object" or "properties" in fields:
        properties: object = fields.get("properties", {})
        required: object = fields.get("required", [])
        if fields.get("additionalProperties") is not False or not isinstance(properties, dict):
            return False
        named = set(cast("list[str]", required)) if isinstance(required, list) else set[str]()
        if named != set(cast("dict[str, Any]", properties)):
            return False
    return all(map(_can_be_strict, fields.values()))
