"""What happens to one version from the queue to `done`, `failed` or gone."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import structlog
from redis.exceptions import RedisError

from bot.failures import MAX_RETRIES, MAX_STARTS, KeepsCrashing, delay, describe
from bot.ingest_queue import Cancelled, IngestQueue, Lease, LeaseLost
from bot.library import Library
from bot.metrics import DOCUMENTS, INGEST_SECONDS
from bot.records import Outcome, Status, Version
from bot.reporter import Reporter
from bot.transitions import Transitions
from retrieval.documents import DocumentMeta, ParsedDocument
from retrieval.index.protocol import IndexUnavailable
from retrieval.ingest.protocol import Report

log = structlog.get_logger()


class IngestResult(Protocol):
    """What `Ingests` returns; `retrieval.ingest` has it."""

    @property
    def parsed(self) -> ParsedDocument: ...
    @property
    def chunks(self) -> int: ...
    @property
    def languages(self) -> Sequence[str]: ...
    @property
    def warnings(self) -> Sequence[str]: ...
    @property
    def title(self) -> str: ...


class Ingests(Protocol):
    """Reads a file, and stages its chunks in the index without publishing them."""

    async def ingest(
        self, path: Path, meta: DocumentMeta, report: Report, *, parser: str | None = None
    ) -> IngestResult: ...

    async def ingest_parsed(
        self, parsed: ParsedDocument, meta: DocumentMeta, report: Report
    ) -> IngestResult: ...


class Ingestion:
    """Brings every version that it is given to an end, unless it is interrupted."""

    def __init__(self, library: Library, queue: IngestQueue, ingestor: Ingests) -> None:
        self._library = library
        self._queue = queue
        self._ingestor = ingestor
        self._transitions = Transitions(library.redis)

    async def run(self, lease: Lease) -> None:
        """Raises `LeaseLost` (nothing was written then), or what keeps a cancelled version from being
        cleaned up, or redis' errors: then it must be done again."""
        version = await self._library.catalogue.version(lease.version_id)
        if version is None or await self._transitions.deleting(lease):
            await self._transitions.drop(lease)
            return
        try:
            try:
                if lease.cancelled or await self._transitions.outdated(lease):
                    await self._forget(lease)
                    return
                if version.outcome is None:
                    await self._ingest(lease, version)
                await self._publish(lease, version)
            except (Cancelled, LeaseLost, RedisError):
                raise
            except Exception as error:
                await self._failed(lease, error)
        except Cancelled:
            await self.cancelled(lease)

    async def cancelled(self, lease: Lease) -> None:
        """Remove what was made of a version. If its whole document goes, that takes care of it."""
        if await self._transitions.deleting(lease):
            await self._transitions.drop(lease)
        else:
            await self._forget(lease)

    async def lost(self, lease: Lease) -> None:
        """After a lost lease: of a version that is gone, nothing that was staged late may stay."""
        if await self._library.catalogue.version(lease.version_id) is None:
            await self._library.index.discard(lease.workspace, lease.version_id)

    async def _forget(self, lease: Lease) -> None:
        await self._library.index.discard(lease.workspace, lease.version_id)
        await self._transitions.retire(lease)
        await self._library.files.delete_version(lease.workspace, lease.version_id)

    async def _ingest(self, lease: Lease, version: Version) -> None:
        library, meta = self._library, version.meta
        if lease.starts > MAX_STARTS:
            raise KeepsCrashing
        if not lease.fresh:
            await library.index.discard(meta.workspace, meta.version_id)
        reporter = Reporter(self._transitions, lease)
        try:
            async with library.files.original(meta.workspace, meta.version_id) as path:
                result = await self._ingestor.ingest(path, meta, reporter, parser=version.accepted.parser)
        finally:
            await reporter.settle()  # and what stopped the ingest, however it was wrapped on its way
        await library.files.put_parsed(meta.workspace, meta.version_id, result.parsed)
        outcome = Outcome(
            title=result.title,
            parser=result.parsed.parser,
            chunks=result.chunks,
            pages=result.parsed.pages,
            languages=tuple(result.languages),
            warnings=tuple(result.warnings),
            document_date=result.parsed.document_date,
            timings=reporter.timings(),
        )
        await self._transitions.commit(lease, outcome)

    async def _publish(self, lease: Lease, version: Version) -> None:
        library, meta = self._library, version.meta
        now = await library.catalogue.version(meta.version_id)
        # Labels may have changed since the chunks were made, by whoever began this.
        if now is not None and (version.outcome is not None or now.meta.labels != meta.labels):
            await library.index.set_labels(meta.workspace, meta.document_id, now.meta.labels)
        # Nobody else may be publishing a version of this document from here on.
        await self._queue.renew(lease)
        await library.index.publish(meta.workspace, meta.document_id, meta.version_id)
        # Before the last step, so that a kill can't leave them without a record.
        for version_id in await self._transitions.replaced(lease):
            await library.files.delete_version(meta.workspace, version_id)
        await self._transitions.finish(lease)
        DOCUMENTS.labels("done").inc()
        INGEST_SECONDS.observe((datetime.now(UTC) - meta.uploaded_at).total_seconds())

    async def _failed(self, lease: Lease, error: Exception) -> None:
        failure = describe(error)
        about = {"version_id": lease.version_id, "reason": failure.reason, "retries": lease.retries}
        if failure.waiting and lease.retries < MAX_RETRIES:
            log.warning("ingest_put_off", **about)
            await self._transitions.report(lease, Status(message=failure.waiting))
            await self._queue.give_back(lease, delay_ms=round(delay(lease.retries) * 1000), retried=True)
            return
        if failure.unexpected:
            log.error("ingest_failed", **about, exc_info=error)
        else:
            log.info("ingest_failed", **about)
        with contextlib.suppress(IndexUnavailable):  # `reconcile` does it then
            await self._library.index.discard(lease.workspace, lease.version_id)
        await self._transitions.fail(lease, failure.reason, failure.message)
        DOCUMENTS.labels("failed").inc()
