"""Pieces of cards: whatever stands in them, Teams takes them and nothing of it has an effect."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.forms import DocumentStage, ProgressItem
from adapters.ports import DocumentView, SearchHit
from adapters.teams import limits
from adapters.teams.card import (
    actions,
    alert,
    asks,
    beside,
    heading,
    is_https,
    message,
    open_url,
    opens,
    quiet,
    size,
    submit,
    whole,
    words,
)
from adapters.teams.listing import choose_card, confirm_card, hits_card, list_card, status_card
from adapters.teams.welcome import help_card
from tests.adapters.fake_bot import document
from tests.adapters.replies import HOSTILE, URLS, strings
from tests.adapters.teams.client import Json, button, buttons, texts, walk

WORDS = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=60), st.text(max_size=40).map(lambda text: text * 150)
)
MANY = settings(deadline=None, max_examples=25)
STAGES: tuple[DocumentStage, ...] = ("queued", "parsing", "done", "failed", "cancelled")


def shown(number: int, name: str, stage: DocumentStage, why: str, editable: bool) -> DocumentView:
    state = ProgressItem(
        document_id="d", version_id="v", name=name, stage=stage, done=3, total=9, message=why
    )
    return document(number, name=name, knowledge_base=why, editable=editable, state=state)


def hit(title: str, text: str, url: str | None) -> SearchHit:
    return SearchHit(
        rank=1, score=0.5, lists={"bm25": (2, 1.0)}, chunk_id="c", document_id="d", title=title,
        heading_path=(title,), page=2, text=text, url=url,
    )  # fmt: skip


documents = st.lists(
    st.builds(shown, st.integers(1, 99), WORDS, st.sampled_from(STAGES), WORDS, st.booleans()), max_size=14
)
hits = st.lists(st.builds(hit, WORDS, WORDS, URLS), max_size=6)


def harmless(card: Json) -> None:
    walk(card)
    assert all(not re.search(r"</?at\b", text, re.IGNORECASE) for text in strings(card))


@MANY
@given(st.lists(WORDS, max_size=30), URLS)
def test_any_words_make_a_card(found: list[str], url: str | None) -> None:
    body = [make(text) for text in found for make in (words, heading, quiet, alert)]
    body += [beside(words(text), submit(text, "kind", text="x")) for text in found]
    body += actions([opens("Open", "kind"), *(asks(text) for text in found if text.strip())])
    if url is not None and is_https(url):
        body += actions([open_url("Open", url)])
    card = whole(body)
    harmless(card)
    assert size(card) <= limits.CARD_BYTES
    assert message(card, found[0] if found else "")["attachments"][0]["content"] == card


@MANY
@given(documents, hits, WORDS, st.integers(-3, 9))
def test_any_documents_and_hits_make_cards(
    found: list[DocumentView], passages: list[SearchHit], sought: str, page: int
) -> None:
    for card in (
        list_card(found, page),
        status_card(found),
        choose_card(found),
        hits_card(sought, passages),
        help_card(direct=True, line=sought),
        *map(confirm_card, found[:1]),
    ):
        harmless(card)


def test_what_does_not_fit_is_said_to_be_left_out() -> None:
    card = whole([words("word " * 500) for _ in range(50)])
    assert texts(card)[-1] == "There is more than Teams can show."
    assert len(card["body"]) > 3
    assert texts(whole([])) == ["There is nothing to show."]


def test_a_list_has_pages_and_its_buttons_say_which_document() -> None:
    def titles(card: Json) -> Sequence[str]:
        return [one["title"] for one in buttons(card)]

    found = [document(number, editable=number != 2) for number in range(1, 24)]
    first, last = list_card(found), list_card(found, 99)
    assert texts(first)[:2] == ["23 documents, page 1 of 3", "1. keys1.md · done · main"]
    assert titles(first) == [*(f"Delete {n}" for n in (1, 3, 4, 5, 6, 7, 8, 9, 10)), "Next"]
    assert (button(first, "Next")["page"], button(last, "Previous")["page"]) == (2, 2)
    assert button(first, "Delete 3")["document"] == "d3"
    assert "Next" not in titles(last)
