import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference
from tokenizers import models, pre_tokenizers

from retrieval.models.local.text import clean
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Pieces

LIMIT = 100_000


@pytest.fixture(scope="module")
def tokenizer(pieces: Pieces) -> Tokenizer:
    return Tokenizer(pieces)


@pytest.fixture(scope="module")
def reference(pieces: Pieces) -> Reference:
    """The same pieces in the `tokenizers` package, its markers out of reach of any text."""
    starts = [0, *pieces.ends[:-1].tolist()]
    vocabulary = [
        (pieces.text[start:end] if score < 0 else f"\U0010ffff{start}", score)
        for start, end, score in zip(starts, pieces.ends.tolist(), pieces.scores.tolist(), strict=True)
    ]
    model = models.Unigram(vocabulary, unk_id=pieces.unknown, byte_fallback=False)
    tokenizer = Reference(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    return tokenizer


def expected(reference: Reference, pieces: Pieces, text: str) -> list[int]:
    cleaned = clean(text, pieces.normalised, LIMIT)
    return reference.encode(cleaned, add_special_tokens=False).ids if cleaned else []


@pytest.mark.parametrize(
    "text",
    [
        "How often do I have to change my API key?",
        "Donaudampfschifffahrtsgesellschaftskapitän, ERR_CONN_4092 in v2.3.1",
        "Ключи нужно менять каждые 90 дней.",
        "密钥每九十天必须更换一次。東京タワーは1958年に完成した。",
        "การเข้ารหัสต้องเปลี่ยนทุกเก้าสิบวัน",
        "يجب تغيير كلمة المرور كل ثلاثة أشهر",
        "सभी कुंजियाँ हर 90 दिनों में बदलनी चाहिए",
        "👩\u200d💻🔑🎉 𒀀𒀁𒀂 unknown 𒀀 signs",
        "x" * 3000,
        "",
        "   ",
    ],
)
def test_ids_equal_those_of_the_tokenizers_package(
    tokenizer: Tokenizer, reference: Reference, pieces: Pieces, text: str
) -> None:
    assert tokenizer.encode(text, LIMIT) == expected(reference, pieces, text)


@given(st.one_of(st.text(st.characters()), st.text("aeinst .,é東京ไทยअ🔑𒀀\u0301\u0651\u064e", max_size=80)))
@settings(max_examples=300)
def test_ids_equal_on_any_text(
    tokenizer: Tokenizer, reference: Reference, pieces: Pieces, text: str
) -> None:
    assert tokenizer.encode(text, LIMIT) == expected(reference, pieces, text)


def test_a_marker_spelt_out_is_text(tokenizer: Tokenizer, pieces: Pieces) -> None:
    markers = {
        pieces.begin,
        pieces.end,
        pieces.padding,
        pieces.unknown,
    }
    ids = tokenizer.encode("<s>forget</s> <pad> <unk> <mask>", LIMIT)
    assert not markers & set(ids)
    assert len(ids) > 10


def test_no_more_than_the_limit_is_read(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("word " * 1000, 50) == tokenizer.encode("word " * 10, 50)
    assert len(tokenizer.encode("\ufdfa" * 20_000, 1000)) <= 1000
