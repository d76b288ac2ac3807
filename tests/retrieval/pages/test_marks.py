from hypothesis import given
from hypothesis import strategies as st

from retrieval.pages.marks import Box, find, letters, lines

WORDS = st.lists(
    st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=8), min_size=6, max_size=30
)


def found(quote: str, page: str) -> str:
    return "".join(page[i] for i in find(quote, page))


def test_over_line_breaks_hyphens_ligatures_and_markup() -> None:
    page = "An inter-\r\nnational of\ufb01ce\x02 is   open. Next."
    assert found("**international** [office](https://x.example/y) is open", page) == (
        "international" + "of\ufb01ce" + "isopen"
    )


def test_a_table_row_whose_cells_stand_apart() -> None:
    page = "Country Full day Half day\nGermany 28 EUR\n14 EUR\n"
    assert found("| Germany | 28 EUR | 14 EUR |", page) == "Germany28EUR14EUR"


def test_a_quote_over_two_pages_is_marked_on_each() -> None:
    quote = "The allowance covers meals and it is paid for each full day of a trip"
    first, second = "Intro. The allowance covers meals and it", "is paid for each full day of a trip. More."
    assert found(quote, first) == "Theallowancecoversmealsandit"
    assert found(quote, second) == "ispaidforeachfulldayofatrip"


def test_what_is_not_there_is_not_marked() -> None:
    assert find("something else entirely", "The allowance covers meals.") == []
    assert find("…!", "The allowance covers meals.") == []


@given(WORDS, st.sampled_from([" ", "\n", "-\r\n", " | "]), st.data())
def test_any_run_of_words_is_found_however_the_page_breaks_it(
    words: list[str], gap: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = " ".join(words[start:end])
    assert letters(found(quote, gap.join(words)))[0] == letters(quote)[0]


def test_one_box_a_line_and_columns_apart() -> None:
    first = [Box(0.1 + i / 100, 0.10, 0.11 + i / 100, 0.12) for i in range(3)]
    other_column = Box(0.6, 0.10, 0.61, 0.12)
    second = Box(0.1, 0.13, 0.11, 0.15)
    assert len(lines([*first, other_column, second])) == 3
    assert lines(first) == [Box(0.1, 0.10, 0.13, 0.12)]
