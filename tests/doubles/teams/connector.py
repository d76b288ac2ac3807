"""The Bot Connector's calls that send, change and delete messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.teams import limits
from tests.doubles.teams.check_activity import check_activity
from tests.doubles.teams.errors import Json, Refusal, bad_request, writes_blocked
from tests.doubles.teams.streams import Streams, fill, not_allowed, stream_info
from tests.doubles.teams.things import Conversation, Message

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

_BLOCKED = {
    "BotNotInConversationRoster": "The bot is not part of the conversation roster.",
    "BotDisabledByAdmin": "The tenant admin disabled this bot.",
    "ConversationBlockedByUser": "User blocked the conversation with the bot.",
    "ForbiddenOperationException": "Bot is not installed in user's personal scope",
    "NotEnoughPermissions": "Bot has not enough permissions.",
    "InvalidBotApiHost": "Invalid bot API host.",
}


class Connector:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.streams = Streams(core)

    def send(self, name: str, activity: Any, reply_to: str | None = None) -> tuple[int, Json]:
        place, root = self._writable(name)
        if reply_to is not None:
            self._known(place, reply_to)
        if isinstance(activity, dict):
            self.streams.check(place, activity)
        body = self._checked(activity, place, name)
        if (told := body.get("replyToId")) and reply_to is None:
            self._known(place, told)
        self._rates(place, name)
        if (info := stream_info(body)) is not None:
            return self.streams.take(place, body, info)
        if body["type"] == "typing":
            place.typing.append((self._core.clock.now(), root))
            return 202, {}
        message = self._new(place, root, body, reply_to or body.get("replyToId"))
        return 201, {"id": message.id}

    def update(self, name: str, id: str, activity: Any) -> tuple[int, Json]:
        place, _ = self._writable(name)
        message = self._own(place, id)
        body = self._checked(activity, place, name)
        if body["type"] != "message" or stream_info(body) is not None:
            raise bad_request("Only messages can be updated")
        stream = place.streams.get(id)
        if stream is not None and stream.state in ("open", "canceled"):
            raise not_allowed("The message is being streamed, or its streaming was stopped")
        self._rates(place, name)
        fill(message, body)
        message.versions.append(message.text)
        message.edited = self._core.clock.now()
        return 200, {"id": id}

    def delete(self, name: str, id: str) -> tuple[int, Json]:
        place, _ = self._writable(name)
        message = self._own(place, id)
        self._rates(place, name)
        message.deleted = self._core.clock.now()
        if (stream := place.streams.get(id)) and stream.state == "open":
            stream.state = "completed"
        return 200, {}

    # -- pieces --------------------------------------------------------------------------------

    def _writable(self, name: str) -> tuple[Conversation, str | None]:
        place, root = self._core.world.place(name)
        if place.blocked == "MessageWritesBlocked":
            raise writes_blocked()
        if place.blocked is not None:
            raise Refusal(403, place.blocked, _BLOCKED.get(place.blocked, "Forbidden"), blame=False)
        if not self._core.world.installed(place):
            if place.kind == "personal":
                raise writes_blocked()
            code = "BotNotInConversationRoster"
            raise Refusal(403, code, _BLOCKED[code], blame=False)
        return place, root

    def _checked(self, activity: Any, place: Conversation, name: str) -> Json:
        world = self._core.world
        members = {world.people[aad].user for aad in world.members(place)}
        members |= set(world.members(place)) | {self._core.app.bot}
        return check_activity(activity, place, name, self._core.app.bot, members)

    def _rates(self, place: Conversation, name: str) -> None:
        core = self._core
        if core.rules.rates:
            core.rates.take(
                (("send", name), limits.SEND_RATES),
                (("thread", place.id), limits.THREAD_RATES),
                (("tenant", place.tenant), limits.TENANT_RATES),
            )

    def _new(self, place: Conversation, root: str | None, body: Json, reply_to: str | None) -> Message:
        core = self._core
        message = Message(
            core.world.new_id(), place.id, core.app.bot, reply_to=reply_to, created=core.clock.now()
        )
        if place.channel:
            message.root = root or message.id
        fill(message, body)
        message.versions = [message.text]
        place.messages[message.id] = message
        core.notified.append((place.id, message.id))
        return message

    @staticmethod
    def _known(place: Conversation, id: Any) -> None:
        """What is answered is, or was, there."""
        if id not in place.messages and not str(id).startswith("f:"):
            raise Refusal(404, "ActivityNotFoundInConversation", "The message could not be found")

    def _own(self, place: Conversation, id: str) -> Message:
        message = place.messages.get(id)
        if message is None or message.deleted is not None:
            blame = message is None
            code = "ActivityNotFoundInConversation"
            raise Refusal(404, code, "The message could not be found", blame=blame)
        if message.sender != self._core.app.bot:
            raise Refusal(403, "NotEnoughPermissions", "Only the sender may change the message")
        return message
