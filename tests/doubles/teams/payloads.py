"""Activities as Teams sends them to a bot."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.doubles.teams.errors import Json
from tests.doubles.teams.things import Conversation, File, Message, Person

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

#: In escaped text.
_MENTION = re.compile(r"&lt;@([^<>&\s]+)&gt;")
#: What stands in a channel message for a file.
_REFERENCE = "reference"
_DOWNLOAD = "application/vnd.microsoft.teams.file.download.info"


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Payloads:
    def __init__(self, core: Core) -> None:
        self._core = core

    # -- pieces --------------------------------------------------------------------------------

    def bot(self) -> Json:
        return {"id": self._core.app.bot, "name": self._core.app.name}

    def account(self, who: Person) -> Json:
        return {"id": who.user, "name": who.name, "aadObjectId": who.aad}

    def member(self, who: Person, place: Conversation) -> Json:
        """As the roster's calls tell it."""
        guest = who.guest or who.tenant != place.tenant
        role = "guest" if guest else "user"
        given, _, surname = who.name.partition(" ")
        return {
            "id": who.user,
            "name": who.name,
            "objectId": who.aad,
            "aadObjectId": who.aad,
            "givenName": given,
            "surname": surname,
            "email": who.email,
            "userPrincipalName": who.email.replace("@", "_") + "#EXT#" if guest else who.email,
            "tenantId": who.tenant,
            "userRole": role,
        }

    def conversation(self, place: Conversation, root: str | None = None) -> Json:
        made: Json = {"conversationType": place.kind, "tenantId": place.tenant, "id": place.id}
        if place.kind != "personal":
            made["isGroup"] = True
        if place.kind == "groupChat" and place.name:
            made["name"] = place.name
        if root is not None:
            made["id"] = f"{place.id};messageid={root}"
        return made

    def channel_data(self, place: Conversation) -> Json:
        data: Json = {"tenant": {"id": place.tenant}}
        if place.team is not None:
            team = self._core.world.teams[place.team]
            data |= {"teamsChannelId": place.id, "teamsTeamId": team.id, "team": {"id": team.id}}
            if self._core.rules.group_in_activities:
                data["team"] |= {"name": team.name, "aadGroupId": team.group}
            data["channel"] = {"id": place.id, "name": place.name, "type": place.channel_kind}
        return data

    def activity(
        self, kind: str, place: Conversation, who: Person, *, root: str | None = None, **more: Any
    ) -> Json:
        """What all activities of a person have."""
        core = self._core
        now = core.clock.now()
        made: Json = {
            "type": kind,
            "id": f"f:{core.world.new_id()}",
            "channelId": "msteams",
            "serviceUrl": core.url,
            "timestamp": iso(now),
            "localTimestamp": iso(now),
            "localTimezone": "Europe/Berlin",
            "locale": who.locale,
            "from": self.account(who),
            "recipient": self.bot(),
            "conversation": self.conversation(place, root),
            "channelData": self.channel_data(place),
            "entities": [
                {
                    "type": "clientInfo",
                    "locale": who.locale,
                    "country": "US",
                    "platform": "Web",
                    "timezone": "Europe/Berlin",
                }
            ],
        }
        return made | more

    # -- messages ------------------------------------------------------------------------------

    def marked(self, text: str) -> tuple[str, list[Json]]:
        """`<@id>` as Teams writes mentions: `<at>Name</at>`, and an entity for each."""
        entities: list[Json] = []

        def at(match: re.Match[str]) -> str:
            id = match.group(1)
            if id in ("bot", self._core.app.bot):
                mentioned = self.bot()
            else:
                mentioned = self.account(self._core.world.people[id])
                del mentioned["aadObjectId"]
            said = f"<at>{html.escape(mentioned['name'], quote=False)}</at>"
            entities.append({"type": "mention", "mentioned": mentioned, "text": said})
            return said

        return _MENTION.sub(at, html.escape(text, quote=False)), entities

    def message(self, place: Conversation, message: Message) -> Json:
        world = self._core.world
        assert message.sender is not None
        who = world.people[message.sender]
        root = message.root
        if root == message.id and not self._core.rules.suffix_on_posts:
            root = None
        made = self.activity("message", place, who, root=root, id=message.id)
        made |= {"textFormat": "plain", "text": message.text, "timestamp": iso(message.created)}
        made["entities"] = [*made["entities"], *message.entities]
        if message.reply_to is not None:
            made["replyToId"] = message.reply_to
        body = f"<p>{message.text}</p>" + "".join(
            f'<attachment id="{id}"></attachment>' for id in message.files
        )
        files = [self.attachment(place, world.files[id]) for id in message.files]
        files += [self.picture(world.files[id]) for id in message.pasted]
        made["attachments"] = [*files, *message.attachments, {"contentType": "text/html", "content": body}]
        return made

    def attachment(self, place: Conversation, file: File) -> Json:
        """In a chat with the bot a file can be fetched as it is; elsewhere it is only named."""
        if place.kind == "personal":
            content = {"downloadUrl": self.ticket(file), "uniqueId": file.id, "fileType": file.type}
            return {"contentType": _DOWNLOAD, "contentUrl": file.url, "name": file.name, "content": content}
        return {"id": file.id, "contentType": _REFERENCE, "contentUrl": file.url, "name": file.name}

    def picture(self, file: File) -> Json:
        """Given by the Connector, for the bot's token."""
        url = f"{self._core.url}v3/attachments/{file.id}/views/original"
        return {"contentType": "image/*", "contentUrl": url, "name": file.name}

    def ticket(self, file: File) -> str:
        """An address that gives the file without a token, for a while."""
        file.told = self._core.clock.now()
        return f"{self._core.base}/download/{file.id}?tempauth={file.ticket}"
