"""Writes what a workspace's use says about its answers as an evaluation set in BEIR's layout."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.ports import Refused
from bot.eval_desk import Exported, ForReview, Liked, Passage


def write_set(items: Sequence[Exported], folder: Path) -> list[str]:
    """Write corpus.jsonl, queries.jsonl, qrels/test.tsv and review.jsonl into a new or empty folder.

    Questions with a thumb up have the passages that their answers cite as relevant. The same question
    asked twice is one. Returns lines for people. Raises `Refused` for a folder that holds something.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty. Name a new folder.")
    passages = [item for item in items if isinstance(item, Passage)]
    liked = _merged(item for item in items if isinstance(item, Liked))
    review = [item for item in items if isinstance(item, ForReview)]
    (folder / "qrels").mkdir(parents=True)
    _write(folder / "corpus.jsonl", ({"_id": p.id, "title": p.title, "text": p.text} for p in passages))
    _write(folder / "queries.jsonl", ({"_id": item.turn_id, "text": item.question} for item in liked))
    lines = [f"{item.turn_id}\t{passage}\t1\n" for item in liked for passage in item.passages]
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(lines), encoding="utf-8"
    )
    _write(folder / "review.jsonl", (_for_review(item) for item in review))
    return _told(folder, len(passages), len(liked), len(review))


def _told(folder: Path, passages: int, liked: int, review: int) -> list[str]:
    lines = [
        f"{folder}: questions with a thumb up: {liked:,}.",
        f"Passages that you may read: {passages:,}.",
    ]
    if review:
        lines.append(
            f"Questions to judge, in review.jsonl: {review:,}. To use one, copy its line to queries.jsonl "
            'and name its passages in qrels/test.tsv, or give it "answerable": false.'
        )
    lines.append(f"Next: kb eval {folder}" if liked else "There is nothing to measure before a thumb up.")
    return lines


def _merged(items: Iterable[Liked]) -> list[Liked]:
    """The same question once, with the passages of all its answers."""
    once: dict[str, Liked] = {}
    for item in items:
        key = " ".join(item.question.casefold().split())
        if (known := once.get(key)) is not None:
            passages = tuple(dict.fromkeys((*known.passages, *item.passages)))
            item = known.model_copy(update={"passages": passages})
        once[key] = item
    return list(once.values())


def _for_review(item: ForReview) -> dict[str, Any]:
    return {
        "_id": item.id, "text": item.question, "why": item.why, "reason": item.reason,
        "cited": list(item.passages),
    }  # fmt: skip


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
