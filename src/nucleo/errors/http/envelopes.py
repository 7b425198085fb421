"""The failures that hide in a good status: the envelopes by which known services and shapes say that they failed.

A field called error proves nothing by itself: a record of something that failed has one too, and is a good answer.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from nucleo.errors.http.answer import Answer
from nucleo.errors.http.evidence import by_quirk
from nucleo.errors.http.fault import normal_code
from nucleo.errors.http.members import canonical

_BESIDE_ERROR: Final = frozenset(
    {
        "type",
        "requestid",
        "userid",
        "jsonrpc",
        "servedby",
        "warnings",
        "message",
        "status",
        "statuscode",
        "success",
        "code",
        "timestamp",
        "traceid",
        "docref",
        "contentfilter",
        "errors",
        "ok",
    }
)
"""What may stand beside `error` in an envelope that holds nothing else."""
_BESIDE_ERRORS: Final = frozenset(
    {"data", "extensions", "results", "notifications", "lastbookmarks", "accountid", *_BESIDE_ERROR}
)
_GOOD_CODES: Final = frozenset({"", "0", "ok", "success", "none", "200"})


def hides_failure(answer: Answer) -> bool:
    """Tell whether a good status holds a failure: only known envelopes do, a field called error alone does not."""
    body = answer.body
    if answer.headers.get("grpc-status", "0").strip() not in {"", "0"}:
        return True
    if body.kind == "html":
        declared = answer.headers.get("content-type", "").lower()
        return "json" in declared or "_incapsula_resource" in body.text[:4096].lower()
    if body.kind == "text":
        start = body.text[:200].lower()
        return start.startswith("error code: 1015") or (answer.operation == "llm" and start.startswith("error:"))
    if body.kind == "xml":
        return _xml_fault(body.text[:4096])
    if body.kind != "json":
        return False
    if body.text.startswith(("<br", "<b>")):
        return True
    value: Any = body.value
    return isinstance(value, dict) and _json_fault(cast("dict[str, Any]", value), answer)


def _xml_fault(text: str) -> bool:
    lower = text.lower()
    return any(
        mark in lower for mark in ("<faultcode", ":fault>", "<fault>", "<error>", "<errorlist>", "<errorresponse")
    )


def _json_fault(fields: Mapping[str, Any], answer: Answer) -> bool:
    if fields.get("ok") is False:
        return True
    if answer.quirk is not None and _is_known_fault(fields, answer):
        return True
    if answer.operation == "llm" and _is_declined(fields):
        return True
    base = fields.get("base_resp")
    if isinstance(base, dict):
        return cast("dict[str, Any]", base).get("status_code", 0) not in {0, None}
    if "errors" in fields and _holds_errors(fields):
        return True
    if "error" in fields and _holds_error(fields, answer):
        return True
    if "error_message" in fields and isinstance(fields.get("status"), str) and not fields.get("results"):
        return normal_code(fields["status"]) not in _GOOD_CODES
    return False


def _is_known_fault(fields: Mapping[str, Any], answer: Answer) -> bool:
    """Tell whether the service is known to say it so: by a code or words of its own, or by a status in the body."""
    quirk = answer.quirk
    if quirk is None:
        return False
    status = fields.get("status")
    if quirk.good and isinstance(status, str):
        return normal_code(status) not in quirk.good
    return by_quirk(quirk, answer.fault) is not None


def _is_declined(fields: Mapping[str, Any]) -> bool:
    """Tell whether a model's provider declined in a good answer: Anthropic's stop reason, Gemini's blocked prompt."""
    feedback = fields.get("promptFeedback")
    blocked = isinstance(feedback, dict) and "blockReason" in feedback and not fields.get("candidates")
    return blocked or (fields.get("stop_reason") == "refusal" and not fields.get("content"))


def _holds_errors(fields: Mapping[str, Any]) -> bool:
    """Tell whether `errors` is all there is: GraphQL without data, and the lists that JSON APIs answer with."""
    errors = fields["errors"]
    if not isinstance(errors, list) or not any(isinstance(item, dict) for item in cast("list[Any]", errors)):
        return False
    if fields.get("success") is False:
        return True
    return _is_void(fields.get("data")) and not fields.get("results") and _only(fields, _BESIDE_ERRORS, "errors")


def _is_void(data: Any) -> bool:
    """Tell whether GraphQL gave no data at all: partial data is an answer."""
    if isinstance(data, dict):
        return not any(value is not None for value in cast("dict[str, Any]", data).values())
    return not data


def _holds_error(fields: Mapping[str, Any], answer: Answer) -> bool:
    error = fields["error"]
    if isinstance(error, str):
        # A model's stream breaks off with such a line; elsewhere only an explicit flag makes it one.
        return bool(error) and (answer.operation == "llm" or fields.get("success") is False)
    if not isinstance(error, dict):
        return False
    inner = cast("dict[str, Any]", error)
    if not any(key in inner for key in ("code", "type", "message", "info", "msg")):
        return False
    if normal_code(inner.get("code", "unknown")) in _GOOD_CODES:
        return False
    beside = _BESIDE_ERROR | {"id"} if "jsonrpc" in fields or answer.operation == "llm" else _BESIDE_ERROR
    return fields.get("success") is False or _only(fields, beside, "error")


def _only(fields: Mapping[str, Any], known: frozenset[str], name: str) -> bool:
    return all(key == name or value is None or canonical(key) in known for key, value in list(fields.items())[:40])
