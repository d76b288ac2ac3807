"""Filling a new index from the stored text, while the old one answers."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from bot.failures import describe
from bot.ingestion import IngestResult, Ingests
from bot.library import Library
from bot.records import Version
from retrieval.index.protocol import VectorIndex
from retrieval.ingest.protocol import IngestProgress

log = structlog.get_logger()

#: Documents done and in all, as far as is known.
RebuildReport = Callable[[int, int], Awaitable[None]]


@dataclass(slots=True)
class Rebuilt:
    """What `rebuild` has put into the new index."""

    documents: int = 0
    chunks: int = 0
    #: Names of documents whose files are missing or can't be indexed: upload them again.
    failed: list[str] = field(default_factory=list[str])


#: Document id and version id.
Key = tuple[str, str]


async def rebuild(
    library: Library, ingestor: Ingests, index: VectorIndex, report: RebuildReport
) -> Rebuilt:
    """Bring `index` up to what is searchable in the library now. `ingestor` stages into `index`.

    Nothing is parsed again unless its text is lost. Documents may be added, replaced and deleted
    meanwhile: it goes on until a round finds nothing to do. To miss nothing, call it once while the
    worker runs, then stop the worker, call it again (a short catch-up), let the library `use_index` the
    new one, and start the worker.
    Raises `IndexUnavailable`, `StorageError` and `ModelError` that may pass; then call it again.
    """
    result = Rebuilt()
    given_up: set[Key] = set()
    labels: dict[Key, tuple[str, ...]] = {}
    while True:
        wanted = await _searchable(library)
        present = await _published(library, index)
        wanted_documents = {document_id for document_id, _ in wanted}
        for (document_id, _), workspace in present.items():
            if document_id not in wanted_documents:
                await index.delete_document(workspace, document_id)
        todo = [key for key in wanted if key not in present and key not in given_up]
        for number, key in enumerate(todo):
            await report(number, len(todo))
            labels[key] = wanted[key].meta.labels
            if chunks := await _copy(library, ingestor, index, wanted[key]):
                result.documents += 1
                result.chunks += chunks
            else:
                given_up.add(key)
                result.failed.append(wanted[key].meta.name)
        relabelled = [
            key for key in wanted if key in present and labels.get(key) != wanted[key].meta.labels
        ]
        for key in relabelled:
            meta = wanted[key].meta
            await index.set_labels(meta.workspace, meta.document_id, meta.labels)
            labels[key] = meta.labels
        if not todo and not relabelled:
            return result
        await report(len(todo), len(todo))


async def _searchable(library: Library) -> dict[Key, Version]:
    found: dict[Key, Version] = {}
    for workspace in await library.catalogue.workspaces():
        for document in await library.catalogue.documents(workspace):
            if document.current is not None:
                found[document.document_id, document.current.meta.version_id] = document.current
    return found


async def _published(library: Library, index: VectorIndex) -> dict[Key, str]:
    """What is in `index`, with its workspace."""
    return {
        (document_id, version_id): workspace
        for workspace in await library.catalogue.workspaces()
        for document_id, version_id, published in await index.versions(workspace)
        if published
    }


async def _copy(library: Library, ingestor: Ingests, index: VectorIndex, version: Version) -> int:
    """How many chunks were published; 0 where the version can't be rebuilt."""
    meta = version.meta
    try:
        result = await _ingest(library, ingestor, version)
    except Exception as error:
        failure = describe(error)
        if failure.waiting or failure.reason == "misconfigured":
            raise
        log.error("reindex_document_failed", version_id=meta.version_id, exc_info=error)
        return 0
    await index.publish(meta.workspace, meta.document_id, meta.version_id)
    return result.chunks


async def _ingest(library: Library, ingestor: Ingests, version: Version) -> IngestResult:
    meta = version.meta
    with contextlib.suppress(LookupError):
        parsed = await library.parsed(meta.workspace, meta.version_id)
        return await ingestor.ingest_parsed(parsed, meta, _silent)
    # The text was lost in a power cut.
    async with library.original(meta.workspace, meta.version_id) as path:
        result = await ingestor.ingest(path, meta, _silent, parser=version.accepted.parser)
    await library.files.put_parsed(meta.workspace, meta.version_id, result.parsed)
    return result


async def _silent(progress: IngestProgress) -> None:
    del progress
