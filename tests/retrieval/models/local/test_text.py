import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.models.local.text import clean
from retrieval.models.local.weights import Pieces


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        (" \t\n\u3000 ", ""),
        ("a\0b", "ab"),
        ("line\nbreak\x85here", "line break here"),
        ("\ud800lone\udfff", "lone"),
        ("zero\u200bwidth", "zero width"),
        ("ﬁne ½ ＡＢＣ", "fine 1⁄2 ABC"),
        ("\ufdfa", "صلى الله عليه وسلم"),
        ("👩\u200d💻 \u202eabc", "👩 💻 \u202eabc"),
    ],
)
def test_text_is_normalised_as_the_model_was_trained(text: str, cleaned: str, pieces: Pieces) -> None:
    assert clean(text, pieces.normalised, 1000) == cleaned


@pytest.mark.parametrize("text", ["café Müller", "Việt Nam", "ガギグゲゴ", "한국어", "йод"])
def test_letters_apart_from_their_marks_are_put_together(text: str, pieces: Pieces) -> None:
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    assert clean(apart, pieces.normalised, 1000) == text


def test_the_order_of_arabic_marks_is_kept(pieces: Pieces) -> None:
    assert clean("مُدَرِّس", pieces.normalised, 1000) == "مُدَرِّس"


@given(st.text(st.characters()), st.integers(0, 40))
def test_any_text_ends_clean_and_short(pieces: Pieces, text: str, limit: int) -> None:
    cleaned = clean(text, pieces.normalised, limit)
    assert len(cleaned) <= limit
    assert "  " not in cleaned
    assert cleaned == cleaned.strip(" ")
    cleaned.encode()
