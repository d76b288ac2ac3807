"""Buttons, dialogs, message actions and thumbs: what waits for the bot's answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from tests.doubles.teams.answers import feedback_answer
from tests.doubles.teams.buttons import action_of, button_of
from tests.doubles.teams.errors import CannotAct, Json
from tests.doubles.teams.inputs import filled_in
from tests.doubles.teams.invokes import CONTEXT, Answer, Dialog, Invokes
from tests.doubles.teams.seen import seen


class Interactions(Invokes):
    async def click(
        self,
        conversation: str,
        message: str,
        person: str,
        title: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        number: int = 1,
    ) -> Answer:
        """Press the button with that title (`number`: which of several) on a card of a message, with
        inputs filled in, by their ids.

        A button that sends a message gives None; what the bot makes of it comes later. Raises `CannotAct`
        where that can't be done, and `BadAnswer` where the bot's answer is not one.
        """
        place = self._place(conversation, person)
        found = place.messages[message]
        card, action = button_of(found, title, number)
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
                value: Json = {"data": data, "context": CONTEXT}
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

    async def submit(
        self, dialog: Dialog, title: str, inputs: Mapping[str, Any] | None = None, *, number: int = 1
    ) -> Answer:
        """Press a button of a dialog."""
        if dialog.card is None:
            raise CannotAct("the dialog is a web page")
        action = action_of(dialog.card, title, number)
        if action["type"] == "Action.OpenUrl":
            return str(action["url"])
        given = {} if action.get("associatedInputs") == "none" else filled_in(dialog.card, inputs or {})
        data = {**action.get("data", {}), **given}
        place = self._place(dialog.conversation, dialog.person)
        found = place.messages.get(dialog.message or "")
        if dialog.command is None:
            value: Json = {"data": data, "context": CONTEXT}
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
