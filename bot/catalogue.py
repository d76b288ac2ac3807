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

#: Records read in one go: in one step of the server, and one reply to take apart.
BATCH: Final = 250

_READ_VERSION: Final = """
local function read(version)
  return redis.call('HMGET', ARGV[1] .. version, 'accepted', 'status', 'outcome')
end
"""

#: ARGV prefix of versions, then version ids.
_VERSIONS: Final = (
    _READ_VERSION
    + """
local found = {}
for i = 2, #ARGV do found[i - 1] = read(ARGV[i]) end
return found
"""
)

#: ARGV prefixes of versions, documents and version sets, then document ids. Answers for each: workspace,
#: knowledge base, name, current version, newest version (false where that is the current one).
_DOCUMENTS: Final = (
    _READ_VERSION
    + """
local found = {}
for i = 4, #ARGV do
  local about = redis.call('HMGET', ARGV[2] .. ARGV[i], 'workspace', 'knowledge_base', 'name', 'current')
  local newest = redis.call('ZRANGE', ARGV[3] .. ARGV[i], -1, -1)[1]
  local current = about[4]
  about[4] = current and read(current)
  about[5] = newest and newest ~= current and read(newest)
  found[i - 3] = about
end
return found
"""
)

#: `accepted`, `status` and `outcome` of a version.
Fields = Sequence[bytes | None]


def texts(values: object) -> list[str]:
    return [value.decode() for value in cast("Iterable[bytes]", values)]


def read_version(fields: Fields) -> Version | None:
    """None where there is no such version."""
    accepted, status, outcome = fields
    if accepted is None or status is None:
        return None
    return Version(
        accepted=Accepted.model_validate_json(accepted),
        status=Status.model_validate_json(status),
        outcome=Outcome.model_validate_json(outcome) if outcome else None,
    )


def read_record(record: dict[bytes, bytes]) -> Version | None:
    """From the whole hash of a version."""
    return read_version([record.get(b"accepted"), record.get(b"status"), record.get(b"outcome")])


class Catalogue:
    """What it reads in one call of at most `BATCH` records is as it was at one moment."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._read_versions = redis.register_script(_VERSIONS)
        self._read_documents = redis.register_script(_DOCUMENTS)

    async def workspaces(self) -> list[str]:
        """Those that have or had documents."""
        return sorted(
            texts(await cast("Awaitable[object]", self._redis.smembers(keys.library_workspaces())))
        )

    async def knowledge_bases(self, workspace: str) -> list[str]:
        """Those that have a document."""
        return sorted(
            texts(await cast("Awaitable[object]", self._redis.hkeys(keys.knowledge_bases(workspace))))
        )

    async def version(self, version_id: str) -> Version | None:
        return (await self.versions([version_id])).get(version_id)

    async def versions(self, version_ids: Sequence[str]) -> dict[str, Version]:
        """Those that exist, by id."""
        found: dict[str, Version] = {}
        for start in range(0, len(version_ids), BATCH):
            ids = version_ids[start : start + BATCH]
            records = await cast("Awaitable[list[Fields]]", self._read_versions(args=[keys.VERSION, *ids]))
            for version_id, record in zip(ids, records, strict=True):
                if version := read_version(record):
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
        args = [keys.VERSION, keys.DOCUMENT, keys.VERSIONS, *document_ids]
        answers = await cast(
            "Awaitable[list[tuple[bytes | None, bytes, bytes, Fields | None, Fields | None]]]",
            self._read_documents(args=args),
        )
        documents: list[Document] = []
        for document_id, answer in zip(document_ids, answers, strict=True):
            workspace, knowledge_base, name, current_fields, newest_fields = answer
            current = read_version(current_fields) if current_fields else None
            latest = (read_version(newest_fields) if newest_fields else None) or current
            if workspace is None or latest is None:  # deleted just now
                continue
            documents.append(
                Document(
                    document_id=document_id,
                    workspace=workspace.decode(),
                    knowledge_base=knowledge_base.decode(),
                    name=name.decode(),
                    current=current,
                    latest=latest,
                )
            )
        return documents
