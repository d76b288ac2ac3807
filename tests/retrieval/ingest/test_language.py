"""The language of chunks and questions."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.ingest.language import LanguageTagger, detect

QUESTIONS = {
    "en": "How often do I have to change my API key?",
    "de": "Wie oft muss ich meinen API-Schlüssel wechseln?",
    "fr": "À quelle fréquence dois-je changer ma clé API ?",
    "es": "¿Con qué frecuencia tengo que cambiar mi clave de API?",
    "it": "Ogni quanto devo cambiare la mia chiave API?",
    "nl": "Hoe vaak moet ik mijn sleutel wijzigen?",
    "pl": "Jak często muszę zmieniać swój klucz API?",
    "tr": "API anahtarımı ne sıklıkla değiştirmem gerekiyor?",
    "vi": "Tôi phải thay khóa API bao lâu một lần?",
    "ru": "Как часто нужно менять ключ API?",
    "uk": "Як часто потрібно міняти ключ API?",
    "el": "Κάθε πότε πρέπει να αλλάζω το κλειδί API;",
    "he": "באיזו תדירות עליי להחליף את מפתח ה-API?",
    "ar": "كم مرة يجب علي تغيير مفتاح واجهة البرمجة؟",
    "fa": "چند وقت یکبار باید کلید را عوض کنم؟",
    "hi": "मुझे अपनी एपीआई कुंजी कितनी बार बदलनी होगी?",
    "th": "ฉันต้องเปลี่ยนคีย์ API บ่อยแค่ไหน",
    "ko": "API 키를 얼마나 자주 변경해야 하나요?",
    "ja": "APIキーはどのくらいの頻度で変更する必要がありますか？",
    "zh": "API密钥多久需要更换一次？",
    "ka": "რამდენად ხშირად უნდა შევცვალო გასაღები?",
}


@pytest.mark.parametrize(("language", "text"), QUESTIONS.items(), ids=QUESTIONS)
def test_questions(language: str, text: str) -> None:
    found = detect(text)
    assert found.language == language
    assert 0.5 <= found.confidence <= 1.0


@pytest.mark.parametrize("text", ["需要每九十天更换一次密钥", "需要每九十天更換一次金鑰"])
def test_both_ways_to_write_chinese_are_chinese(text: str) -> None:
    assert detect(text).language == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "123 456",
        "🎉",
        "|---|",
        "VPN",
        "API key",
        "ERR_CONN_4092",
        "https://example.com/wie/oft",
        "`x`",
    ],
)
def test_what_is_in_no_language_is_undetermined(text: str) -> None:
    assert detect(text).language == "und"


def test_a_name_in_another_script_does_not_make_a_language() -> None:
    assert (
        detect("The founder, 山田太郎, opened the second office in Osaka five years later.").language
        == "en"
    )
    assert detect("请在 Settings > Security > Keys 页面中选择 New key 并复制保存新的密钥").language == "zh"
    assert detect("本社は東京にあり、中国語名は「北京科技有限公司」です。").language == "ja"


def test_code_and_addresses_are_passed_over() -> None:
    text = "```python\nfor key in the_keys: print(key)\n```\nDer Schlüssel wird danach gelöscht. https://a.example/the/key"
    assert detect(text).language == "de"


ENGLISH = (
    "Every person has a key of their own. Change it every ninety days, and never share it with anybody."
)
GERMAN = "Alle Mitarbeitenden haben einen eigenen Schlüssel. Er muss alle neunzig Tage gewechselt werden."


def test_short_chunks_get_the_main_language_of_the_document() -> None:
    tagger = LanguageTagger([GERMAN] * 3 + [ENGLISH])
    assert tagger.main == "de"
    assert [tagger.tag(text) for text in ("Status: OK", "Name | Berlin", "", "x = 1", "Test")] == ["de"] * 5


def test_clearly_different_chunks_keep_their_own() -> None:
    tagger = LanguageTagger([ENGLISH] * 4)
    assert tagger.tag(GERMAN) == "de"
    assert tagger.tag("密钥每九十天更换一次。") == "zh"
    assert tagger.tag(ENGLISH) == "en"


def test_near_languages_follow_the_document() -> None:
    norwegian = "Alle ansatte har sin egen nøkkel, og den må byttes hver nittiende dag. Ingen får dele den."
    assert LanguageTagger([norwegian] * 3).tag("Se neste side.") == "no"


def test_a_document_without_language_is_undetermined() -> None:
    tagger = LanguageTagger(["1 2 3", "|---|"])
    assert (tagger.main, tagger.tag("4 5 6"), tagger.tag(GERMAN)) == ("und", "und", "de")
    assert LanguageTagger([]).main == "und"


def test_many_threads_get_the_same_answers() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(detect, list(QUESTIONS.values()) * 10))
    assert [language for language, _ in found] == list(QUESTIONS) * 10


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    language, confidence = detect(text)
    assert language == "und" or len(language) == 2
    assert 0.0 <= confidence <= 1.0
    assert LanguageTagger([text]).tag(text) == LanguageTagger([text]).main
