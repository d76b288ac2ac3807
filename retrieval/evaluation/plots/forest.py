"""A forest plot: the difference between two configurations on each set, with its interval."""

from __future__ import annotations

from retrieval.evaluation.bootstrap import Interval
from retrieval.evaluation.compare import Comparison, Difference
from retrieval.evaluation.plots.svg import Svg, shortened, signed, ticks

_WIDTH, _LEFT, _RIGHT = 940.0, 208.0, 324.0
_ROW, _TOP, _BOTTOM = 34.0, 104.0, 62.0
_COLOUR = {1: "better", 0: "even", -1: "worse"}


def forest(comparison: Comparison) -> str:
    """An SVG file. What lies right of zero is better with the second configuration; a hollow mark's
    interval holds zero. The diamond is the average over the sets.
    """
    rows = comparison.sets
    height = _TOP + _ROW * (len(rows) + 1) + 16 + _BOTTOM
    page = Svg(_WIDTH, height, f"{comparison.second} against {comparison.first}: {comparison.metric}")
    plot = _Plot(page, comparison, height)
    plot.head()
    plot.axis()
    for place, row in enumerate(rows):
        plot.row(row, _TOP + _ROW * (place + 0.5), striped=place % 2 == 0)
    plot.overall(comparison.overall, _TOP + _ROW * (len(rows) + 0.5) + 12)
    return str(page)


class _Plot:
    def __init__(self, page: Svg, comparison: Comparison, height: float) -> None:
        self.page, self.of, self.height = page, comparison, height
        intervals = [row.difference for row in (*comparison.sets, comparison.overall)]
        reach = max(0.01, *(abs(bound) for i in intervals for bound in (i.low, i.high))) * 1.08
        low = -reach if any(i.low < 0 for i in intervals) else -0.12 * reach
        high = reach if any(i.high > 0 for i in intervals) else 0.12 * reach
        self.low = max(low, min(i.low for i in intervals) - 0.15 * reach)
        self.high = min(high, max(i.high for i in intervals) + 0.15 * reach)
        self.low, self.high = min(self.low, -0.1 * reach), max(self.high, 0.1 * reach)

    def x(self, value: float) -> float:
        width = _WIDTH - _LEFT - _RIGHT
        return _LEFT + width * (value - self.low) / (self.high - self.low)

    def head(self) -> None:
        page, of = self.page, self.of
        page.text(24, 36, f"{metric_name(of.metric)}: {of.second} against {of.first}", size=18, bold=True)
        page.text(
            24,
            58,
            "Difference with its 95 % interval (paired bootstrap over questions). "
            "A hollow mark's interval holds zero.",
            colour="soft",
        )
        for x, text in (
            (_WIDTH - 134, "difference [95 %]"),
            (_WIDTH - 88, "better"),
            (_WIDTH - 24, "worse"),
        ):
            page.text(x, _TOP - 12, text, size=12, colour="soft", anchor="end")

    def axis(self) -> None:
        bottom = self.height - _BOTTOM
        for tick in ticks(self.low, self.high):
            self.page.line(self.x(tick), _TOP, self.x(tick), bottom)
            self.page.text(self.x(tick), bottom + 18, _short(tick), size=12, colour="soft", anchor="middle")
        zero = self.x(0)
        self.page.line(zero, _TOP - 4, zero, bottom, colour="soft", width=1.5)
        left, right = shortened(self.of.first, 22), shortened(self.of.second, 22)
        if zero - _LEFT > 110:
            self.page.text(
                zero - 10, bottom + 42, f"← {left} is better", size=12, colour="worse", anchor="end"
            )
        self.page.text(zero + 10, bottom + 42, f"{right} is better →", size=12, colour="better")

    def row(self, row: Difference, y: float, *, striped: bool) -> None:
        page, interval = self.page, row.difference
        if striped:
            page.rect(12, y - _ROW / 2, _LEFT - 20, _ROW, colour="band", round=4)
            page.rect(_WIDTH - _RIGHT + 8, y - _ROW / 2, _RIGHT - 20, _ROW, colour="band", round=4)
        page.text(24, y + 4.5, shortened(row.name, 26))
        colour = _COLOUR[interval.sign]
        page.line(self.x(interval.low), y, self.x(interval.high), y, colour=colour, width=2.5)
        page.dot(self.x(interval.mean), y, 5, colour=colour, hollow=interval.sign == 0)
        self._figures(row, y, bold=False)

    def overall(self, row: Difference, y: float) -> None:
        self.page.line(12, y - _ROW / 2 - 4, _WIDTH - 12, y - _ROW / 2 - 4, colour="soft")
        self.page.text(24, y + 4.5, f"{row.name} ({len(self.of.sets)})", bold=True)
        i = row.difference
        shape = [(self.x(i.low), y), (self.x(i.mean), y - 8), (self.x(i.high), y), (self.x(i.mean), y + 8)]
        self.page.path(shape, colour=_COLOUR[i.sign], closed=True)
        self._figures(row, y, bold=True)

    def _figures(self, row: Difference, y: float, *, bold: bool) -> None:
        text = self.page.text
        text(_WIDTH - 134, y + 4.5, _interval(row.difference), anchor="end", bold=bold, size=12.5)
        text(_WIDTH - 88, y + 4.5, f"{row.wins:,}", anchor="end", bold=bold, size=12.5)
        text(_WIDTH - 24, y + 4.5, f"{row.losses:,}", anchor="end", bold=bold, size=12.5)


def _interval(interval: Interval) -> str:
    return f"{signed(interval.mean)} [{signed(interval.low)}, {signed(interval.high)}]"


def _short(value: float) -> str:
    return "0" if value == 0 else f"{value:+.3f}".rstrip("0").rstrip(".").replace("-", "−")


def metric_name(name: str) -> str:
    return name.replace("ndcg", "nDCG").replace("mrr", "MRR").replace("recall", "Recall")
