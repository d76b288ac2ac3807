"""“Why this answer?” in words, the same on every platform. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from adapters.ports import Explanation, ExplanationStep

TITLE: Final = "Why this answer?"
#: Steps shown, and characters of the question.
STEPS: Final = 30
QUESTION: Final = 500
#: Lines of a step, and characters of one.
_LINES, _LINE = 10, 250


def total(explanation: Explanation) -> str:
    """Such as `1.2 s in all · 1,200 tokens read, 80 written`."""
    read = sum(step.input_tokens for step in explanation.steps)
    written = sum(step.output_tokens for step in explanation.steps)
    parts = [f"{_time(explanation.total_ms)} in all"]
    if read or written:
        parts.append(_tokens(read, written))
    return " · ".join(parts)


def facts(step: ExplanationStep) -> str:
    """When it began, how long it took, and what a model read and wrote in it."""
    parts = [f"after {_time(step.start_ms)}", f"took {_time(step.ms)}"]
    if step.input_tokens or step.output_tokens:
        parts.append(_tokens(step.input_tokens, step.output_tokens))
    return ", ".join(parts)


def lines(step: ExplanationStep, shorten: Callable[[str, int], str]) -> list[str]:
    """What it found, and its remark. `shorten` makes harmless text of a length of it."""
    found = [shorten(line, _LINE) for line in step.lines if line.strip()]
    more = len(found) - _LINES
    shown = [*found[:_LINES], *([f"and {more} more"] if more > 0 else [])]
    if step.note.strip():
        shown.append(shorten(step.note, _LINE))
    return shown


def _time(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"


def _tokens(read: int, written: int) -> str:
    return f"{read:,} tokens read, {written:,} written"
