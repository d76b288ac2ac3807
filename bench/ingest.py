"""What ingest adds to its parser and its embedder: wall time over the sum of both.

    python -m bench.ingest [FILE ...]

Both parts are timed alone first, with the parser process warm; then the whole way of the same file from
disk to staged chunks in a Qdrant Edge index. Without files it takes the PDF of the example handbook and,
where the evaluation data is, real papers.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from retrieval.documents import DocumentMeta
from retrieval.index.edge import EdgeIndex
from retrieval.ingest import language
from retrieval.ingest.chunk import chunk
from retrieval.ingest.ingestor import Ingestor
from retrieval.ingest.protocol import IngestProgress
from retrieval.ingest.sandbox import ParserPool
from retrieval.ingest.summary import ExtractiveSummariser
from retrieval.models.local import E5Embedder
from tests.data import DATA, ROOT


def meta_of(path: Path, version: str) -> DocumentMeta:
    return DocumentMeta(
        workspace="bench",
        knowledge_base="bench",
        document_id=path.name,
        version_id=version,
        version=1,
        name=path.name,
        title=path.name,
        media_type="",
        uploaded_at=datetime.now(UTC),
    )


async def silent(_progress: IngestProgress) -> None: ...


async def measure(
    path: Path, pool: ParserPool, embedder: E5Embedder, index: EdgeIndex
) -> tuple[float, ...]:
    """Seconds to parse, to embed, and for all of it; and how many chunks."""
    began = time.perf_counter()
    parsed = await pool.parse(path, path.name)
    parse = time.perf_counter() - began
    texts = [c.context() for c in chunk(parsed, meta_of(path, "x"))]
    began = time.perf_counter()
    await embedder.embed_passages(texts)
    embed = time.perf_counter() - began
    ingestor = Ingestor(pool, embedder, index, ExtractiveSummariser())
    began = time.perf_counter()
    result = await ingestor.ingest(path, meta_of(path, f"v{began}"), silent)
    return parse, embed, time.perf_counter() - began, float(result.chunks)


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    files: list[Path] = given.files or [ROOT / "examples" / "handbook" / "travel-policy.pdf"]
    if not given.files and DATA is not None:
        files += [DATA / "retrieval" / "aragog_pdf" / "pdf" / name for name in ("PAL.pdf", "roberta.pdf")]
        files += [
            DATA / "documents" / "files" / name for name in ("redp5110_sampled.pdf", "wiki_duck.html")
        ]
    await asyncio.to_thread(language.load)
    with tempfile.TemporaryDirectory() as place:
        embedder, index = E5Embedder(Path(place) / "models"), EdgeIndex(Path(place) / "index")
        await index.open(embedder.fingerprint)
        print(
            f"{'whole/(parse+embed)':24} {'parse s':>8} {'embed s':>8} {'whole s':>8} {'chunks':>7}  file"
        )
        async with ParserPool(workers=1) as pool:
            await pool.warm()
            await embedder.embed_passages(["warm"])
            for path in files:
                rounds = [await measure(path, pool, embedder, index) for _ in range(given.rounds)]
                parse, embed, whole, chunks = (median(values) for values in zip(*rounds, strict=True))
                ratio = whole / (parse + embed)
                print(f"{ratio:24.3f} {parse:8.2f} {embed:8.2f} {whole:8.2f} {chunks:7.0f}  {path.name}")
        await index.close()
        await embedder.aclose()


if __name__ == "__main__":
    asyncio.run(main())
