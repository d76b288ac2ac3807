from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.judge.agreement import agreement, kappa, kappa_interval, labelled_pairs
from retrieval.evaluation.judge.protocol import Verdict
from retrieval.evaluation.judge.rules import RuleJudge
from tests.data import ROOT

PLAIN = {".md", ".txt"}


def test_by_hand() -> None:
    # Cohen's own layout: 20 and 15 agreements, 5 and 10 disagreements of 50.
    one = np.array([True] * 25 + [False] * 25)
    other = np.array([True] * 20 + [False] * 5 + [True] * 10 + [False] * 15)
    assert kappa(one, other) == pytest.approx(0.4)
    interval = kappa_interval(one, other)
    assert interval.low < 0.4 < interval.high
    assert interval == kappa_interval(one, other)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_of_a_labelling_with_itself(labels: list[bool]) -> None:
    assert kappa(np.array(labels), np.array(labels)) == 1.0


def test_the_labelled_pairs() -> None:
    pairs = labelled_pairs()
    assert len(pairs) >= 120
    assert len({(pair.sentence, pair.passage) for pair in pairs}) == len(pairs)
    languages = Counter(pair.language for pair in pairs)
    assert all(languages[code] >= 8 for code in ("en", "de", "es", "fr", "zh", "ja"))
    for split in ("dev", "test"):
        share = np.mean([pair.supported for pair in pairs if pair.split == split])
        assert 0.3 <= share <= 0.7
    assert not {p.passage for p in pairs if p.split == "dev"} & {
        p.passage for p in pairs if p.split == "test"
    }


def test_passages_stand_in_their_documents() -> None:
    import json

    place = ROOT / "retrieval/evaluation/judge/data/passages.jsonl"
    for line in place.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        document = ROOT / "examples/handbook" / row["document"]
        if document.suffix in PLAIN:
            assert row["text"] in document.read_text(encoding="utf-8"), row["id"]


class Credulous:
    name = "credulous"

    async def judge(self, sentence: str, passage: str) -> Verdict:
        return Verdict(True)


async def test_who_believes_everything_agrees_by_chance_only() -> None:
    pairs = labelled_pairs()
    found = await agreement(Credulous(), pairs)
    assert (found.kappa.mean, found.recall) == (0.0, 1.0)
    assert found.precision == pytest.approx(np.mean([pair.supported for pair in pairs]))
    assert sum(count for count, _ in found.cases.values()) == len(pairs)


async def test_the_rules_agree_with_people() -> None:
    """A floor against regressions, below what `kb eval judge` shows."""
    found = await agreement(RuleJudge(), [pair for pair in labelled_pairs() if pair.split == "test"])
    assert found.kappa.mean >= 0.55
