"""Files on their way into the knowledge base, from the inbox to the card that tells how they ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import structlog

from adapters.durable import Incoming
from adapters.edits import Edits, Failures
from adapters.teams.activity import Who
from adapters.teams.context import Json, Teams
from adapters.teams.deliver import Delivery
from adapters.teams.errors import NoPlace, TeamsError, Unclear, reason_of
from adapters.teams.files import download, file_label
from adapters.teams.message_file import message_file
from adapters.teams.progress_card import progress_card
from adapters.teams.reference import Reference
from adapters.uploading import KEEP, Uploading, Wanted, upload_note

log = structlog.get_logger()

#: Seconds between two updates of a card: Teams takes few of them.
EVERY: Final = 3.0
FAILURES: Final = Failures(nowhere=(TeamsError,), unclear=Unclear, reason=reason_of)
_LONGER: Final = "This takes longer. Ask me for “status” to see how it goes on."

T = TypeVar("T")


async def work_upload(teams: Teams, incoming: Incoming) -> None:
    """Fetch files from Teams, add them, and show how they get on.

    Raises `Unclear` where the end could not be shown, for the work to be begun again.
    """
    payload = incoming.payload
    noted = await teams.bot.notes.read(upload_note(incoming))
    if "done" in noted:
        return
    if (began := noted.get("began")) is None:
        began = datetime.now(UTC).isoformat()
        await teams.bot.notes.write(upload_note(incoming), {"began": began}, seconds=KEEP)
    reference, who = Reference.model_validate(payload["reference"]), Who.model_validate(payload["who"])
    actor = await teams.actor(reference, who.user, aad=who.aad, name=who.name)
    place = _Place(teams, incoming, reference, who, since=datetime.fromisoformat(began))
    await place.open()
    edits = Edits[Json](place, FAILURES, every=EVERY)
    upload = Uploading(teams.bot, incoming, actor, edits, progress_card, longer=_LONGER)
    wanted = _wanted(teams, reference, payload["files"])
    if (said := payload.get("said")) is not None:
        name = "The message"
        wanted.append(Wanted("message", lambda: message_file(teams, reference, said), name))
    await upload.run(wanted, title="Your files")


def _wanted(teams: Teams, reference: Reference, files: Sequence[dict[str, Any]]) -> list[Wanted]:
    """Each file once, known by its place in the message."""
    seen: list[dict[str, Any]] = []
    wanted: list[Wanted] = []
    for number, file in enumerate(files):
        if file not in seen:
            seen.append(file)
            fetch = _fetching(teams, reference, file)
            wanted.append(Wanted(str(number), fetch, file_label(file)))
    return wanted


def _fetching(teams: Teams, reference: Reference, file: dict[str, Any]) -> Callable[[], Awaitable[Any]]:
    return lambda: download(teams, reference, file)


class _Place:
    """Where the card stands: where the files were added; or, where the bot may not write there, the chat
    with the person alone."""

    def __init__(
        self, teams: Teams, incoming: Incoming, reference: Reference, who: Who, *, since: datetime
    ) -> None:
        self._teams, self._incoming, self._who = teams, incoming, who
        self._since = since
        self._delivery = self._at(reference, incoming.id, incoming.payload.get("message"))

    def _at(self, reference: Reference, name: str, reply_to: str | None = None) -> Delivery:
        resumed = self._incoming.starts > 1
        return Delivery(self._teams, reference, name, reply_to=reply_to, since=self._since, resumed=resumed)

    async def open(self) -> None:
        """Learn what an earlier run has posted."""
        await self._delivery.open()

    async def put(self, part: int, message: Json, *, final: bool, tries: int) -> str:
        return await self._somewhere(lambda place: place.put(part, message, final=final, tries=tries))

    async def finish(self, messages: Sequence[Json]) -> None:
        await self._somewhere(lambda place: place.finish(messages))

    async def _somewhere(self, call: Callable[[Delivery], Awaitable[T]]) -> T:
        try:
            return await call(self._delivery)
        except NoPlace as error:
            if self._delivery.reference.direct:
                raise
            log.info("teams_progress_elsewhere", why=reason_of(error))
        personal = await self._teams.connector.personal(self._delivery.reference, self._who.user)
        self._delivery = self._at(personal, f"{self._incoming.id}-direct")
        await self._delivery.open()
        return await call(self._delivery)
