"""What waits for the bot's answer: how it is asked, and how its answer is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.doubles.teams import graph_messages
from tests.doubles.teams.answers import Task, action_answer, compose_answer, task_answer
from tests.doubles.teams.check_activity import ADAPTIVE
from tests.doubles.teams.errors import BadAnswer, Json
from tests.doubles.teams.people import People
from tests.doubles.teams.seen import words
from tests.doubles.teams.things import Conversation, Message

T = TypeVar("T")
CONTEXT: Json = {"theme": "default"}


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


class Invokes(People):
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

    def _judged(self, name: str, judge: Callable[[], T]) -> T:
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
            "context": CONTEXT,
        }
