"""MTRAG's follow-up questions, over the passages that are judged relevant for any of them.

Katsis et al., "MTRAG: A Multi-Turn Conversational Benchmark for Evaluating Retrieval-Augmented Generation
Systems", TACL 2025, in its extension with unanswerable questions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from bench.fitting import Turn, read_turn
from bench.xquad import bm25, make_chunk, ranks
from retrieval.answer.events import Source
from retrieval.answer.extractive.question import content_terms, read_rewritten
from retrieval.answer.extractive.rank import Ranker
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.protocol import HistoryTurn
from retrieval.models.protocol import Embedder
from retrieval.trace import Step

SOURCES = 6
#: A line of a relevant passage holds the answer if so many of its words stand in the reference answer ...
HOLDS = 0.5
#: ... and doesn't below this share. Between them nobody knows.
LACKS = 0.2


class Mtrag:
    """`tasks` have `text`, `history` (turns) and `target` (the reference answer)."""

    def __init__(self, folder: Path) -> None:
        turns = {row["task_id"]: row for row in _rows(folder / "conversations.jsonl")}
        self._turns = turns
        self.corpus = _rows(folder / "corpus.jsonl")
        self.texts: list[str] = [row["text"] for row in self.corpus]
        self.tasks = [
            row | {"history": turns[row["_id"]]["history"], "target": turns[row["_id"]]["target"]}
            for row in _rows(folder / "queries.jsonl")
        ]
        self._judged: dict[str, set[str]] = {}
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            task, passage, _ = line.split("\t")
            self._judged.setdefault(task, set()).add(passage)

    def asked(self, answerability: str) -> list[dict[str, Any]]:
        """Every question of this kind ("ANSWERABLE", "UNANSWERABLE"), with passages or without."""
        return [
            row | {"_id": row["task_id"], "text": row["question"]}
            for row in self._turns.values()
            if answerability in row["answerability"]
        ]

    def relevant(self, task: dict[str, Any]) -> np.ndarray:
        """Whether each passage of the corpus is, shape (passages,)."""
        return np.array([row["_id"] in self._judged[task["_id"]] for row in self.corpus])

    async def search(self, queries: list[str], embedder: Embedder) -> np.ndarray:
        """Fused scores of a hybrid search, shape (queries, passages)."""
        dense = await embedder.embed_queries(queries) @ (await embedder.embed_passages(self.texts)).T
        sparse = bm25(queries, self.texts, "en")
        return 1 / (60 + ranks(dense)) + (sparse > 0) / (60 + ranks(sparse))

    async def turns(self, embedder: Embedder, ranker: Ranker, *, every: int = 1) -> list[tuple[Turn, Turn]]:
        """Each task with its relevant passages among the sources, and without them."""
        tasks = self.tasks[::every]
        standalone = [await carried(task) for task in tasks]
        found: list[tuple[Turn, Turn]] = []
        for task, query, scores in zip(
            tasks, standalone, await self.search(standalone, embedder), strict=True
        ):
            question = read_rewritten(task["text"], query)
            order = np.argsort(-scores, kind="stable").tolist()
            relevant = self.relevant(task)
            without = [number for number in order if not relevant[number]]
            gold = await read_turn(question, self._sources(order), ranker)
            for place, candidate in enumerate(gold.candidates):
                if relevant[int(candidate.passage.source.chunk.chunk_id)]:
                    gold.holds[place] = _holds(candidate.line.text, task["target"])
            found.append((gold, await read_turn(question, self._sources(without), ranker)))
        return found

    def _sources(self, order: list[int]) -> list[Source]:
        return [
            Source(str(place), make_chunk(number, self.texts[number], "en"), 1 / place)
            for place, number in enumerate(order[:SOURCES], 1)
        ]


async def carried(task: dict[str, Any]) -> str:
    """The question with what `CarryOverRephraser` carries over from its thread."""
    history = [
        HistoryTurn("person" if turn["role"] == "user" else "assistant", turn["text"])
        for turn in task["history"]
    ]
    step = Step(name="rephrase", start_ms=0)
    return (
        await CarryOverRephraser().rephrase(task["text"], history, alternatives=0, step=step)
    ).standalone


def _holds(line: str, target: str) -> float:
    wanted = {term.key for term in content_terms(target, "en")}
    keys = {term.key for term in content_terms(line, "en")}
    share = len(keys & wanted) / max(1, len(keys))
    if share >= HOLDS and len(keys) > 2:
        return 1.0
    return 0.0 if share < LACKS else float("nan")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
