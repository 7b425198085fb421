"""The one way a failure is logged: a warning in plain words when it is correctable, else an error with its stack."""

import logging

from nucleo.errors.root import LLMReadableException

logger = logging.getLogger("nucleo.failures")


def log_failure(
    failure: LLMReadableException,
    *,
    tool: str | None = None,
    call_id: str | None = None,
    job_id: str | None = None,
    workflow_id: str | None = None,
) -> None:
    """Log a failure once, at the seam that caught it.

    Correctable failures are the normal back-and-forth of a model that corrects itself: WARNING, the message only.
    Uncorrectable ones are logged at ERROR with the traceback of whatever caused them.

    Args:
        failure: What was caught, or made of it.
        tool: The tool that failed, if one did.
        call_id: The id of the model's call.
        job_id: The job that failed.
        workflow_id: The workflow it belongs to.
    """
    level = logging.WARNING if failure.is_correctable else logging.ERROR
    if not logger.isEnabledFor(level):
        return
    extra: dict[str, object] = {
        "tool": tool,
        "call_id": call_id,
        "job_id": job_id,
        "workflow_id": workflow_id,
        "failure_type": type(failure).__name__,
        "correctable": failure.is_correctable,
    }
    if failure.http is not None:
        extra |= {"status": failure.http.status_code, "service": failure.http.service}
    trace = None if failure.is_correctable else (type(failure), failure, failure.__traceback__)
    where = f"{tool}: " if tool is not None else ""
    logger.log(level, "%s%s", where, failure, exc_info=trace, extra=extra)
