import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.units import units_of
from tests.retrieval.answer.extractive.test_sentences import RAGGED

PAGE = """\
# Keys

API keys expire after 90 days. Change
yours in time.

To change one:

1. Open Settings > Security > Keys.
2. Choose *New key*.
   It is shown once.

   - nested

| Plan | Days |
| --- | ---: |
| Free | 30 |
| Pro | 90 |

```sh
kb upload x
# no heading
```

Opening hours
Mon-Fri 9-17
> quoted words
***
"""


def shown(text: str) -> list[tuple[str, str, str]]:
    return [(unit.kind, unit.marker, unit.of(text)) for unit in units_of(text)]


def test_a_page_falls_into_its_parts() -> None:
    assert shown(PAGE) == [
        ("heading", "", "Keys"),
        ("sentence", "", "API keys expire after 90 days."),
        ("sentence", "", "Change\nyours in time."),
        ("sentence", "", "To change one:"),
        ("item", "1.", "Open Settings > Security > Keys."),
        ("item", "2.", "Choose *New key*.\n   It is shown once."),
        ("item", "-", "nested"),
        ("row", "", "| Free | 30 |"),
        ("row", "", "| Pro | 90 |"),
        ("code", "", "kb upload x\n# no heading"),
        ("sentence", "", "Opening hours"),
        ("sentence", "", "Mon-Fri 9-17"),
        ("sentence", "", "quoted words"),
    ]


def test_a_row_knows_its_header_and_a_list_its_group() -> None:
    units = units_of(PAGE)
    rows = [unit for unit in units if unit.kind == "row"]
    assert all(row.header and PAGE[slice(*row.header)] == "| Plan | Days |" for row in rows)
    items = [unit for unit in units if unit.kind == "item"]
    assert len({item.group for item in items}) == 1
    assert items[2].depth > items[0].depth


def test_a_table_that_begins_in_its_midst_has_rows_without_a_header() -> None:
    assert [(u.kind, u.header) for u in units_of("| a | 1 |\n| b | 2 |")] == [("row", None)] * 2


def test_a_wrapped_paragraph_is_one_text() -> None:
    text = "This line is long enough to have been wrapped by hand at\nThursday, a day of the week."
    assert [unit.of(text) for unit in units_of(text)] == [text]


@pytest.mark.parametrize("text", ["", " \n ", "---", "```\n```", "|---|---|", "#", "# ", "- ", "\n\n***\n"])
def test_nothing_quotable(text: str) -> None:
    assert all(unit.of(text).strip() for unit in units_of(text))


LINES = st.lists(
    st.sampled_from(
        [
            "# h",
            "- item",
            "  - deeper",
            "1. step",
            "| a | b |",
            "|---|---|",
            "```",
            "~~~",
            "> q",
            "",
            "  ",
            "Text.",
        ]
    )
    | RAGGED
).map("\n".join)


@given(LINES)
def test_units_are_verbatim_ordered_and_never_blank(text: str) -> None:
    end = 0
    for unit in units_of(text):
        assert end <= unit.start < unit.end <= len(text)
        assert unit.of(text).strip()
        end = unit.end


@given(st.text(st.sampled_from("abc .,\n")))
def test_prose_loses_no_word(text: str) -> None:
    kept = " ".join(unit.of(text) for unit in units_of(text))
    assert kept.split() == text.split() or "".join(kept.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "line", ["- x\n", "| a |\n", "> q\n", "# h\n", "```\n", "1.\n", "|\n", "-\n", "a\n\n"]
)
def test_long_repetitions_take_time_in_proportion(line: str) -> None:
    text = line * (60_000 // len(line))
    assert isinstance(units_of(text), tuple)
