"""Searching and reading: the same for every store."""

import math

import numpy as np
import pytest

from retrieval.documents import chunk_id
from retrieval.index.protocol import QueryText, SearchMode, VectorIndex
from retrieval.scope import Scope
from tests.retrieval.index.support import ALL, DIMENSION, add, asked, chunks_of, found, meta_of, vectors

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty"]


async def fill(index: VectorIndex) -> None:
    for number, word in enumerate(WORDS):
        texts = [f"{word} {WORDS[(number + n) % 10]} " + "stone " * n for n in range(6)]
        await add(index, chunks_of(meta_of(word), texts), seed=number)


async def test_all_lists_of_all_queries_are_fused(index: VectorIndex) -> None:
    await fill(index)
    queries = [asked("amber grove stone", 1), asked("heron delta", 2)]
    hits = await index.search(ALL, queries, limit=20)
    assert len(hits) == 20
    assert all(0 < hit.score <= 1 for hit in hits)
    names = {name for hit in hits for name in hit.lists}
    assert names == {"dense:0", "bm25:0", "dense:1", "bm25:1"} == {each.name for each in hits.weights}
    assert sum(each.weight for each in hits.weights) == pytest.approx(1)
    assert hits == sorted(hits, key=lambda hit: (-round(hit.score, 7), hit.chunk.chunk_id))


async def test_ranks_are_those_of_the_lists(index: VectorIndex) -> None:
    await fill(index)
    query = asked("amber fjord", 1)
    hits = await index.search(ALL, [query], limit=20)
    modes: dict[str, SearchMode] = {"dense:0": "semantic", "bm25:0": "keyword"}
    for name, mode in modes.items():
        alone = await index.search(ALL, [query], limit=20, mode=mode)
        places = {hit.chunk.chunk_id: hit.lists[name] for hit in alone}
        found = [hit for hit in hits if name in hit.lists and hit.chunk.chunk_id in places]
        assert found
        for hit in found:
            place = places[hit.chunk.chunk_id]
            assert hit.lists[name].rank == place.rank
            assert hit.lists[name].score == pytest.approx(place.score, abs=1e-5)


async def test_keywords_that_match_by_chance_count_little(index: VectorIndex) -> None:
    """A question in Spanish, and passages in English that share a name with it."""
    await fill(index)
    passages = ["The kingdom of Aragon had three parts.", "Taxes paid for roads.", "A word about amber."]
    stored = vectors(3, 7)
    await index.stage(chunks_of(meta_of("e"), passages), stored)
    await index.publish("w", "e", "e-v1")
    text = "¿Quién cobraba los impuestos para las carreteras del reino de Aragon en amber?"
    chance = await index.search(ALL, [QueryText(text, stored[1])], limit=3)
    assert chance[0].chunk.text == passages[1]
    meant = await index.search(ALL, [QueryText("kingdom of Aragon three parts", stored[1])], limit=3)
    assert meant[0].chunk.text == passages[0]
    shares = [{each.name: each.weight for each in hits.weights}["bm25:0"] for hits in (chance, meant)]
    assert shares[0] < 0.3 < shares[1]


async def test_a_passage_in_another_language_is_compared_by_meaning(index: VectorIndex) -> None:
    await fill(index)
    stored = vectors(2, 7)
    german = chunks_of(meta_of("g"), ["Die Steuer zahlte Wege und Stege."], "de")
    await index.stage(german, stored[:1])
    await index.publish("w", "g", "g-v1")
    hits = await index.search(ALL, [QueryText("amber birch cedar grove heron", stored[0])], limit=3)
    assert hits[0].chunk.text == german[0].text
    assert [each.other_language for each in hits.weights] == [0, 1]


async def test_no_list_leaves_the_scope(index: VectorIndex) -> None:
    await fill(index)
    hidden = chunks_of(meta_of("h", audience=("person:p",)), ["amber secret"])
    await index.stage(hidden, np.stack([asked("amber", 1).vector]))
    await index.publish("w", "h", "h-v1")
    await add(index, chunks_of(meta_of("x", workspace="w2"), ["amber elsewhere"]))
    hits = await index.search(ALL, [asked("amber secret elsewhere", 1)] * 3, limit=1000)
    assert {hit.chunk.meta.workspace for hit in hits} == {"w"}
    assert not any("secret" in hit.chunk.text for hit in hits)


async def test_modes_search_only_their_lists(index: VectorIndex) -> None:
    await fill(index)
    query = asked("amber", 1)
    semantic = await index.search(ALL, [query], limit=5, mode="semantic")
    keyword = await index.search(ALL, [query], limit=50, mode="keyword")
    assert [list(hit.lists) for hit in semantic] == [["dense:0"]] * 5
    assert [hit.lists["dense:0"].rank for hit in semantic] == [1, 2, 3, 4, 5]
    assert all("amber" in hit.chunk.text for hit in keyword)
    assert {tuple(hit.lists) for hit in keyword} == {("bm25:0",)}


async def test_dense_scores_are_cosines(index: VectorIndex) -> None:
    chunks, stored = chunks_of(meta_of(), WORDS), vectors(10, 3)
    await index.stage(chunks, stored)
    await index.publish("w", "d", "d-v1")
    query = asked("nothing", 5)
    for hit in await index.search(ALL, [query], limit=10, mode="semantic"):
        expected = float(stored[hit.chunk.ordinal] @ query.vector)
        assert hit.lists["dense:0"].score == pytest.approx(expected, abs=1e-5)


async def test_without_explain_the_hits_are_the_same(index: VectorIndex) -> None:
    await fill(index)
    explained = await index.search(ALL, [asked("amber fjord")], limit=9)
    plain = await index.search(ALL, [asked("amber fjord")], limit=9, explain=False)
    assert [(hit.chunk, hit.score) for hit in plain] == [(hit.chunk, hit.score) for hit in explained]
    assert not any(hit.lists for hit in plain)


async def test_one_query_has_one_answer(index: VectorIndex) -> None:
    """Equal texts and vectors tie in every list."""
    await index.stage(chunks_of(meta_of(), ["amber stone"] * 40), np.tile(vectors(1), (40, 1)))
    await index.publish("w", "d", "d-v1")
    answers = {
        tuple(hit.chunk.chunk_id for hit in await index.search(ALL, [asked("amber", 0)], limit=12))
        for _ in range(25)
    }
    assert len(answers) == 1


async def test_word_statistics_are_those_of_the_workspace(index: VectorIndex) -> None:
    await add(index, chunks_of(meta_of(), ["amber birch", "amber cedar", "delta"]))
    before = await index.search(ALL, [asked("amber birch")], limit=3, mode="keyword")
    texts = ["amber"] * 50 + ["birch"] * 20
    await add(index, chunks_of(meta_of("x", workspace="w2"), texts))
    await index.stage(chunks_of(meta_of("staged"), texts), vectors(70))
    after = await index.search(ALL, [asked("amber birch")], limit=3, mode="keyword")
    assert [(hit.chunk, hit.lists) for hit in after] == [(hit.chunk, hit.lists) for hit in before]
    score = before[0].lists["bm25:0"].score
    assert score > math.log((3 - 1 + 0.5) / (1 + 0.5) + 1)  # birch is in one of three


async def test_summaries_are_found_and_lead_to_passages(index: VectorIndex) -> None:
    meta = meta_of()
    passages = chunks_of(meta, ["birch one", "birch two", "cedar"])
    summary = passages[0].model_copy(
        update={
            "chunk_id": chunk_id(meta.version_id, -1),
            "kind": "summary",
            "ordinal": -1,
            "text": "amber",
        }
    )
    await add(index, [summary, *passages])
    await add(index, chunks_of(meta_of("other"), ["birch elsewhere"]))
    (hit,) = await index.search(ALL, [asked("amber")], limit=5, mode="keyword")
    assert hit.chunk == summary
    hits = await index.passages_of(ALL, "d", asked("birch"), limit=2)
    assert [hit.chunk.kind for hit in hits] == ["passage", "passage"]
    assert {hit.chunk.meta.document_id for hit in hits} == {"d"}
    elsewhere = ALL.model_copy(update={"documents": frozenset({"other"})})
    assert await index.passages_of(elsewhere, "d", asked("birch"), limit=2) == []
    assert await index.neighbours(ALL, summary) == [summary]


async def test_get_keeps_the_order_and_the_scope(index: VectorIndex) -> None:
    chunks = chunks_of(meta_of(), WORDS)
    await add(index, chunks)
    hidden = chunks_of(meta_of("h", audience=("person:p",)), ["secret"])
    await add(index, hidden)
    ids = [chunks[3].chunk_id, hidden[0].chunk_id, "no uuid", chunk_id("gone", 1), chunks[1].chunk_id]
    assert await index.get(ALL, [*ids, ids[0]]) == [chunks[3], chunks[1]]
    assert await index.get(ALL, []) == []


async def test_neighbours(index: VectorIndex) -> None:
    chunks = chunks_of(meta_of(), WORDS)
    await add(index, chunks)
    assert await index.neighbours(ALL, chunks[4], radius=2) == chunks[2:7]
    assert await index.neighbours(ALL, chunks[0]) == chunks[:2]
    assert await index.neighbours(ALL, chunks[9], radius=100) == chunks
    other = Scope(workspace="w", audience=frozenset({"person:p"}))
    assert await index.neighbours(other, chunks[4]) == []


@pytest.mark.parametrize("text", ["", "🙂🎉", "the of and", "\0\ud800", "q" * 10_000, "amber " * 2000])
async def test_strange_questions(index: VectorIndex, text: str) -> None:
    await fill(index)
    assert len(await index.search(ALL, [asked(text)], limit=5)) == 5
    expected = "amber" in text
    assert bool(await index.search(ALL, [asked(text)], limit=5, mode="keyword")) is expected


async def test_a_question_of_ten_thousand_words(index: VectorIndex) -> None:
    await fill(index)
    text = " ".join(f"word{n}" for n in range(10_000)) + " amber"
    assert len(await index.search(ALL, [asked("amber " + text)], limit=5)) == 5


async def test_bad_requests_are_refused(index: VectorIndex) -> None:
    await fill(index)
    spoilt = asked("amber")
    spoilt.vector[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        await index.search(ALL, [spoilt], limit=5)
    with pytest.raises(ValueError, match="shape"):
        await index.search(ALL, [QueryText("amber", np.ones(DIMENSION + 1, np.float32))], limit=5)
    with pytest.raises(ValueError, match="limit"):
        await index.search(ALL, [asked("amber")], limit=0)
    assert await index.search(ALL, [], limit=5) == []


async def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert await index.search(ALL, [asked("amber")], limit=5) == []
    assert await found(index, "amber") == []
    assert await index.versions("w") == set()
    assert (await index.stats()).chunks == 0
    await index.optimize()
