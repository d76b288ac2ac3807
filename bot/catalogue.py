"""Reading the records of documents and versions.

A version is a hash with the JSON of `Accepted`, `Status` and `Outcome`; a document is a hash with its
workspace, knowledge base, name, the version id that is searched (`current`), the greatest version
number given out (`numbered`), and `deleting` once its deletion has begun.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Final, cast

from redis.asyncio import Redis

from bot import keys
from bot.records import Accepted, Document, Outcome, Status, Version

#: Records read in one go.
BATCH: Final = 500


def text(value: object) -> str:
    return cast("bytes", value).decode()


def texts(values: object) -> list[str]:
    return [value.decode() for value in cast("Iterable[bytes]", values)]


def read_version(fields: dict[bytes, bytes]) -> Version | None:
    """From the hash of a version; None where there is none."""
    if b"accepted" not in fields:
        return None
    outcome = fields.get(b"outcome")
    return Version(
        accepted=Accepted.model_validate_json(fields[b"accepted"]),
        status=Status.model_validate_json(fields[b"status"]),
        outcome=Outcome.model_validate_json(outcome) if outcome else None,
    )


class Catalogue:
    """Every read is one or two round trips for any number of documents up to `BATCH`."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def workspaces(self) -> list[str]:
        """Those that have or had documents."""
        return sorted(
            texts(await cast("Awaitable[object]", self._redis.smembers(keys.library_workspaces())))
        )

    async def version(self, version_id: str) -> Version | None:
        return (await self.versions([version_id])).get(version_id)

    async def versions(self, version_ids: Sequence[str]) -> dict[str, Version]:
        """Those that exist, by id."""
        found: dict[str, Version] = {}
        for start in range(0, len(version_ids), BATCH):
            ids = version_ids[start : start + BATCH]
            async with self._redis.pipeline(transaction=False) as pipe:
                for version_id in ids:
                    pipe.hgetall(keys.version(version_id))
                records = await pipe.execute()
            for version_id, record in zip(ids, records, strict=True):
                if version := read_version(cast("dict[bytes, bytes]", record)):
                    found[version_id] = version
        return found

    async def document(self, workspace: str, document_id: str) -> Document | None:
        """None where there is none in this workspace, or it is being deleted."""
        if await self._redis.zscore(keys.documents(workspace), document_id) is None:
            return None
        return next(iter(await self._documents([document_id])), None)

    async def documents(self, workspace: str) -> list[Document]:
        """In the order of their first upload."""
        ids = texts(await self._redis.zrange(keys.documents(workspace), 0, -1))
        found: list[Document] = []
        for start in range(0, len(ids), BATCH):
            found += await self._documents(ids[start : start + BATCH])
        return found

    async def version_ids(self, document_id: str) -> list[str]:
        """Oldest first, those of a document that is being deleted too."""
        return texts(await self._redis.zrange(keys.versions(document_id), 0, -1))

    async def deletions(self) -> dict[str, str]:
        """Workspace by document id of those that are being deleted."""
        return await self._journal(keys.deletions())

    async def relabellings(self) -> dict[str, str]:
        """Workspace by document id of those whose labels the index must still be told."""
        return await self._journal(keys.relabellings())

    async def _journal(self, key: str) -> dict[str, str]:
        found = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(key))
        return {document.decode(): workspace.decode() for document, workspace in found.items()}

    async def _documents(self, document_ids: Sequence[str]) -> list[Document]:
        # In one transaction: between two reads a version could be replaced.
        async with self._redis.pipeline(transaction=True) as pipe:
            for document_id in document_ids:
                pipe.hgetall(keys.document(document_id))
                pipe.zrange(keys.versions(document_id), -1, -1)
            found = await pipe.execute()
        records = cast("list[dict[bytes, bytes]]", found[::2])
        newest = [next(iter(texts(ids)), "") for ids in found[1::2]]
        current = [record.get(b"current", b"").decode() for record in records]
        versions = await self.versions(list(dict.fromkeys(filter(None, newest + current))))
        documents: list[Document] = []
        for document_id, record, now, last in zip(document_ids, records, current, newest, strict=True):
            shown = versions.get(now)
            latest = versions.get(last) or shown
            if latest is None or not record:  # deleted just now
                continue
            if shown is None and latest.status.stage == "done":  # replaced just now
                shown = latest
            documents.append(
                Document(
                    document_id=document_id,
                    workspace=text(record[b"workspace"]),
                    knowledge_base=text(record[b"knowledge_base"]),
                    name=text(record[b"name"]),
                    current=shown,
                    latest=latest,
                )
            )
        return documents
