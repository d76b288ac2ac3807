"""How well a judge agrees with people: Cohen's kappa and both errors on labelled pairs.

Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and Psychological Measurement 1960.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from retrieval.evaluation.bootstrap import RESAMPLES, SEED, Interval
from retrieval.evaluation.judge.protocol import Judge

#: Model calls at once.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, a passage, and whether the passage holds it, by a person."""

    sentence: str
    passage: str
    supported: bool
    language: str
    passage_language: str
    #: What was done to the sentence: "quote", "paraphrase", "number", "unit", "negation", ...
    case: str
    #: Constants of the judges were chosen on "dev"; report those of "test".
    split: str


@dataclass(frozen=True, slots=True)
class Agreement:
    judge: str
    pairs: int
    kappa: Interval
    #: Of the pairs that the judge holds for supported, the share that are; and of those that are, the
    #: share that it finds.
    precision: float
    recall: float
    accuracy: float
    #: By case: pairs, and those judged rightly.
    cases: dict[str, tuple[int, int]]
    wrong: tuple[Pair, ...]


def labelled_pairs() -> list[Pair]:
    """Those that come with Footnote, of documents of its example handbook."""
    place = files("retrieval.evaluation") / "judge" / "data"
    passages = {row["id"]: row for row in _rows((place / "passages.jsonl").read_text(encoding="utf-8"))}
    return [
        Pair(
            sentence=row["sentence"],
            passage=(passage := passages[row["passage"]])["text"],
            supported=row["supported"],
            language=row["language"],
            passage_language=passage["language"],
            case=row["case"],
            split=passage["split"],
        )
        for row in _rows((place / "pairs.jsonl").read_text(encoding="utf-8"))
    ]


async def agreement(judge: Judge, pairs: Sequence[Pair]) -> Agreement:
    """Raises what the judge raises, and `ValueError` for no pairs."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def decide(pair: Pair) -> bool:
        async with limit:
            return (await judge.judge(pair.sentence, pair.passage)).supported

    said = np.array(await asyncio.gather(*(decide(pair) for pair in pairs)))
    true = np.array([pair.supported for pair in pairs])
    cases: dict[str, tuple[int, int]] = {}
    for pair, right in zip(pairs, (said == true).tolist(), strict=True):
        count, good = cases.get(pair.case, (0, 0))
        cases[pair.case] = count + 1, good + right
    both = int((said & true).sum())
    return Agreement(
        judge=judge.name,
        pairs=len(pairs),
        kappa=kappa_interval(said, true),
        precision=both / max(1, int(said.sum())),
        recall=both / max(1, int(true.sum())),
        accuracy=float((said == true).mean()),
        cases=cases,
        wrong=tuple(pair for pair, right in zip(pairs, (said == true).tolist(), strict=True) if not right),
    )


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Of two yes-or-no labellings, shape (pairs,): 1 is full agreement, 0 that of chance. Where both give
    one and the same label throughout, it is 1."""
    observed = float((one == other).mean())
    p, q = float(one.mean()), float(other.mean())
    chance = p * q + (1 - p) * (1 - q)
    return 1.0 if chance >= 1 else (observed - chance) / (1 - chance)


def kappa_interval(
    one: np.ndarray, other: np.ndarray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval:
    """By resampling the pairs. Raises `ValueError` for none."""
    if not len(one):
        raise ValueError("There are no pairs.")
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(one), (resamples, len(one)))
    found = [kappa(one[row], other[row]) for row in drawn]
    low, high = np.quantile(found, [0.025, 0.975])
    return Interval(kappa(one, other), float(low), float(high))


def _rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]
