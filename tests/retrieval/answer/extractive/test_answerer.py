import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.protocol import Length, NotCovered
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.extractive.requests import labels_in, request, said, source
from tests.retrieval.answer.extractive.test_units import LINES

KEYS = source(
    "API keys expire after 90 days. You change a key under Settings > Security > Keys. "
    "The old key works for 24 more hours.\nBadges are blue.",
    "keys.md",
    title="API keys",
)
TRAVEL = source(
    "Hotels cost at most 190 euros a night. Trains are booked in second class.\n\n"
    "To claim expenses:\n\n1. Photograph the receipt.\n2. Upload it to the expenses portal.\n"
    "3. Wait for approval.\n\n| City | Limit |\n|---|---|\n| Paris | 210 |\n| Lyon | 150 |\n\n"
    "Export your expenses with:\n\n```sh\nexpenses export --year 2026\n```\n",
    "2",
    title="Travel",
)


@pytest.fixture
def answerer() -> ExtractiveAnswerer:
    return ExtractiveAnswerer(HashEmbedder(256))


async def test_the_sentences_that_answer_are_quoted_with_their_label(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("After how many days do API keys expire?", TRAVEL, KEYS))
    assert text.startswith("API keys expire after 90 days. [keys.md]")
    assert "Badges" not in text
    assert "[2]" not in text


async def test_steps_are_shown_whole_and_in_order(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("How do I claim expenses?", KEYS, TRAVEL))
    assert (
        "To claim expenses: [2]\n\n1. Photograph the receipt. [2]\n"
        "2. Upload it to the expenses portal. [2]\n3. Wait for approval. [2]" in text
    )


async def test_one_row_is_told_with_its_column_names(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("Limit for the city of Paris?", KEYS, TRAVEL))
    assert text.startswith("City: Paris, Limit: 210 [2]")


async def test_code_keeps_its_form_and_its_introduction(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("How do I export my expenses of year 2026?", KEYS, TRAVEL))
    assert "Export your expenses with: [2]\n\n```\nexpenses export --year 2026\n```\n[2]" in text


@pytest.mark.parametrize(
    "question", ["Who won the football cup?", "ERR_CONN_4099", "???", "How tall is the Eiffel Tower?"]
)
async def test_what_the_sources_do_not_say_is_not_covered(
    answerer: ExtractiveAnswerer, question: str
) -> None:
    with pytest.raises(NotCovered):
        await said(answerer, request(question, KEYS, TRAVEL))


async def test_without_sources_nothing_is_covered(answerer: ExtractiveAnswerer) -> None:
    with pytest.raises(NotCovered):
        await said(answerer, request("After how many days do keys expire?"))
    with pytest.raises(NotCovered):
        await said(answerer, request("After how many days do keys expire?", source("***\n\n# ")))


async def test_another_error_code_is_another_error(answerer: ExtractiveAnswerer) -> None:
    codes = source("ERR_CONN_4092 means that the certificate has run out. ERR_CONN_4103 means no access.")
    assert (await said(answerer, request("What does ERR_CONN_4103 mean?", codes))).startswith(
        "ERR_CONN_4103"
    )
    assert (await said(answerer, request("what does err-conn-4092 mean", codes))).startswith(
        "ERR_CONN_4092"
    )
    with pytest.raises(NotCovered):
        await said(answerer, request("What does ERR_CONN_4177 mean?", codes))


async def test_the_same_words_are_quoted_once(answerer: ExtractiveAnswerer) -> None:
    again = source("API keys expire after 90 days. Lunch is at noon.", "copy.md")
    text = await said(answerer, request("After how many days do API keys expire?", KEYS, again))
    assert text.count("API keys expire after 90 days.") == 1


async def test_detailed_answers_quote_more(answerer: ExtractiveAnswerer) -> None:
    facts = source(
        " ".join(f"The office in {city} opens at {n} on weekdays." for n, city in enumerate("ABCDEFGH"))
    )
    short = await said(answerer, request("When does the office open on weekdays?", facts))
    long = await said(answerer, request("When does the office open on weekdays?", facts, length="detailed"))
    assert len(labels_in(short)) <= 3 < len(labels_in(long)) <= 6


async def test_quotes_in_another_language_are_introduced(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("API keys expire: nach wie vielen days läuft der key ab?", KEYS))
    assert text.startswith("In den Dokumenten steht:\n\nAPI keys expire")
    fixed = await said(answerer, request("After how many days do API keys expire?", KEYS, language="fr"))
    assert fixed.startswith("Les documents disent :\n\n")


async def test_a_new_topic_in_a_thread_is_answered_on_its_own(answerer: ExtractiveAnswerer) -> None:
    standalone = "change API key How much do hotels cost a night?"
    text = await said(
        answerer, request("How much do hotels cost a night?", KEYS, TRAVEL, standalone=standalone)
    )
    assert text.startswith("Hotels cost at most 190 euros a night. [2]")


async def test_a_follow_up_is_answered_by_its_thread(answerer: ExtractiveAnswerer) -> None:
    text = await said(
        answerer, request("and after 24 hours?", KEYS, standalone="old API key and after 24 hours?")
    )
    assert "The old key works for 24 more hours. [keys.md]" in text


@given(
    st.text() | st.sampled_from(["How do I?", "who", "list all a"]), st.lists(LINES, min_size=1, max_size=3)
)
async def test_every_word_of_an_answer_stands_in_its_source(question: str, texts: list[str]) -> None:
    sources = [source(text, f"s{number}", language="en") for number, text in enumerate(texts)]
    asked = request(question, *sources, language="en")
    try:
        text = await said(ExtractiveAnswerer(HashEmbedder()), asked)
    except NotCovered:
        return
    known = {s.label for s in sources}
    assert text.strip()
    assert known & set(labels_in(text))


@pytest.mark.parametrize("length", ["concise", "steps", "detailed"])
@pytest.mark.parametrize(
    "question",
    [
        "After how many days do API keys expire?",
        "How do I claim expenses?",
        "Limit for the city of Paris?",
    ],
)
async def test_every_mark_names_the_passage_that_the_words_before_it_come_from(
    answerer: ExtractiveAnswerer, question: str, length: Length
) -> None:
    sources = {each.label: each.chunk.text for each in (KEYS, TRAVEL)}
    text = await said(answerer, request(question, TRAVEL, KEYS, length=length))
    begin = 0
    for mark in re.finditer(r"\[(keys\.md|2)\]", text):
        words = re.findall(r"\w+", text[begin : mark.start()].split("---")[-1])
        assert words
        assert set(words) <= set(re.findall(r"\w+", sources[mark.group(1)])), text
        begin = mark.end()
    assert not re.search(r"\w", text[begin:])
