"""Messages as Microsoft Graph tells them (`chatMessage`)."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

from tests.doubles.teams.errors import Json
from tests.doubles.teams.payloads import iso
from tests.doubles.teams.things import Conversation, Message

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

_AT = re.compile(r"<at>(.*?)</at>")


def chat_message(core: Core, place: Conversation, message: Message) -> Json:
    edited, deleted = message.edited, message.deleted
    changed = max(message.created, edited or 0.0, deleted or 0.0)
    body, mentions = _body(core, message)
    attachments = _attachments(core, message)
    body += "".join(f'<attachment id="{one["id"]}"></attachment>' for one in attachments)
    made: Json = {
        "id": message.id,
        "replyToId": message.root if message.root != message.id else None,
        "etag": str(round(changed * 1000)),
        "messageType": "systemEventMessage" if message.sender is None else "message",
        "createdDateTime": iso(message.created),
        "lastModifiedDateTime": iso(changed),
        "lastEditedDateTime": iso(edited) if edited is not None else None,
        "deletedDateTime": iso(deleted) if deleted is not None else None,
        "subject": None,
        "summary": None,
        "chatId": None if place.channel else place.id,
        "importance": "normal",
        "locale": "en-us",
        "webUrl": f"https://teams.example/l/message/{place.id}/{message.id}" if place.channel else None,
        "channelIdentity": None,
        "from": _sender(core, message),
        "body": {"contentType": "html", "content": "" if deleted is not None else body},
        "attachments": [] if deleted is not None else attachments,
        "mentions": [] if deleted is not None else mentions,
        "reactions": [],
    }
    if place.team is not None:
        made["channelIdentity"] = {"teamId": core.world.teams[place.team].group, "channelId": place.id}
    return made


def _sender(core: Core, message: Message) -> Json | None:
    if message.sender is None:
        return None
    person = core.world.people.get(message.sender)
    if person is not None:
        user = {
            "@odata.type": "#microsoft.graph.teamworkUserIdentity",
            "id": person.aad,
            "displayName": person.name,
            "userIdentityType": "aadUser",
            "tenantId": person.tenant,
        }
        return {"application": None, "device": None, "user": user}
    name = core.app.name if message.sender == core.app.bot else message.sender
    bot = {
        "@odata.type": "#microsoft.graph.teamworkApplicationIdentity",
        "id": message.sender.removeprefix("28:"),
        "displayName": name,
        "applicationIdentityType": "bot",
    }
    return {"application": bot, "device": None, "user": None}


def _body(core: Core, message: Message) -> tuple[str, list[Json]]:
    if message.sender is None:
        return "<systemEventMessage/>", []
    if message.sender not in core.world.people:
        lines = html.escape(message.text, quote=False).split("\n")
        return f"<p>{'<br>'.join(lines)}</p>" if message.text else "", []
    mentions: list[Json] = []
    entities = [one for one in message.entities if one.get("type") == "mention"]

    def at(match: re.Match[str]) -> str:
        number = len(mentions)
        mentions.append(_mention(core, number, html.unescape(match.group(1)), entities[number]))
        return f'<at id="{number}">{match.group(1)}</at>'

    text = _AT.sub(at, message.text)
    return f"<p>{'<br>'.join(text.split(chr(10)))}</p>", mentions


def _mention(core: Core, number: int, name: str, entity: Json) -> Json:
    id = entity["mentioned"]["id"]
    who: Json = {"application": None, "device": None, "conversation": None, "user": None}
    if id == core.app.bot:
        who["application"] = {
            "id": core.app.id,
            "displayName": name,
            "applicationIdentityType": "bot",
        }
    else:
        person = core.world.person_by(id)
        assert person is not None
        who["user"] = {"id": person.aad, "displayName": name, "userIdentityType": "aadUser"}
    return {"id": number, "mentionText": name, "mentioned": who}


def _attachments(core: Core, message: Message) -> list[Json]:
    found: list[Json] = []
    for id in message.files:
        file = core.world.files[id]
        found.append(
            {
                "id": file.id,
                "contentType": "reference",
                "contentUrl": file.url,
                "content": None,
                "name": file.name,
                "thumbnailUrl": None,
            }
        )
    for number, one in enumerate(message.attachments):
        found.append(
            {
                "id": f"{message.id}-{number}",
                "contentType": one.get("contentType"),
                "contentUrl": None,
                "content": json.dumps(one.get("content")),
                "name": None,
                "thumbnailUrl": None,
            }
        )
    return found
