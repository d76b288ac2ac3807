"""A message that is edited while work goes on: at a humane rate, and only its newest state."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.deliver import Delivery
from adapters.slack.errors import NoPlace, Unclear, reason_of
from adapters.slack.render import SlackMessage
from adapters.tasks import unbroken

log = structlog.get_logger()

#: Seconds between two edits.
EVERY: Final = 2.0


class Edits:
    """`show` as often as there is something new, then `finish`. The first message is posted, later ones
    take its place; after a kill they take the place of what the killed process has posted."""

    def __init__(self, delivery: Delivery, *, every: float = EVERY) -> None:
        self._delivery, self._every = delivery, every
        self._newest: SlackMessage | None = None
        self._shown: SlackMessage | None = None
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        #: There is no place for the message: the work goes on unseen.
        self.nowhere = False

    def show(self, message: SlackMessage) -> None:
        self._newest = message
        self._changed.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._pumping(), name="slack-progress")

    async def close(self) -> None:
        """Stop showing; the last state stays as it is."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
            self._pump = None

    async def finish(self, message: SlackMessage) -> None:
        """Show the end. Raises `Unclear` where it could not be shown, for the work to be begun again."""
        await self.close()
        try:
            await self._delivery.finish([message])
        except (NoPlace, SlackApiError) as error:
            self.nowhere = True
            log.warning("slack_progress_nowhere", error=reason_of(error))

    async def _pumping(self) -> None:
        while not self.nowhere:
            await self._changed.wait()
            self._changed.clear()
            await unbroken(self._put())
            await asyncio.sleep(self._every)

    async def _put(self) -> None:
        message = self._newest
        if message is None or message == self._shown:
            return
        try:
            await self._delivery.put(0, message, final=False, tries=1)
            self._shown = message
        except Unclear as error:
            log.info("slack_progress_not_shown", error=reason_of(error))
        except (NoPlace, SlackApiError) as error:
            self.nowhere = True
            log.warning("slack_progress_nowhere", error=reason_of(error))
        except Exception:
            log.exception("slack_progress_failed")
