"""What went wrong, in a word for the trace and in a sentence for the person."""

from __future__ import annotations

import traceback

import structlog

from retrieval.answer.events import Failed
from retrieval.index.protocol import IndexMismatch, IndexUnavailable
from retrieval.models.protocol import ErrorKind, ModelError
from retrieval.trace import Trace

log = structlog.get_logger(__name__)

_MODEL_MESSAGES: dict[ErrorKind, str] = {
    "unavailable": "The language model can't be reached right now. Please ask again in a minute.",
    "timeout": "The language model took too long to answer. Please ask again.",
    "rate_limited": "Too many questions are being asked right now. Please ask again in a minute.",
    "refused": "The language model declined to answer this question. Please put it another way.",
    "invalid_output": "The language model gave no usable answer. Please ask again.",
    "misconfigured": "The language model is not set up correctly. An administrator can run `kb doctor`.",
    "too_long": "That was too much text for the language model. Please ask a shorter question.",
}


def reason(error: BaseException) -> str:
    """One word for the trace."""
    if isinstance(error, ModelError):
        return error.kind
    return "timeout" if isinstance(error, TimeoutError) else type(error).__name__


def failed(error: Exception, trace: Trace) -> Failed:
    """The end of a turn that `error` broke. An error that nobody foresaw is logged, without its text:
    that may quote a document."""
    if isinstance(error, TimeoutError):
        error = ModelError("timeout", "No answer in time.")
    if isinstance(error, ModelError):
        return Failed(f"model_{error.kind}", _MODEL_MESSAGES[error.kind], trace)
    if isinstance(error, IndexUnavailable):
        return Failed(
            "index_unavailable", "The search index can't be reached. Please ask again soon.", trace
        )
    if isinstance(error, IndexMismatch):
        message = "The search index has to be rebuilt. An administrator can run `kb reindex`."
        return Failed("index_mismatch", message, trace)
    frames = "".join(traceback.format_tb(error.__traceback__)[-6:])
    log.error("answer.failed", turn=trace.turn_id, error=type(error).__name__, frames=frames)
    return Failed("internal", "Something went wrong while answering. Please ask again.", trace)
