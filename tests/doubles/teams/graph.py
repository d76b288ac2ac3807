"""Microsoft Graph, as far as a team, a chat or an admin consented: messages, members, files."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.doubles.teams import limits
from tests.doubles.teams.errors import Json
from tests.doubles.teams.graph_errors import graph_error, only
from tests.doubles.teams.graph_messages import chat_message
from tests.doubles.teams.login import Token
from tests.doubles.teams.things import Conversation, File, Message, Team

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

_NEWEST = ("createdDateTime desc", "lastModifiedDateTime desc")


class Graph:
    def __init__(self, core: Core) -> None:
        self._core = core

    def answer(self, token: Token, parts: list[str], query: Mapping[str, str]) -> Json:
        """The body for a path under `/v1.0`, as its decoded parts; raises `Refusal`."""
        match parts:
            case ["teams", group, "channels", channel, "messages", id]:
                return self._tell(self._channel(token, group, channel, query), id, root=id)
            case ["teams", group, "channels", channel, "messages", root, "replies"]:
                place = self._channel(token, group, channel, query, "$top", "$skiptoken")
                self._message(place, root, root)
                replies = [one for one in self._core.world.thread(place, root) if one.id != root]
                return self._page(place, replies[::-1], parts, query)
            case ["teams", group, "channels", channel, "messages", root, "replies", id]:
                return self._tell(self._channel(token, group, channel, query), id, root=root)
            case ["chats", chat, "messages"]:
                place = self._chat(token, chat, query, "$top", "$skiptoken", "$orderby")
                return self._page(place, self._newest(place, query), parts, query)
            case ["chats", chat, "messages", id]:
                return self._tell(self._chat(token, chat, query), id)
            case ["teams", group, "members"]:
                return self._members(token, group, parts, query)
            case ["shares", share, "driveItem"]:
                return self._item(self.shared(token, share), query)
            case _:
                raise graph_error(404, "ResourceNotFound", f"No such resource: {'/'.join(parts)}")

    # -- messages ------------------------------------------------------------------------------

    def _channel(
        self, token: Token, group: str, channel: str, query: Mapping[str, str], *known: str
    ) -> Conversation:
        only(query, known)
        team = self._team(token, group)
        place = self._core.world.conversations.get(channel)
        if place is None or place.team != team.id:
            raise graph_error(404, "NotFound", "The channel was not found.")
        self._consent(token, team.rsc, "ChannelMessage.Read.All")
        return place

    def _chat(self, token: Token, chat: str, query: Mapping[str, str], *known: str) -> Conversation:
        only(query, known)
        place = self._core.world.conversations.get(chat)
        if not chat.startswith("19:"):
            raise graph_error(400, "BadRequest", "The id of the chat is not one of Graph's.", blame=False)
        if place is None or place.channel or place.tenant != token.tenant:
            raise graph_error(404, "NotFound", "The chat was not found.")
        self._consent(token, place.rsc, "Chat.Read.All")
        return place

    def _tell(self, place: Conversation, id: str, *, root: str | None = None) -> Json:
        return chat_message(self._core, place, self._message(place, id, root))

    @staticmethod
    def _message(place: Conversation, id: str, root: str | None) -> Message:
        message = place.messages.get(id)
        if message is None or (root is not None and message.root != root):
            raise graph_error(404, "NotFound", "The message was not found.")
        return message

    def _newest(self, place: Conversation, query: Mapping[str, str]) -> list[Message]:
        order = query.get("$orderby", "lastModifiedDateTime desc")
        if order not in _NEWEST:
            raise graph_error(
                400, "BadRequest", "$orderby takes createdDateTime or lastModifiedDateTime, desc."
            )
        found = self._core.world.thread(place, None)
        if order == "lastModifiedDateTime desc":
            found.sort(key=lambda one: (max(one.created, one.edited or 0, one.deleted or 0), int(one.id)))
        return found[::-1]

    def _page(
        self, place: Conversation, found: list[Message], parts: list[str], query: Mapping[str, str]
    ) -> Json:
        return self._paged([chat_message(self._core, place, one) for one in found], parts, query)

    def _paged(self, found: list[Json], parts: list[str], query: Mapping[str, str]) -> Json:
        """Marks of pages are positions here; nobody may make them up."""
        try:
            size = int(query.get("$top", limits.GRAPH_PAGE))
            begin = int(query.get("$skiptoken", "s0").removeprefix("s"))
        except ValueError:
            raise graph_error(400, "BadRequest", "$top is a number.") from None
        if not 1 <= size <= limits.GRAPH_PAGE_MOST:
            raise graph_error(
                400,
                "BadRequest",
                f"The limit of '{limits.GRAPH_PAGE_MOST}' for Top query has been exceeded.",
            )
        size = min(size, self._core.rules.graph_page)
        body: Json = {
            "@odata.count": len(found[begin : begin + size]),
            "value": found[begin : begin + size],
        }
        if begin + size < len(found):
            kept = "".join(
                f"&{name}={quote(query[name])}" for name in ("$top", "$orderby") if name in query
            )
            path = "/".join(quote(part, safe=":@") for part in parts)
            body["@odata.nextLink"] = f"{self._core.graph_url}/{path}?%24skiptoken=s{begin + size}{kept}"
        return body

    # -- people --------------------------------------------------------------------------------

    def _members(self, token: Token, group: str, parts: list[str], query: Mapping[str, str]) -> Json:
        only(query, ("$top", "$skiptoken"))
        team = self._team(token, group)
        self._consent(token, team.rsc, "TeamMember.Read.All")
        found: list[Json] = []
        for aad, role in team.members.items():
            who = self._core.world.people[aad]
            found.append(
                {
                    "@odata.type": "#microsoft.graph.aadUserConversationMember",
                    "id": base64.b64encode(f"{group}##{aad}".encode()).decode(),
                    "roles": [] if role == "member" else [role],
                    "displayName": who.name,
                    "visibleHistoryStartDateTime": "0001-01-01T00:00:00Z",
                    "userId": aad,
                    "email": who.email,
                    "tenantId": who.tenant,
                }
            )
        return self._paged(found, parts, query)

    def _team(self, token: Token, group: str) -> Team:
        for team in self._core.world.teams.values():
            if team.group == group and team.tenant == token.tenant:
                return team
        raise graph_error(404, "NotFound", "The team was not found.")

    # -- files ---------------------------------------------------------------------------------

    def shared(self, token: Token, share: str) -> File:
        """The file that an encoded address names (`u!` and base64url without padding)."""
        try:
            encoded = share.removeprefix("u!")
            url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            url = ""
        if not share.startswith("u!") or "=" in share or not url.startswith("https://"):
            raise graph_error(400, "invalidRequest", "The sharing token is not well formed.")
        self._consent(token, False, "Files.Read.All")
        for file in self._core.world.files.values():
            if file.url == url and file.tenant == token.tenant and not file.gone:
                return file
        raise graph_error(404, "itemNotFound", "The resource could not be found.", blame=False)

    def _item(self, file: File, query: Mapping[str, str]) -> Json:
        only(query, ("$select",))
        item: Json = {
            "@microsoft.graph.downloadUrl": self._core.payloads.ticket(file),
            "id": file.id,
            "name": file.name,
            "size": len(file.content),
            "eTag": f'"{{{file.id}}},1"',
            "webUrl": file.url,
            "file": {"mimeType": "application/octet-stream"},
        }
        if "$select" in query:
            wanted = {name.strip() for name in query["$select"].split(",")}
            item = {name: value for name, value in item.items() if name in wanted}
        return item

    def _consent(self, token: Token, given: bool, permission: str) -> None:
        if not given and permission not in self._core.world.tenants[token.tenant].permissions:
            message = f"Missing role permissions on the request. API requires one of '{permission}'."
            raise graph_error(403, "Forbidden", message, blame=False)
