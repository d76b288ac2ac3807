"""What only a real embedding model can show: questions in other words and other languages."""

from contextlib import suppress

import pytest

from retrieval.answer.events import Source
from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.language import language_of
from retrieval.answer.protocol import HistoryTurn, NotCovered
from retrieval.models.local import E5Embedder
from retrieval.trace import Step
from tests.retrieval.answer.extractive.requests import request, said, source

KEYS = source(
    "Change your API key every 90 days, under **Settings > Security > Keys**. The old key works for 24 "
    "more hours after the change, so that running jobs can finish. Ten days before a key runs out you "
    "get a message from the security bot.",
    "keys.md",
    title="API keys",
    headings=("API keys", "How often to change a key"),
)
STS = source(
    "A token from the token service lives for 60 minutes and can't be renewed; ask for a new one.",
    "sts.md",
    title="Short-lived tokens (STS)",
    headings=("Short-lived tokens (STS)", "Lifetime"),
)
LAPTOPS = source(
    "Report a lost laptop to #help-it at once, at the latest within 4 hours. It is wiped from afar.",
    "hardware.md",
    title="Hardware",
    headings=("Hardware", "Loss and theft"),
)
HOLIDAYS = source(
    "Alle Mitarbeitenden in Berlin haben 30 Urlaubstage im Jahr, bei einer Fünf-Tage-Woche. Wer während "
    "des Jahres anfängt, bekommt für jeden vollen Monat zweieinhalb Tage.",
    "urlaub.md",
    title="Urlaub",
    language="de",
)
SOURCES = (KEYS, STS, LAPTOPS, HOLIDAYS)


@pytest.fixture
def answerer(local_embedder: E5Embedder) -> ExtractiveAnswerer:
    return ExtractiveAnswerer(local_embedder)


@pytest.mark.parametrize(
    "question",
    [
        "How often do I have to change my API key?",
        "Wie oft muss ich meinen API-Schlüssel wechseln?",
        "À quelle fréquence dois-je changer ma clé API ?",
        "¿Con qué frecuencia debo cambiar mi clave de API?",
        "我多久需要更换一次 API 密钥？",
        "APIキーはどのくらいの頻度で変更する必要がありますか？",
        "كم مرة يجب أن أغير مفتاح API؟",
        "ต้องเปลี่ยน API key บ่อยแค่ไหน",
    ],
)
async def test_the_same_sentence_answers_in_every_language(
    answerer: ExtractiveAnswerer, question: str
) -> None:
    text = await said(answerer, request(question, *SOURCES))
    assert "Change your API key every 90 days, under **Settings > Security > Keys**. [keys.md]" in text


async def test_what_goes_on_from_the_answer_is_quoted_too(answerer: ExtractiveAnswerer) -> None:
    text = await said(answerer, request("How often do I have to change my API key?", *SOURCES))
    assert text.index("every 90 days") < text.index("The old key works for 24 more hours")


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("How often do I change my API key?", "And how long does the old one work?"),
        ("Wie oft muss ich meinen API-Schlüssel wechseln?", "Und wie lange gilt der alte noch?"),
        ("¿Cada cuánto cambio mi clave de API?", "¿Y cuánto tiempo funciona la antigua?"),
    ],
)
async def test_a_follow_up_is_not_answered_with_the_answer_before(
    answerer: ExtractiveAnswerer, asked: str, question: str
) -> None:
    first = await said(answerer, request(asked, *SOURCES))
    history = [HistoryTurn("person", asked), HistoryTurn("assistant", first)]
    step = Step(name="rephrase", start_ms=0)
    rephrased = await CarryOverRephraser().rephrase(question, history, alternatives=0, step=step)
    follow_up = request(question, *SOURCES, standalone=rephrased.standalone, history=history)
    deltas: list[str] = []
    # To find nothing is worse than the answer, and better than the same answer again.
    with suppress(NotCovered):
        async for delta in answerer.answer(follow_up):
            deltas.append(delta)
    assert "every 90 days" not in "".join(deltas)
    if language_of(question) == "en":
        assert "The old key works for 24 more hours" in "".join(deltas)


@pytest.mark.parametrize(
    ("question", "words", "label"),
    [
        ("What do I do when I have lost my laptop?", "Report a lost laptop", "hardware.md"),
        ("Ich habe meinen Laptop verloren", "Report a lost laptop", "hardware.md"),
        ("For how long can I use an STS token?", "lives for 60 minutes", "sts.md"),
        ("how many vacation days in Berlin", "30 Urlaubstage", "urlaub.md"),
    ],
)
async def test_other_words_find_the_sentence(
    answerer: ExtractiveAnswerer, question: str, words: str, label: str
) -> None:
    order: list[Source] = sorted(SOURCES, key=lambda each: each.label != label)
    text = await said(answerer, request(question, *order))
    assert words in text
    assert text.index(f"[{label}]") == text.index("[")


async def test_hours_of_one_office_are_not_those_of_another(answerer: ExtractiveAnswerer) -> None:
    question = "When is the Shanghai office open?"
    varick = source("The office at 41 Varick Street is open around the clock with your badge.", "ny.md")
    shanghai = source(
        "上海办公室的开放时间是周一至周五 8:00 至 20:00。周末进入大楼需要提前一天向行政部门申请。",
        "sh.md",
        title="上海办公室指南",
        headings=("上海办公室指南", "办公时间"),
        language="zh",
    )
    text = await said(answerer, request(question, varick, shanghai))
    assert "8:00" in text
    assert "Varick" not in text


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Who won the world cup in 2014?",
        "Wie hoch ist das Weihnachtsgeld?",
    ],
)
async def test_what_nobody_wrote_is_not_covered(answerer: ExtractiveAnswerer, question: str) -> None:
    with pytest.raises(NotCovered):
        await said(answerer, request(question, *SOURCES))
