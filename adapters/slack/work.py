"""What is put into the inbox, and who works it. Each kind is a visible promise to somebody."""

from __future__ import annotations

from typing import Any, Final

from adapters import durable
from adapters.durable import Incoming

PLATFORM: Final = "slack"
#: Queue of its own for documents: an upload takes minutes, and holds up no question.
DOCUMENTS: Final = "slack-documents"

#: A question in a channel, a thread or a direct message. Payload: said
#: (`adapters.slack.event.Said`) and addressed (false: it names nobody, in a thread of the bot's).
MESSAGE: Final = "message"
#: A question from `/kb ask` or a button. Payload: team, enterprise, user, channel, thread (or null),
#: text, private (only the asker sees the reply), response_url (or null).
ASK: Final = "ask"
#: A question was deleted. Payload: team, enterprise, channel, ts, root, question (id of its `Incoming`).
WITHDRAWN: Final = "withdrawn"
#: Ends at once: stands for an event that shall be known, and not be acted on.
NOTHING: Final = "nothing"
#: The bot was added to a channel. Payload: team, enterprise, channel.
JOINED: Final = "joined"
#: Files to be added. Payload: team, enterprise, user, channel (or null), files (ids),
#: knowledge_base, labels, audience (null: by the place), same_name, notify (channel of the progress
#: message, null: direct messages), thread (or null).
UPLOAD: Final = "upload"
#: A thread to be added as a document. Payload: team, enterprise, user, channel, thread.
SAVE_THREAD: Final = "save_thread"


def incoming(
    kind: str, name: str, *, lane: str, payload: dict[str, Any], also: tuple[str, ...] = ()
) -> Incoming:
    """`name` is what the event is known by, such as "T1:C1:1700000000.000100"; `also` names it too."""
    queue = DOCUMENTS if kind in (UPLOAD, SAVE_THREAD) else PLATFORM
    return durable.incoming(kind, name, prefix="s", platform=queue, lane=lane, payload=payload, also=also)
