"""Asks the extractive answerer about the example handbook: what it gets right, and what it makes up.

    python -m bench.handbook [--cache DIR] [--show]

Questions are in `handbook_questions.toml`. An answer is right if it quotes the words given there.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.xquad import ranks
from retrieval.answer.events import Source
from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.protocol import AnswerRequest, AnswerStyle, NotCovered
from retrieval.documents import Chunk, DocumentMeta
from retrieval.index.bm25 import encode_passage, encode_query
from retrieval.ingest.chunk import chunk
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.sandbox import ParserPool
from retrieval.models.local import E5Embedder
from retrieval.models.protocol import Embedder
from retrieval.trace import Step

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
SOURCES = 6


async def read_handbook() -> list[Chunk]:
    chunks: list[Chunk] = []
    async with ParserPool(ParseLimits(), workers=1) as pool:
        for path in sorted(HANDBOOK.iterdir()):
            parsed = await pool.parse(path, path.name)
            meta = DocumentMeta(
                workspace="bench",
                knowledge_base="handbook",
                document_id=path.name,
                version_id=path.name,
                version=1,
                name=path.name,
                title=parsed.title or path.stem,
                media_type="",
                uploaded_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
            chunks += chunk(parsed, meta)
    return chunks


class Search:
    """Hybrid search over a handful of chunks."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        self._chunks = chunks
        self._embedder = embedder
        self._languages = frozenset(c.language for c in chunks)
        self._sparse = [encode_passage(c.context(), c.language) for c in chunks]

    async def sources(self, question: str) -> list[Source]:
        passages = await self._embedder.embed_passages([c.context() for c in self._chunks])
        dense = await self._embedder.embed_queries([question]) @ passages.T
        wanted = set(encode_query(question, self._languages).indices)
        holders = {i: sum(i in vector.indices for vector in self._sparse) for i in wanted}
        total = len(self._chunks)
        bm25 = np.array(
            [
                sum(
                    value * np.log(1 + (total - holders[i] + 0.5) / (holders[i] + 0.5))
                    for i, value in zip(vector.indices, vector.values, strict=True)
                    if i in wanted
                )
                for vector in self._sparse
            ]
        )[None]
        fused = (1 / (60 + ranks(dense)) + (bm25 > 0) / (60 + ranks(bm25)))[0]
        order = np.argsort(-fused, kind="stable")[:SOURCES]
        return [Source(str(n), self._chunks[i], float(fused[i])) for n, i in enumerate(order, 1)]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    search = Search(await read_handbook(), embedder)
    answerer = ExtractiveAnswerer(embedder)
    questions = tomllib.loads((Path(__file__).parent / "handbook_questions.toml").read_text("utf-8"))
    expected: dict[str, str | None] = questions["answered"]
    expected |= dict.fromkeys(questions["not_covered"]["questions"])
    counts = dict.fromkeys(("right", "right as closest", "wrong", "missed", "silent", "made up"), 0)
    times: list[float] = []
    for question, words in expected.items():
        sources = await search.sources(question)
        step = Step(name="generate", start_ms=0)
        request = AnswerRequest(question, question, (), sources, None, AnswerStyle(), None, step)
        began = time.perf_counter()
        text, covered = "", True
        try:
            async for delta in answerer.answer(request):
                text += delta
        except NotCovered:
            covered = False
        times.append(time.perf_counter() - began)
        if words is None:
            verdict = "made up" if covered else "silent"
        elif words in text.replace("**", ""):
            verdict = "right" if covered else "right as closest"
        else:
            verdict = "wrong" if covered else "missed"
        counts[verdict] += 1
        if options.show:
            files = [f"{s.chunk.meta.name}#{s.chunk.ordinal}" for s in sources]
            print(f"== {verdict} ({step.outputs.get('best score')}): {question} {files[:3]}\n{text}\n")
    embedder.save()
    print(counts, f"median {np.median(times) * 1000:.0f} ms a question")


if __name__ == "__main__":
    asyncio.run(main())
