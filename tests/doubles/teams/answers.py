"""What Teams takes as the answer to an invoke. Each function raises `BadAnswer`, or gives what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from tests.doubles.teams import limits
from tests.doubles.teams.check_activity import ADAPTIVE
from tests.doubles.teams.check_card import check_card
from tests.doubles.teams.errors import BadAnswer, Json, Refusal

_TASK = frozenset({"title", "height", "width", "card", "url", "fallbackUrl", "completionBotId"})
_SIZES = ("small", "medium", "large")
_MESSAGE = "application/vnd.microsoft.activity.message"
_ERROR = "application/vnd.microsoft.error"


@dataclass(frozen=True, slots=True)
class Task:
    """What a dialog shall show: a card or a web page."""

    title: str
    card: Json | None
    url: str | None = None


def task_answer(status: int, body: Any, *, first: bool) -> Task | str | None:
    """To task/fetch and task/submit: a dialog, a message, or (None, not at `first`) its end."""
    _ok(status)
    if body is None or body == {}:
        if first:
            raise BadAnswer("a fetch is answered with a task")
        return None
    answer = _object(body, "the answer")
    _only(answer, {"task", "cacheInfo"}, "the answer")
    task = _object(answer.get("task"), "task")
    _only(task, {"type", "value"}, "task")
    if task.get("type") == "message":
        said = task.get("value")
        if not isinstance(said, str) or not said.strip():
            raise BadAnswer("a task of type message has text as its value")
        return said
    if task.get("type") != "continue":
        raise BadAnswer(f"task.type {task.get('type')!r}")
    return _task(_object(task.get("value"), "task.value"))


def compose_answer(status: int, body: Any, *, first: bool) -> Task | str | None:
    """To composeExtension/fetchTask and composeExtension/submitAction."""
    _ok(status)
    if not first and isinstance(body, dict) and "composeExtension" in body:
        answer = _object(body["composeExtension"], "composeExtension")
        if answer.get("type") != "message" or not str(answer.get("text") or "").strip():
            raise BadAnswer("composeExtension here is a message with text")
        return str(answer["text"])
    return task_answer(status, body, first=first)


def feedback_answer(status: int, body: Any) -> None:
    _ok(status)
    if body not in (None, "", {}):
        raise BadAnswer("feedback is answered with an empty body")


def action_answer(status: int, body: Any) -> Json | str | None:
    """To adaptiveCard/action: the card that takes the old one's place, a message, or nothing."""
    _ok(status)
    answer = _object(body, "the answer")
    _only(answer, {"statusCode", "type", "value"}, "the answer")
    kind, value = answer.get("type"), answer.get("value")
    if answer.get("statusCode") != 200 or kind == _ERROR:
        raise BadAnswer(f"statusCode {answer.get('statusCode')}: {value}")
    if kind == ADAPTIVE:
        card = _object(value, "value")
        _card(card)
        return card
    if kind == _MESSAGE and isinstance(value, str):
        return value or None
    raise BadAnswer(f"unknown type {kind!r}, or not its value")


def _task(value: Json) -> Task:
    _only(value, _TASK, "task.value")
    title = value.get("title", "")
    if not isinstance(title, str) or not title.strip():
        raise BadAnswer("a dialog has a title")
    for side in ("height", "width"):
        size = value.get(side, "medium")
        good = (isinstance(size, int) and not isinstance(size, bool) and size > 0) or size in _SIZES
        if not good:
            raise BadAnswer(f"{side} is a number of pixels, or small, medium or large")
    url, card = value.get("url"), value.get("card")
    if (url is None) == (card is None):
        raise BadAnswer("a dialog has either a card or a url")
    if url is not None:
        if not isinstance(url, str) or not url.startswith("https://"):
            raise BadAnswer("a dialog's url is https")
        return Task(title, None, url)
    attachment = _object(card, "card")
    if attachment.get("contentType") != ADAPTIVE:
        raise BadAnswer("a dialog's card is an attachment with an Adaptive Card")
    content = _object(attachment.get("content"), "card.content")
    _card(content, most=limits.DIALOG_CARD_BYTES)
    if any(action.get("type") == "Action.Execute" for action in actions_of(content)):
        raise BadAnswer("a dialog has no Action.Execute")
    return Task(title, content)


def actions_of(card: Any) -> Iterator[Json]:
    """All actions of a card, in reading order."""
    if isinstance(card, list):
        for one in card:
            yield from actions_of(one)
    elif isinstance(card, dict):
        if str(card.get("type", "")).startswith("Action."):
            yield cast("Json", card)
        for key, one in card.items():
            if key != "data" and isinstance(one, dict | list):
                yield from actions_of(one)


def _card(card: Json, **most: int) -> None:
    try:
        check_card(card, **most)
    except Refusal as refusal:
        raise BadAnswer(refusal.message) from refusal


def _ok(status: int) -> None:
    if status != 200:
        raise BadAnswer(f"status {status or 'none'}")


def _object(value: Any, what: str) -> Json:
    if not isinstance(value, dict):
        raise BadAnswer(f"{what} is no object: {str(value)[:100]}")
    return cast("Json", value)


def _only(value: Json, known: set[str] | frozenset[str], what: str) -> None:
    if unknown := set(value) - known:
        raise BadAnswer(f"{what} has unknown fields: {sorted(unknown)}")
