"""Which messages of a thread a model is given to rewrite a question."""

from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.budget import estimate_tokens, rephrase_turns
from retrieval.answer.protocol import HistoryTurn

FIRST = HistoryTurn("person", "Where is the travel policy?")
LATEST = HistoryTurn("person", "and by train?")
ANSWER = HistoryTurn("assistant", "Trains are booked in the portal. [1]")


def thread(pairs: int, words: int) -> list[HistoryTurn]:
    between = [
        turn
        for number in range(pairs)
        for turn in (
            HistoryTurn("assistant", f"answer {number} " * words),
            HistoryTurn("person", f"question {number} " * words),
        )
    ]
    return [FIRST, *between, HistoryTurn("assistant", "word " * words), LATEST, ANSWER]


def test_a_short_thread_is_given_whole() -> None:
    turns = thread(1, 5)
    assert rephrase_turns(turns) == [HistoryTurn(turn.role, turn.text.strip(), turn.name) for turn in turns]


def test_however_long_a_thread_its_first_and_last_question_and_its_last_answer_are_given() -> None:
    kept = rephrase_turns(thread(40, 400))
    assert kept[0] == FIRST
    assert kept[-2:] == [LATEST, ANSWER]


def test_older_answers_give_way_to_questions() -> None:
    kept = rephrase_turns(thread(12, 60))
    asked = sum(turn.role == "person" for turn in kept)
    assert asked > sum(turn.role == "assistant" for turn in kept)


@given(
    st.lists(
        st.builds(HistoryTurn, st.sampled_from(["person", "assistant"]), st.text(max_size=3000)),
        max_size=12,
    )
)
def test_what_is_given_is_bounded_and_in_order(history: list[HistoryTurn]) -> None:
    kept = rephrase_turns(history)
    assert sum(estimate_tokens(turn.text) for turn in kept) <= 1500
    places = [
        [at for at, turn in enumerate(history) if turn.text.strip().startswith(each.text.rstrip("…"))]
        for each in kept
    ]
    assert all(places)
    assert all(turn.text.strip() for turn in kept)
