"""Evaluation sets in BEIR's layout: corpus.jsonl, queries.jsonl, qrels.tsv (or qrels/test.tsv)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class BadDataset(Exception):
    """A folder that is no evaluation set; `str()` says what is missing or wrong, and where."""


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    corpus: list[Document]
    #: Text by id, only of those with a judgement.
    queries: dict[str, str]
    #: query id -> document id -> gain
    qrels: dict[str, dict[str, int]]


def load(folder: Path) -> Dataset:
    """Raises `BadDataset`."""
    corpus = [
        Document(row["_id"], row.get("title") or "", row["text"])
        for row in _rows(folder / "corpus.jsonl", "_id", "text")
    ]
    texts = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl", "_id", "text")}
    qrels: dict[str, dict[str, int]] = {}
    for query, document, gain in _judgements(folder):
        if gain > 0:
            qrels.setdefault(query, {})[document] = gain
    unknown = qrels.keys() - texts.keys()
    if unknown:
        raise BadDataset(f"{folder}: the judgements name the query {min(unknown)}, which is not there.")
    if not corpus or not qrels:
        raise BadDataset(f"{folder}: there is no document or no judgement in it.")
    return Dataset(folder.name, corpus, {q: texts[q] for q in qrels}, qrels)


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
