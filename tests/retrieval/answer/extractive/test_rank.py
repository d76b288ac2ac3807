from retrieval.answer.extractive.anchors import AnchorBook
from retrieval.answer.extractive.features import NAMES, feature_matrix, rarity
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import MAX_BYTES, MAX_LINES, Ranker, promising, score_of
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.extractive.requests import source

KEYS = source("API keys expire after 90 days. Badges are blue.")


def many(count: int, words: str = "Filler about nothing.") -> str:
    return " ".join(f"{words[:-1]} {n}." for n in range(count))


def test_few_lines_are_all_read() -> None:
    passages = read_passages([KEYS])
    assert promising({"key": 1.0}, passages) == [(passages[0], 0), (passages[0], 1)]


def test_of_many_lines_those_with_the_words_are_read_within_bounds() -> None:
    needle = "The badge of a guest is green."
    passages = read_passages([source(many(60), "1"), source(f"{many(60)} {needle}", "2")])
    chosen = promising({"badge": 2.0, "guest": 2.0}, passages)
    assert needle in [passage.lines[at].text for passage, at in chosen]
    assert len(chosen) == MAX_LINES
    assert sum(len(passage.lines[at].text.encode()) for passage, at in chosen) <= MAX_BYTES


def test_long_lines_are_bounded_by_their_bytes() -> None:
    passages = read_passages([source("\n\n".join(["密" * 400 + "。"] * 40))])
    chosen = promising({}, passages)
    assert 0 < len(chosen) < MAX_LINES


async def test_the_line_with_the_words_is_first_and_vectors_are_kept() -> None:
    embedder = HashEmbedder(256)
    ranker = Ranker(embedder)
    question = read_question("After how many days do API keys expire?")
    scored = await ranker.rank(question, read_passages([KEYS]))
    assert [s.candidate.at for s in scored] == [0, 1]
    asked = len(embedder.passages)
    assert await ranker.rank(question, read_passages([KEYS])) == scored
    assert len(embedder.passages) == asked


async def test_nothing_to_rank() -> None:
    assert await Ranker(HashEmbedder()).rank(read_question("who?"), []) == []


def test_features_without_candidates_have_their_shape() -> None:
    question = read_question("who?")
    assert feature_matrix(question, rarity(question, []), []).shape == (0, len(NAMES))


async def test_anchors_are_embedded_once_a_language_and_english_stands_in() -> None:
    embedder = HashEmbedder()
    book = AnchorBook(embedder)
    german = await book.of("de")
    assert await book.of("de") is german
    assert await book.of("xx") is await book.of("en")
    assert german.spread > 0


async def test_a_language_without_constants_has_their_mean() -> None:
    candidates = await Ranker(HashEmbedder()).rank(read_question("keys"), read_passages([KEYS]))
    assert candidates
    question = read_question("keys")
    passages = read_passages([KEYS])
    found = await Ranker(HashEmbedder()).candidates(question, passages, rarity(question, passages[0].lines))
    row = feature_matrix(question, rarity(question, passages[0].lines), found)[0]
    known = [score_of(row, code, code) for code in ("en", "de", "es", "zh", "ar", "th")]
    assert min(known) < score_of(row, "fi", "fi") < max(known)
