"""Bars: each configuration on each set, with the interval of its mean."""

from __future__ import annotations

from retrieval.evaluation.bootstrap import mean_interval
from retrieval.evaluation.plots.forest import metric_name
from retrieval.evaluation.plots.svg import SERIES, Svg, shortened
from retrieval.evaluation.report import Report, SetResult

_WIDTH, _LEFT, _RIGHT = 900.0, 216.0, 84.0
_BAR, _GAP, _TOP, _BOTTOM = 13.0, 16.0, 118.0, 40.0


def bars(report: Report, metric: str = "ndcg@10") -> str:
    """An SVG file. Raises `BadReport` for a figure that is not there."""
    labels = report.labels
    block = _BAR * len(labels) + _GAP
    height = _TOP + block * len(report.sets) + _BOTTOM
    page = Svg(_WIDTH, height, f"{metric} of {', '.join(labels)}")
    page.text(24, 36, f"{metric_name(metric)} on {len(report.sets)} sets", size=18, bold=True)
    page.text(
        24,
        58,
        f"Mean over a set's questions with its 95 % interval. Vectors: {report.embedder.model}.",
        colour="soft",
    )
    _legend(page, labels)
    bottom = height - _BOTTOM
    for tenth in range(0, 11, 2):
        page.line(_x(tenth / 10), _TOP - 8, _x(tenth / 10), bottom)
        page.text(_x(tenth / 10), bottom + 18, f"{tenth / 10:g}", size=12, colour="soft", anchor="middle")
    for place, result in enumerate(report.sets):
        _set(page, result, labels, metric, _TOP + block * place)
    return str(page)


def colour_of(place: int) -> str:
    return f"s{place % SERIES}"


def _x(value: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * value


def _legend(page: Svg, labels: list[str]) -> None:
    x = 24.0
    for place, label in enumerate(labels):
        text = shortened(label, 30)
        if x + 24 + 7 * len(text) > _WIDTH - 24:
            return
        page.rect(x, 76, 12, 12, colour=colour_of(place), round=3)
        page.text(x + 18, 86.5, text)
        x += 44 + 7 * len(text)


def _set(page: Svg, result: SetResult, labels: list[str], metric: str, y: float) -> None:
    shown = [(place, cell) for place, label in enumerate(labels) if (cell := result.cell(label))]
    middle = y + _BAR * len(labels) / 2
    page.text(24, middle + (4.5 if len(labels) < 2 else -1), shortened(result.name, 26))
    if len(labels) > 1 and shown:
        page.text(24, middle + 13, f"{len(shown[0][1].queries):,} questions", size=11, colour="soft")
    best = max((cell.mean(metric) for _, cell in shown), default=0.0)
    for place, cell in shown:
        interval = mean_interval(list(cell.values(metric).values()))
        top = y + _BAR * place
        page.rect(_LEFT, top + 1, _x(interval.mean) - _LEFT, _BAR - 2, colour=colour_of(place), round=2)
        page.line(
            _x(interval.low), top + _BAR / 2, _x(interval.high), top + _BAR / 2, colour="ink", width=1.5
        )
        page.text(
            _WIDTH - 24, top + _BAR - 2.5, f"{interval.mean:.3f}", size=11.5, anchor="end",
            bold=interval.mean == best and len(labels) > 1,
        )  # fmt: skip
