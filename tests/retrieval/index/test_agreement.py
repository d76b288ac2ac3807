"""Both stores give the same lists and the same fused scores where nothing ties."""

from pathlib import Path

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.index.edge import EdgeIndex
from retrieval.index.protocol import Hit, SearchMode
from retrieval.index.server import ServerIndex
from tests.retrieval.index.support import ALL, MODEL, add, asked, chunks_of, meta_of

CHUNKS = 90  # fewer than the depth of a list, so that both hold all of it


def texts(rng: np.random.Generator) -> list[str]:
    """Each of another length, so that no two BM25 scores are equal."""
    words = [f"word{chr(97 + n)}" for n in range(26)]
    weights = 1 / np.arange(1, 27)
    return [
        " ".join(rng.choice(words, 5 + number, p=weights / weights.sum())) + f" only{number}"
        for number in range(CHUNKS)
    ]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("seed", range(3))
async def test_both_stores_agree(tmp_path: Path, seed: int, mode: SearchMode) -> None:
    rng = np.random.default_rng(seed)
    chunks = chunks_of(meta_of(), texts(rng))
    queries = [asked("worda wordc wordf", seed + 10), asked("wordz wordb only7", seed + 20)]
    answers: list[list[Hit]] = []
    for index in (EdgeIndex(tmp_path), ServerIndex(AsyncQdrantClient(":memory:"), "footnote")):
        await index.open(MODEL)
        await add(index, chunks, seed)
        await add(index, chunks_of(meta_of("x", workspace="elsewhere"), ["worda"] * 20))
        answers.append(await index.search(ALL, queries, limit=CHUNKS, mode=mode))
        await index.close()
    edge, server = answers
    assert len(edge) == len(server) == CHUNKS
    for one, other in zip(by_id(edge), by_id(server), strict=True):
        assert one.chunk == other.chunk
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.lists.keys() == other.lists.keys()
        for name, place in one.lists.items():
            assert place.rank == other.lists[name].rank
            assert place.score == pytest.approx(other.lists[name].score, abs=1e-4)
    for one, other in zip(edge, server, strict=True):  # modulo equal scores
        assert one.score == pytest.approx(other.score, abs=1e-6)


def by_id(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: hit.chunk.chunk_id)
