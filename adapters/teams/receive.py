"""From an authenticated activity to the inbox. In this order: what is no activity is refused, the bot's
own and other bots' messages are set aside, and what is for the bot is accepted, in one step that also
tells resends. Only then is the activity acknowledged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from adapters.teams import work
from adapters.teams.activity import Deleted, Edited, Invoked, Joined, Said, read_activity
from adapters.teams.context import InvokeAnswer, Teams
from adapters.teams.threads import Threads

log = structlog.get_logger()


class Receiving:
    """Implements `Receiver`. `invoke` answers what waits for an answer."""

    def __init__(
        self, teams: Teams, threads: Threads, invoke: Callable[[Teams, Invoked], Awaitable[InvokeAnswer]]
    ) -> None:
        self._teams, self._threads, self._invoke = teams, threads, invoke

    async def receive(self, activity: dict[str, Any]) -> InvokeAnswer | None:
        """Raises `adapters.teams.activity.NoActivity`."""
        match read_activity(activity):
            case Said() as said:
                await self._said(said)
            case Edited(message=said):
                await self._edited(said)
            case Deleted() as deleted:
                await self._deleted(deleted)
            case Joined() as joined:
                await self._joined(joined)
            case Invoked() as invoked:
                return await self._invoke(self._teams, invoked)
            case ignored:
                log.debug("teams_activity_ignored", why=ignored.why)
        return None

    async def _said(self, said: Said) -> None:
        """Accept what may be a question to the bot; keep beside what else is said."""
        if said.who.user == said.reference.bot:
            return
        if said.by_bot or not (said.addressed or await self._threads.known(said.reference)):
            # By consent of the team: what led to a question that may come.
            await self._threads.remember(said)
            return
        await self._accept(said)

    async def _accept(self, said: Said) -> bool:
        """False for what was accepted before."""
        accepted = await self._teams.bot.inbox.accept(
            work.incoming(
                work.MESSAGE,
                said.name,
                lane=said.reference.lane,
                payload={"said": said.model_dump(mode="json"), "addressed": said.addressed},
            )
        )
        if accepted and said.addressed:
            await self._threads.open(said.reference)
        return accepted

    async def _edited(self, said: Said) -> None:
        """An edit that adds the mention asks; one of a question changes the thread's history."""
        if said.by_bot or (said.mentioned and await self._accept(said)):
            return
        if said.reference.direct or await self._threads.known(said.reference):
            await self._threads.remember(said)

    async def _deleted(self, deleted: Deleted) -> None:
        """Withdraw the question. One whose activity is still on its way is not accepted any more."""
        reference, inbox = deleted.reference, self._teams.bot.inbox
        question = work.incoming(work.MESSAGE, deleted.name, lane=reference.lane, payload={})
        if await inbox.accept(question.model_copy(update={"kind": work.NOTHING})):
            return
        await inbox.accept(
            work.incoming(
                work.WITHDRAWN,
                deleted.name,
                lane=reference.lane,
                payload={"reference": reference.model_dump(mode="json"), "question": question.id},
            )
        )
        await inbox.cancel(work.PLATFORM, reference.lane, question.id)
        await self._teams.bot.transcript.forget(reference.neutral(), deleted.id)

    async def _joined(self, joined: Joined) -> None:
        reference = joined.reference
        await self._teams.bot.inbox.accept(
            work.incoming(
                work.JOINED,
                # Teams tells of it twice, as an installation and as a new member.
                f"{reference.tenant}:{reference.channel}",
                lane=f"{reference.lane}:joined",
                payload=joined.model_dump(mode="json"),
            )
        )
