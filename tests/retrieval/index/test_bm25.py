from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.index.bm25 import OTHER_LANGUAGE, encode_passage, encode_query


def overlap(passage: str, language: str, query: str, *languages: str) -> float:
    """Score of a query for a passage if every term were equally rare."""
    weights = dict(zip(*_pairs(encode_query(query, frozenset(languages or {language}))), strict=True))
    terms = encode_passage(passage, language)
    return sum(value * weights.get(i, 0) for i, value in zip(terms.indices, terms.values, strict=True))


def _pairs(sparse: object) -> tuple[list[int], list[float]]:
    return sparse.indices, sparse.values  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("language", "passage", "query"),
    [
        ("en", "The connections were refused.", "connection"),
        ("de", "Die Verbindungen wurden getrennt.", "Verbindung"),
        ("fr", "Les documents sont fermés.", "document"),
        ("es", "Las conexiones fallaron.", "conexión"),
        ("it", "Le connessioni sono chiuse.", "connessione"),
        ("pt", "Os documentos foram fechados.", "documento"),
        ("nl", "De verbindingen zijn verbroken.", "verbinding"),
        ("sv", "Anslutningarna stängdes.", "anslutning"),
        ("da", "Forbindelserne blev lukket.", "forbindelse"),
        ("no", "Forbindelsene ble lukket.", "forbindelse"),
        ("fi", "Yhteydet katkesivat taloissa.", "talossa"),
        ("hu", "A házakban nincs hálózat.", "ház"),
        ("ro", "Conexiunile au fost închise.", "conexiune"),
        ("ru", "Соединения были закрыты.", "соединение"),
        ("el", "Οι συνδέσεις έκλεισαν.", "σύνδεση"),
        ("tr", "Kitaplar kapatıldı.", "kitap"),
        ("ar", "قرأت الكتاب أمس", "كتاب"),
        ("ta", "இணைப்புகள் மூடப்பட்டன", "இணைப்பு"),
        ("hy", "Քաղաքների մասին", "քաղաքներ"),
        ("hi", "कनेक्शन बंद हो गए", "कनेक्शन"),
        ("zh", "员工每年可以享受带薪年假", "带薪年假"),
        ("ja", "有給休暇の申請はいつまでにすればよいですか。", "有給休暇"),
        ("ko", "연차휴가는 매년 부여됩니다", "연차휴가를"),
        ("th", "พนักงานมีสิทธิ์ลาพักร้อนทุกปี", "ลาพักร้อน"),
        ("lo", "ພາສາລາວເປັນພາສາ", "ພາສາລາວ"),
        ("km", "ភាសាខ្មែរ", "ភាសា"),
        ("my", "မြန်မာဘာသာစကား", "မြန်မာ"),
        ("und", "Connections", "connection"),
    ],
)
def test_another_form_of_the_word_finds_the_passage(language: str, passage: str, query: str) -> None:
    assert overlap(passage, language, query) > 0
    assert overlap(passage, language, query, language, "en", "de", "zh", "ja", "und") > 0


@pytest.mark.parametrize("query", ["XJ-900B", "xj900b", "XJ_900B", "xj 900b", "900B"])
@pytest.mark.parametrize("language", ["en", "de", "ja", "und"])
def test_a_part_number_is_found_however_it_is_written(query: str, language: str) -> None:
    assert overlap("Replace part XJ-900B first.", language, query) > 0


@pytest.mark.parametrize(
    ("right", "wrong", "query"),
    [
        ("Error ERR_CONN_4092 means a timeout.", "Error ERR_AUTH_4091 means a bad key.", "ERR_CONN_4092"),
        ("Part XJ-900B fits.", "Part XJ-900C fits.", "what is XJ-900B?"),
        ("Since v2.3.1 it works.", "Since v23.1 it works.", "2.3.1"),
        ("Set max_pool_size to 5.", "The pool has a maximum size.", "max_pool_size"),
        ("See /etc/kb/config.yaml first.", "See config and yaml.", "/etc/kb/config.yaml"),
        ("Write to ann.lee@example.com", "Ann wrote an example to Lee", "ann.lee@example.com"),
        ("The class HttpClientFactory", "A factory client over http", "HttpClientFactory"),
        ("Written in C++.", "Written in C.", "C++"),
        ("In 2024 we grew.", "In 2023 we grew.", "2024"),
    ],
)
def test_an_identifier_beats_its_parts(right: str, wrong: str, query: str) -> None:
    assert overlap(right, "en", query) > overlap(wrong, "en", query)


@pytest.mark.parametrize(
    ("language", "passage", "query"),
    [
        ("fr", "La procédure a été modifiée.", "procedure modifiee"),
        ("es", "La política de vacaciones", "politica"),
        ("de", "Der Zugriffsschlüssel", "Zugriffsschlussel"),
    ],
)
def test_accents_may_be_left_out_of_a_query(language: str, passage: str, query: str) -> None:
    assert overlap(passage, language, query) > 0


def test_function_words_find_nothing() -> None:
    everywhere = ("en", "de", "fr", "und")
    assert (
        overlap("How often is the key changed, and by whom?", "en", "how is the and by", *everywhere) == 0
    )
    assert overlap("Wie oft wird der Schlüssel geändert?", "de", "wie wird der", *everywhere) == 0


def test_terms_of_languages_that_a_query_is_not_in_count_less() -> None:
    own = encode_query("how do I change the connections", frozenset({"en"}))
    both = encode_query("how do I change the connections", frozenset({"en", "de"}))
    extra = {i: v for i, v in zip(both.indices, both.values, strict=True) if i not in own.indices}
    assert extra
    assert set(extra.values()) == {OTHER_LANGUAGE}
    assert {v for i, v in zip(both.indices, both.values, strict=True) if i in own.indices} == {1.0}


def test_a_query_too_short_to_tell_its_language_counts_in_each() -> None:
    assert set(encode_query("Gift", frozenset({"en", "de", "fr"})).values) == {1.0}


def test_latin_words_inside_another_script_are_english() -> None:
    assert overlap("请在设置中更换 API keys", "zh", "key") > 0
    assert overlap("请在设置中更换 API keys", "zh", "the keys", "en", "zh") > 0


def test_frequency_saturates_and_length_counts() -> None:
    once, often = encode_passage("key", "en"), encode_passage("key " * 50, "en")
    assert 1 < often.values[0] / once.values[0] < 2.2
    assert encode_passage("key " + "filler " * 500, "en").values[0] < once.values[0]


languages = st.sampled_from(["ar", "de", "en", "ja", "ko", "ru", "th", "zh", "und", "xx", "pt-BR"])


@given(st.text(st.characters(), max_size=300), languages, st.frozensets(languages))
def test_any_text_gives_a_sound_vector(text: str, language: str, scope: frozenset[str]) -> None:
    for sparse in (encode_passage(text, language), encode_query(text, scope)):
        assert len(sparse.indices) == len(sparse.values)
        assert all(a < b for a, b in pairwise(sparse.indices))
        assert all(0 <= i < 2**32 for i in sparse.indices)
        assert all(0 < v < 2.3 for v in sparse.values)


@given(st.text(max_size=100), languages)
def test_a_passage_is_found_by_its_own_text(text: str, language: str) -> None:
    if encode_query(text, frozenset({language})).indices:
        assert overlap(text, language, text) > 0


@pytest.mark.parametrize("text", ["", "\0", "\ud800\udc00\ud83d", "🙂🎉", "...", "\u200b\ufeff"])
def test_nothing_to_find_gives_an_empty_vector(text: str) -> None:
    assert encode_passage(text, "en").indices == []
    assert encode_query(text, frozenset({"en", "zh", "und"})).indices == []


@pytest.mark.parametrize(
    "unit", ["key\0", "有給休暇", "ภาษา", "한국", "a\u0301\u0323", "ERR_1 ", "\ud800x"]
)
def test_a_very_long_text_is_encoded_and_a_long_query_cut(unit: str) -> None:
    text = unit * (125_000 // len(unit))
    encode_passage(text, "ja")
    assert len(encode_query(text, frozenset({"en", "ja", "zh", "und"})).indices) < 20_000
