"""Quality against time: what each configuration of a grid gives for what it takes."""

from __future__ import annotations

import math

from retrieval.evaluation.plots.bars import colour_of
from retrieval.evaluation.plots.forest import metric_name
from retrieval.evaluation.plots.svg import Svg, ticks
from retrieval.evaluation.summary import Summary

_WIDTH, _HEIGHT = 900.0, 460.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 72.0, 190.0, 92.0, 64.0


def trade(summaries: list[Summary], metric: str = "ndcg@10") -> str:
    """An SVG file: milliseconds (p50, on a logarithmic scale) and quality, each averaged over the sets.

    Filled marks are on the Pareto front: nothing here is better without costing more.
    """
    page = Svg(_WIDTH, _HEIGHT, f"{metric} against milliseconds")
    page.text(24, 36, f"{metric_name(metric)} against time", size=18, bold=True)
    page.text(
        24,
        58,
        "Averages over the sets. Filled: nothing else here is better without costing more.",
        colour="soft",
    )
    logs = [math.log10(max(s.ms_p50, 0.1)) for s in summaries]
    low, high = min(logs) - 0.15, max(logs) + 0.15
    values = [s.quality.mean for s in summaries]
    pad = max(0.005, (max(values) - min(values)) * 0.2)
    bottom, top = min(values) - pad, max(values) + pad

    def at(log: float, value: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * (log - low) / (high - low)
        return x, _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - bottom) / (top - bottom)

    for tick in ticks(bottom, top):
        _, y = at(low, tick)
        page.line(_LEFT, y, _WIDTH - _RIGHT, y)
        page.text(_LEFT - 10, y + 4, f"{tick:.3f}".rstrip("0"), size=12, colour="soft", anchor="end")
    for ms in (f * 10**p for p in range(-1, 5) for f in (1, 2, 5)):
        if low <= math.log10(ms) <= high:
            x, y = at(math.log10(ms), bottom)
            page.line(x, _TOP, x, y)
            page.text(x, y + 20, f"{ms:g}", size=12, colour="soft", anchor="middle")
    page.text(
        (_LEFT + _WIDTH - _RIGHT) / 2,
        _HEIGHT - 16,
        "milliseconds a question (p50)",
        size=12,
        colour="soft",
        anchor="middle",
    )
    front = sorted((log, s.quality.mean) for log, s in zip(logs, summaries, strict=True) if s.on_front)
    page.path([at(*point) for point in front], colour="soft", dash="4 4")
    taken: list[tuple[float, float]] = []
    for place, (log, s) in enumerate(zip(logs, summaries, strict=True)):
        x, y = at(log, s.quality.mean)
        page.dot(x, y, 6, colour=colour_of(place), hollow=not s.on_front)
        text_y = y + 4.5
        while any(abs(x - ox) < 170 and abs(text_y - oy) < 14 for ox, oy in taken):
            text_y += 14
        taken.append((x, text_y))
        page.text(x + 12, text_y, s.label, size=12, bold=s.on_front)
    return str(page)
