"""Thumbs under an answer, with the words that Teams asks for."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, cast

import structlog

from adapters.forms import Feedback
from adapters.ports import Refused
from adapters.teams.activity import Invoked
from adapters.teams.context import InvokeAnswer, Teams
from adapters.teams.dialog import actor_of
from adapters.teams.posted import turn_of_activity

log = structlog.get_logger()

_RATINGS: Final[dict[str, Literal["up", "down"]]] = {"like": "up", "dislike": "down"}
#: Characters of a reason that are kept.
_REASON: Final = 3_000


async def take_feedback(teams: Teams, invoked: Invoked) -> InvokeAnswer:
    """`message/submitAction`. 200 with an empty body, as Teams wants it; 400 for what is no thumb."""
    told = read_feedback(invoked.value)
    if told is None:
        return InvokeAnswer(400)
    rating, reason = told
    turn_id = await turn_of_activity(teams, invoked.reference, invoked.reply_to or "")
    if turn_id is None:
        log.info("teams_feedback_for_no_answer")
        return InvokeAnswer()
    actor = await actor_of(teams, invoked)
    feedback = Feedback(turn_id=turn_id, person_id=actor.person.id, rating=rating, reason=reason)
    try:
        await teams.bot.feedback.record(actor, feedback)
    except Refused as error:
        log.info("teams_feedback_refused", why=str(error))
    return InvokeAnswer()


def read_feedback(value: dict[str, Any]) -> tuple[Literal["up", "down"], str] | None:
    """The thumb and the person's words; None for what is no thumb."""
    action: Any = value.get("actionValue")
    if value.get("actionName") != "feedback" or not isinstance(action, dict):
        return None
    told = cast("dict[str, Any]", action)
    rating = _RATINGS.get(str(told.get("reaction")))
    return None if rating is None else (rating, _reason(told.get("feedback"))[:_REASON])


def _reason(feedback: Any) -> str:
    """JSON in a string: `feedbackText` of Teams' own form, all texts of another one."""
    if isinstance(feedback, str):
        try:
            feedback = json.loads(feedback)
        except (ValueError, RecursionError):
            return feedback.strip()
    if not isinstance(feedback, dict):
        return feedback.strip() if isinstance(feedback, str) else ""
    said = cast("dict[str, Any]", feedback)
    if isinstance(text := said.get("feedbackText"), str):
        return text.strip()
    return "\n".join(text.strip() for text in said.values() if isinstance(text, str) and text.strip())
