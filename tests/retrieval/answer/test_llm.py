"""The language model's answerer: its prompt, its stream, and its way to say that nothing fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.llm import LlmAnswerer, MarkerFilter
from retrieval.answer.protocol import NotCovered
from tests.doubles.models import ScriptedTextModel
from tests.retrieval.answer.handbook import request_for


def filtered(deltas: list[str]) -> str | None:
    """The text that passes; None for NotCovered."""
    marker = MarkerFilter()
    try:
        return "".join(map(marker.feed, deltas)) + marker.finish()
    except NotCovered:
        return None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "NOT_COVERED",
            " NOT_COVERED\n",
            "**NOT_COVERED**",
            "[NOT_COVERED]",
            "`NOT_COVERED`.",
            "NOT\\_COVERED",
        ),
        *("NOT COVERED", "NOT COVERED.", "NOT_COVERED: the documents say nothing about that."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_marker_is_never_shown(text: str, size: int) -> None:
    assert filtered([text[i : i + size] for i in range(0, len(text), size)]) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Dental care is NOT COVERED [1].", "Dental care is NOT COVERED [1]."),
        ("NOT COVERED: dental care [1].", "NOT COVERED: dental care [1]."),
        ("Keys last 90 days [1]. NOT_COVERED", "Keys last 90 days [1]."),
        ("Nothing is said of that.\n\n**NOT_COVERED**", "Nothing is said of that."),
        ("NOT only keys [1]. NOTES too", "NOT only keys [1]. NOTES too"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_text_that_looks_like_the_marker_stays(text: str, shown: str, size: int) -> None:
    assert filtered([text[i : i + size] for i in range(0, len(text), size)]) == shown


@given(
    st.lists(
        st.sampled_from(["NOT", "_", "COVERED", "NOT_COVERED", "\\", " ", "*", "[", "]", "N", "text.", "C"])
    )
)
def test_the_way_a_stream_is_cut_changes_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert filtered(pieces) == filtered([text]) == filtered(list(text))


async def test_a_late_marker_ends_an_answer_as_not_covered() -> None:
    answerer = LlmAnswerer(ScriptedTextModel("The notes say nothing about that. NOT_COVERED"))
    shown: list[str] = []
    with pytest.raises(NotCovered):  # noqa: PT012
        async for delta in answerer.answer(request_for("Who won?")):
            shown.append(delta)
    assert "".join(shown) == "The notes say nothing about that."


async def test_tokens_are_noted_in_the_step() -> None:
    request = request_for("How long do keys last?")
    answerer = LlmAnswerer(ScriptedTextModel("90 days [1]."))
    assert "".join([delta async for delta in answerer.answer(request)]) == "90 days [1]."
    (use,) = request.step.models
    assert (use.role, use.model, use.output_tokens) == ("answering", "scripted:text", 3)
    assert use.input_tokens > 100
