"""Running heads and feet: what a page repeats from its neighbours, and page numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

from retrieval.ingest.parse.pdf.line import Line, Page

#: Share of a page's height, at its top and at its bottom, where page numbers stand.
_MARGIN = 0.12
#: Share of a page's height where two pages that agree are enough.
_OUTER_MARGIN = 0.09
#: A running head has at most this many lines and is set apart from the text by a gap.
_GROUP = 4
#: The same line may stand this many points higher or lower on another page.
_DRIFT = 6.0
#: Pages before and after that are asked.
_REACH = 4
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[-–—|\s]*(?:(?:page|p\.|pg\.?|seite|página|pagina|strona|стр\.?|第)\s*)?"
    r"(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:/|of|von|de|di|sur|из|z)\s*\d{1,5})?\s*(?:页|頁|ページ)?[-–—|\s]*",
    re.IGNORECASE,
)

#: A running head that begins or ends with the number of its page.
_COUNTING = re.compile(r"(\d{1,5})\s.*\D|\D.*\s(\d{1,5})")
#: Pages that must count in step before a number is taken for theirs.
_MIN_NUMBERED = 3
#: Heights of an edge line by its wording (numbers left out) and page.
Heights = defaultdict[tuple[str, int], list[float]]


def drop_furniture(pages: list[Page]) -> None:
    """Removes running heads, running feet and page numbers from `pages`, in place."""
    edges = {page.number: _edges(page) for page in pages}
    heights: Heights = defaultdict(list)
    shifts: Counter[int] = Counter()
    for page in pages:
        for line in edges[page.number]:
            heights[_key(line), page.number].append(_height_on(page, line))
        shifts.update({shift for line in edges[page.number] if (shift := _shift(page, line)) is not None})
    shift, pages_that_count = shifts.most_common(1)[0] if shifts else (0, 0)
    for page in pages:
        drop = {
            id(line)
            for line in edges[page.number]
            if _repeats(heights, page, line, of_two=len(pages) == 2)
            or (pages_that_count >= _MIN_NUMBERED and _shift(page, line) == shift)
        }
        if len(pages) > 1:
            drop |= {id(line) for line in page.lines if _is_page_number(page, line)}
        if drop:
            page.lines = [line for line in page.lines if id(line) not in drop]


def _shift(page: Page, line: Line) -> int | None:
    """How far the number that begins or ends a line of words is from the page's own number."""
    match = _COUNTING.fullmatch(line.text)
    return int(match.group(1) or match.group(2)) - page.number if match else None


def _key(line: Line) -> str:
    return _NUMBER.sub("#", line.text.casefold()).replace(" ", "")


def _height_on(page: Page, line: Line) -> float:
    """From the nearer edge, so that pages of several sizes agree; negative from the lower edge."""
    middle = (line.top + line.bottom) / 2
    return middle if middle < page.height / 2 else middle - page.height


def _edges(page: Page) -> list[Line]:
    """The lines at the top and at the bottom of the page that a gap sets apart from the text."""
    level = sorted((line for line in page.lines if not line.rotated), key=lambda line: line.top)
    if len(level) < 2:
        return level
    return [*_set_apart(level, page), *_set_apart(level[::-1], page)]


def _set_apart(lines: list[Line], page: Page) -> list[Line]:
    apart = 0
    for at, (line, after) in enumerate(pairwise(lines[: _GROUP + 1]), 1):
        gap = max(after.top, line.top) - min(after.bottom, line.bottom)
        if gap > 0.8 * min(line.height, after.height):
            apart = at
            if abs(_height_on(page, after)) > _OUTER_MARGIN * page.height:
                break
    return lines[:apart]


def _repeats(heights: Heights, page: Page, line: Line, *, of_two: bool) -> bool:
    """Whether three pages near this one, heads of left and right pages apart, have it at this height."""
    key, here = _key(line), _height_on(page, line)
    near = sum(
        any(abs(height - here) <= _DRIFT for height in heights.get((key, number), ()))
        for number in range(page.number - _REACH, page.number + _REACH + 1)
    )
    return near >= 3 or (of_two and near == 2 and abs(here) < _OUTER_MARGIN * page.height)


def _is_page_number(page: Page, line: Line) -> bool:
    in_margin = line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height
    return in_margin and _PAGE_NUMBER.fullmatch(line.text) is not None
