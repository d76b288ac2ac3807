"""Documents and their status. Knows nothing of who may do what: see `bot.access` for that."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, cast
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from adapters.forms import Progress, ProgressItem
from bot import keys, progress
from bot.admission import Admission
from bot.catalogue import Catalogue, read_record
from bot.failures import Refusal
from bot.files import Files, StorageError
from bot.records import Document, Upload, Version
from bot.removal import Removal
from retrieval.documents import ParsedDocument
from retrieval.index.protocol import VectorIndex

log = structlog.get_logger()

#: Seconds for which a refused file is remembered, for those who watch.
REFUSED_SECONDS: Final = 3600
UNCHANGED: Final = "unchanged"

#: Says to the workers that there may be work.
Wake = Callable[[], Awaitable[None]]


#: Where files attached to a question are kept; nobody can choose it. See `bot.attachments`.
ATTACHED: Final = "attached to a question"


class Library:
    """The documents of all workspaces. `max_bytes`: of one file."""

    def __init__(
        self, redis: Redis, files: Files, index: VectorIndex, *, wake: Wake, max_bytes: int
    ) -> None:
        self.redis = redis
        self.files = files
        self.index = index
        self.catalogue = Catalogue(redis)
        self.removal = Removal(redis, files, self.catalogue)
        self._admission = Admission(redis)
        self._wake = wake
        self._max_bytes = max_bytes

    def use_index(self, index: VectorIndex) -> None:
        """Go over to another index, which `bot.reindex.rebuild` has filled, while no worker runs."""
        self.index = index

    # -- in ----------------------------------------------------------------------------------

    async def accept(self, upload: Upload) -> ProgressItem:
        """Take a file. When this returns an item that is not `failed`, neither a kill nor a power cut
        loses the file any more, and the caller's copy may go.

        The same content under the same name with the same options is recognised and costs nothing; its
        item is that of the version there is. A file that can't be taken is in the item, as `failed`.
        """
        upload = upload.model_copy(update={"name": unicodedata.normalize("NFC", upload.name)})
        try:
            size, sha256 = await asyncio.to_thread(_examine, upload.path, self._max_bytes)
        except Refusal as refusal:
            return await self._refuse(upload, str(refusal))
        version = await self._admission.known(upload, sha256)
        if version is None:
            version_id, document_id = uuid4().hex, uuid4().hex
            try:
                await self.files.put_original(upload.workspace, version_id, upload.path)
            except (StorageError, FileNotFoundError) as error:
                return await self._refuse(upload, str(error))
            version = await self._admission.admit(
                upload, version_id=version_id, document_id=document_id, sha256=sha256, size=size
            )
            if version.meta.version_id == version_id:
                await self._wake()
                return version.item()
            # Somebody uploaded the very same in the meantime.
            await self.files.delete_version(upload.workspace, version_id)
        return version.item(UNCHANGED if version.status.stage == "done" else None)

    async def replaces(self, upload: Upload) -> Version | None:
        """What the upload would replace: the newest version of a document of that name, if any."""
        name = unicodedata.normalize("NFC", upload.name)
        return await self._admission.replaces(upload.model_copy(update={"name": name}))

    async def unchanged(self, version: Version, upload: Upload) -> bool:
        """Whether `version` has the very content of the file, and is or will be searchable."""
        if version.status.stage in ("failed", "cancelled"):
            return False
        try:
            _, sha256 = await asyncio.to_thread(_examine, upload.path, self._max_bytes)
        except Refusal:
            return False
        return sha256 == version.accepted.sha256

    async def reparse(self, workspace: str, document_id: str, parser: str | None) -> ProgressItem:
        """Read the original again, with another parser. Raises `LookupError` where it is gone."""
        document = await self.get(workspace, document_id)
        version_id = uuid4().hex
        try:
            await self.files.copy_original(workspace, document.latest.meta.version_id, version_id)
        except FileNotFoundError as error:
            raise LookupError(document_id) from error
        version = await self._admission.admit_again(document.latest, version_id=version_id, parser=parser)
        if version is None:
            await self.files.delete_version(workspace, version_id)
            raise LookupError(document_id)
        await self._wake()
        return version.item()

    async def _refuse(self, upload: Upload, message: str) -> ProgressItem:
        item = ProgressItem(
            document_id=uuid4().hex,
            version_id=uuid4().hex,
            name=upload.name,
            stage="failed",
            message=message,
        )
        await self.redis.set(keys.refused(item.version_id), item.model_dump_json(), ex=REFUSED_SECONDS)
        return item

    # -- looking -----------------------------------------------------------------------------

    async def list(self, workspace: str) -> list[Document]:
        """In the order of their first upload, those that failed or are on their way too."""
        return await self.catalogue.documents(workspace)

    async def get(self, workspace: str, document_id: str) -> Document:
        """Raises `LookupError` where there is none in that workspace."""
        document = await self.catalogue.document(workspace, document_id)
        if document is None:
            raise LookupError(document_id)
        return document

    async def knowledge_bases(self, workspace: str) -> tuple[str, ...]:
        """Those that have a document, but for what was attached to questions."""
        names = await self.catalogue.knowledge_bases(workspace)
        return tuple(name for name in names if name != ATTACHED)

    def watch(self, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        """Each change, coalesced; ends when all are finished. See `bot.progress.watch`."""
        return progress.watch(self.redis, self.catalogue, version_ids)

    @contextlib.asynccontextmanager
    async def original(self, workspace: str, version_id: str) -> AsyncGenerator[Path]:
        """The original as a local file, to be read only. Raises `LookupError` where it is gone."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                path = await stack.enter_async_context(self.files.original(workspace, version_id))
            except FileNotFoundError as error:
                raise LookupError(version_id) from error
            yield path

    async def parsed(self, workspace: str, version_id: str) -> ParsedDocument:
        """The stored text of a published version. Raises `LookupError` where it is gone."""
        try:
            return await self.files.parsed(workspace, version_id)
        except FileNotFoundError as error:
            raise LookupError(version_id) from error

    # -- changing ----------------------------------------------------------------------------

    async def relabel(self, workspace: str, document_id: str, labels: Sequence[str]) -> Document:
        """Change the labels in place, without reading or embedding anything again.

        Raises `LookupError`, or `IndexUnavailable` (then the change is finished later by itself).
        """
        document = await self.get(workspace, document_id)
        family = keys.versions(document_id)

        async def change(pipe: Pipeline) -> None:
            ids = await cast("Awaitable[list[bytes]]", pipe.zrange(family, 0, -1))
            versions: list[Version] = []
            for version_id in ids:
                fields = await cast(
                    "Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.version(version_id.decode()))
                )
                if version := read_record(fields):
                    versions.append(version)
            pipe.multi()
            for version in versions:
                meta = version.meta.model_copy(update={"labels": tuple(labels)})
                accepted = version.accepted.model_copy(update={"meta": meta})
                pipe.hset(keys.version(meta.version_id), "accepted", accepted.model_dump_json())
            if versions:
                pipe.hset(keys.relabellings(), document_id, workspace)

        await self.redis.transaction(change, family, keys.document(document_id))
        await self.apply_labels(workspace, document_id)
        return (await self.catalogue.document(workspace, document_id)) or document

    async def apply_labels(self, workspace: str, document_id: str) -> None:
        """Tell the index a document's labels, and forget that this had to be done."""
        told: tuple[str, ...] | None = None
        while document := await self.catalogue.document(workspace, document_id):
            if document.latest.meta.labels == told:
                break
            told = document.latest.meta.labels
            await self.index.set_labels(workspace, document_id, told)
        await self.redis.hdel(keys.relabellings(), document_id)

    async def finish_pending(self) -> None:
        """Finish deletions and changes of labels that were begun and interrupted."""
        for document_id, workspace in (await self.catalogue.relabellings()).items():
            await self.apply_labels(workspace, document_id)
        for document_id, workspace in (await self.catalogue.deletions()).items():
            await self.removal.complete(workspace, document_id, self.index)

    async def cancel(self, version_ids: Sequence[str]) -> Progress:
        """Stop versions that are not searchable yet; for the others nothing changes."""
        versions = await self.catalogue.versions(version_ids)
        items: list[ProgressItem] = []
        for version in versions.values():
            ended = await self.removal.cancel(version, self.index)
            stage = version.status.stage if ended == "too late" else "cancelled"
            items.append(version.item().model_copy(update={"stage": stage}))
        return Progress(items=tuple(items))

    async def delete(self, workspace: str, document_id: str) -> None:
        """Remove every trace: chunks, records, original, parsed text. What is being worked stops first.

        Raises `LookupError`. Once begun it is finished even if this process is killed; where the index
        or the file store is unavailable, that error is raised and the rest follows by itself.
        """
        if not await self.removal.begin(workspace, document_id):
            raise LookupError(document_id)
        await self.removal.complete(workspace, document_id, self.index)


def _examine(path: Path, max_bytes: int) -> tuple[int, str]:
    """Size and SHA-256. Raises `Refusal`."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size == 0:
                raise Refusal.empty()
            if size > max_bytes:
                raise Refusal.too_large(max_bytes)
            return size, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Refusal(f"This file can't be read ({error.strerror}). Upload it again.") from error
