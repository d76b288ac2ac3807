"""What stops a command, as one sentence that says what to do."""

from __future__ import annotations

from bot.files import StorageError
from bot.state import StateUnavailable
from retrieval.evaluation.errors import BadEvaluation
from retrieval.index.protocol import IndexMismatch, IndexUnavailable
from retrieval.models.protocol import ModelError


def explain(error: BaseException) -> str | None:
    """None for what nobody foresaw: that is a fault of ours, and its traceback helps."""
    if isinstance(error, BaseExceptionGroup):
        found = [sentence for part in error.exceptions if (sentence := explain(part))]
        return found[0] if found else None
    if isinstance(error, StateUnavailable | StorageError | IndexMismatch | BadEvaluation):
        return str(error)
    if isinstance(error, IndexUnavailable):
        return f"The index can't be used: {error}"
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, PermissionError):
        return f"{error.filename} can't be read or written. Make it writable, or set DATA_DIR."
    return None
