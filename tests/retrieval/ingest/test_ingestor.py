"""From a file to staged chunks."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retrieval.documents import Chunk, ParsedDocument, chunk_id
from retrieval.index.protocol import Vectors
from retrieval.ingest.chunk import chunk
from retrieval.ingest.ingestor import Ingestor, IngestResult
from retrieval.ingest.pack import Passage
from retrieval.ingest.protocol import IngestProgress, Unreadable
from retrieval.ingest.slices import SLICE
from retrieval.ingest.summary import ExtractiveSummariser
from retrieval.models.protocol import ModelError
from tests.doubles.models import HashEmbedder
from tests.retrieval.ingest.parsed import meta_of, parsed_of, section, words

PATH = Path("/nowhere/handbook.md")


class Pool:
    """Parses everything into one document, or refuses it."""

    def __init__(self, outcome: ParsedDocument | Exception) -> None:
        self.outcome = outcome
        self.calls: list[tuple[Path, str, str | None]] = []

    async def parse(self, path: Path, name: str, *, parser: str | None = None) -> ParsedDocument:
        self.calls.append((path, name, parser))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Index:
    """Keeps what is staged. `hold` makes a write wait; `fail` makes the n-th one fail."""

    def __init__(self, fail: int | None = None) -> None:
        self.chunks: dict[str, Chunk] = {}
        self.batches: list[int] = []
        self.open = asyncio.Event()
        self.open.set()
        self.begun = asyncio.Event()
        self.writing = 0
        self.fail = fail

    async def stage(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        assert vectors.shape == (len(chunks), 64)
        self.writing += 1
        assert self.writing == 1, "one write at a time"
        self.begun.set()
        await self.open.wait()
        self.writing -= 1
        if self.fail == len(self.batches):
            raise ConnectionError("the index is gone")
        self.batches.append(len(chunks))
        self.chunks |= {chunk.chunk_id: chunk for chunk in chunks}

    async def discard(self, workspace: str, version_id: str) -> None:
        self.chunks = {k: c for k, c in self.chunks.items() if c.meta.version_id != version_id}


class Reports(list[IngestProgress]):
    async def __call__(self, progress: IngestProgress) -> None:
        self.append(progress)

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(progress.stage for progress in self))


def ingestor(
    parsed: ParsedDocument | Exception,
    index: Index,
    embedder: HashEmbedder | None = None,
    summariser: ExtractiveSummariser | None = None,
    **options: int,
) -> Ingestor:
    return Ingestor(Pool(parsed), embedder or HashEmbedder(), index, summariser, **options)  # pyright: ignore[reportArgumentType]


LONG = parsed_of(
    *(section(words(300, i * 300), f"Part {i}", page=i + 1) for i in range(10)), title="Long", pages=10
)


async def run(
    parsed: ParsedDocument | Exception, index: Index | None = None, **options: object
) -> tuple[IngestResult, Index, Reports]:
    index, reports = index or Index(), Reports()
    result = await ingestor(parsed, index, **options).ingest(PATH, meta_of(), reports)  # pyright: ignore[reportArgumentType]
    return result, index, reports


async def test_chunks_are_staged_in_batches_with_their_context_embedded() -> None:
    embedder = HashEmbedder()
    result, index, _ = await run(LONG, embedder=embedder, batch=4)
    assert index.batches == [4, 4, 2]
    assert result.chunks == len(index.chunks) == 10
    first = index.chunks[chunk_id("v1", 0)]
    assert (first.ordinal, first.heading_path, first.page, first.page_end) == (0, ("Part 0",), 1, 1)
    assert embedder.passages[0] == f"Long > Part 0\n{words(300)}"


async def test_chunks_are_those_of_the_chunker() -> None:
    result, index, _ = await run(LONG, batch=3)
    assert list(index.chunks.values()) == chunk(LONG, result.meta)


async def test_the_parser_is_asked_for_by_name() -> None:
    pool = Pool(LONG)
    await Ingestor(pool, HashEmbedder(), Index()).ingest(PATH, meta_of(), Reports(), parser="plain")  # pyright: ignore[reportArgumentType]
    assert pool.calls == [(PATH, "handbook.md", "plain")]


async def test_progress_has_stages_in_order_and_counts_up_to_all() -> None:
    result, _, reports = await run(LONG, batch=4, summariser=ExtractiveSummariser())
    assert reports.stages == ["parsing", "chunking", "embedding", "indexing"]
    assert [(p.done, p.total) for p in reports if p.stage == "embedding"] == [
        (0, 11),
        (4, 11),
        (8, 11),
        (10, 11),
    ]
    assert (reports[-1].done, reports[-1].total) == (11, 11)
    assert result.chunks == 11


async def test_the_summary_is_staged_beside_the_passages() -> None:
    text = "The key is valid for ninety days. After that it stops working for good."
    _, index, _ = await run(parsed_of(section(text, "Keys")), summariser=ExtractiveSummariser())
    summary = index.chunks[chunk_id("v1", -1)]
    assert (summary.kind, summary.ordinal, summary.language) == ("summary", -1, "en")
    assert (summary.page, summary.heading_path) == (None, ())
    assert text in summary.text


async def test_no_summaries_without_a_summariser() -> None:
    _, index, _ = await run(LONG)
    assert {chunk.kind for chunk in index.chunks.values()} == {"passage"}


async def test_the_result_tells_what_was_found() -> None:
    english = "Every person has a key of their own, and changes it every ninety days. "
    parsed = parsed_of(
        section(english * 5, "Keys"),
        section(
            "Alle neunzig Tage muss der Schlüssel gewechselt werden, sonst gilt er nicht mehr.",
            "Auf Deutsch",
        ),
        section(english * 5, "More"),
        title="Key \u202epolicy\0",
        warnings=("page 3 could not be read",),
        document_date=datetime(2026, 2, 1, tzinfo=UTC),
    )
    result, index, _ = await run(parsed)
    assert result.title == "Key policy"
    assert result.languages == ("en", "de")
    assert result.warnings == ("page 3 could not be read",)
    assert all(chunk.meta == result.meta for chunk in index.chunks.values())
    assert result.meta.document_date == datetime(2026, 2, 1, tzinfo=UTC)


async def test_a_title_that_a_person_gave_stays() -> None:
    index = Index()
    result = await ingestor(LONG, index).ingest(PATH, meta_of(title="Our rules"), Reports())
    assert result.title == "Our rules"


async def test_parsed_text_comes_back_clean_and_gives_the_same_chunks_again() -> None:
    dirty = parsed_of(section("K\0ey\ud800s\r\nlast 90 days. cafe\u0301", "He\0ad", page=2))
    result, index, _ = await run(dirty)
    (kept,) = result.parsed.sections
    assert (kept.markdown, kept.heading_path, kept.page) == ("Keys\nlast 90 days. café", ("Head",), 2)
    ParsedDocument.model_validate_json(result.parsed.model_dump_json())
    again = Index()
    reports = Reports()
    await ingestor(LONG, again).ingest_parsed(result.parsed, meta_of(), reports)
    assert again.chunks == index.chunks
    assert reports.stages == ["chunking", "embedding", "indexing"]


@pytest.mark.parametrize(
    "parsed", [parsed_of(), parsed_of(""), parsed_of("---\n\n| | |\n|---|---|\n| | |")]
)
async def test_a_document_without_words_is_refused_as_empty(parsed: ParsedDocument) -> None:
    index = Index()
    with pytest.raises(Unreadable) as refused:
        await run(parsed, index, summariser=ExtractiveSummariser())
    assert refused.value.reason == "empty"
    assert not index.chunks


async def test_a_document_with_too_many_chunks_is_refused_before_any_is_embedded() -> None:
    embedder = HashEmbedder()
    with pytest.raises(Unreadable) as refused:
        await run(LONG, embedder=embedder, max_chunks=9)
    assert refused.value.reason == "too_large"
    assert not embedder.passages


async def test_a_refusal_of_the_parser_comes_through() -> None:
    with pytest.raises(Unreadable) as refused:
        await run(Unreadable("encrypted"))
    assert refused.value.reason == "encrypted"


async def test_a_batch_is_written_while_the_next_is_embedded() -> None:
    index, embedder = Index(), HashEmbedder()
    index.open.clear()
    task = asyncio.create_task(ingestor(LONG, index, embedder, batch=4).ingest(PATH, meta_of(), Reports()))
    await index.begun.wait()
    await until(lambda: len(embedder.passages) == 8)
    assert index.batches == []
    index.open.set()
    assert (await task).chunks == 10


class Broken(HashEmbedder):
    """Fails at the second batch."""

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        if self.passages:
            raise ModelError("unavailable", "down")
        return await super().embed_passages(texts, urgent=urgent)


async def test_after_an_error_nothing_goes_on_writing() -> None:
    index = Index()
    index.open.clear()
    task = asyncio.create_task(ingestor(LONG, index, Broken(), batch=4).ingest(PATH, meta_of(), Reports()))
    await index.begun.wait()
    await until_idle()
    assert not task.done()  # it waits for the write
    index.open.set()
    with pytest.raises(ModelError):
        await task
    assert index.writing == 0
    await index.discard("w1", "v1")
    await until_idle()
    assert not index.chunks


async def test_after_a_cancellation_nothing_goes_on_writing() -> None:
    index = Index()
    index.open.clear()
    work = ingestor(LONG, index, summariser=ExtractiveSummariser(), batch=4).ingest(
        PATH, meta_of(), Reports()
    )
    task = asyncio.create_task(work)
    await index.begun.wait()
    task.cancel()
    await until_idle()
    assert not task.done()
    index.open.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert index.writing == 0
    assert len(index.chunks) == 4
    await index.discard("w1", "v1")
    await until_idle()
    assert not index.chunks


@pytest.mark.parametrize("batch", [0, 1, 2])
async def test_an_error_of_the_index_comes_through(batch: int) -> None:
    with pytest.raises(ConnectionError):
        await run(LONG, Index(fail=batch), batch=4)


async def test_an_error_of_the_summariser_comes_through_and_nothing_is_left_running() -> None:
    class Bad(ExtractiveSummariser):
        async def summarise(self, title: str, passages: Sequence[Passage], language: str) -> str:
            raise ModelError("misconfigured", "no key")

    before = asyncio.all_tasks()
    with pytest.raises(ModelError):
        await run(LONG, summariser=Bad(), batch=4)
    assert asyncio.all_tasks() == before


async def test_other_work_gets_its_turn_while_a_document_is_chunked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count(step=SLICE)  # each step takes as long as a slice
    monkeypatch.setattr("retrieval.ingest.slices.perf_counter", lambda: next(clock))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    busy = asyncio.create_task(others())
    with pytest.raises(Unreadable):
        await run(parsed_of("\n\n".join(words(60, i * 60) for i in range(600))), max_chunks=100)
    busy.cancel()
    assert turns >= 100


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 -- the double has no event for it
            await asyncio.sleep(0)


async def until_idle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)
