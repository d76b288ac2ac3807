"""Conversations with what is to be found for each follow-up question.

`mtrag_un_pool`: questions over passages (see `bench/mtrag.py`). `conv_rewrite`: questions that a person
has rewritten to stand alone; what is to be found is that rewrite, among those of all other questions, most
of which are of the same or a like conversation. That favours the question's own words, which a rewrite
keeps, as much as MTRAG's pool favours those of its thread: whoever does well must do so on both.

CAsT 2020 and 2022: Dalton et al., TREC Conversational Assistance Track; iKAT: Aliannejadi et al., TREC
Interactive Knowledge Assistance Track; CANARD: Elgohary et al., "Can You Unpack That? Learning to Rewrite
Questions-in-Context", EMNLP 2019.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from retrieval.answer.protocol import HistoryTurn

Part = Literal["dev", "test"]
NAMES = ("mtrag", "mtrag_human", "trec_cast_2020_22", "trec_ikat_2023_24", "canard_dev")
#: Questions taken of each set of rewrites, by whole conversations.
MOST_QUESTIONS = 500


@dataclass(frozen=True, slots=True)
class FollowUp:
    conversation: str
    question: str
    history: tuple[HistoryTurn, ...]
    #: Indices of the texts that answer.
    relevant: frozenset[int]
    #: By a person; None where nobody wrote one.
    rewrite: str | None = None

    @property
    def part(self) -> Part:
        return part_of(self.conversation)

    @property
    def asked(self) -> list[str]:
        """The person's earlier turns, oldest first."""
        return [turn.text for turn in self.history if turn.role == "person"]

    @property
    def answers(self) -> list[str]:
        return [turn.text for turn in self.history if turn.role == "assistant"]


@dataclass(frozen=True, slots=True)
class Conversations:
    name: str
    texts: list[str]
    follow_ups: list[FollowUp]


def part_of(group: str) -> Part:
    """Half of all conversations, or of other groups, by their names."""
    return "dev" if _digest(group)[0] % 2 == 0 else "test"


def read(folder: Path, name: str) -> Conversations:
    """One of `NAMES` below the folder that holds `mtrag_un_pool` and `conv_rewrite`."""
    return _pool(folder / "mtrag_un_pool") if name == "mtrag" else _rewrites(folder / "conv_rewrite", name)


def _pool(folder: Path) -> Conversations:
    corpus = _rows(folder / "corpus.jsonl")
    places = {row["_id"]: place for place, row in enumerate(corpus)}
    relevant: dict[str, set[int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        task, passage, _ = line.split("\t")
        relevant.setdefault(task, set()).add(places[passage])
    threads = {row["task_id"]: row["history"] for row in _rows(folder / "conversations.jsonl")}
    found = [
        FollowUp(
            row["_id"].split("<")[0],
            row["text"],
            tuple(map(_turn, threads[row["_id"]])),
            frozenset(relevant[row["_id"]]),
        )
        for row in _rows(folder / "queries.jsonl")
        if threads[row["_id"]]
    ]
    return Conversations("mtrag", [row["text"] for row in corpus], found)


def _rewrites(folder: Path, name: str) -> Conversations:
    conversations: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(folder / f"{name}.jsonl"):
        conversation = row["id"].split("<")[0] if "<" in row["id"] else row["id"].rsplit("/", 1)[0]
        conversations.setdefault(conversation, []).append(row)
    places: dict[str, int] = {}
    found: list[FollowUp] = []
    seen = 0
    for conversation in sorted(conversations, key=lambda key: _digest(f"o{key}")):
        if seen > MOST_QUESTIONS:
            break
        seen += len(conversations[conversation])
        for row in conversations[conversation]:
            place = places.setdefault(row["rewrite"], len(places))
            if history := _history(row):
                found.append(
                    FollowUp(conversation, row["question"], history, frozenset({place}), row["rewrite"])
                )
    return Conversations(name, list(places), found)


def _history(row: dict[str, Any]) -> tuple[HistoryTurn, ...]:
    if "history_user_turns" in row:
        return tuple(HistoryTurn("person", text) for text in row["history_user_turns"])
    turns = row["history"]
    if not turns or isinstance(turns[0], dict):
        return tuple(map(_turn, turns))
    # CANARD's first two are the title and the section of the article that is talked about.
    talk = [
        HistoryTurn("assistant" if place % 2 else "person", text) for place, text in enumerate(turns[2:])
    ]
    return (HistoryTurn("person", ", ".join(turns[:2])), *talk)


def _turn(turn: dict[str, str]) -> HistoryTurn:
    return HistoryTurn("person" if turn["role"] == "user" else "assistant", turn["text"])


def _digest(text: str) -> bytes:
    return hashlib.sha1(text.encode(), usedforsecurity=False).digest()


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
