"""The failures that hide in a good status: the envelopes by which known services and shapes say that they failed.

A field called error proves nothing by itself.
"""

from collections.abc import Mapping
from typing import Any, cast

from nucleo.errors.http.answer import Answer
from nucleo.errors.http.evidence import by_quirk


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
    if not body.text.startswith(("{", "[", '"')) and body.text.startswith(("<br", "<b>")):
        return True
    return body.fields is not None and _json_fault(body.fields, answer)


def _xml_fault(text: str) -> bool:
    lower = text.lower()
    return any(
        mark in lower for mark in ("<faultcode", ":fault>", "<fault>", "<error>", "<errorlist>", "<errorresponse")
    )


def _json_fault(fields: Mapping[str, Any], answer: Answer) -> bool:
    if fields.get("ok") is False:
        return True
    errors = fields.get("errors")
    if isinstance(errors, list) and errors and not fields.get("data"):
        return any(isinstance(item, dict) for item in cast("list[Any]", errors))
    base = fields.get("base_resp")
    if isinstance(base, dict):
        return cast("dict[str, Any]", base).get("status_code", 0) not in {0, None}
    error = fields.get("error")
    if isinstance(error, dict):
        inner = cast("dict[str, Any]", error)
        return any(key in inner for key in ("code", "type", "message", "info"))
    if isinstance(error, str) and error and answer.operation == "llm":
        return True
    if "error_message" in fields and isinstance(fields.get("status"), str) and not fields.get("results"):
        return str(fields["status"]).lower().replace("_", "") not in (answer.quirk.good if answer.quirk else {"ok"})
    quirk = answer.quirk
    return quirk is not None and by_quirk(quirk, answer.fault) is not None
