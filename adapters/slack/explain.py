""" "Why this answer?": what happened, step by step, as a modal."""

from __future__ import annotations

from adapters.explaining import QUESTION, STEPS, TITLE, facts, lines, total
from adapters.ports import Explanation, ExplanationStep
from adapters.slack.context import Slack
from adapters.slack.kit import Json, one_line, quiet_line, section
from adapters.slack.render import plain_text
from adapters.slack.surface import Act, open_view


def explanation_view(explanation: Explanation) -> Json:
    """The question, the whole time and tokens, then a step a block."""
    blocks: list[Json] = [
        section(f"“{one_line(explanation.question, QUESTION)}”"),
        quiet_line(total(explanation)),
        {"type": "divider"},
    ]
    blocks += [_step(number, step) for number, step in enumerate(explanation.steps[:STEPS], 1)]
    if len(explanation.steps) > STEPS:
        blocks.append(quiet_line(f"And {len(explanation.steps) - STEPS} more steps."))
    return {
        "type": "modal",
        "title": plain_text(TITLE),
        "close": plain_text("Close"),
        "blocks": blocks,
    }


def _step(number: int, step: ExplanationStep) -> Json:
    """Rich text, in which Slack takes no word of a document or a model for markup."""
    elements: list[Json] = [
        {"type": "text", "text": f"{number}. {one_line(step.title, 150)}", "style": {"bold": True}},
        {"type": "text", "text": f"  {facts(step)}", "style": {"italic": True}},
    ]
    elements += [{"type": "text", "text": f"\n{line}"} for line in lines(step, one_line)]
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


async def open_explanation(slack: Slack, act: Act, turn_id: str) -> None:
    """Raises `Refused` for a turn that the person may not see or that is gone."""
    explanation = await slack.bot.answers.explain(await act.actor(slack), turn_id)
    await open_view(slack, act, explanation_view(explanation))
