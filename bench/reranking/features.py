"""What can be told of a candidate without a model: how the question's words stand in it.

Term proximity after Metzler and Croft, "A Markov Random Field Model for Term Dependencies", SIGIR 2005,
with windows of characters for all scripts; neighbours' scores after Diaz, "Regularizing Ad Hoc Retrieval
Scores", CIKM 2005. Inverse document frequencies, scores and vectors come from the index, which is more than
a reranker is told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.reranking.first_stage import LIMIT, Case, Corpus, Floats, Task
from retrieval.index.bm25 import encode_passage, encode_query

NAMES = (
    "fused",
    "dense",
    "keyword",
    "agreement",  # the lesser of the two
    "in both",
    "place",  # 1/rank
    "coverage",  # share of the question's terms that it holds, by rarity
    "coverage plain",
    "window",  # the same in the best window
    "two windows",  # ... in the best two neighbouring windows
    "rarest",  # whether it holds the rarest of the question's terms that any candidate holds
    "exact",  # share of the question's numbers and identifiers that stand in it as they are
    "phrase short",  # share of the question's runs of characters that it holds
    "phrase long",
    "heading",  # coverage of its title
    "early",  # where its best window is: 1 at the beginning, 0 at the end
    "length",
    "neighbours",  # scores of the candidates that are like it
    "nearest",  # score of the best candidate, times likeness to it
)

#: Characters of a window. In scripts without spaces a character says about three times as much.
WINDOW = 120
#: Lengths of runs of characters, in spaced and unspaced scripts.
RUNS = {False: (6, 12), True: (3, 5)}

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff]")
#: A word with a digit, or with a capital after its first letter.
_IDENTIFIER = re.compile(r"[\w.,:/-]*(?:\d|(?<=[a-z])[A-Z]|[A-Z]{2})[\w.,:/-]*")


def all_features(tasks: Sequence[Task], cache: Path, told: Callable[[str], None]) -> list[Floats]:
    """For each task, shape (cases, LIMIT, len(NAMES)); 0 where a case has fewer candidates.

    cache: folder that keeps them.
    """
    results: list[Floats] = []
    for task in tasks:
        file = cache / f"features-{task.digest(*NAMES)}.npy"
        if not file.exists():
            told(f"{task.name}: features")
            found = np.zeros((len(task.cases), LIMIT, len(NAMES)), np.float32)
            for row, case in enumerate(task.cases):
                found[row, : len(case.passages)] = features(case, task.corpus)
            np.save(file, found)
        results.append(np.load(file))
    return results


def features(case: Case, corpus: Corpus) -> NDArray[np.float64]:
    """Shape (candidates, len(NAMES)), all about 0 to 1."""
    query = encode_query(case.question, corpus.spoken)
    weights = {
        term: weight * corpus.rarity(term) for term, weight in zip(query.indices, query.values, strict=True)
    }
    texts = [corpus.texts[number] for number in case.passages]
    held = [_held(text, corpus.languages[n]) for text, n in zip(texts, case.passages, strict=True)]
    found = [term for term in weights if any(term in passage for passage in held)]
    rarest = max(found, key=lambda term: (weights[term], term), default=None)
    identifiers = [
        m[0].strip(".,:/-") for m in _IDENTIFIER.finditer(unicodedata.normalize("NFKC", case.question))
    ]
    unspaced = bool(_UNSPACED.search(case.question))
    runs = [_runs(_plain(case.question), size) for size in RUNS[unspaced]]
    rows: list[list[float]] = []
    for number, text, terms in zip(case.passages, texts, held, strict=True):
        language = corpus.languages[number]
        windows = [_coverage(weights, part) for part in _windows(text, language)]
        pairs = [_coverage(weights, part) for part in _pairs(text, language)]
        plain = _plain(text)
        rows.append(
            [
                _coverage(weights, terms),
                _coverage(dict.fromkeys(weights, 1.0), terms),
                max(windows),
                max(pairs),
                float(rarest in terms),
                sum(one in text for one in identifiers) / max(len(identifiers), 1),
                *(sum(run in plain for run in each) / max(len(each), 1) for each in runs),
                _coverage(weights, _held(corpus.titles[number], language)),
                1 - windows.index(max(windows)) / len(windows),
                np.log(len(text) + 1) / 10,
            ]
        )
    return np.c_[_given(case), np.array(rows).reshape(len(rows), -1), _neighbours(case, corpus)]


def forget() -> None:
    """Nothing is known of any passage, as with a new one."""
    for remembered in (_held, _windows, _pairs, _plain):
        remembered.cache_clear()


def _given(case: Case) -> NDArray[np.float64]:
    both = (case.dense > 0) & (case.keyword > 0)
    place = 1 / np.arange(1, len(case.fused) + 1)
    return np.c_[case.fused, case.dense, case.keyword, np.minimum(case.dense, case.keyword), both, place]


def _neighbours(case: Case, corpus: Corpus) -> NDArray[np.float64]:
    vectors = corpus.vectors[case.passages]
    alike = np.maximum((vectors @ vectors.T - 0.8) / 0.2, 0)  # this model's cosines are 0.7 to 1
    to_best = alike[:, 0] * case.fused[0] if len(alike) else np.zeros(0)
    np.fill_diagonal(alike, 0)
    return np.c_[alike @ case.fused / np.maximum(alike.sum(axis=1), 1e-9), to_best]


def _coverage(weights: dict[int, float], held: frozenset[int]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0


@lru_cache(maxsize=200_000)
def _held(text: str, language: str) -> frozenset[int]:
    return frozenset(encode_passage(text, language).indices)


@lru_cache(maxsize=20_000)
def _windows(text: str, language: str) -> list[frozenset[int]]:
    size = WINDOW // 3 if _UNSPACED.search(text) else WINDOW
    return [_held(part, language) for part in _cut(text, size)] or [frozenset()]


@lru_cache(maxsize=20_000)
def _pairs(text: str, language: str) -> list[frozenset[int]]:
    windows = _windows(text, language)
    return [a | b for a, b in pairwise(windows)] or windows


def _cut(text: str, size: int) -> list[str]:
    """Parts of about `size` characters, cut at spaces where there are some."""
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        space = text.rfind(" ", start + size // 2, end) if end < len(text) else -1
        end = space if space > 0 else end
        parts.append(text[start:end])
        start = end
    return parts


@lru_cache(maxsize=20_000)
def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def _runs(text: str, size: int) -> set[str]:
    return {text[start : start + size] for start in range(len(text) - size + 1)}
