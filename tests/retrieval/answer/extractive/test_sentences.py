import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.sentences import MAX_CHARS, sentence_spans

#: Text with many stops, brackets and scripts, which plain random text has too few of.
RAGGED = (
    st.text(st.sampled_from("ab AB.。!?… \n\t1290)]}\"'”»*_`[(-|#>éßжك密日กไ한\u0301\U0001f600"))
    | st.text()
)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Keys expire after 90 days.", "Change them in time!", "Why?", "Because."],
        ["Dr. Smith met Mr. Jones at 5 p.m. on Monday.", "They left."],
        ["See No. 5 and Fig. 3 on p. 12.", "The answer is no.", "Ask again."],
        ["Bring pens, paper, etc. to the exam.", "He works at Acme Inc.", "It is small."],
        ["The U.S. Army and J. S. Bach agree, e.g. on this.", "Fine."],
        ["It costs 3.5 euros or 1,200.50 dollars.", "Version v2.3.1 is out."],
        ["See https://example.org/a.html?b=1.c for more.", "Write to a.b@example.org.", "Done."],
        ["Der 2. Weltkrieg endete am 8. Mai 1945.", "Es waren z.B. 24.", "Danach ging er."],
        ["Er sagte: „Komm!“", "Sie kam bzw. ging.", "„Gut.“", "Ende."],
        ["L'art. 5 s'applique.", "M. Dupont signe."],
        ["El Sr. López vive en EE.UU. desde 1990.", "¿Cuándo vuelve?", "¡Mañana!"],
        ["密钥在90天后过期。", "请及时更换！", "好吗？", "“可以。”", "好的。"],
        ["鍵は90日で失効します。", "変更してください。"],
        ["ठीक है।", "धन्यवाद।"],
        ["ما هذا؟", "هذا مفتاح.", "انتهى."],
        ["Wait... what?", "Yes."],
        ["The study[12] was short.[13]", "Others disagree.[1][2]", "So do I."],
        ["**Bold claim.**", "*Next one.*", "`Code.`", "End"],
    ],
)
def test_sentences_end_where_people_say(parts: list[str]) -> None:
    joined = " ".join(parts)
    assert sentences(joined) == parts


def test_chinese_needs_no_spaces() -> None:
    assert sentences("第一句。第二句！第三句") == ["第一句。", "第二句！", "第三句"]


def test_thai_is_cut_at_spaces_into_pieces_of_a_sentence_length() -> None:
    clause = "ผู้โดยสารต้องซื้อตั๋วล่วงหน้าอย่างน้อยสามวัน"
    parts = sentences(" ".join([clause] * 10))
    assert len(parts) > 2
    assert all(part.startswith("ผู้โดยสาร") and len(part) <= 2 * MAX_CHARS for part in parts)


def test_a_line_break_is_a_space_and_an_empty_line_an_end() -> None:
    assert sentences("One line\ngoes on. Two\n \n three") == ["One line\ngoes on.", "Two", "three"]


@given(RAGGED)
def test_spans_are_ordered_trimmed_and_cover_all_but_white_space(text: str) -> None:
    spans = sentence_spans(text)
    end = 0
    for start, stop in spans:
        assert end <= start < stop
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        assert stop - start <= 2 * MAX_CHARS
        end = stop
    assert not text[end:].strip()


@given(RAGGED, st.integers(0, 40), st.integers(0, 40))
def test_a_part_of_a_text_is_read_like_a_text(text: str, first: int, last: int) -> None:
    last = max(first, len(text) - last)
    spans = sentence_spans(text, first, last)
    assert [(a - first, b - first) for a, b in spans] == sentence_spans(text[first:last])


@pytest.mark.parametrize(
    "unit", ["a. ", ". ", ".", "1. ", "[1]", "(", "x", " ", "\n", "。", "ก ", "\n \n", "e.g. "]
)
def test_long_repetitions_take_time_in_proportion(unit: str) -> None:
    # Quadratic work on 200,000 characters would not end within the test run's patience.
    text = unit * (200_000 // len(unit))
    assert all(a < b for a, b in sentence_spans(text))
