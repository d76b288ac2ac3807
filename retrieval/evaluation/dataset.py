"""Evaluation sets in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv).

Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", NeurIPS 2021. Rows of queries.jsonl may also hold `answers` (strings that a right answer contains),
`history` (the thread before, oldest first) and `"answerable": false` for what the corpus doesn't say.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from retrieval.answer.protocol import HistoryTurn
from retrieval.evaluation.errors import BadDataset

__all__ = ["BadDataset", "Dataset", "Document", "Query", "find", "load"]


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    id: str
    text: str
    answers: tuple[str, ...] = ()
    history: tuple[HistoryTurn, ...] = ()
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    corpus: list[Document]
    #: By id, only those with a judgement.
    questions: dict[str, Query]
    #: query id -> document id -> gain
    qrels: dict[str, dict[str, int]]
    #: Questions that the corpus doesn't answer.
    unanswerable: dict[str, Query] = field(default_factory=dict[str, Query])

    @property
    def queries(self) -> dict[str, str]:
        """The text of each question."""
        return {name: query.text for name, query in self.questions.items()}


def find(places: list[Path]) -> list[Path]:
    """Every folder in or under `places` that holds an evaluation set. Raises `BadDataset` for none."""
    found: list[Path] = []
    for place in places:
        below = [path.parent for path in sorted(place.rglob("corpus.jsonl"))]
        if not below:
            raise BadDataset(f"{place} holds no evaluation set: there is no corpus.jsonl in it.")
        found += below
    return list(dict.fromkeys(found))


def load(folder: Path, *, corpus: Path | None = None) -> Dataset:
    """Read a set; with `corpus` its questions are asked of the passages of that set instead, which has
    the same document ids (in another language). Raises `BadDataset`.
    """
    passages = folder if corpus is None else corpus
    documents = [
        Document(row["_id"], row.get("title") or "", row["text"])
        for row in _rows(passages / "corpus.jsonl", "_id", "text")
    ]
    asked = {row["_id"]: _query(row) for row in _rows(folder / "queries.jsonl", "_id", "text")}
    qrels: dict[str, dict[str, int]] = {}
    for query, document, gain in _judgements(folder):
        if gain > 0:
            qrels.setdefault(query, {})[document] = gain
    unknown = qrels.keys() - asked.keys()
    if unknown:
        raise BadDataset(f"{folder}: the judgements name the query {min(unknown)}, which is not there.")
    if not documents or not qrels:
        raise BadDataset(f"{folder}: there is no document or no judgement in it.")
    if corpus is not None and not {d.id for d in documents} >= {
        d for judged in qrels.values() for d in judged
    }:
        raise BadDataset(f"{corpus} lacks documents that the judgements of {folder} name.")
    unanswerable = {q: query for q, query in asked.items() if not query.answerable}
    return Dataset(
        _name(folder) if corpus is None else f"{_name(folder)} → {passages.resolve().name}",
        documents,
        {q: asked[q] for q in qrels if asked[q].answerable},
        qrels,
        unanswerable | _unanswerable_turns(folder / "conversations.jsonl"),
    )


def _name(folder: Path) -> str:
    """Two levels where sets stand side by side in a folder: many have one a language."""
    place = folder.resolve()
    siblings = sum((other / "corpus.jsonl").exists() for other in place.parent.iterdir() if other.is_dir())
    nested = len(place.name) <= 3 and siblings > 1
    return f"{place.parent.name}/{place.name}" if nested else place.name


def _unanswerable_turns(path: Path) -> dict[str, Query]:
    """Of MTRAG's file of all turns, where there is one."""
    if not path.exists():
        return {}
    return {
        row["task_id"]: _query(row | {"_id": row["task_id"], "text": row["question"], "answerable": False})
        for row in _rows(path, "task_id", "question")
        if "UNANSWERABLE" in (row.get("answerability") or ())
    }


def _query(row: dict[str, Any]) -> Query:
    answers, turns = row.get("answers") or (), row.get("history") or ()
    return Query(
        row["_id"],
        row["text"],
        tuple(str(answer) for answer in cast("list[Any]", answers)),
        tuple(_turn(turn, place) for place, turn in enumerate(cast("list[Any]", turns))),
        row.get("answerable", True) is not False,
    )


def _turn(turn: Any, place: int) -> HistoryTurn:
    """Either an object with role and text, or bare texts of which the first is the person's."""
    if isinstance(turn, dict):
        said = cast("dict[str, Any]", turn)
        person = said.get("role") in ("user", "person")
        return HistoryTurn("person" if person else "assistant", str(said.get("text") or ""))
    return HistoryTurn("assistant" if place % 2 else "person", str(turn))


def _rows(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict) or not all(isinstance(row.get(n), str) for n in needed):
                    raise BadDataset(f"{path}, line {number}: each row needs {' and '.join(needed)}.")
                yield row
    except FileNotFoundError:
        raise BadDataset(f"{path} is missing.") from None
    except json.JSONDecodeError as error:
        raise BadDataset(f"{path} is no JSON lines file: {error}") from error


def _judgements(folder: Path) -> Iterator[tuple[str, str, int]]:
    path = folder / "qrels.tsv"
    if not path.exists():
        path = folder / "qrels" / "test.tsv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t")
            next(rows, None)
            for row in rows:
                yield row[0], row[1], int(row[2])
    except FileNotFoundError:
        raise BadDataset(f"{path} is missing.") from None
    except (IndexError, ValueError):
        raise BadDataset(f"{path}: each line is query id, document id and a whole number.") from None
