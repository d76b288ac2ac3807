"""A question from the inbox to its one visible end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog
from slack_sdk.errors import SlackApiError

from adapters.answering import reply_to
from adapters.conversation import Message, Reply, Turn
from adapters.durable import Incoming
from adapters.history import reply_id
from adapters.markdown import cut
from adapters.ports import Manner
from adapters.slack import limits
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NO_TOKEN, NoPlace, Unclear, attempt, code_of, reason_of
from adapters.slack.event import Said
from adapters.slack.present import Presenter
from adapters.slack.render import SlackMessage, render
from adapters.slack.threads import Threads
from adapters.slack.turn import files_of, question_of, turn_of

log = structlog.get_logger()


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
        async with files_of(self._slack, installed, said) as (files, missing):
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
        with self._threads.running.question(lane) as stopped:
            presenter = Presenter(
                delivery,
                user=user,
                streaming=self._slack.settings.streaming,
                stopped=stopped,
                refuses=self._no_streaming,
            )
            reply = await reply_to(
                self._slack.bot.answers, incoming, turn, presenter=presenter, stopped=stopped
            )
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
                    id=reply_id(reply.turn_id), role="assistant", text=reply.text, turn_id=reply.turn_id
                ),
            )

    async def messages(self, reply: Reply) -> list[SlackMessage]:
        """In a thread: text that was made to be slow to parse holds up nobody else."""
        return await asyncio.to_thread(render, reply)

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
