from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.parse.meta import clean_title, parse_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("D:20240203040506+01'00'", datetime(2024, 2, 3, 3, 5, 6, tzinfo=UTC)),
        ("D:20240203040506-0430", datetime(2024, 2, 3, 8, 35, 6, tzinfo=UTC)),
        ("D:20230421160435Z00'00'", datetime(2023, 4, 21, 16, 4, 35, tzinfo=UTC)),
        ("D:20130116", datetime(2013, 1, 16, tzinfo=UTC)),
        ("2024-01-02T03:04:05Z", datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-06-23T06:14:53.147505000", datetime(2026, 6, 23, 6, 14, 53, 147505, tzinfo=UTC)),
        ("2024-01-02", datetime(2024, 1, 2, tzinfo=UTC)),
        ("Mon, 1 Jan 2024 10:00:00 +0200", datetime(2024, 1, 1, 8, tzinfo=UTC)),
        ("D:00000000000000", None),
        ("1601-01-01T00:00:00Z", None),
        ("9999-12-31", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_dates(text: str | None, date: datetime | None) -> None:
    assert parse_date(text) == date


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.tzinfo is not None


@pytest.mark.parametrize(
    "title",
    [
        "",
        " ",
        "Untitled",
        "Microsoft Word - draft3.doc",
        "report_final.pdf",
        "Document1",
        "1234",
        "Slide 1",
    ],
)
def test_titles_that_nobody_wrote(title: str) -> None:
    assert clean_title(title) is None


def test_a_title_comes_on_one_line() -> None:
    assert clean_title("  Leave\n policy ") == "Leave policy"
