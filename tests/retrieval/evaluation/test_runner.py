from pathlib import Path

import pytest

from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.evaluation.dataset import Dataset, Document, Query
from retrieval.evaluation.errors import BadSettings
from retrieval.evaluation.runner import Models, run
from retrieval.evaluation.settings import read_grid
from tests.doubles.index import MemoryIndex
from tests.doubles.models import HashEmbedder, ScriptedReranker

DATA = Dataset(
    "animals",
    [Document(str(n), "", f"The {name} eats {food}.") for n, (name, food) in enumerate(
        [("cow", "grass"), ("cat", "mice"), ("bear", "honey"), ("owl", "voles"), ("whale", "krill")]
    )],
    {str(n): Query(str(n), f"What does the {name} eat?") for n, name in enumerate(["cow", "cat", "bear"])},
    {str(n): {str(n): 1} for n in range(3)},
)  # fmt: skip


async def test_every_cell_finds_what_there_is(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    models = Models(embedder, CarryOverRephraser(), {"on": ScriptedReranker()})
    cells = read_grid("mode=hybrid,keyword,semantic rerank=off,on top_k=3")
    result = await run(DATA, cells, index=MemoryIndex(), models=models, cache=tmp_path, timed=2)
    assert [cell.label for cell in result.cells] == [cell.label for cell in cells]
    for cell in result.cells:
        assert cell.mean("recall@3") == 1.0
        assert (cell.cost.timed, cell.fell_back) == (2, 0)
        wanted = (cell.settings.mode != "keyword") + (cell.settings.rerank == "on")
        assert cell.cost.calls == wanted
        assert 0 < cell.cost.ms_p50 <= cell.cost.ms_p95


async def test_a_second_run_embeds_only_what_it_times(tmp_path: Path) -> None:
    first, second = HashEmbedder(), HashEmbedder()
    for embedder in (first, second):
        models = Models(embedder, CarryOverRephraser())
        await run(
            DATA, read_grid("mode=semantic"), index=MemoryIndex(), models=models, cache=tmp_path, timed=1
        )
    assert (second.queries, second.passages) == (["…", DATA.queries["0"]], [])
    assert (len(first.queries), len(first.passages)) == (1 + 1 + 3, 5)


async def test_a_failing_reranker_is_told() -> None:
    class Failing(ScriptedReranker):
        async def rerank(self, query: str, passages: object, *, limit: int) -> list[object]:  # type: ignore[override]
            raise TimeoutError

    models = Models(HashEmbedder(), CarryOverRephraser(), {"on": Failing()})
    result = await run(DATA, read_grid("rerank=on"), index=MemoryIndex(), models=models)
    assert result.cells[0].fell_back == 3


async def test_a_reranker_that_is_not_there() -> None:
    with pytest.raises(BadSettings, match="no reranker “on”"):
        await run(
            DATA,
            read_grid("rerank=on"),
            index=MemoryIndex(),
            models=Models(HashEmbedder(), CarryOverRephraser()),
        )
