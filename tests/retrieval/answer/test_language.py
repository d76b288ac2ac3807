import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How often do I change my API key?", "en"),
        ("hi", "en"),
        ("Wie oft muss ich meinen API-Schlüssel wechseln?", "de"),
        ("danke", "de"),
        ("À quelle fréquence dois-je changer ma clé API ?", "fr"),
        ("¿Con qué frecuencia debo cambiar mi clave?", "es"),
        ("Com que frequência preciso trocar minha chave?", "pt"),
        ("Hoe vaak moet ik mijn sleutel wijzigen?", "nl"),
        ("Ile dni urlopu mam?", "pl"),
        ("kaç gün iznim var?", "tr"),
        ("Сколько дней отпуска?", "ru"),
        ("Скільки днів відпустки?", "uk"),
        ("كم عدد أيام الإجازة؟", "ar"),
        ("我多久需要更换一次 API 密钥？", "zh"),
        ("APIキーはどのくらいの頻度で変更しますか？", "ja"),
        ("연차 휴가는 며칠인가요?", "ko"),
        ("ต้องเปลี่ยน API key บ่อยแค่ไหน", "th"),
        ("Tôi có bao nhiêu ngày nghỉ?", "vi"),
        ("per diem for France", "en"),
        ("vpn setup", None),
        ("", None),
        ("ERR_CONN_4092", None),
    ],
)
def test_short_questions(text: str, language: str | None) -> None:
    assert language_of(text) == language


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    language = language_of(text)
    assert language is None or len(language) == 2
