"""Reading order of a page whose file draws its text in another order than people read it."""

from __future__ import annotations

from retrieval.ingest.parse.pdf.line import Line

#: Points that two columns stand apart at least.
_GUTTER = 6.0


def in_reading_order(lines: list[Line]) -> list[Line]:
    """`lines` as they are when the file's order is sound; else by recursive X-Y cuts of its runs.

    The X-Y cut is that of Nagy and Seth, "Hierarchical representation of optically scanned documents"
    (ICPR 1984), preferring columns to bands. Text that does not run level comes last.
    """
    level = [line for line in lines if not line.rotated]
    turned = [line for line in lines if line.rotated and len(line.text) > 2]
    if len(turned) > len(level):
        return [*level, *turned]
    runs = _runs(level)
    if not _is_sound(runs):
        level = [line for run in _cut(runs) for line in run]
    return [*level, *turned]


class _Run(list[Line]):
    """Lines that the file draws one below the other."""

    def close(self) -> None:
        self.x0, self.x1 = min(line.x0 for line in self), max(line.x1 for line in self)
        self.top, self.bottom = min(line.top for line in self), max(line.bottom for line in self)


def _runs(lines: list[Line]) -> list[_Run]:
    runs: list[_Run] = []
    for line in lines:
        last = runs[-1][-1] if runs else None
        if last is None or not _follows(last, line):
            runs.append(_Run())
        runs[-1].append(line)
    for run in runs:
        run.close()
    return runs


def _follows(last: Line, line: Line) -> bool:
    """Whether `line` stands below or beside `last`, near enough to be of one piece with it."""
    if line.bottom <= last.top or (line.x0 >= last.x1 + 3 * line.size and line.top < last.top):
        return False
    beside = line.top < last.bottom - 0.3 * last.height
    near = line.top - last.bottom < 0.7 * last.height
    overlap = min(line.x1, last.x1) > max(line.x0, last.x0)
    return (beside and line.x0 >= last.x0) or (near and overlap and line.top >= last.top)


def _is_sound(runs: list[_Run]) -> bool:
    """No run stands above an earlier one that it shares columns with."""
    return not any(
        later.bottom < earlier.top + 2 and min(later.x1, earlier.x1) - max(later.x0, earlier.x0) > 4
        for index, later in enumerate(runs)
        for earlier in runs[:index]
    )


def _cut(runs: list[_Run]) -> list[_Run]:
    ordered: list[_Run] = []
    open_groups = [runs]
    while open_groups:
        group = open_groups.pop()
        parts = _columns(group) or _bands(group)
        if len(parts) > 1:
            open_groups.extend(reversed(parts))
        else:
            ordered.extend(_untangled(group))
    return ordered


def _untangled(group: list[_Run]) -> list[_Run]:
    """Runs that no cut parts: those that share space become one, in rows from the top."""
    merged: list[_Run] = []
    for run in sorted(group, key=lambda run: (run.top, run.x0)):
        shared = [other for other in merged if _overlap(run, other)]
        for other in shared:
            merged.remove(other)
            run = _merged(run, other)
        merged.append(run)
    return sorted(merged, key=lambda run: (run.top, run.x0))


def _overlap(one: _Run, other: _Run) -> bool:
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return across > 0 and down > 0


def _merged(one: _Run, other: _Run) -> _Run:
    lines = sorted([*one, *other], key=lambda line: line.top)
    run = _Run()
    while lines:
        middle = (lines[0].top + lines[0].bottom) / 2
        row = [line for line in lines if line.top < middle]
        run.extend(sorted(row, key=lambda line: line.x0))
        lines = lines[len(row) :]
    run.close()
    return run


def _columns(group: list[_Run]) -> list[list[_Run]]:
    """Split at the gutters that no run crosses."""
    by_left = sorted(group, key=lambda run: run.x0)
    parts, right = [[by_left[0]]], by_left[0].x1
    for run in by_left[1:]:
        if run.x0 - right >= _GUTTER:
            parts.append([])
        parts[-1].append(run)
        right = max(right, run.x1)
    return parts if len(parts) > 1 else []


def _bands(group: list[_Run]) -> list[list[_Run]]:
    """Split in two at the widest gap that runs across; the halves may have columns of their own."""
    by_top = sorted(group, key=lambda run: run.top)
    widest, at, bottom = 0.0, 0, by_top[0].bottom
    for index, run in enumerate(by_top[1:], 1):
        if run.top - bottom > widest:
            widest, at = run.top - bottom, index
        bottom = max(bottom, run.bottom)
    return [by_top[:at], by_top[at:]] if at else []
