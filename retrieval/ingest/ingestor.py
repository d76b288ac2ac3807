"""One document, from its file to chunks that are staged in the index."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from retrieval.documents import Chunk, DocumentMeta, ParsedDocument, Section, chunk_id
from retrieval.index.protocol import VectorIndex
from retrieval.ingest.chunk import BUDGET, MINIMUM, has_words, passages, to_chunk
from retrieval.ingest.clean import clean_in_parts, cleaned
from retrieval.ingest.language import LanguageTagger, load
from retrieval.ingest.pack import Passage
from retrieval.ingest.protocol import IngestProgress, Report, Unreadable
from retrieval.ingest.slices import in_slices
from retrieval.ingest.summary import Summariser
from retrieval.ingest.title import title_of
from retrieval.models.protocol import Embedder

#: Passages of one document; more would fill the embedded index with it (about 40 MB of text).
MAX_CHUNKS = 30_000
#: Chunks embedded at a time, and written while the next ones are embedded.
BATCH = 64


class ParserPool(Protocol):
    """Parses files in worker processes with limits on time and memory."""

    async def parse(self, path: Path, name: str, *, parser: str | None = None) -> ParsedDocument:
        """Raises `Unreadable`. `parser` names another parser than the usual one for the format."""
        ...


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What was staged. Publish the version, or discard it."""

    #: With clean text, so that it can be stored and ingested again.
    parsed: ParsedDocument
    #: As it travels with the chunks: with the title and the date that were found.
    meta: DocumentMeta
    #: Staged chunks, the summary included.
    chunks: int
    #: ISO 639-1 codes of the chunks, the most frequent first, without "und".
    languages: tuple[str, ...]
    #: Sentences for the uploader.
    warnings: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.meta.title


class Ingestor:
    """Stages documents; publishing is for the caller, once it has recorded what it needs.

    Everything but parsing runs on the event loop or in the models and the index, in short steps. While
    one batch is embedded, the one before is written, the one after is made, and the summary is found.
    After an error or a cancellation nothing goes on writing, and `VectorIndex.discard` removes what was
    staged. Doing it again gives the same ids.
    """

    def __init__(
        self,
        parser: ParserPool,
        embedder: Embedder,
        index: VectorIndex,
        summariser: Summariser | None = None,
        *,
        budget: int = BUDGET,
        minimum: int = MINIMUM,
        max_chunks: int = MAX_CHUNKS,
        batch: int = BATCH,
    ) -> None:
        """budget, minimum: tokens a chunk, see `chunk`. Without `summariser` there are no summaries."""
        self._parser = parser
        self._embedder = embedder
        self._index = index
        self._summariser = summariser
        self._budget = budget
        self._minimum = minimum
        self._max_chunks = max_chunks
        self._batch = batch

    async def ingest(
        self, path: Path, meta: DocumentMeta, report: Report, *, parser: str | None = None
    ) -> IngestResult:
        """Parse a file and stage its chunks. Raises `Unreadable`, `ModelError` or `IndexUnavailable`."""
        await report(IngestProgress(stage="parsing"))
        # The language model loads meanwhile; it is needed only after the parser is done.
        parsed, _ = await asyncio.gather(
            self._parser.parse(path, meta.name, parser=parser), asyncio.to_thread(load)
        )
        return await self.ingest_parsed(parsed, meta, report)

    async def ingest_parsed(
        self, parsed: ParsedDocument, meta: DocumentMeta, report: Report
    ) -> IngestResult:
        """Stage the chunks of a document that was parsed before. Raises as `ingest` does."""
        await report(IngestProgress(stage="chunking"))
        parsed = await _clean(parsed)
        found = await self._passages(parsed)
        heading = next(iter(found[0].heading_path), None)
        title = title_of(name=meta.name, given=meta.title, parsed=parsed.title, heading=heading)
        date = meta.document_date or parsed.document_date
        meta = meta.model_copy(update={"title": title, "document_date": date})
        tagger = await asyncio.to_thread(LanguageTagger, [p.text for p in found])
        staging = _Staging(self._embedder, self._index, report, len(found) + bool(self._summariser))
        summary = asyncio.create_task(self._summary(meta, found, tagger.main))
        ready = asyncio.create_task(self._chunks(found, 0, meta, tagger))
        try:
            for start in range(self._batch, len(found) + self._batch, self._batch):
                chunks = await ready
                ready = asyncio.create_task(self._chunks(found, start, meta, tagger))
                await staging.add(chunks)
            if chunk := await summary:
                await staging.add([chunk])
            await staging.finish()
        finally:
            await staging.settle()
            ready.cancel()
            summary.cancel()
            await asyncio.gather(ready, summary, return_exceptions=True)
        languages = tuple(code for code, _ in staging.languages.most_common() if code != "und")
        return IngestResult(parsed, meta, staging.staged, languages, parsed.warnings)

    async def _passages(self, parsed: ParsedDocument) -> list[Passage]:
        found: list[Passage] = []
        async for passage in in_slices(passages(parsed, budget=self._budget, minimum=self._minimum)):
            if passage is not None and has_words(passage.text):
                found.append(passage)
            if len(found) > self._max_chunks:
                raise Unreadable("too_large", f"more than {self._max_chunks} chunks")
        if not found:
            raise Unreadable("empty", "no words")
        return found

    async def _chunks(
        self, found: Sequence[Passage], start: int, meta: DocumentMeta, tagger: LanguageTagger
    ) -> list[Chunk]:
        """The batch of chunks from `start` on."""
        batch = enumerate(found[start : start + self._batch], start)
        steps = (to_chunk(p, meta, ordinal, tagger.tag(p.text)) for ordinal, p in batch)
        return [chunk async for chunk in in_slices(steps)]

    async def _summary(self, meta: DocumentMeta, found: Sequence[Passage], language: str) -> Chunk | None:
        if self._summariser is None:
            return None
        text = await self._summariser.summarise(meta.title, found, language)
        if not text:
            return None
        return Chunk(
            chunk_id=chunk_id(meta.version_id, -1),
            meta=meta,
            kind="summary",
            ordinal=-1,
            text=text,
            language=language,
        )


class _Staging:
    """Embeds batches, and writes each while the next is embedded."""

    def __init__(self, embedder: Embedder, index: VectorIndex, report: Report, total: int) -> None:
        self._embedder = embedder
        self._index = index
        self._report = report
        self._total = total
        self._writing: asyncio.Task[None] | None = None
        #: Chunks written, or being written.
        self.staged = 0
        self.languages = Counter[str]()

    async def add(self, chunks: Sequence[Chunk]) -> None:
        await self._report(IngestProgress(stage="embedding", done=self.staged, total=self._total))
        vectors = await self._embedder.embed_passages([chunk.context() for chunk in chunks])
        await self._written()
        self._writing = asyncio.create_task(self._index.stage(chunks, vectors))
        self.staged += len(chunks)
        self.languages.update(chunk.language for chunk in chunks if chunk.kind == "passage")

    async def finish(self) -> None:
        await self._report(IngestProgress(stage="indexing", done=0, total=self.staged))
        await self._written()
        await self._report(IngestProgress(stage="indexing", done=self.staged, total=self.staged))

    async def settle(self) -> None:
        """Wait for a write under way, whatever becomes of it, so that none comes after a `discard`."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
            if not self._writing.cancelled():
                self._writing.exception()  # seen; what matters has been raised already

    async def _written(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)


async def _clean(parsed: ParsedDocument) -> ParsedDocument:
    sections: list[Section] = []
    parts: list[str] = []

    def steps() -> Iterator[None]:
        for section in parsed.sections:
            parts.clear()
            for part in clean_in_parts(section.markdown):
                parts.append(part)
                yield
            sections.append(cleaned(section, "".join(parts)))
            yield

    async for _ in in_slices(steps()):
        pass
    return parsed.model_copy(update={"sections": tuple(sections)})
