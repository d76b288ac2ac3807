"""A message of Teams, or the thread that it stands in, as a document whose citations lead back to it."""

from __future__ import annotations

from typing import Any, Final

import structlog

from adapters.conversation import UploadedFile
from adapters.teams.card import is_https
from adapters.teams.context import Teams
from adapters.teams.errors import NoGraph
from adapters.teams.graph_messages import message_of
from adapters.teams.reference import Reference
from adapters.thread_document import thread_file

log = structlog.get_logger()

_PLATFORM: Final = "Microsoft Teams"


async def message_file(teams: Teams, reference: Reference, said: dict[str, Any]) -> UploadedFile:
    """The whole thread where a channel's team has consented; else the message alone.

    Args:
        said: the message as Graph and message actions have it (`chatMessage`).

    Raises `Refused` where it has no words.
    """
    root = str(reference.root or said.get("replyToId") or said.get("id") or "message")
    raw = [said]
    if reference.team is not None:
        try:
            raw = await teams.graph.replies(reference.in_thread(root)) or raw
        except NoGraph as error:
            log.info("teams_thread_unread", why=error.why)
    found = (message_of({"messageType": "message", **one}, bot=reference.bot) for one in raw)
    link = str(said.get("linkToMessage") or "")
    return await thread_file(
        [message for message in found if message is not None],
        root,
        teams.spool,
        platform=_PLATFORM,
        where=reference.name,
        permalink=link if is_https(link) else None,
    )
