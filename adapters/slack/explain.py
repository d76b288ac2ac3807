""" "Why this answer?": what happened, step by step, as a modal."""

from __future__ import annotations

from typing import Final

from adapters.ports import Explanation, ExplanationStep
from adapters.slack.context import Slack
from adapters.slack.kit import Json, one_line, quiet_line, section
from adapters.slack.render import plain_text
from adapters.slack.surface import Act, open_view

_TITLE: Final = "Why this answer?"
#: Steps shown, lines of each, and characters of a line.
_STEPS, _LINES, _LINE = 30, 10, 250
_QUESTION: Final = 500


def explanation_view(explanation: Explanation) -> Json:
    """The question, the whole time and tokens, then a step a block."""
    blocks: list[Json] = [
        section(f"“{one_line(explanation.question, _QUESTION)}”"),
        quiet_line(_total(explanation)),
        {"type": "divider"},
    ]
    blocks += [_step(number, step) for number, step in enumerate(explanation.steps[:_STEPS], 1)]
    if len(explanation.steps) > _STEPS:
        blocks.append(quiet_line(f"And {len(explanation.steps) - _STEPS} more steps."))
    return {
        "type": "modal",
        "title": plain_text(_TITLE),
        "close": plain_text("Close"),
        "blocks": blocks,
    }


def _total(explanation: Explanation) -> str:
    read = sum(step.input_tokens for step in explanation.steps)
    written = sum(step.output_tokens for step in explanation.steps)
    parts = [f"{_time(explanation.total_ms)} in all"]
    if read or written:
        parts.append(_tokens(read, written))
    return " · ".join(parts)


def _step(number: int, step: ExplanationStep) -> Json:
    """Rich text, in which Slack takes no word of a document or a model for markup."""
    facts = [f"after {_time(step.start_ms)}", f"took {_time(step.ms)}"]
    if step.input_tokens or step.output_tokens:
        facts.append(_tokens(step.input_tokens, step.output_tokens))
    elements: list[Json] = [
        {"type": "text", "text": f"{number}. {one_line(step.title, 150)}", "style": {"bold": True}},
        {"type": "text", "text": f"  {', '.join(facts)}", "style": {"italic": True}},
    ]
    lines = [one_line(line, _LINE) for line in step.lines if line.strip()]
    more = len(lines) - _LINES
    shown = [*lines[:_LINES], *([f"and {more} more"] if more > 0 else [])]
    if step.note.strip():
        shown.append(one_line(step.note, _LINE))
    elements += [{"type": "text", "text": f"\n{line}"} for line in shown]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _time(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"


def _tokens(read: int, written: int) -> str:
    return f"{read:,} tokens read, {written:,} written"


async def open_explanation(slack: Slack, act: Act, turn_id: str) -> None:
    """Raises `Refused` for a turn that the person may not see or that is gone."""
    explanation = await slack.bot.answers.explain(await act.actor(slack), turn_id)
    await open_view(slack, act, explanation_view(explanation))
