"""Giving a new version its place: which document it belongs to, its number, and the queue, in one step."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from bot import keys
from bot.catalogue import read_record, texts
from bot.ingest_queue import IngestQueue
from bot.listing import enlist_document
from bot.records import Accepted, Status, Upload, Version, now
from retrieval.documents import DocumentMeta


class Admission:
    """Record and queue change in one transaction, so that a kill leaves both or neither."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def known(self, upload: Upload, sha256: str) -> Version | None:
        """A version that is done or on its way, with the same name, content and options."""
        async with self._redis.pipeline(transaction=False) as pipe:
            await cast("Awaitable[object]", pipe.watch(_name_key(upload)))
            for candidate in await _of_that_name(pipe, upload):
                if candidate.same_as(upload, sha256):
                    return candidate.newest
        return None

    async def replaces(self, upload: Upload) -> Version | None:
        """The newest version of the document that the upload would become a new version of."""
        found: Version | None = None
        async with self._redis.pipeline(transaction=False) as pipe:
            await cast("Awaitable[object]", pipe.watch(_name_key(upload)))
            for candidate in await _of_that_name(pipe, upload):
                if candidate.replaced_by(upload):
                    found = candidate.newest
        return found

    async def admit(
        self, upload: Upload, *, version_id: str, document_id: str, sha256: str, size: int
    ) -> Version:
        """The new version, queued, or the one that has the same content and options already.

        It belongs to the newest document of that name which has the same readers or the same uploader;
        where there is none, to a new one with the id `document_id`.
        """
        name_key = _name_key(upload)

        async def change(pipe: Pipeline) -> Version:
            # The pipeline watches `name_key`, so reads answer at once until `multi`.
            target = document_id
            for candidate in await _of_that_name(pipe, upload):
                if candidate.same_as(upload, sha256):
                    pipe.multi()
                    return candidate.newest
                if candidate.replaced_by(upload):
                    target = candidate.newest.meta.document_id
            await cast("Awaitable[object]", pipe.watch(keys.document(target)))
            numbered = await cast("Awaitable[bytes | None]", pipe.hget(keys.document(target), "numbered"))
            meta = DocumentMeta(
                workspace=upload.workspace,
                knowledge_base=upload.knowledge_base,
                document_id=target,
                version_id=version_id,
                version=int(numbered or 0) + 1,
                name=upload.name,
                title=upload.name.rpartition(".")[0] or upload.name,
                media_type=upload.media_type,
                source_url=upload.source_url,
                labels=upload.labels,
                uploader=upload.uploader,
                audience=upload.audience,
                uploaded_at=now(),
                fields=upload.fields,
            )
            version = Version(accepted=Accepted(meta=meta, sha256=sha256, size=size), status=Status())
            pipe.multi()
            pipe.sadd(keys.library_workspaces(), upload.workspace)
            pipe.hset(
                keys.document(target),
                mapping={
                    "workspace": upload.workspace,
                    "knowledge_base": upload.knowledge_base,
                    "name": upload.name,
                },
            )
            enlist_document(pipe, meta)
            if upload.expires_at is not None:
                name = f"{upload.workspace} {target}"
                pipe.zadd(keys.expiries(), {name: upload.expires_at.timestamp()})
            _add(pipe, version)
            return version

        return cast("Version", await self._redis.transaction(change, name_key, value_from_callable=True))

    async def admit_again(self, source: Version, *, version_id: str, parser: str | None) -> Version | None:
        """A new version with the content of `source`; None where that document is gone."""
        document_id = source.meta.document_id

        async def change(pipe: Pipeline) -> Version | None:
            record = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.document(document_id)))
            if not record or b"deleting" in record:
                pipe.multi()
                return None
            number = int(record[b"numbered"]) + 1
            meta = source.meta.model_copy(update={"version_id": version_id, "version": number})
            accepted = source.accepted.model_copy(update={"meta": meta, "parser": parser})
            version = Version(accepted=accepted, status=Status())
            pipe.multi()
            _add(pipe, version)
            return version

        document = keys.document(document_id)
        return cast(
            "Version | None",
            await self._redis.transaction(change, document, value_from_callable=True),
        )


def _name_key(upload: Upload) -> str:
    return keys.document_name(upload.workspace, upload.knowledge_base, upload.name)


def _add(pipe: Pipeline, version: Version) -> None:
    meta = version.meta
    pipe.hset(keys.document(meta.document_id), "numbered", str(meta.version))
    pipe.zadd(keys.versions(meta.document_id), {meta.version_id: meta.version})
    pipe.hset(
        keys.version(meta.version_id),
        mapping={
            "accepted": version.accepted.model_dump_json(),
            "status": version.status.model_dump_json(),
        },
    )
    IngestQueue.put(pipe, meta)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document with the name of an upload, by its newest version."""

    newest: Version

    def same_as(self, upload: Upload, sha256: str) -> bool:
        """What is to stay beside others' documents is recognised among the uploader's own only."""
        return (
            self.newest.status.stage not in ("failed", "cancelled")
            and self.newest.accepted.sha256 == sha256
            and upload.same_options(self.newest.meta)
            and (not upload.keep_both or upload.uploader == self.newest.meta.uploader)
        )

    def replaced_by(self, upload: Upload) -> bool:
        """A document that others read is another document, even if its name is the same."""
        meta = self.newest.meta
        same_uploader = upload.uploader is not None and upload.uploader == meta.uploader
        return not upload.keep_both and (same_uploader or set(upload.audience) == set(meta.audience))


async def _of_that_name(pipe: Pipeline, upload: Upload) -> list[_Candidate]:
    """Oldest first. `pipe` watches already; from here on it watches their versions too."""
    found: list[_Candidate] = []
    for document_id in texts(await cast("Awaitable[object]", pipe.zrange(_name_key(upload), 0, -1))):
        family = keys.versions(document_id)
        await cast("Awaitable[object]", pipe.watch(family))
        for version_id in texts(await cast("Awaitable[object]", pipe.zrange(family, -1, -1))):
            fields = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.version(version_id)))
            if version := read_record(fields):
                found.append(_Candidate(version))
    return found
