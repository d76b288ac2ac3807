"""One streamed message in a personal chat: informative lines, then text that grows, then the message.

Teams takes a request a second, each with the next number and with a text that begins with the one before;
it ends a stream after two minutes, and a person can end it at any time.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final, Literal

from adapters.teams import limits
from adapters.teams.context import Connector
from adapters.teams.errors import STREAM_NOT_ALLOWED, TeamsError
from adapters.teams.reference import Reference

#: How Teams ended it: a person pressed stop; the message is there; two minutes are over; anything else.
How = Literal["stopped", "completed", "expired", "refused"]
#: Words of Teams' refusals; the code is the same for all.
_HOW: Final[tuple[tuple[str, How], ...]] = (
    ("cancel", "stopped"),
    ("completed", "completed"),
    ("exceeded", "expired"),
)


class StreamEnded(Exception):
    """Nothing more can be said in that stream."""

    def __init__(self, how: How) -> None:
        self.how: How = how
        super().__init__(how)


class Stream:
    """Raises what the connector raises; `StreamEnded` where Teams takes no more for it."""

    def __init__(self, connector: Connector, reference: Reference, stream_id: str = "") -> None:
        self._connector, self._reference = connector, reference
        self.id = stream_id
        #: What stands there.
        self.text = ""
        self._line = ""
        self._sequence = 0
        self._next = 0.0

    async def inform(self, line: str) -> None:
        """A line that says what is being done; it opens the stream, and ends with the first text."""
        if line == self._line or self.text:
            return
        await self._tell("informative", line)
        self._line = line

    async def grow(self, text: str) -> None:
        """All of the text so far. What does not begin with what stands there waits for the end."""
        if text == self.text or not text.startswith(self.text) or len(text) > limits.STREAM_TEXT:
            return
        await self._tell("streaming", text)
        self.text = text

    async def finish(self, activity: dict[str, Any]) -> str:
        """The message itself. Gives its id. It can be told again: Teams says then that it is there."""
        info = {"type": "streaminfo", "streamType": "final", "streamId": self.id}
        entities = [*activity.get("entities", []), info]
        sent = await self._send({**activity, "type": "message", "entities": entities})
        return sent or self.id

    async def _tell(self, kind: str, text: str) -> None:
        info = {"type": "streaminfo", "streamType": kind, "streamSequence": self._sequence + 1}
        if self.id:
            info["streamId"] = self.id
        sent = await self._send({"type": "typing", "text": text, "entities": [info]}, once=True)
        self.id = self.id or sent
        self._sequence += 1

    async def _send(self, activity: dict[str, Any], *, once: bool = False) -> str:
        await asyncio.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + limits.STREAM_EVERY
        try:
            return await self._connector.send(self._reference, activity, once=once)
        except TeamsError as error:
            if error.code == STREAM_NOT_ALLOWED:
                said = error.message.lower()
                other: How = "refused"
                for word, how in _HOW:
                    other = how if word in said else other
                raise StreamEnded(other) from error
            raise
