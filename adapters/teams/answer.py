"""A message from the inbox to its one visible end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import structlog

from adapters.answering import apology, reply_to
from adapters.conversation import Message, Reply, Turn
from adapters.durable import Incoming
from adapters.history import reply_id
from adapters.ports import Manner, Refused
from adapters.teams.activity import Said, Who
from adapters.teams.commands import command_of, run_click, run_command
from adapters.teams.context import Json, Teams
from adapters.teams.deliver import Delivery
from adapters.teams.errors import NoPlace, TeamsError, Unclear, reason_of
from adapters.teams.present import presenter_for
from adapters.teams.reference import Reference
from adapters.teams.render import render
from adapters.teams.threads import Threads, message_of
from adapters.teams.turn import files_of, turn_of

log = structlog.get_logger()

#: After that many beginnings a command is not run again: it may be what kills the process.
_TRIES: Final = 3


class Answering:
    """Works messages. One instance a process."""

    def __init__(self, teams: Teams, threads: Threads) -> None:
        self._teams, self._threads = teams, threads

    async def message(self, incoming: Incoming) -> None:
        """A question, a command, or a click on a card."""
        said = Said.model_validate(incoming.payload["said"])
        if incoming.payload["addressed"] and (said.value is not None or command_of(said) is not None):
            await self._command(incoming, said)
        else:
            await self._question(incoming, said)

    async def _question(self, incoming: Incoming, said: Said) -> None:
        teams, addressed = self._teams, bool(incoming.payload["addressed"])
        delivery = self._delivery(incoming, said)
        try:
            turn = await turn_of(teams, said, incoming.id)
            await teams.bot.transcript.append(turn.conversation, message_of(said, turn.asker))
            manner = await teams.bot.answers.manner(turn, addressed=addressed)
        except Exception:
            log.exception("teams_question_unreadable")
            if not addressed:  # nobody waits for a word
                return
            turn, manner = None, Manner(answers=True)
        if not manner.answers:
            return
        reference = said.reference
        if not manner.in_thread and reference.root == said.id:
            delivery.reference = reference.model_copy(update={"conversation": reference.channel})
        async with files_of(teams, said) as (files, missing):
            if turn is not None and files:
                turn = turn.model_copy(update={"files": files})
            await self._end(incoming, delivery, turn, said.who, notes=missing)

    async def _end(
        self,
        incoming: Incoming,
        delivery: Delivery,
        turn: Turn | None,
        who: Who,
        *,
        notes: Sequence[str] = (),
    ) -> None:
        """Answer and deliver; `notes` stand under the answer. Raises what the inbox shall begin again."""
        teams = self._teams
        await delivery.open()
        if delivery.done:
            return
        with self._threads.running.question(delivery.reference.lane) as stopped:
            presenter = presenter_for(delivery, streaming=teams.settings.streaming, stopped=stopped)
            reply = await reply_to(teams.bot.answers, incoming, turn, presenter=presenter, stopped=stopped)
        if notes:
            reply = reply.model_copy(update={"notes": (*notes, *reply.notes)})
        if not await self._deliver(delivery, await self._activities(reply, delivery, who), who):
            return
        if turn is not None:
            await teams.bot.transcript.append(
                turn.conversation,
                Message(
                    id=reply_id(reply.turn_id),
                    role="assistant",
                    text=reply.text,
                    at=datetime.now(UTC),
                    turn_id=reply.turn_id,
                ),
            )

    async def _activities(self, reply: Reply, delivery: Delivery, who: Who) -> list[Json]:
        """In a thread: text that was made to be slow to parse holds up nobody else."""
        asker = who.user if delivery.reference.direct else None
        return await asyncio.to_thread(render, reply, asker=asker)

    async def _command(self, incoming: Incoming, said: Said) -> None:
        delivery = self._delivery(incoming, said)
        await delivery.open()
        if delivery.done:
            return
        update: Json | None = None
        try:
            if incoming.starts > _TRIES:
                activities = render(apology(incoming))
            elif said.value is not None:
                activities, update = await run_click(self._teams, said)
            else:
                activities = await run_command(self._teams, said)
        except Refused as error:
            activities = render(Reply(turn_id=incoming.id, kind="notice", text=str(error)))
        except Exception:
            log.exception("teams_command_failed", reference=incoming.id)
            activities = render(apology(incoming))
        if update is not None and said.reply_to is not None:
            try:
                await self._teams.connector.update(said.reference, said.reply_to, update)
            except (TeamsError, Unclear) as error:
                log.info("teams_card_not_updated", error=reason_of(error))
        await self._deliver(delivery, activities, said.who)

    def _delivery(self, incoming: Incoming, said: Said) -> Delivery:
        return Delivery(
            self._teams, said.reference, incoming.id,
            reply_to=said.id, since=said.at, resumed=incoming.starts > 1,
        )  # fmt: skip

    async def _deliver(self, delivery: Delivery, activities: Sequence[Json], who: Who) -> bool:
        """False where there is no place for it; the person is told then, where that can be."""
        try:
            await delivery.finish(activities)
        except NoPlace as error:
            await self._elsewhere(delivery, who, error.code)
            return False
        except TeamsError as error:
            log.error("teams_reply_refused", code=reason_of(error))
            raise
        return True

    async def _elsewhere(self, delivery: Delivery, who: Who, code: str) -> None:
        """The reply has no place where it was asked for: one sentence to the person who asked."""
        log.warning("teams_no_place", code=code)
        if delivery.reference.direct:
            return
        text = (
            "I can't write where you asked me, so I can't answer there. Add me to that team or chat, or "
            "ask me here."
        )
        try:
            personal: Reference = await self._teams.connector.personal(delivery.reference, who.user)
            notice = Delivery(self._teams, personal, f"{delivery.turn_id}-notice")
            await notice.finish(render(Reply(turn_id=delivery.turn_id, kind="notice", text=text)))
        except TeamsError as error:
            log.error("teams_person_not_told", code=reason_of(error))
