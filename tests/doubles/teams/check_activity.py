"""What Teams takes as an activity of a bot."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from tests.doubles.teams import limits
from tests.doubles.teams.check_card import check_card
from tests.doubles.teams.check_entities import check_entities, root_entities
from tests.doubles.teams.errors import Json, Refusal, bad_request
from tests.doubles.teams.things import Conversation

ADAPTIVE = "application/vnd.microsoft.card.adaptive"
_OTHER_CARDS = frozenset(
    {
        "application/vnd.microsoft.card.hero",
        "application/vnd.microsoft.card.thumbnail",
        "application/vnd.microsoft.card.receipt",
        "application/vnd.microsoft.card.signin",
        "application/vnd.microsoft.teams.card.file.consent",
    }
)
_STRINGS = ("text", "textFormat", "summary", "locale", "inputHint", "importance", "attachmentLayout")
_FORMATS = frozenset({"plain", "markdown", "xml"})
_CHANNEL_DATA = frozenset({"feedbackLoop", "feedbackLoopEnabled", "notification", "tenant", "onBehalfOf"})
#: Teams does not show these, whatever the format.
_ACTIVE = re.compile(r"</?(?:script|iframe|object|style)\b", re.IGNORECASE)


def size_of(activity: Json) -> int:
    """In bytes of UTF-16."""
    return len(json.dumps(activity, ensure_ascii=False).encode("utf-16-le", "surrogatepass"))


def check_activity(activity: Any, place: Conversation, name: str, bot: str, members: set[str]) -> Json:
    """Gives the activity, or raises the refusal. `name` is the conversation's id with its thread's,
    `members` the ids of those that may be mentioned."""
    if not isinstance(activity, dict):
        raise bad_request("Activity is not an object")
    body = cast("Json", activity)
    kind = body.get("type")
    if kind not in ("message", "typing"):
        raise bad_request(f"Unknown activity type: {kind!r}")
    for field in _STRINGS:
        if not isinstance(body.get(field, ""), str):
            raise bad_request(f"{field} is no string")
    _check_address(body, name, bot)
    if size_of(body) > limits.MESSAGE_BYTES:
        raise Refusal(413, "MessageSizeTooBig", "Message size too large.")
    text, attachments = body.get("text", ""), _list(body, "attachments")
    stream = any(one.get("type") == "streaminfo" for one in _list(body, "entities"))
    if kind == "message" and not text.strip() and not attachments:
        raise bad_request("Message has neither text nor attachments")
    if kind == "typing" and not stream and (text or attachments):
        raise bad_request("A typing activity has no content")
    if body.get("textFormat", "markdown") not in _FORMATS:
        raise bad_request("textFormat is plain, markdown or xml")
    if _ACTIVE.search(text) and body.get("textFormat") == "xml":
        raise bad_request("text has elements that are not supported")
    if body.get("attachmentLayout", "list") not in ("list", "carousel"):
        raise bad_request("attachmentLayout is list or carousel")
    check_attachments(attachments)
    cards = [one["content"] for one in attachments if one.get("contentType") == ADAPTIVE]
    check_entities(_list(body, "entities"), text, cards, members)
    _check_suggestions(body, place)
    _check_channel_data(body)
    return body


def check_attachments(attachments: list[Json]) -> None:
    if len(attachments) > limits.ATTACHMENTS:
        raise bad_request(f"more than {limits.ATTACHMENTS} attachments")
    for one in attachments:
        kind = one.get("contentType")
        if kind == ADAPTIVE:
            if not isinstance(one.get("content"), dict):
                raise bad_request("an Adaptive Card is an object in content")
            check_card(one["content"])
        elif kind in _OTHER_CARDS:
            if not isinstance(one.get("content"), dict):
                raise bad_request("a card is an object in content")
        elif isinstance(kind, str) and kind.startswith("image/"):
            if not str(one.get("contentUrl", "")).startswith("https://"):
                raise bad_request("a picture has an https contentUrl")
        else:
            raise bad_request(f"Unknown attachment type: {kind!r}")


def _check_address(body: Json, name: str, bot: str) -> None:
    sender, conversation = body.get("from"), body.get("conversation")
    if isinstance(sender, dict) and sender.get("id") not in (None, "", bot):
        raise bad_request("from is not the bot")
    if isinstance(conversation, dict) and conversation.get("id") not in (None, "", name):
        raise bad_request("conversation is not that of the address")


def _check_suggestions(body: Json, place: Conversation) -> None:
    suggested = body.get("suggestedActions")
    if suggested is None:
        return
    if place.kind != "personal":
        raise bad_request("suggestedActions are for personal chats")
    actions = _list(suggested if isinstance(suggested, dict) else {}, "actions")
    if not 1 <= len(actions) <= limits.SUGGESTED_ACTIONS:
        raise bad_request(f"1 to {limits.SUGGESTED_ACTIONS} suggestedActions")
    for action in actions:
        good = all(isinstance(action.get(field), str) and action[field] for field in ("title", "value"))
        if action.get("type") != "imBack" or not good:
            raise bad_request("a suggested action is an imBack with title and value")


def _check_channel_data(body: Json) -> None:
    data = body.get("channelData", {})
    if not isinstance(data, dict):
        raise bad_request("channelData is no object")
    if unknown := set(data) - _CHANNEL_DATA:
        raise bad_request(f"unknown channelData: {sorted(unknown)}")
    feedback = data.get("feedbackLoop")
    if feedback is not None:
        if "feedbackLoopEnabled" in data:
            raise bad_request("feedbackLoop and feedbackLoopEnabled exclude each other")
        if not isinstance(feedback, dict) or feedback.get("type") not in ("default", "custom"):
            raise bad_request("feedbackLoop.type is default or custom")
    elif not isinstance(data.get("feedbackLoopEnabled", True), bool):
        raise bad_request("feedbackLoopEnabled is no boolean")
    if feedback is not None and body["type"] != "message":
        raise bad_request("feedbackLoop is for messages")
    alert = data.get("notification", {})
    if not isinstance(alert, dict) or not isinstance(alert.get("alert", True), bool):
        raise bad_request("notification.alert is a boolean")
    if body["type"] != "message" and root_entities(_list(body, "entities")):
        raise bad_request("Only the final message has labels and citations")


def _list(body: Json, field: str) -> list[Json]:
    value = body.get(field)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise bad_request(f"{field} is a list of objects")
    return cast("list[Json]", value)
