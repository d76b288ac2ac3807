import pytest

from retrieval.answer.events import Source
from retrieval.answer.extractive.anchors import AnchorBook
from retrieval.answer.extractive.features import NAMES, Candidate, feature_matrix, rarity
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import MAX_BYTES, MAX_LINES, Ranker, corrected, promising, score_of
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


ERRORS = source(
    "| Code | Meaning |\n|---|---|\n| `ERR_CONN_4103` | Your account may not connect to the VPN. |\n"
    "| `ERR_CONN_4177` | Two connections to the VPN. |",
    "errors",
)
CONNECT = source("Install the client and sign in to the VPN.", "connect", headings=("VPN", "Connect"))
TROUBLE = source(
    "Install the client and sign in to the VPN again.",
    "trouble",
    headings=("VPN", "When it does not connect"),
)


async def best(question: str, *sources: Source) -> str:
    scored = await Ranker(HashEmbedder(256)).rank(read_question(question), read_passages(sources))
    return scored[0].candidate.passage.source.label


@pytest.mark.parametrize("question", ["How do I connect to the VPN?", "Comment me connecter au VPN ?"])
async def test_a_row_about_one_error_answers_whoever_names_it(question: str) -> None:
    assert await best(question, ERRORS, CONNECT) == "connect"


@pytest.mark.parametrize("question", ["What is ERR_CONN_4177?", "my VPN says two connections"])
async def test_whoever_names_the_error_or_tells_what_it_says_gets_its_row(question: str) -> None:
    assert await best(question, ERRORS, CONNECT) == "errors"


async def test_a_heading_that_says_what_is_asked_tells_sections_apart() -> None:
    assert await best("How do I connect?", TROUBLE, CONNECT) == "connect"
    assert await best("How do I connect?", CONNECT, TROUBLE) == "connect"


@pytest.mark.parametrize(
    ("question", "alien"),
    [
        ("When is the Shanghai office open?", True),
        ("When is the office in Madrid open?", True),
        ("When is the New York office open?", False),
        ("When is the office open?", False),
        # Every noun has a capital.
        ("Wann ist das Büro geöffnet?", False),
        # The passage may write the name in its own language.
        ("¿Cuándo abre la oficina de Nueva York?", False),
    ],
)
def test_what_bears_another_name_is_no_answer(question: str, alien: bool) -> None:
    [passage] = read_passages([source("The New York office is open from 8 am.")])
    asked = read_question(question)
    assert (corrected(asked, Candidate(passage, 0, 0.8, 0.7, 0.1)) < 0) == alien


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
