"""Showing an answer while it is written: as a stream in a personal chat, else as a message that is edited.

Both end in a first message, or a stream, that `Delivery.finish` makes the final one.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Final

import structlog

from adapters.answering import Presenter
from adapters.conversation import Delta, Working
from adapters.pump import Pump
from adapters.teams import limits
from adapters.teams.deliver import Delivery
from adapters.teams.errors import RateLimited, TeamsError, Unclear, reason_of
from adapters.teams.render import placeholder, streamed_text
from adapters.teams.stream import Stream, StreamEnded

log = structlog.get_logger()

_FIRST: Final = "Searching your documents"
#: Seconds before anything is shown at all.
MOMENT: Final = 0.15
#: Seconds before a stream is opened, or a message is posted that will be edited: most answers without a
#: model are there by then, as one message.
SOON, PATIENCE = 0.5, 1.5
#: Seconds between edits, the first few and the later ones: Teams takes few of them.
EDIT_EVERY, EDIT_SLOWER = 3.0, 8.0
_FEW: Final = 5
#: Seconds after which a stream is given up, before Teams does it.
STREAM_SECONDS: Final = limits.STREAM_SECONDS - 15.0


def presenter_for(delivery: Delivery, *, streaming: bool, stopped: asyncio.Event) -> Presenter:
    """`show` what comes, then `end`."""
    fresh = not delivery.posted and delivery.stream is None
    if streaming and delivery.reference.direct and fresh:
        return Streaming(delivery, stopped)
    return Editing(delivery)


class _Showing(ABC):
    """Shows the newest state again and again; raises nothing: what is shown on the way is a courtesy."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._line, self._text = _FIRST, ""
        #: Seconds that Teams wants to be left alone for.
        self._later = 0.0
        self._pump = Pump(self._try, self._rest, begin=self._begin)

    def show(self, event: Working | Delta) -> None:
        match event:
            case Working(text=text):
                self._line = text
            case Delta(text=text):
                self._text += text
        self._pump.wake()

    async def end(self) -> None:
        await self._pump.stop()

    def _rest(self) -> float:
        later, self._later = self._later, 0.0
        return max(self._pause(), later)

    async def _typing(self) -> None:
        """Shown where the answer is not there in a moment, and gone by itself; not in channels."""
        delivery = self._delivery
        await asyncio.sleep(MOMENT)
        if delivery.reference.root is None:
            with suppress(TeamsError, Unclear):
                await delivery.teams.connector.send(delivery.reference, {"type": "typing"}, once=True)

    async def _try(self) -> None:
        try:
            await self._flush()
        except RateLimited as error:
            self._later = error.seconds
            self._pump.wake()
        except (TeamsError, Unclear) as error:
            log.info("teams_progress_not_shown", error=reason_of(error))
        except Exception:
            log.exception("teams_present_failed")

    @abstractmethod
    async def _begin(self) -> None: ...

    @abstractmethod
    async def _flush(self) -> None: ...

    @abstractmethod
    def _pause(self) -> float: ...


class Streaming(_Showing):
    def __init__(self, delivery: Delivery, stopped: asyncio.Event) -> None:
        super().__init__(delivery)
        self._stopped = stopped
        self._stream = Stream(delivery.teams.connector, delivery.reference)
        self._began = time.monotonic()
        self._over = False

    async def _begin(self) -> None:
        await self._typing()
        await asyncio.sleep(SOON)

    def _pause(self) -> float:
        return limits.STREAM_EVERY

    async def _flush(self) -> None:
        if self._over:
            return
        stream = self._stream
        try:
            if time.monotonic() - self._began > STREAM_SECONDS:
                await self._give_up(stream)
                return
            text = await asyncio.to_thread(streamed_text, self._text)
            if not stream.id:
                await stream.inform(f"{self._line}…")
                await self._delivery.keep_stream(stream)
            elif text.strip():
                await stream.grow(text)
            else:
                await stream.inform(f"{self._line}…")
            if text != stream.text:
                self._pump.wake()
        except StreamEnded as error:
            self._over = True
            log.info("teams_stream_ended", how=error.how)
            if error.how == "stopped":
                self._stopped.set()
        except Unclear:
            if not stream.id:  # what may have begun shows nothing that stays
                self._over = True
            raise

    async def _give_up(self, stream: Stream) -> None:
        """The reply comes as a message of its own; what was streamed goes when it is there."""
        self._over = True
        said = f"{stream.text} …\n\n" if stream.text else ""
        with suppress(StreamEnded):
            await stream.finish(placeholder(f"{said}This takes longer. The answer follows."))
        await self._delivery.abandon_stream()


class Editing(_Showing):
    def __init__(self, delivery: Delivery) -> None:
        super().__init__(delivery)
        self._shown = ""
        self._edits = 0

    async def _begin(self) -> None:
        delivery = self._delivery
        if delivery.posted:
            return
        await self._typing()
        await asyncio.sleep(PATIENCE)

    def _pause(self) -> float:
        return EDIT_EVERY if self._edits < _FEW else EDIT_SLOWER

    async def _flush(self) -> None:
        text = await asyncio.to_thread(streamed_text, self._text)
        shown = f"{text} …" if text.strip() else f"{self._line}…"
        if shown == self._shown:
            return
        self._shown = shown
        self._edits += 1
        await self._delivery.put(0, placeholder(shown), final=False, tries=1)
