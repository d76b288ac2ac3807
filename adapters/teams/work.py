"""What is put into the inbox, and who works it."""

from __future__ import annotations

from typing import Any, Final

from adapters import durable
from adapters.durable import Incoming

PLATFORM: Final = "teams"
#: Queue of its own for documents: an upload takes minutes, and holds up no question.
DOCUMENTS: Final = "teams-documents"

#: A message. Payload: said (`adapters.teams.activity.Said`) and addressed (false: it names nobody).
MESSAGE: Final = "message"
#: A message was deleted. Payload: said's reference, id, question (id of its `Incoming`).
WITHDRAWN: Final = "withdrawn"
#: Ends at once: stands for an activity that shall be known, and not be acted on.
NOTHING: Final = "nothing"
#: The bot was installed, or added. Payload: reference, who (`adapters.teams.activity.Who`).
JOINED: Final = "joined"
#: Files to be added. Payload: reference, who, files (an activity's attachments), knowledge_base, labels,
#: audience (null: by the place), same_name, message (id of the message that holds the files, or null);
#: said: a message as Graph has it, whose words, or thread, are added; null or absent: none.
UPLOAD: Final = "upload"


def incoming(
    kind: str, name: str, *, lane: str, payload: dict[str, Any], also: tuple[str, ...] = ()
) -> Incoming:
    """`name` is what the activity is known by, such as its conversation and id; `also` names it too."""
    queue = DOCUMENTS if kind == UPLOAD else PLATFORM
    return durable.incoming(kind, name, prefix="m", platform=queue, lane=lane, payload=payload, also=also)
