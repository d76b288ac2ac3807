"""A question from the inbox to its one visible end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import Delta, Message, Reply, ReplyEvent, Turn
from adapters.durable import Incoming
from adapters.markdown import cut
from adapters.ports import Actor, Manner
from adapters.slack import limits
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NO_TOKEN, NoPlace, Unclear, attempt, code_of, reason_of
from adapters.slack.event import Said
from adapters.slack.present import Presenter
from adapters.slack.render import SlackMessage, render
from adapters.slack.threads import Threads
from adapters.slack.turn import attached, question_of, turn_of

log = structlog.get_logger()

#: After that many beginnings of one question it is not worked again: it may be what kills the process.
TRIES: Final = 3
_WRONG: Final = "Something went wrong on my side. Please ask again."
_STOPPED: Final = "Stopped, as you asked."


class Answering:
    """Works questions. One instance a process."""

    def __init__(self, slack: Slack, threads: Threads) -> None:
        self._slack, self._threads = slack, threads
        self._no_streaming: set[str] = set()

    async def message(self, incoming: Incoming) -> None:
        """A message in a channel, a thread or a direct message."""
        said = Said.model_validate(incoming.payload["said"])
        addressed = bool(incoming.payload["addressed"])
        installed = await self._slack.clients.of(said.team, said.enterprise)
        delivery = Delivery(
            self._slack, installed, said.channel, said.root, incoming.id, since=said.ts,
            resumed=incoming.starts > 1,
        )  # fmt: skip
        try:
            turn = await turn_of(self._slack, installed, said, incoming.id)
            await self._slack.bot.transcript.append(turn.conversation, question_of(turn, said))
            manner = await self._slack.bot.answers.manner(turn, addressed=addressed)
        except Exception:
            log.exception("slack_question_unreadable")
            if not addressed:  # nobody waits for a word
                return
            turn, manner = None, Manner(answers=True)
        if not manner.answers:
            return
        if not manner.in_thread and said.thread_ts is None and not said.direct:
            delivery.thread = None
        async with attached(self._slack, installed, said) as (files, missing):
            if turn is not None and files:
                turn = turn.model_copy(update={"files": files})
            user = said.user or ""
            await self.end(incoming, installed, delivery, turn, user=user, lane=said.lane, notes=missing)
        if turn is not None and said.direct and said.thread_ts is None:
            await self._entitle(installed, said, turn.text)

    async def _entitle(self, installed: Installed, said: Said, question: str) -> None:
        """Name the thread in the chat with the bot by its question. A courtesy."""
        title = cut(" ".join(question.split()), limits.THREAD_TITLE)
        with suppress(SlackApiError, Unclear, NoPlace):
            await attempt(
                lambda: installed.client.assistant_threads_setTitle(
                    channel_id=said.channel, thread_ts=said.ts, title=title or "A question"
                )
            )

    async def end(
        self,
        incoming: Incoming,
        installed: Installed,
        delivery: Delivery,
        turn: Turn | None,
        *,
        user: str,
        lane: str,
        notes: Sequence[str] = (),
    ) -> None:
        """Answer and deliver; `notes` stand under the answer. Raises what the inbox shall begin again."""
        await delivery.open()
        if delivery.done:
            return
        if turn is None:
            reply = _apology(incoming)
        elif incoming.starts > TRIES:
            # Answered before, and not delivered while Slack was away; else it may be what kills.
            actor = Actor(workspace=turn.workspace, person=turn.asker, conversation=turn.conversation)
            stored = await self._slack.bot.answers.reply(actor, incoming.id)
            reply = stored or _apology(incoming)
        else:
            reply = await self._reply(turn, delivery, user, lane)
        if notes:
            reply = reply.model_copy(update={"notes": (*notes, *reply.notes)})
        messages = await self.messages(reply)
        try:
            await delivery.finish(messages)
        except NoPlace as error:
            await self._elsewhere(installed, delivery, user, error.code)
            return
        except SlackApiError as error:
            log.error("slack_reply_refused", code=code_of(error))
            raise
        if turn is not None:
            await self._slack.bot.transcript.append(
                turn.conversation,
                Message(
                    id=f"reply:{reply.turn_id}", role="assistant", text=reply.text, turn_id=reply.turn_id
                ),
            )

    async def messages(self, reply: Reply) -> list[SlackMessage]:
        """In a thread: text that was made to be slow to parse holds up nobody else."""
        return await asyncio.to_thread(render, reply)

    async def unseen(self, turn: Turn, incoming: Incoming) -> Reply:
        """The reply without showing it on the way."""
        if incoming.starts <= TRIES:
            async for event in self._slack.bot.answers.answer(turn):
                if isinstance(event, Reply):
                    return event
        return _apology(incoming)

    async def _reply(self, turn: Turn, delivery: Delivery, user: str, lane: str) -> Reply:
        """The bot's reply, shown while it comes; or where it was stopped."""
        with self._threads.running(lane) as stopped:
            presenter = Presenter(
                delivery,
                user=user,
                streaming=self._slack.settings.streaming,
                stopped=stopped,
                refuses=self._no_streaming,
            )
            said: list[str] = []
            reply: Reply | None = None
            try:
                async with aclosing(self._events(turn, stopped)) as events:
                    async for event in events:
                        if isinstance(event, Reply):
                            reply = event
                            break
                        if isinstance(event, Delta):
                            said.append(event.text)
                        presenter.show(event)
            finally:
                await presenter.end()
        if reply is not None:
            return reply
        log.info("slack_turn_stopped")
        text = "".join(said).strip()
        return Reply(
            turn_id=turn.id,
            kind="notice",
            text=text or _STOPPED,
            notes=(_STOPPED,) if text else (),
        )

    async def _events(self, turn: Turn, stopped: asyncio.Event) -> AsyncGenerator[ReplyEvent]:
        """The answer's events until a person presses stop."""
        stop = asyncio.create_task(stopped.wait())
        answer = cast("AsyncGenerator[ReplyEvent]", self._slack.bot.answers.answer(turn))
        try:
            while True:
                following = asyncio.ensure_future(anext(answer))
                try:
                    await asyncio.wait([following, stop], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.wait([following])
                if following.cancelled():
                    return
                try:
                    yield following.result()
                except StopAsyncIteration:
                    return
        finally:
            stop.cancel()
            await answer.aclose()

    async def _elsewhere(self, installed: Installed, delivery: Delivery, user: str, code: str) -> None:
        """The reply has no place where it was asked for: one sentence to the person who asked."""
        log.warning("slack_no_place", code=code)
        if code in NO_TOKEN or not user:
            return
        notice = Delivery(
            self._slack, installed, "", None, f"{delivery.turn_id}-notice", since=delivery.since
        )
        try:
            opened = await attempt(lambda: installed.client.conversations_open(users=user))
            notice.channel = str(opened["channel"]["id"])
            text = (
                f"I can't write where you asked me ({code.replace('_', ' ')}), so I can't answer there. "
                "Invite me to that channel, or ask me here."
            )
            await notice.finish(render(Reply(turn_id=delivery.turn_id, kind="notice", text=text)))
        except (NoPlace, SlackApiError) as error:
            log.error("slack_person_not_told", error=reason_of(error))


def _apology(incoming: Incoming) -> Reply:
    return Reply(turn_id=incoming.id, kind="apology", text=_WRONG, reference=incoming.id)
