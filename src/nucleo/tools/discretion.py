"""A failure without the secrets of the call it came from: the same class, the same verdict, other words.

Apart from the result, because the failure itself goes further than its text: to hooks, to events, to the log and to
whoever awaits the job.
"""

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from nucleo.errors import (
    CorrectableRuntimeLLMException,
    HttpErrorDetail,
    LLMReadableException,
    UncorrectableRuntimeLLMException,
)
from nucleo.errors.chain import walk_chain
from nucleo.errors.root import ForeignCause
from nucleo.errors.text import as_text, show_value
from nucleo.tools.secret import given_secrets, mask_all, secret_texts
from nucleo.tools.signature import Signature


def secrets_of(signature: Signature, raw: object, values: Mapping[str, Any]) -> list[str]:
    """Give the secret texts of a call: as they were sent, and as the body got them.

    Args:
        signature: The tool's parameters.
        raw: The arguments as they came.
        values: The arguments that were read; empty when they could not be.
    """
    found = set(given_secrets(signature.schema, raw))
    for name in signature.secrets:
        value = values.get(name)
        whole = signature.schema["properties"][signature.shown[name]].get("writeOnly") is True
        # Of a larger value only some parts are secret, and those are found in what was sent.
        if whole or hasattr(value, "get_secret_value"):
            found.update(secret_texts(value))
    return sorted(found)


def without_secrets(failure: LLMReadableException, secrets: Collection[str]) -> LLMReadableException:
    """Give the failure itself, or where a secret is in it or behind it a twin in which each one is masked.

    Args:
        failure: The failure.
        secrets: Texts that must not be read.
    """
    if not secrets:
        return failure
    behind = [link for link in walk_chain(failure) if link is not failure]
    twin = _masked_twin(failure, secrets)
    if twin is failure and not any(_holds(as_text(link), secrets) for link in behind):
        return failure
    if twin is failure:
        twin = copy.copy(failure)
    twin.__traceback__ = failure.__traceback__
    twin.__context__ = None
    link: BaseException = twin
    for each in behind:
        # The log prints the text of every cause. The stack stays, it has no values.
        link.__cause__ = ForeignCause(type(each).__name__, mask_all(as_text(each), secrets))
        link.__cause__.__traceback__ = each.__traceback__
        link = link.__cause__
    return twin


def _masked_twin(failure: LLMReadableException, secrets: Collection[str]) -> LLMReadableException:
    """Mask the fields, not the texts: a text is cut, and half a secret is found by nobody."""
    fields = {name: _masked_field(value, secrets) for name, value in failure.__dict__.items()}
    twin = failure
    if any(value is not failure.__dict__[name] for name, value in fields.items()):
        twin = copy.copy(failure)
        twin.__dict__.update(fields)
    if _holds(twin.llm_message, secrets) or _holds(str(twin), secrets):
        # Its texts are made of something that is in none of its fields.
        kind = CorrectableRuntimeLLMException if failure.is_correctable else UncorrectableRuntimeLLMException
        return kind(mask_all(failure.llm_message, secrets), http=twin.http)
    return twin


def _masked_field(value: Any, secrets: Collection[str]) -> Any:
    if isinstance(value, str):
        return mask_all(value, secrets) if _holds(value, secrets) else value
    if isinstance(value, HttpErrorDetail):
        return _masked_detail(value, secrets)
    if isinstance(value, bool | int | float | None):
        return value
    shown = show_value(value, limit=10_000)
    return mask_all(shown, secrets) if _holds(shown, secrets) else value


def _masked_detail(detail: HttpErrorDetail, secrets: Collection[str]) -> HttpErrorDetail:
    texts = {"endpoint": detail.endpoint, "response_body": detail.response_body, "said": detail.said or ""}
    if not any(_holds(text, secrets) for text in texts.values()):
        return detail
    masked = {name: mask_all(text, secrets) for name, text in texts.items()}
    return replace(detail, endpoint=masked["endpoint"], response_body=masked["response_body"], said=masked["said"])


def _holds(text: str, secrets: Collection[str]) -> bool:
    return mask_all(text, secrets) != mask_all(text, ())
