"""What `kb eval` measured, as tables for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from retrieval.evaluation.bootstrap import Interval, mean_interval
from retrieval.evaluation.compare import Comparison, Difference
from retrieval.evaluation.plots.svg import signed
from retrieval.evaluation.report import Cell, Report
from retrieval.evaluation.summary import summarise

_SIGNS = {1: "green", 0: "default", -1: "red"}


def show_report(console: Console, report: Report, metric: str) -> None:
    """A block a set and a line a configuration; then each configuration over all sets with its cost."""
    table = new_table("set", "configuration", metric, "95 %", "recall@10", "mrr@10", "ms")
    for result in report.sets:
        best = max(cell.mean(metric) for cell in result.cells)
        for place, cell in enumerate(result.cells):
            interval = mean_interval(list(cell.values(metric).values()))
            lead = f"[bold]{interval.mean:.3f}[/]" if interval.mean == best else f"{interval.mean:.3f}"
            table.add_row(
                escape(result.name) if place == 0 else "",
                escape(cell.label),
                lead,
                _range(interval),
                *(f"{cell.mean(name):.3f}" for name in ("recall@10", "mrr@10")),
                f"{cell.cost.ms_p50:.0f}{_fell_back(cell)}",
                end_section=place == len(result.cells) - 1,
            )
    console.print(table)
    summaries = summarise(report, metric)
    if len(summaries) < 2:
        return
    table = new_table("all sets", metric, "95 %", "calls", "tokens", "US$/1,000", "ms p50", "p95", "front")
    for s in summaries:
        table.add_row(
            escape(s.label),
            f"{s.quality.mean:.3f}",
            _range(s.quality),
            f"{s.calls:.2f}",
            f"{s.input_tokens + s.output_tokens:.0f}",
            "?" if s.dollars is None else f"{s.dollars * 1000:.2f}",
            f"{s.ms_p50:.1f}",
            f"{s.ms_p95:.1f}",
            "●" if s.on_front else "",
        )
    console.print(table)
    console.print("Front: nothing else here is better without costing more.", style="dim")


def show_comparison(console: Console, found: Comparison) -> None:
    """A line a set; the last is the average over the sets."""
    table = new_table("set", found.first, found.second, "difference", "95 %", "better", "same", "worse")
    for row in found.sets:
        table.add_row(*_row(row), end_section=row is found.sets[-1])
    table.add_row(*_row(found.overall), style="bold")
    console.print(f"{found.metric}: {escape(found.second)} against {escape(found.first)}")
    console.print(table)
    for note in found.notes:
        console.print(escape(note), style="dim")


def _row(row: Difference) -> list[str]:
    interval = row.difference
    return [
        escape(row.name),
        f"{row.first:.3f}",
        f"{row.second:.3f}",
        f"[{_SIGNS[interval.sign]}]{signed(interval.mean).replace('0.', '.')}[/]",
        bounds(interval),
        *(f"{count:,}" for count in (row.wins, row.ties, row.losses)),
    ]


def share(interval: Interval | None) -> str:
    """A share with its interval."""
    return "–" if interval is None else f"{interval.mean:.3f} {_range(interval)}"


def _range(interval: Interval) -> str:
    """Without the zeros before the point: these are shares."""
    return f"{interval.low:.3f}–{interval.high:.3f}".replace("0.", ".")


def bounds(interval: Interval) -> str:
    return f"{signed(interval.low)}…{signed(interval.high)}".replace("0.", ".")


def _fell_back(cell: Cell) -> str:
    return f" [red]({cell.fell_back} fell back)[/]" if cell.fell_back else ""


def new_table(*columns: str) -> Table:
    """Names to the left, figures to the right."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, name in enumerate(columns):
        left = place == 0 or name in ("configuration", "front")
        table.add_column(escape(name), justify="left" if left else "right")
    return table
