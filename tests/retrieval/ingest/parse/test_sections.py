from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.documents import Section
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.protocol import Unreadable


def builder() -> SectionBuilder:
    return SectionBuilder(ParseLimits())


def test_one_section_for_each_page_and_path() -> None:
    made = builder()
    made.page(1)
    made.heading(1, "A")
    made.text("one")
    made.text("two")
    made.page(2)
    made.text("three")
    made.heading(2, "B")
    made.text("four")
    made.page(3, keep_path=False)
    made.text("five")
    assert made.build() == (
        Section(page=1, heading_path=("A",), markdown="one\n\ntwo"),
        Section(page=2, heading_path=("A",), markdown="three"),
        Section(page=2, heading_path=("A", "B"), markdown="four"),
        Section(page=3, heading_path=(), markdown="five"),
    )


def test_a_heading_with_nothing_below_it_is_text() -> None:
    made = builder()
    for level, text in ((1, "Only"), (1, "Parent"), (2, "Child"), (1, "Last")):
        made.heading(level, text)
    assert [(section.heading_path, section.markdown) for section in made.build()] == [
        (("Only",), "# Only"),
        (("Parent", "Child"), "## Child"),
        (("Last",), "# Last"),
    ]


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.from_regex(r"[a-z]{1,6}", fullmatch=True), st.booleans()),
        min_size=1,
    )
)
def test_no_heading_is_lost(headings: list[tuple[int, str, bool]]) -> None:
    made = builder()
    for level, text, has_body in headings:
        made.heading(level, text)
        made.text(f"body of {text}" if has_body else "")
    paths = {text for section in made.build() for text in section.heading_path}
    assert paths == {text for _, text, _ in headings}


@pytest.mark.parametrize("text", ["", " \n", "---", "| | |\n| --- | --- |"])
def test_nothing_to_read_is_empty(text: str) -> None:
    made = builder()
    made.text(text)
    with pytest.raises(Unreadable, match="empty"):
        made.build()


def test_more_text_than_is_allowed() -> None:
    made = SectionBuilder(ParseLimits(max_text_chars=10))
    made.text("12345")
    with pytest.raises(Unreadable, match="too_large"):
        made.text("123456")
