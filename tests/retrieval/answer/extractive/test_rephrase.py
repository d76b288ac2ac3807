import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.extractive.topic import MOST_WORDS
from retrieval.answer.protocol import HistoryTurn, Rephrased
from retrieval.answer.queries import clean_rephrased, plan_queries
from retrieval.trace import Step

KEY = "How often do I have to change my API key?"
HOLIDAYS = "Wie viele Urlaubstage habe ich?"
KEY_ZH = "我多久需要更换一次 API 密钥？"


async def rephrase(question: str, *earlier: str) -> Rephrased:
    history = [
        turn
        for text in earlier
        for turn in (HistoryTurn("person", text), HistoryTurn("assistant", "So. [1]"))
    ]
    step = Step(name="rephrase", start_ms=0)
    return await CarryOverRephraser().rephrase(question, history, alternatives=2, step=step)


@pytest.mark.parametrize(
    ("earlier", "question", "carried"),
    [
        (KEY, "and in Germany?", "change API key"),
        (KEY, "What about Germany?", "change API key"),
        (KEY, "where?", "change API key"),
        (KEY, "Where do I do that?", "change API key"),
        (KEY, "Does it work for contractors?", "change API key"),
        (KEY, "Rental property", "change API key"),
        (HOLIDAYS, "und in Österreich?", "Urlaubstage"),
        (HOLIDAYS, "Wo beantrage ich die?", "Urlaubstage"),
        ("Combien de jours de congé ai-je ?", "et en Allemagne ?", "jours congé"),
        ("¿Cuántos días de vacaciones tengo?", "¿y en Alemania?", "días vacaciones"),
        ("Quanti giorni di ferie ho?", "e in Germania?", "giorni ferie"),
        ("Quantos dias de férias tenho?", "e na Alemanha?", "dias férias"),
        ("Hoeveel vakantiedagen heb ik?", "en in Duitsland?", "vakantiedagen"),
        ("Сколько дней отпуска в году?", "а в Германии?", "дней отпуска году"),
        ("كم عدد أيام الإجازة؟", "وفي ألمانيا؟", "عدد أيام الإجازة"),
        (KEY_ZH, "在德国呢？", "更换一次 API 密钥"),
        (KEY_ZH, "在哪里更换？", "更换一次 API 密钥"),
        ("有給休暇は何日ですか？", "ドイツでは？", "有給休暇"),
        ("연차 휴가는 며칠인가요?", "독일은요?", "연차 휴가는 며칠인가요"),
        ("ฉันมีวันลากี่วัน", "แล้วที่เยอรมนีล่ะ", "วันลา"),
    ],
)
async def test_a_follow_up_gets_the_topic_of_its_thread(earlier: str, question: str, carried: str) -> None:
    found = await rephrase(question, earlier)
    assert found.used_history
    assert found.standalone.startswith(carried)
    assert found.standalone.endswith(question)
    assert found.alternatives == ()


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        (KEY, "How many vacation days do people in Berlin get?"),
        (KEY, "What does ERR_CONN_4092 mean?"),
        (KEY, "Which VPN client does the Madrid office use?"),
        # It names nothing, but says at length what it is about.
        (KEY, "Do part-time employees get travel expenses refunded for private cars?"),
        (HOLIDAYS, "Wie oft muss ich meinen API-Schlüssel wechseln?"),
        (KEY_ZH, "上海办公室的打印机在哪里？"),
        ("Combien de jours de congé ai-je ?", "Où se trouve le bureau de Lyon ?"),
    ],
)
async def test_a_question_that_names_its_topic_is_left_alone(earlier: str, question: str) -> None:
    assert await rephrase(question, earlier) == Rephrased(standalone=question)


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        (KEY, "And how long does the old one work?"),
        (KEY, "What about the parental leave of contractors?"),
        (HOLIDAYS, "und in Österreich?"),
        (KEY_ZH, "在德国呢？"),
    ],
)
async def test_a_follow_up_is_searched_as_it_stands_too(earlier: str, question: str) -> None:
    """It may have changed the topic, for all that a few rules can tell."""
    found = clean_rephrased(await rephrase(question, earlier), question, limit=1, history=True)
    assert plan_queries(question, found) == [found.standalone, *found.alternatives, question]


async def test_an_alternative_carries_less_over_where_there_is_much() -> None:
    found = await rephrase("and where?", "How often do contractors in Berlin change their API key?")
    assert len(found.alternatives) == 1
    assert len(found.alternatives[0]) < len(found.standalone)
    assert (await rephrase("and where?", KEY)).alternatives == ()


@given(st.text(min_size=1).filter(str.strip), st.lists(st.text(), max_size=4), st.integers(0, 4))
async def test_no_more_alternatives_than_wanted(question: str, earlier: list[str], wanted: int) -> None:
    history = [HistoryTurn("person", text) for text in earlier]
    step = Step(name="rephrase", start_ms=0)
    found = await CarryOverRephraser().rephrase(question, history, alternatives=wanted, step=step)
    assert len(found.alternatives) <= wanted
    assert found.standalone not in found.alternatives


async def test_without_a_thread_nothing_changes() -> None:
    assert await rephrase("  and in Germany? ") == Rephrased(standalone="and in Germany?")


async def test_small_talk_and_wishes_are_no_topic() -> None:
    found = await rephrase("where?", KEY, "thanks!", "shorten that please", "👍")
    assert found.standalone == "change API key where?"
    assert not (await rephrase("where?", "hi", "thanks!")).used_history


async def test_a_short_follow_up_reaches_further_back() -> None:
    found = await rephrase("how?", KEY, "where?", "and for contractors?")
    assert found.standalone == "change API key contractors how?"


async def test_a_long_question_is_not_carried_whole() -> None:
    found = await rephrase("why?", " ".join(f"word{n}" for n in range(100)))
    assert len(found.standalone.split()) <= MOST_WORDS + 1


@given(st.text(min_size=1).filter(str.strip), st.lists(st.text(), max_size=4))
async def test_the_question_itself_is_never_lost(question: str, earlier: list[str]) -> None:
    found = await rephrase(question, *earlier)
    assert found.standalone.endswith(question.strip())
    assert found.used_history == (found.standalone != question.strip())
