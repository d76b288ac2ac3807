"""Whether a reranker without a cross-encoder pays: features of a passage, and late interaction.

    python -m bench.local_reranker [--cache DIR] [--models NAME ...] [--without NAME ...]
                                   [--more N] [--home] [--time]

The best 36 passages of the hybrid search (`retrieval/index/fusion.py`) are put in another order, and
nDCG@10 is compared with that of the fused order, question by question, with 95 % bootstrap intervals.
"features" is a linear model of what `bench/reranking/features.py` tells of a passage; its weights, and
those of the other fitted models, come from the other families of sets (`--home`: from half of the tested
one, too, which bounds what such a model could reach). "maxsim" is late interaction over the embedder's
token vectors less their mean, and "mixed" its share between the candidates' least and greatest, added to
the fused score; in both nothing is fitted. "bits" keeps of each passage token the signs of its 384
numbers: 48 bytes.

Gain in nDCG@10. Features: XQuAD's every second question, learnt from every fifth of these, 377 of mtrag,
588 of drcd, 162 of nfcorpus. Late interaction: every fourth question of XQuAD, every eighth across
languages. A dash was not measured. The command takes fewer questions unless told `--more`, so its figures
differ within the intervals.

                hybrid          features                  mixed                 maxsim
    xquad en      .981  +.000 (-.004, +.004)  +.004 (-.002, +.011)  +.004 (-.004, +.012)
    xquad zh      .976  -.002 (-.008, +.003)  +.006 (+.001, +.012)  -.000 (-.009, +.009)
    xquad ar      .971  -.004 (-.011, +.003)  +.001 (-.005, +.007)                     -
    xquad th      .980  +.001 (-.005, +.006)                     -                     -
    xquad de      .974  -.001 (-.007, +.005)                     -                     -
    xquad es      .980  -.003 (-.009, +.003)                     -                     -
    zh to en      .794  +.017 (+.008, +.026)  +.075 (+.051, +.101)  +.097 (+.066, +.130)
    ar to en      .780  +.004 (-.005, +.012)  +.061 (+.039, +.087)  +.099 (+.064, +.137)
    th to en      .856  +.005 (-.005, +.014)  +.032 (+.017, +.046)  +.053 (+.026, +.081)
    de to en      .915  -.012 (-.022, -.001)  +.027 (+.009, +.045)  +.045 (+.023, +.068)
    es to en      .916  -.051 (-.065, -.038)  +.041 (+.024, +.061)  +.048 (+.027, +.071)
    mtrag         .807  +.016 (+.003, +.028)                     -                     -
    drcd          .972  +.006 (-.001, +.012)                     -                     -
    nfcorpus      .366  +.010 (-.000, +.023)                     -                     -

"mixed bits" gives +.059 (+.036, +.085) from zh to en, +.050 (+.030, +.073) from ar and +.004 (-.001, +.011)
in English. With pooled windows instead of tokens it is +.014 to +.049 across languages; where windows alone
decide, English loses .019 and Chinese .026.

Decision: off. For 36 new passages the features take about 70 ms of one core; they gain on a set or two,
give nothing in most languages and lose .051 from Spanish to English. Late interaction pays in every pair
of languages, and in the same language it gains in Chinese only, with no loss in English and Arabic. But
the passages take 3.7 s (one core, under load) to encode at the question, so it needs their tokens in the
index: then it is 4 ms a question, 6 ms from bits, at 48 bytes a token, which is about 10 kB a passage of
200."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.reranking import features, interaction
from bench.reranking.first_stage import Case, Floats, Task, read_tasks
from bench.reranking.fitting import Matrix, fit
from retrieval.evaluation.bootstrap import mean_interval
from retrieval.models.local import E5Embedder
from tests.data import DATA

#: Weight of the slopes' squares.
RIDGE = 1e-3
#: Only tested on: its licence is for research.
NOT_FITTED = frozenset(("nfcorpus_preprocessed",))

_ALONE = ("en", "zh", "ar", "th", "de", "es")
#: Name, questions, passages, and of how many questions one is taken.
SETS = (
    *((f"xquad {code}", f"xquad/{code}", f"xquad/{code}", 4) for code in _ALONE),
    *((f"xquad {code} to en", f"xquad/{code}", "xquad/en", 8) for code in _ALONE[1:]),
    ("mtrag", "mtrag_un_pool", "mtrag_un_pool", 1),
    ("drcd", "drcd_dev_zh-hant", "drcd_dev_zh-hant", 12),
    ("nfcorpus", "nfcorpus_preprocessed", "nfcorpus_preprocessed", 4),
)

_FEATURES = len(features.NAMES)
#: After them the fused score plus the share of MaxSim between the candidates' least and greatest: with the
#: last layer, and with the signs of the passages' vectors.
_MIXED = _FEATURES + len(interaction.NAMES)


def _columns(*names: str) -> list[int]:
    return [_FEATURES + interaction.NAMES.index(name) for name in names]


#: The scores that the first stage gives.
_GIVEN = [features.NAMES.index(name) for name in ("fused", "dense", "keyword")]
#: What each model sees: columns of the features, then of late interaction. A single one is the score as it
#: is: nothing is fitted.
MODELS = {
    "features": list(range(_FEATURES)),
    "last layer": [*_GIVEN, *_columns("maxsim 11", "maxsim 11 rare")],
    "table": [*_GIVEN, *_columns("maxsim -1", "maxsim -1 rare")],
    "windows": [*_GIVEN, *_columns("window", "window rest")],
    "maxsim": _columns("maxsim 11"),
    "mixed": [_MIXED],
    "mixed bits": [_MIXED + 1],
    "tokens": [*_GIVEN, *_columns(*interaction.NAMES)],
    "all": list(range(_MIXED)),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A task, and what the models see of each case, shape (candidates, columns)."""

    task: Task
    columns: list[Matrix]


def ndcg(case: Case, scores: Matrix) -> float:
    gains = case.gains[np.argsort(-scores, kind="stable")[:10]]
    return float((gains / np.log2(np.arange(2, len(gains) + 2))).sum()) / case.ideal if case.ideal else 0.0


def fitted(tasks: Sequence[Measured], columns: list[int]) -> Matrix:
    """Slopes for which each family counts alike, and in it each task, and in that each question.

    Raises `SystemExit` where there is no set to fit on.
    """
    if len(columns) == 1:
        return np.ones(1)
    families: dict[str, list[Measured]] = {}
    for measured in tasks:
        families.setdefault(measured.task.family, []).append(measured)
    if not families:
        sys.exit("Nothing is left to fit on: this model needs sets of another family.")
    lists = [
        (seen[:, columns], case.gains.astype(np.float64), 1 / len(members) / len(measured.columns))
        for members in families.values()
        for measured in members
        for case, seen in zip(measured.task.cases, measured.columns, strict=True)
    ]
    return fit(lists, ridge=RIDGE)


def lifts(measured: Measured, columns: list[int], slopes: Matrix) -> list[float]:
    """nDCG@10 of each question over that of the hybrid search."""
    pairs = zip(measured.task.cases, measured.columns, strict=True)
    return [ndcg(case, seen[:, columns] @ slopes) - hybrid(case) for case, seen in pairs]


def hybrid(case: Case) -> float:
    return ndcg(case, case.fused.astype(np.float64))


def elsewhere(tasks: Sequence[Measured], family: str) -> list[Measured]:
    """What may be fitted on when this family is tested."""
    return [other for other in tasks if other.task.family not in (family, *NOT_FITTED)]


def half(measured: Measured, which: int) -> Measured:
    """Every second question, so that a model can be tested on the set that it was fitted on."""
    task = measured.task
    return Measured(replace(task, cases=task.cases[which::2]), measured.columns[which::2])


def at_home(measured: Measured, tasks: Sequence[Measured], columns: list[int]) -> list[float]:
    """Lifts of a model that was fitted on the other half of every set, this one among them."""
    found: list[float] = []
    for which in (0, 1):
        others = [half(other, 1 - which) for other in tasks]
        found += lifts(half(measured, which), columns, fitted(others, columns))
    return found


def report(tasks: Sequence[Measured], models: Sequence[str], *, home: bool) -> None:
    """A line a set: nDCG@10 of the hybrid search and of the best order of its candidates, and the lifts."""
    print(f"{'set':16s}{'n':>5s}{'hybrid':>8s}{'best':>7s}" + "".join(f"{name:>24s}" for name in models))
    slopes = {
        (family, name): fitted(elsewhere(tasks, family), MODELS[name])
        for family in {measured.task.family for measured in tasks}
        for name in models
    }
    for measured in tasks:
        task = measured.task
        own, best = [hybrid(c) for c in task.cases], [ndcg(c, c.gains.astype(float)) for c in task.cases]
        line = f"{task.name:16s}{len(task.cases):5d}{np.mean(own):8.3f}{np.mean(best):7.3f}"
        for name in models:
            if home:
                values = at_home(measured, tasks, MODELS[name])
            else:
                values = lifts(measured, MODELS[name], slopes[task.family, name])
            lift = mean_interval(values)
            line += f"{lift.mean:+8.3f} ({lift.low:+.3f}, {lift.high:+.3f})".rjust(24)
        print(line, flush=True)


def milliseconds(task: Task, cache: Path, *, count: int = 20) -> None:
    """Processor time for a question with 36 passages that nobody has seen before, median."""
    encoder = interaction.TokenEncoder(cache / "model", threads=1)
    times: dict[str, list[float]] = {"features": [], "encoding": [], "maxsim": [], "maxsim bits": []}
    for case in task.cases[:count]:
        features.forget()
        texts = [task.corpus.texts[number] for number in case.passages]
        asked = encoder.layers(encoder.ids(case.question), "query")[-1]
        began = time.process_time()
        features.features(case, task.corpus)
        times["features"].append(time.process_time() - began)
        began = time.process_time()
        passages = [encoder.layers(encoder.ids(text), "passage")[-1] for text in texts]
        times["encoding"].append(time.process_time() - began)
        began = time.process_time()
        for passage in passages:
            (asked @ passage.T).max(axis=1).mean()
        times["maxsim"].append(time.process_time() - began)
        stored = [np.packbits(passage > 0, axis=1) for passage in passages]
        began = time.process_time()
        for bits in stored:
            signs = np.unpackbits(bits, axis=1).astype(np.float32) * 2 - 1
            (asked @ signs.T).max(axis=1).mean()
        times["maxsim bits"].append(time.process_time() - began)
    told = (f"{name} {np.median(each) * 1000:.0f} ms" for name, each in times.items())
    print(f"36 passages of {task.name}: " + ", ".join(told))


def _told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def measured_tasks(options: argparse.Namespace, data: Path) -> list[Measured]:
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    wanted = [
        (name, asked, told, max(1, every // options.more))
        for name, asked, told, every in SETS
        if name.split()[0] not in options.without
    ]
    tasks = await read_tasks(data / "retrieval", wanted, embedder)
    embedder.save()
    await embedder.aclose()
    parts = [features.all_features(tasks, options.cache, _told)]
    if options.models != ["features"]:
        parts.append(interaction.token_scores(tasks, options.cache, _told))
    return [
        Measured(task, [_seen(case, [rows[n] for rows in own]) for n, case in enumerate(task.cases)])
        for task, *own in zip(tasks, *parts, strict=True)
    ]


def _seen(case: Case, parts: Sequence[Floats]) -> Matrix:
    """All columns of a case: the features and, if there is a second part, late interaction."""
    own = [part[: len(case.passages)] for part in parts]
    if len(own) > 1:
        scores = own[1][:, [interaction.NAMES.index(name) for name in ("maxsim 11", "maxsim bits")]]
        least, greatest = scores.min(axis=0), scores.max(axis=0)
        own.append(case.fused[:, None] + (scores - least) / np.maximum(greatest - least, 1e-9))
    return np.concatenate(own, axis=1).astype(np.float64)


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    parser.add_argument("--models", nargs="*", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--more", type=int, default=1, help="take so many times as many questions")
    parser.add_argument("--without", nargs="*", default=[], help="families of sets to leave out")
    parser.add_argument("--home", action="store_true", help="fit on half of the tested set, too")
    parser.add_argument("--time", action="store_true", help="measure the milliseconds instead")
    options = parser.parse_args()
    if DATA is None:
        sys.exit("Set FOOTNOTE_DATA to the evaluation data.")
    tasks = await measured_tasks(options, DATA)
    if options.time:
        for measured in tasks:
            if " to " not in measured.task.name:
                milliseconds(measured.task, options.cache)
    else:
        report(tasks, options.models, home=options.home)


if __name__ == "__main__":
    asyncio.run(main())
