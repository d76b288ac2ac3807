"""Two configurations on the same questions: differences with intervals, wins, ties and losses."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.evaluation.bootstrap import SEED, Interval, average_interval, mean_interval
from retrieval.evaluation.errors import BadReport
from retrieval.evaluation.report import Cell, Report

#: Smaller differences of one question are ties.
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """`second` less `first` on one set, or over all of them."""

    name: str
    first: float
    second: float
    difference: Interval
    wins: int
    ties: int
    losses: int

    @property
    def questions(self) -> int:
        return self.wins + self.ties + self.losses


@dataclass(frozen=True, slots=True)
class Comparison:
    metric: str
    first: str
    second: str
    sets: tuple[Difference, ...]
    #: The average over the sets, each counting the same; wins and losses are of all questions.
    overall: Difference
    #: What was not compared, and why, in sentences.
    notes: tuple[str, ...] = ()


def compare(
    first: Report, second: Report, *, labels: tuple[str, str], metric: str = "ndcg@10", seed: int = SEED
) -> Comparison:
    """Compare a cell of each report on every set that both have. `labels` name the cells.

    Raises `BadReport` where nothing can be compared.
    """
    notes: list[str] = []
    sets: list[Difference] = []
    deltas: list[list[float]] = []
    others = {result.name: result for result in second.sets}
    for result in first.sets:
        one = result.cell(labels[0])
        two = others[result.name].cell(labels[1]) if result.name in others else None
        if one is None or two is None:
            notes.append(f"{result.name} is not in both.")
            continue
        before, after = _paired(one, two, metric, result.name, notes)
        if not before:
            continue
        delta = [b - a for a, b in zip(before, after, strict=True)]
        deltas.append(delta)
        sets.append(_difference(result.name, before, after, mean_interval(delta, seed=seed)))
    notes += [f"{name} is not in both." for name in others.keys() - {s.name for s in first.sets}]
    if not sets:
        raise BadReport("These results have no set and no question in common.")
    if first.embedder != second.embedder:
        notes.append(f"The embedding models differ: {first.embedder.model} and {second.embedder.model}.")
    overall = Difference(
        "all sets",
        sum(s.first for s in sets) / len(sets),
        sum(s.second for s in sets) / len(sets),
        average_interval(deltas, seed=seed),
        sum(s.wins for s in sets),
        sum(s.ties for s in sets),
        sum(s.losses for s in sets),
    )
    return Comparison(metric, *labels, tuple(sets), overall, tuple(notes))


def pick(report: Report, label: str | None) -> str:
    """The full label of a cell: the only one there is, or the one that `label` is or begins.

    Raises `BadReport` that lists them.
    """
    labels = report.labels
    fitting = [known for known in labels if label is None or known == label]
    if not fitting and label is not None:
        fitting = [known for known in labels if known.startswith(label)]
    if len(fitting) == 1:
        return fitting[0]
    listed = "; ".join(labels)
    problem = "several configurations" if label is None else f"no single configuration “{label}”"
    raise BadReport(
        f"There is {problem} in these results. Add one after @, such as a.json@{labels[-1]!r}: {listed}."
    )


def _paired(
    one: Cell, two: Cell, metric: str, name: str, notes: list[str]
) -> tuple[list[float], list[float]]:
    before, after = one.values(metric), two.values(metric)
    common = [query for query in before if query in after]
    left = len(before) + len(after) - 2 * len(common)
    if left:
        notes.append(f"{name}: {left} questions are in one of the two only and were left out.")
    return [before[q] for q in common], [after[q] for q in common]


def _difference(name: str, before: list[float], after: list[float], interval: Interval) -> Difference:
    wins = sum(b - a > _TIE for a, b in zip(before, after, strict=True))
    losses = sum(a - b > _TIE for a, b in zip(before, after, strict=True))
    count = len(before)
    return Difference(
        name, sum(before) / count, sum(after) / count, interval, wins, count - wins - losses, losses
    )
