import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.intent import MAX_CHARS, MAX_WORDS, PhraseIntentDetector, rework_kind
from retrieval.answer.lexicon import load
from retrieval.answer.protocol import HistoryTurn, Intent
from tests.data import DATA, needs_data

DETECTOR = PhraseIntentDetector()
ANSWERED = (
    HistoryTurn("person", "How often do I change my key?"),
    HistoryTurn("assistant", "Every 90 days. [1]"),
)


def detect(text: str, *, answered: bool = False) -> Intent:
    return DETECTOR.detect(text, ANSWERED if answered else ())


GREETINGS = """
hi|Hello!|hey there 👋|Good morning, team!|Hi, how are you?|Hello Footnote|@Footnote hi|hi, quick question
Guten Morgen!|Hallo zusammen|bonjour !|Salut, ça va ?|¡Hola!|Buenos días|Ciao|Buongiorno|Olá|Bom dia|Hoi|Goedemorgen
Cześć|Dzień dobry|Привет!|Здравствуйте|Вітаю|Merhaba|Günaydın|مرحبا|السلام عليكم|你好！|您好|こんにちは|おはようございます
안녕하세요|สวัสดีครับ|नमस्ते|Xin chào
"""
THANKS = """
thanks|Thank you so much for your help!|thx|ok|Great, thanks!|got it|Perfect 👍|bye|Danke schön!|vielen Dank|alles klar
Merci beaucoup|merci pour votre aide|Muchas gracias|Grazie mille|Obrigado!|Bedankt|Dank je wel|Dziękuję bardzo|Спасибо большое
Дякую|Teşekkür ederim|شكرا جزيلا|谢谢|谢谢你|好的，谢谢|ありがとうございます！|了解しました|감사합니다|ขอบคุณค่ะ|धन्यवाद|Cảm ơn bạn
"""
CAPABILITIES = """
help|What can you do?|hi, what can you do for me?|who are you|How does this bot work?|can you help me?|Hilfe|Was kannst du?
Wer bist du?|Que peux-tu faire ?|Aide-moi|¿Qué puedes hacer?|Ayuda|Cosa puoi fare?|O que você pode fazer?|Wat kun je?
Co potrafisz?|Что ты умеешь?|Що ти вмієш?|Ne yapabilirsin?|ماذا يمكنك أن تفعل؟|你能做什么？|何ができますか？|무엇을 할 수 있나요?
คุณทำอะไรได้บ้าง|आप क्या कर सकते हैं?|Bạn có thể làm gì?
"""
QUESTIONS = """
hi, how often do I change my key?|thanks, and where?|help me reset my password|list all holidays|why?|and in Germany?
Hilfe bei der Steuererklärung|what can you do with a service account?|who are you hiring?|thank you note policy|42|vpn|menu
hola, ¿cómo pido vacaciones?|how does the VPN work|good morning shift times|summarize the onboarding document|in Germany
shorten the password policy|translate the contract into French|as a list of holidays|what is the shortest route?|German holidays
谢谢，在哪里？|你好，打印机在哪里？|こんにちは、有給は何日ですか？|danke, und wo?|merci, et où ?|gracias, ¿y cuándo?|details on travel costs
who is on the team|is the office open now|yes|no|more than 90 days?|hello world program in the style guide|what is the answer to SEV1
"""
SHORTEN = """
shorten that|shorter|Can you make it shorter please?|tl;dr|in one sentence|summarize your answer|thanks, now in short
kürzer bitte|Fasse das zusammen|plus court|en bref|más corto por favor|più breve|mais curto|korter|krócej|короче|коротше
kısalt|باختصار|短一点|总结一下|もっと短くしてください|요약해 주세요|สรุปหน่อย|ngắn gọn hơn
"""
LIST = """
as a list|as bullet points please|can I have that as a list?|als Liste bitte|in Stichpunkten|sous forme de liste
como lista|come elenco|em tópicos|als opsomming|w punktach|списком|madde madde|كقائمة|列成清单|箇条書きにして|목록으로|เป็นข้อๆ
"""
TRANSLATE = """
in German please|translate it to French|Can you translate that into Spanish?|auf Deutsch|bitte auf Englisch|en anglais|en español
in inglese|em português|in het Nederlands|po polsku|на русском|українською|Almanca|بالإنجليزية|用中文|翻译成英文|日本語で|한국어로|เป็นภาษาไทย
"""
REWORD = "simpler|in simple words please|rephrase that|as a table|einfacher|plus simple|más sencillo|проще|简单一点|わかりやすく"
EXPAND = "more details please|tell me more|elaborate|ausführlicher|plus de détails|más detalles|подробнее|详细一点|もっと詳しく"


def each(*blocks: str) -> list[str]:
    return [
        text for block in blocks for line in block.split("\n") for text in line.split("|") if text.strip()
    ]


@pytest.mark.parametrize("text", each(GREETINGS))
def test_greetings(text: str) -> None:
    assert detect(text) == "greeting"
    assert detect(text, answered=True) == "greeting"


@pytest.mark.parametrize("text", each(THANKS))
def test_thanks(text: str) -> None:
    assert detect(text) == "thanks"
    assert detect(text, answered=True) == "thanks"


@pytest.mark.parametrize("text", each(CAPABILITIES))
def test_what_it_can_do(text: str) -> None:
    assert detect(text) == "capabilities"


@pytest.mark.parametrize("text", each(QUESTIONS))
def test_whatever_asks_for_more_is_a_question(text: str) -> None:
    assert detect(text) == "question"
    assert detect(text, answered=True) == "question"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "shorten") for text in each(SHORTEN)),
        *((text, "list") for text in each(LIST)),
        *((text, "translate") for text in each(TRANSLATE)),
        *((text, "reword") for text in each(REWORD)),
        *((text, "expand") for text in each(EXPAND)),
    ],
)
def test_wishes_about_an_answer_need_an_answer(text: str, kind: str) -> None:
    assert detect(text, answered=True) == "rework"
    assert detect(text) == "question"
    assert rework_kind(text) == kind


def test_the_hardest_wish_decides() -> None:
    assert rework_kind("shorter and in German please") == "translate"
    assert rework_kind("shorter, as a list") == "list"
    assert rework_kind("and in Germany?") is None


@pytest.mark.parametrize("text", ["", " \n\t", "@Footnote", "<@U024BE7LH>", "@Footnote  ", "\u200b"])
def test_nothing_but_a_mention(text: str) -> None:
    assert detect(text) in ("empty", "only_emoji")
    assert detect("@Footnote") == "empty"


@pytest.mark.parametrize(
    "text", ["👍", "🙏🏽🙏🏽", "???", "!", "...", ":thumbsup:", "👨‍👩‍👧", "❤️", "¯\\_(-)_/¯"]
)
def test_nothing_but_marks(text: str) -> None:
    assert detect(text) == "only_emoji"


def test_a_thumb_under_an_answer_is_thanks() -> None:
    assert detect("👍", answered=True) == "thanks"
    assert detect("🤔", answered=True) == "only_emoji"


def test_a_document_is_no_question() -> None:
    assert detect("word " * 10_000) == "too_long"
    assert detect("word " * (MAX_WORDS + 1)) == "too_long"
    assert detect("字" * (MAX_CHARS + 1)) == "too_long"
    assert detect("word " * 500) == "question"


@given(st.text(), st.booleans())
def test_any_text_has_an_intent(text: str, answered: bool) -> None:
    assert detect(text, answered=answered)


@given(
    st.sampled_from(
        [p for kinds in load("intents").values() for ps in kinds.values() for p in ps.split("|")]
    )
)
def test_a_phrase_followed_by_a_topic_is_a_question(phrase: str) -> None:
    assert detect(f"{phrase.strip()} xylophones", answered=True) == "question"


@needs_data
@pytest.mark.data
def test_no_question_of_real_people_is_taken_for_something_else() -> None:
    assert DATA is not None
    wrong: list[str] = []
    paths = [
        *sorted((DATA / "retrieval").glob("*/*/queries.jsonl")),
        DATA / "retrieval" / "mtrag_un_pool" / "queries.jsonl",
        *sorted((DATA / "retrieval" / "conv_rewrite").glob("*.jsonl")),
    ]
    for path in paths:
        wrong += [text for text in _questions(path) if detect(text, answered=True) != "question"]
    # Two of 12,000 really are none.
    assert sorted(wrong) == ["Could you expand on that?", "Great! Thank you for your help."]


def _questions(path: Path) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [row.get("question") or row["text"] for row in rows]
