"""Showing an answer while it is written: as a stream where Slack has it, else as a message that is edited.

Both are a first message that `Delivery.finish` makes the final one, so that both end alike.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any, Final

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import Delta, Reply, Working
from adapters.pump import Pump
from adapters.slack import limits
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NoPlace, RateLimited, Unclear, attempt, code_of, reason_of
from adapters.slack.plan import Plan
from adapters.slack.render import SlackMessage, render, streamed_text

log = structlog.get_logger()

#: Seconds before anything is shown: most answers without a model are there by then, as one message.
PATIENCE: Final = 0.6
#: Seconds between appends to a stream; between edits of a message, which Slack allows 50 times a minute.
APPEND_EVERY, EDIT_EVERY, EDIT_SLOWER = 0.7, 1.5, 4.0
#: Seconds after which a stream is ended and edits go on: Slack ends it itself after about 300.
STREAM_SECONDS: Final = 240.0
#: A stream that a person, or Slack, has ended.
STOPPED: Final = "stopped_by_user"
_OVER: Final = "message_not_in_streaming_state"


class Presenter:
    """Of one turn. `show` what comes, then `end`: after that part 0 of the delivery may stand there, and
    nothing changes it any more."""

    def __init__(
        self, delivery: Delivery, *, user: str, streaming: bool, stopped: asyncio.Event, refuses: set[str]
    ) -> None:
        """`refuses` keeps the teams that have no streaming, so that they are asked once."""
        self._delivery, self._installed = delivery, delivery.installed
        self._user, self._stopped, self._refuses = user, stopped, refuses
        self._may_stream = streaming and delivery.thread is not None and self._installed.team not in refuses
        self._plan = Plan()
        self._text = ""
        self._sent = ""
        self._stream: str | None = None
        self._stream_began = 0.0
        self._shown = ""
        self._edits = 0
        #: Seconds that Slack wants to be left alone for.
        self._later = 0.0
        self._pump = Pump(self._flush, self._pause, begin=self._begin)

    def show(self, event: Working | Delta) -> None:
        match event:
            case Working():
                self._plan.add(event)
            case Delta(text=text):
                self._text += text
        self._pump.wake()

    async def end(self) -> None:
        """Stop showing. Raises nothing: the final message is put in place whatever happened here."""
        await self._pump.stop()
        if self._stream is not None:
            await self._stop_stream()

    async def _begin(self) -> None:
        await self._status()
        await asyncio.sleep(PATIENCE)

    def _pause(self) -> float:
        later, self._later = self._later, 0.0
        if self._stream is not None:
            return max(APPEND_EVERY, later)
        return EDIT_EVERY if self._edits < 8 else EDIT_SLOWER

    async def _status(self) -> None:
        """The line under the thread that Slack shows at once; it is no message, and goes by itself."""
        if self._delivery.thread is None or self._delivery.posted:
            return
        with suppress(SlackApiError, Unclear, NoPlace):
            await attempt(
                lambda: self._installed.client.assistant_threads_setStatus(
                    channel_id=self._delivery.channel,
                    thread_ts=self._delivery.thread or "",
                    status="is searching your documents…",
                )
            )

    async def _flush(self) -> None:
        try:
            if self._may_stream and 0 not in self._delivery.posted:
                await self._start_stream()
            elif self._stream is not None:
                await self._append()
            else:
                await self._edit()
        except (Unclear, NoPlace, SlackApiError) as error:
            # The end decides; what is shown on the way is a courtesy.
            log.info("slack_progress_not_shown", error=reason_of(error))
        except Exception:
            log.exception("slack_present_failed")

    # -- a stream ------------------------------------------------------------------------------

    async def _chunks(self, *, over: bool = False) -> list[dict[str, Any]]:
        ready = await asyncio.to_thread(streamed_text, self._text)
        chunks = self._plan.changes(over=over)
        if ready.startswith(self._sent) and len(ready) <= limits.MESSAGE:
            new = ready[len(self._sent) :]
            if new:
                chunks.append({"type": "markdown_text", "text": new})
                self._sent = ready
        # Else it waits: what was begun reads otherwise now, a list for instance.
        return chunks

    async def _start_stream(self) -> None:
        self._may_stream = False
        delivery = self._delivery
        # Slack asks for the recipient in channels.
        recipient = (
            {}
            if delivery.channel.startswith("D")
            else {"recipient_user_id": self._user, "recipient_team_id": self._installed.team}
        )
        chunks = await self._chunks()
        try:
            answer = await attempt(
                lambda: self._installed.client.chat_startStream(
                    channel=delivery.channel,
                    thread_ts=delivery.thread or "",
                    chunks=chunks,
                    task_display_mode="plan",
                    **recipient,
                )
            )
        except SlackApiError as error:
            log.info("slack_no_streaming", code=code_of(error))
            self._refuses.add(self._installed.team)
            self._sent = ""
            await self._edit()
            return
        except Unclear:
            await delivery.find()
            self._stream = delivery.posted.get(0)
            self._stream_began = time.monotonic()
            return
        self._stream, self._stream_began = str(answer["ts"]), time.monotonic()
        await delivery.keep(0, self._stream)

    async def _append(self) -> None:
        if time.monotonic() - self._stream_began > STREAM_SECONDS:
            await self._stop_stream()
            return
        before = self._sent
        chunks = await self._chunks()
        if not chunks:
            return
        stream = self._stream or ""
        try:
            await attempt(
                lambda: self._installed.client.chat_appendStream(
                    channel=self._delivery.channel, ts=stream, chunks=chunks
                )
            )
        except RateLimited as error:
            self._sent = before
            self._later = min(error.seconds, EDIT_SLOWER)
        except SlackApiError as error:
            self._stream = None  # edits go on with the same message
            if code_of(error) == STOPPED:
                self._stopped.set()
            else:
                log.info("slack_stream_over", code=code_of(error))

    async def _stop_stream(self) -> None:
        stream, self._stream = self._stream, None
        delivery = self._delivery
        try:
            chunks = await self._chunks(over=True)
            await attempt(
                lambda: self._installed.client.chat_stopStream(
                    channel=delivery.channel,
                    ts=stream or "",
                    metadata=delivery.metadata(0, 1, final=False),
                    chunks=chunks or None,
                )
            )
        except SlackApiError as error:
            if code_of(error) != _OVER:
                log.info("slack_stream_not_stopped", code=code_of(error))
        except (Unclear, NoPlace) as error:
            log.info("slack_stream_not_stopped", error=reason_of(error))

    # -- a message that is edited --------------------------------------------------------------

    async def _edit(self) -> None:
        message = await asyncio.to_thread(self._placeholder)
        if message["text"] == self._shown:
            return
        self._shown = message["text"]
        self._edits += 1
        await self._delivery.put(0, message, final=False, tries=1)

    def _placeholder(self) -> SlackMessage:
        text = streamed_text(self._text)
        if not text.strip():
            line = f"{self._plan.line or 'Searching your documents'}…"
            return SlackMessage(
                text=line,
                blocks=[
                    {"type": "context", "elements": [{"type": "plain_text", "text": line, "emoji": False}]}
                ],
            )
        made = render(Reply(turn_id=self._delivery.turn_id, kind="notice", text=f"{text} …"))
        return made[0]
