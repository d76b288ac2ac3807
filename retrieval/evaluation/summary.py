"""Each configuration over all sets: its quality, its cost, and whether it is on the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from retrieval.evaluation.bootstrap import Interval, average_interval
from retrieval.evaluation.pareto import pareto_front
from retrieval.evaluation.report import Cell, Report


@dataclass(frozen=True, slots=True)
class Summary:
    """Averages over the sets, each counting the same. Costs are those of one question."""

    label: str
    quality: Interval
    calls: float
    input_tokens: float
    output_tokens: float
    #: None where a price is not known.
    dollars: float | None
    ms_p50: float
    ms_p95: float
    on_front: bool = False


def summarise(report: Report, metric: str = "ndcg@10") -> list[Summary]:
    """In the order of the cells. Only sets that every configuration was run on count."""
    labels = report.labels
    sets = [result for result in report.sets if all(result.cell(label) for label in labels)]
    if not sets:
        return []
    found = [
        _summary(label, [cell for result in sets if (cell := result.cell(label))], metric)
        for label in labels
    ]
    front = pareto_front(
        [(s.quality.mean, s.ms_p50, s.calls, s.input_tokens + s.output_tokens) for s in found]
    )
    return [replace(s, on_front=on) for s, on in zip(found, front, strict=True)]


def _summary(label: str, cells: Sequence[Cell], metric: str) -> Summary:
    costs = [cell.cost for cell in cells]
    prices = [cost.dollars for cost in costs]
    known = [price for price in prices if price is not None]
    return Summary(
        label=label,
        quality=average_interval([list(cell.values(metric).values()) for cell in cells]),
        calls=fmean(cost.calls for cost in costs),
        input_tokens=fmean(cost.input_tokens for cost in costs),
        output_tokens=fmean(cost.output_tokens for cost in costs),
        dollars=fmean(known) if len(known) == len(prices) else None,
        ms_p50=fmean(cost.ms_p50 for cost in costs),
        ms_p95=fmean(cost.ms_p95 for cost in costs),
    )
