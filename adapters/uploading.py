"""Files on their way into the knowledge base, from the inbox's item to `done` or `failed: why`.

The same on every platform: files are fetched one after the other, and what was accepted is noted, so that
a run after a kill adds nothing twice; then one message shows how they get on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import structlog

from adapters.audience import fitting, told
from adapters.conversation import UploadedFile
from adapters.durable import Incoming
from adapters.edits import Edits
from adapters.forms import Progress, ProgressItem
from adapters.ports import Actor, Bot, Refused, UploadOptions

log = structlog.get_logger()

#: Seconds for which it is noted what of an upload was accepted.
KEEP: Final = 7 * 24 * 3600
#: Seconds that the progress of one upload is shown: a place among the inbox's work is held meanwhile.
WATCH: Final = 1800.0
#: Beginnings after which an upload ends with an apology: it may be what kills the process.
TRIES: Final = 3
_WRONG: Final = "Something went wrong on my side. Please try again."

M = TypeVar("M")
_Shown = TypeVar("_Shown", covariant=True)


@dataclass(frozen=True)
class Wanted:
    """A file to be brought from the platform. `fetch` raises `Refused`."""

    #: What it is known by within the upload, over all runs.
    key: str
    fetch: Callable[[], Awaitable[UploadedFile]]
    #: What it is called where it could not be had.
    name: str = "A file"


class Render(Protocol[_Shown]):
    """How it stands, as a message; see `adapters.progress`."""

    def __call__(self, items: Sequence[ProgressItem], *, fetching: int = 0, note: str = "") -> _Shown: ...


def upload_note(incoming: Incoming) -> str:
    """Name of the note that tells what of an upload was done."""
    return f"{incoming.platform}-upload:{incoming.id}"


def options_of(payload: dict[str, Any], actor: Actor) -> UploadOptions:
    """As an inbox item has them; an audience that nobody has chosen is that of the place."""
    return UploadOptions(
        knowledge_base=payload.get("knowledge_base") or None,
        labels=tuple(payload.get("labels") or ()),
        audience=payload.get("audience") or fitting(actor.conversation, actor.person),
        same_name=payload.get("same_name") or "replace",
    )


class Uploading(Generic[M]):
    """One upload. `longer` is the sentence for one that is not through when it is shown no more."""

    def __init__(
        self,
        bot: Bot,
        incoming: Incoming,
        actor: Actor,
        edits: Edits[M],
        render: Render[M],
        *,
        longer: str,
    ) -> None:
        self._bot, self._incoming, self._actor = bot, incoming, actor
        self._edits, self._render, self._longer = edits, render, longer
        self._note = upload_note(incoming)
        self._options = options_of(incoming.payload, actor)
        self._remark = told(self._options.audience, actor.conversation)

    async def run(self, wanted: Sequence[Wanted], *, title: str) -> None:
        """Raises what `Edits.finish` raises, for the work to be begun again. `title` names the whole where
        nothing of it can be named."""
        try:
            if self._incoming.starts > TRIES:
                items = [*await self._added(), _failed(title, _WRONG)]
            elif not wanted:
                items = [_failed(title, "There is no file in that message that I can read.")]
            else:
                items = await self._watched(await self._fetched(wanted))
            last = self._render(items, note=self._after(items))
        finally:
            await self._edits.close()
        await self._edits.finish(last)
        await self._bot.notes.write(self._note, {"done": "1"}, seconds=KEEP)

    def _after(self, items: Sequence[ProgressItem]) -> str:
        if not Progress(items=tuple(items)).finished:
            return self._longer
        return self._remark if any(item.stage == "done" for item in items) else ""

    async def _added(self) -> list[ProgressItem]:
        """What earlier runs have added, as it was then."""
        noted = await self._bot.notes.read(self._note)
        return [
            ProgressItem.model_validate_json(item)
            for name, item in noted.items()
            if name.startswith("file:")
        ]

    async def _fetched(self, wanted: Sequence[Wanted]) -> list[ProgressItem]:
        """One after the other; those that an earlier run has added are known from the note."""
        noted = await self._bot.notes.read(self._note)
        items: list[ProgressItem] = []
        for position, one in enumerate(wanted):
            self._edits.show(self._render(items, fetching=len(wanted) - position, note=self._remark))
            if (known := noted.get(f"file:{one.key}")) is not None:
                items.append(ProgressItem.model_validate_json(known))
            else:
                items.append(await self._add(one))
        return items

    async def _add(self, wanted: Wanted) -> ProgressItem:
        try:
            file = await wanted.fetch()
        except Refused as error:
            log.info("upload_refused", kind=self._incoming.kind)
            return await self._noted(wanted.key, _failed(wanted.name, str(error)))
        try:
            progress = await self._bot.documents.upload(self._actor, [file], self._options)
            item = progress.items[0]
        except Refused as error:
            item = _failed(file.name, str(error))
        finally:
            await asyncio.to_thread(file.path.unlink, missing_ok=True)
        return await self._noted(wanted.key, item)

    async def _noted(self, key: str, item: ProgressItem) -> ProgressItem:
        await self._bot.notes.write(self._note, {f"file:{key}": item.model_dump_json()}, seconds=KEEP)
        return item

    async def _watched(self, items: list[ProgressItem]) -> list[ProgressItem]:
        """Until all have ended, or for as long as it is shown."""
        waiting = [item.version_id for item in items if item.version_id and not item.finished]
        if not waiting:
            return items
        now = {item.version_id: item for item in items if item.version_id}
        try:
            async with asyncio.timeout(WATCH):
                watch = cast("Any", self._bot.documents.watch(self._actor, waiting))
                async with aclosing(watch) as changes:
                    async for progress in changes:
                        now |= {item.version_id: item for item in progress.items}
                        items = [now.get(item.version_id, item) for item in items]
                        self._edits.show(self._render(items, note=self._remark))
        except TimeoutError:
            log.info("upload_still_running", documents=len(waiting))
        return items


def _failed(name: str, why: str) -> ProgressItem:
    return ProgressItem(document_id="", version_id="", name=name, stage="failed", message=why)
