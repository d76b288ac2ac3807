"""Buttons, dialogs, message actions and thumbs: what waits for the bot's answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.doubles.teams import graph_messages
from tests.doubles.teams.answers import (
    Task,
    action_answer,
    actions_of,
    compose_answer,
    feedback_answer,
    task_answer,
)
from tests.doubles.teams.check_activity import ADAPTIVE
from tests.doubles.teams.errors import BadAnswer, CannotAct, Json
from tests.doubles.teams.inputs import filled_in
from tests.doubles.teams.people import People
from tests.doubles.teams.seen import seen, words
from tests.doubles.teams.things import Conversation, Message

_CONTEXT: Json = {"theme": "default"}


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog that is open for a person. `command` is set for a message action."""

    title: str
    card: Json | None
    url: str | None
    person: str
    conversation: str
    #: The message that it was opened from.
    message: str | None
    command: str | None = None

    @property
    def words(self) -> str:
        return words(self.card)


#: A dialog that opens or goes on, words that Teams shows, or None: it is closed.
Answer = Dialog | str | None


class Interactions(People):
    async def click(
        self,
        conversation: str,
        message: str,
        person: str,
        title: str,
        inputs: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Press the button with that title on a card of a message, with inputs filled in (by their id).

        A button that sends a message gives None; what the bot makes of it comes later. Raises `CannotAct`
        where that can't be done, and `BadAnswer` where the bot's answer is not one.
        """
        place, found, card, action = self._button(conversation, message, person, title)
        kind = action["type"]
        if kind == "Action.OpenUrl":
            return str(action["url"])
        if kind not in ("Action.Submit", "Action.Execute"):
            raise CannotAct(f"{kind} sends nothing")
        given = {} if action.get("associatedInputs") == "none" else filled_in(card, inputs or {})
        data = {**action.get("data", {}), **given}
        if kind == "Action.Execute":
            return await self._execute(place, found, person, action, data)
        teams = data.get("msteams") or {}
        match teams.get("type"):
            case "task/fetch":
                value: Json = {"data": data, "context": _CONTEXT}
                return await self._dialog("task/fetch", place, found, person, value)
            case "imBack":
                text = str(teams["value"])
                self.say(place.id, person, text if place.kind == "personal" else f"{self.at_bot} {text}",
                         thread=found.root)  # fmt: skip
            case "messageBack":
                if shown := teams.get("displayText"):
                    self._new(place, person, shown, found.root)
                value = teams.get("value") or {name: one for name, one in data.items() if name != "msteams"}
                self._submitted(place, found, person, value, text=str(teams["text"]))
            case _:
                self._submitted(place, found, person, data)
        return None

    async def submit(self, dialog: Dialog, title: str, inputs: Mapping[str, Any] | None = None) -> Answer:
        """Press a button of a dialog."""
        if dialog.card is None:
            raise CannotAct("the dialog is a web page")
        action = _action(dialog.card, title)
        if action["type"] == "Action.OpenUrl":
            return str(action["url"])
        given = {} if action.get("associatedInputs") == "none" else filled_in(dialog.card, inputs or {})
        data = {**action.get("data", {}), **given}
        place = self._place(dialog.conversation, dialog.person)
        found = place.messages.get(dialog.message or "")
        if dialog.command is None:
            value: Json = {"data": data, "context": _CONTEXT}
            return await self._dialog("task/submit", place, found, dialog.person, value)
        assert found is not None
        value = self._command(place, found, dialog.command) | {"data": data}
        return await self._dialog("composeExtension/submitAction", place, found, dialog.person, value)

    async def message_action(self, conversation: str, message: str, person: str, command: str) -> Answer:
        """Choose an action of the app in the menu of any message."""
        place = self._place(conversation, person)
        found = place.messages[message]
        value = self._command(place, found, command)
        return await self._dialog("composeExtension/fetchTask", place, found, person, value)

    async def feedback(
        self,
        conversation: str,
        message: str,
        person: str,
        reaction: Literal["like", "dislike"],
        text: str = "",
    ) -> None:
        """A thumb under a message of the bot, and what was written in the form that opens."""
        place = self._place(conversation, person)
        found = place.messages[message]
        if found.deleted is not None or not seen(self, place, found).asks_feedback or found.final is False:
            raise CannotAct("there are no thumbs under that message")
        said = json.dumps({"feedbackText": text})
        value: Json = {"actionName": "feedback", "actionValue": {"reaction": reaction, "feedback": said}}
        delivery = await self._invoke("message/submitAction", place, found, person, value)
        self._judged("message/submitAction", lambda: feedback_answer(*delivery))

    def suggest(self, conversation: str, message: str, person: str, title: str) -> str:
        """Choose a suggested prompt under the newest message. Gives the id of what is said by it."""
        place = self._place(conversation, person)
        shown = self.shown(conversation)
        suggested = place.messages[message].activity.get("suggestedActions") or {"actions": []}
        texts = {one["title"]: one["value"] for one in suggested["actions"]}
        if shown[-1].id != message or title not in texts:
            raise CannotAct(f"there is no suggestion {title!r}")
        return self.say(conversation, person, texts[title])

    # -- pieces --------------------------------------------------------------------------------

    def _button(
        self, conversation: str, message: str, person: str, title: str
    ) -> tuple[Conversation, Message, Json, Json]:
        place = self._place(conversation, person)
        found = place.messages[message]
        if found.deleted is None:
            for attachment in found.attachments:
                if attachment.get("contentType") == ADAPTIVE:
                    card = attachment["content"]
                    if any(one.get("title") == title for one in actions_of(card)):
                        return place, found, card, _action(card, title)
        raise CannotAct(f"there is no button {title!r}")

    def _submitted(
        self, place: Conversation, found: Message, person: str, value: Any, *, text: str | None = None
    ) -> None:
        who = self.world.people[person]
        activity = self.payloads.activity("message", place, who, root=found.root, value=value)
        activity |= {"replyToId": found.id} | ({"text": text} if text is not None else {})
        activity["channelData"] |= {"source": {"name": "message"}, "legacy": {"replyToId": found.id}}
        self.outbox.add(activity)

    async def _execute(
        self, place: Conversation, found: Message, person: str, action: Json, data: Json
    ) -> str | None:
        told = {
            "type": "Action.Execute",
            "id": action.get("id", ""),
            "verb": action.get("verb", ""),
            "data": data,
        }
        value: Json = {"action": told, "trigger": "manual"}
        delivery = await self._invoke("adaptiveCard/action", place, found, person, value)
        answer = self._judged("adaptiveCard/action", lambda: action_answer(*delivery))
        if isinstance(answer, dict):
            found.attachments = [{"contentType": ADAPTIVE, "content": answer}]
            return None
        return answer

    async def _dialog(
        self, name: str, place: Conversation, found: Message | None, person: str, value: Json
    ) -> Answer:
        delivery = await self._invoke(name, place, found, person, value)
        first, command = name.endswith(("fetch", "fetchTask")), value.get("commandId")
        check = compose_answer if command else task_answer
        answer = self._judged(name, lambda: check(*delivery, first=first))
        if isinstance(answer, Task):
            message = found.id if found else None
            return Dialog(answer.title, answer.card, answer.url, person, place.id, message, command)
        return answer

    async def _invoke(
        self, name: str, place: Conversation, found: Message | None, person: str, value: Json
    ) -> tuple[int, Any]:
        who = self.world.people[person]
        root = found.root if found else None
        activity = self.payloads.activity("invoke", place, who, root=root, name=name, value=value)
        if found is not None and not name.startswith("composeExtension"):
            activity["replyToId"] = found.id
        activity["channelData"] |= {"source": {"name": "message"}}
        delivery = await self.outbox.invoke(activity)
        return delivery.status, delivery.answer

    def _judged(self, name: str, judge: Any) -> Any:
        try:
            return judge()
        except BadAnswer as error:
            self.wrong_answers.append(f"{name}: {error}")
            raise

    def _command(self, place: Conversation, found: Message, command: str) -> Json:
        payload = graph_messages.chat_message(self, place, found)
        return {
            "commandId": command,
            "commandContext": "message",
            "requestId": self.world.guid(),
            "messagePayload": payload | {"deleted": found.deleted is not None},
            "context": _CONTEXT,
        }


def _action(card: Json, title: str) -> Json:
    found = [one for one in actions_of(card) if one.get("title") == title]
    if len(found) != 1:
        raise CannotAct(f"there are {len(found)} buttons {title!r}")
    if found[0].get("isEnabled") is False:
        raise CannotAct(f"the button {title!r} is off")
    return found[0]
