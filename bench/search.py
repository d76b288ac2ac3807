"""Hybrid search at several sizes: the embedded index, Qdrant Edge by hand, qdrant-client's local mode.

    python -m bench.search [--sizes 1000 10000 50000] [--queries 100] [--optimize] [--cpu] [--keep DIR]

Random vectors (384 dimensions) and English-like text with Zipf's law; the embedding of the query is not
counted. "raw" is a hybrid query written by hand against the same points, fused by Qdrant, its terms
encoded beforehand; so the difference is all that the index adds: encoding the terms, the way to its thread
and back, fusion by scores, chunks out of payloads, order among ties. The three take turns query by query,
so that other load on the machine touches them alike; with more work waiting than processors, `--cpu` is the
fairer clock all the same.
`--optimize` measures again with the search graph built. `--keep` leaves the indexes in a folder and takes
those that are there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psutil
import qdrant_edge as qe
from qdrant_client import AsyncQdrantClient
from rich.console import Console
from rich.table import Table

from retrieval.documents import EVERYONE, Chunk, DocumentMeta, chunk_id
from retrieval.index.base import PointRow
from retrieval.index.bm25 import encode_passage, encode_query
from retrieval.index.edge import EdgeIndex
from retrieval.index.payload import payload_of
from retrieval.index.plan import DEEPER
from retrieval.index.protocol import Fingerprint, Hit, QueryText
from retrieval.index.server import ServerIndex
from retrieval.index.server_calls import point_of
from retrieval.scope import Scope

DIMENSION = 384
LIMIT = 12
DEPTH = LIMIT + DEEPER
PER_DOCUMENT = 100
FINGERPRINT = Fingerprint(model="random", dimension=DIMENSION, revision="1")
SCOPE = Scope(workspace="w", audience=frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of each way, one entry a query."""

    raw: list[float]
    ours: list[float]
    explained: list[float]


class Corpus:
    """The same chunks, vectors and queries for one size each time."""

    def __init__(self, size: int) -> None:
        self.rng = np.random.default_rng(size)
        letters = np.array(list("abcdefghijklmnoprstuvw"))
        self.words = ["".join(self.rng.choice(letters, n)) for n in self.rng.integers(3, 11, 30_000)]
        self.size = size

    def vectors(self, count: int) -> np.ndarray:
        drawn = self.rng.normal(size=(count, DIMENSION)).astype(np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def text(self, words: int) -> str:
        return " ".join(self.words[i] for i in self.rng.zipf(1.15, words * 2) if i < 30_000)[: words * 7]

    def documents(self) -> Iterator[tuple[list[Chunk], np.ndarray]]:
        now = datetime.now(UTC)
        for number in range(0, self.size, PER_DOCUMENT):
            meta = DocumentMeta(
                workspace="w",
                knowledge_base="kb",
                document_id=f"d{number}",
                version_id=f"v{number}",
                version=1,
                name=f"{number}.md",
                title=self.text(4),
                media_type="text/markdown",
                uploaded_at=now,
            )
            chunks = [
                Chunk(
                    chunk_id=chunk_id(meta.version_id, ordinal),
                    meta=meta,
                    ordinal=ordinal,
                    text=self.text(200),
                    heading_path=(self.text(3),),
                    language="en",
                )
                for ordinal in range(min(PER_DOCUMENT, self.size - number))
            ]
            yield chunks, self.vectors(len(chunks))

    def queries(self, count: int) -> list[QueryText]:
        return [QueryText(self.text(8), vector) for vector in self.vectors(count)]


def by_hand(query: QueryText) -> qe.QueryRequest:
    """The query as one would write it with nothing but Qdrant Edge."""

    def matches(key: str, value: str) -> qe.FieldCondition:
        return qe.FieldCondition(key, match=qe.MatchValue(value))

    where = qe.Filter(must=[matches("live", "w"), matches("audience", EVERYONE)])
    idf = qe.SearchParams(idf=qe.IdfParams(corpus=qe.Filter(must=[matches("live", "w")])))
    terms = encode_query(query.text, frozenset({"en"}))
    sparse = qe.SparseVector(terms.indices, terms.values)
    return qe.QueryRequest(
        limit=2 * DEPTH,
        query=qe.Fusion.Rrf(k=61),  # pyright: ignore[reportArgumentType]
        prefetches=[
            qe.Prefetch(DEPTH, query=qe.Query.Nearest(query.vector.tolist(), using="dense"), filter=where),
            qe.Prefetch(DEPTH, query=qe.Query.Nearest(sparse, using="bm25"), filter=where, params=idf),
        ],
        with_payload=True,
    )


async def fill(folder: Path, size: int) -> float:
    """Seconds for staging and publishing everything."""
    began = time.perf_counter()
    index = EdgeIndex(folder)
    await index.open(FINGERPRINT)
    for chunks, vectors in Corpus(size).documents():
        await index.stage(chunks, vectors)
        await index.publish("w", chunks[0].meta.document_id, chunks[0].meta.version_id)
    await index.close()
    return time.perf_counter() - began


async def measure(index: EdgeIndex, shard: qe.EdgeShard, queries: list[QueryText]) -> Times:
    requests = [by_hand(query) for query in queries]
    times = Times([], [], [])
    for query, request in zip(queries, requests, strict=True):
        with clocked(times.raw):
            found = shard.query(request)
        with clocked(times.ours):
            hits = await index.search(SCOPE, [query], limit=LIMIT, explain=False)
        with clocked(times.explained):
            await index.search(SCOPE, [query], limit=LIMIT)
        check(found, hits)
    warm = len(queries) // 10
    return Times(times.raw[warm:], times.ours[warm:], times.explained[warm:])


def check(found: list[qe.ScoredPoint], hits: list[Hit]) -> None:
    """Both ways must search the same points, or the comparison is worth nothing."""
    if not {hit.chunk.chunk_id for hit in hits} <= {str(point.id) for point in found}:
        raise SystemExit("the index and the query by hand disagree")


async def measure_local(size: int, queries: list[QueryText]) -> list[float]:
    index = ServerIndex(AsyncQdrantClient(":memory:"), "bench")
    await index.open(FINGERPRINT)
    for chunks, vectors in Corpus(size).documents():
        rows = [
            PointRow(c.chunk_id, v, encode_passage(c.context(), c.language), payload_of(c, live=True))
            for c, v in zip(chunks, vectors, strict=True)
        ]
        await index.client.upsert("bench", [point_of(row) for row in rows])
    times: list[float] = []
    for query in queries:
        with clocked(times):
            await index.search(SCOPE, [query], limit=LIMIT, explain=False)
    return times


clock = time.perf_counter


@contextlib.contextmanager
def clocked(times: list[float]) -> Generator[None]:
    began = clock()
    yield
    times.append((clock() - began) * 1000)


async def bench(size: int, arguments: argparse.Namespace, table: Table) -> None:
    folder = Path(arguments.keep) / str(size)
    filled = 0.0 if folder.exists() else await fill(folder / "ours", size)
    queries = Corpus(-size % 2**32).queries(arguments.queries)
    local = await measure_local(size, queries[:5]) if arguments.local else []
    for optimized in [False, True] if arguments.optimize else [False]:
        index = EdgeIndex(folder / "ours")
        gc.collect()
        before = psutil.Process().memory_info().rss
        await index.open(FINGERPRINT)
        if optimized:
            await index.optimize()
        await index.search(SCOPE, queries[:1], limit=LIMIT)
        used = psutil.Process().memory_info().rss - before
        await index.close()
        shutil.rmtree(folder / "raw", ignore_errors=True)
        shutil.copytree(next((folder / "ours").glob("shard-*")), folder / "raw")
        shard = qe.EdgeShard.load(str(folder / "raw"))
        index = EdgeIndex(folder / "ours")
        await index.open(FINGERPRINT)
        times = await measure(index, shard, queries)
        await index.close()
        shard.close()
        raw, ours, explained = (statistics.median(t) for t in (times.raw, times.ours, times.explained))
        table.add_row(
            f"{size:,}{' optimised' if optimized else ''}",
            f"{ours / raw:.2f}",
            f"{ours - raw:+.2f}",
            f"{explained / raw:.2f}",
            f"{statistics.median(local) / ours:,.0f}" if local else "-",
            *(spread(t) for t in (times.raw, times.ours, times.explained)),
            spread(local) if local else "-",
            f"{used / 2**20:.0f}",
            f"{filled * 1000 / size:.2f}" if filled else "-",
        )


def spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.2f} / {ordered[int(len(ordered) * 0.95)]:.2f}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--optimize", action="store_true", help="also with the search graph")
    parser.add_argument("--local", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--keep", metavar="DIR", default=None)
    parser.add_argument("--cpu", action="store_true", help="processor time, for a machine that is busy")
    arguments = parser.parse_args()
    global clock
    clock = time.process_time if arguments.cpu else time.perf_counter
    warnings.filterwarnings("ignore", category=UserWarning)
    table = Table(
        title=f"Hybrid search, best {LIMIT}; p50 / p95 in ms{' of processor time' if arguments.cpu else ''}"
    )
    for heading in (
        "chunks",
        "ours / raw",
        "ms more",
        "explained / raw",
        "local / ours",
        "raw",
        "ours",
        "ours, explained",
        "local mode",
        "MiB",
        "ms a chunk to fill",
    ):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as temporary:
        arguments.keep = arguments.keep or temporary
        for size in arguments.sizes:
            await bench(size, arguments, table)
    Console(width=160).print(table)


if __name__ == "__main__":
    asyncio.run(main())
