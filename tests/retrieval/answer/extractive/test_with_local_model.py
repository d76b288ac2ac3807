"""What only a real embedding model can show: questions in other words and other languages."""

import pytest

from retrieval.answer.events import Source
from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.protocol import NotCovered
from retrieval.models.local import E5Embedder
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
