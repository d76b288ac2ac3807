"""Replies as Teams activities: within its limits, with the claims of exactly the named sources."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.conversation import Reply
from adapters.markdown import JOINER
from adapters.teams import limits
from adapters.teams.card import CARD, size
from adapters.teams.render import PASSAGES, WHY, placeholder, render, smaller, streamed_text
from tests.adapters.replies import TEXTS, assert_harmless, citation, plain_texts, replies, strings
from tests.doubles.teams.check_activity import check_attachments
from tests.doubles.teams.check_entities import check_entities


def claims(activity: dict[str, Any]) -> list[dict[str, Any]]:
    (message,) = activity["entities"]
    return message.get("citation", [])


def cards(activity: dict[str, Any]) -> list[dict[str, Any]]:
    found = activity.get("attachments", [])
    assert len(found) <= 1
    assert all(one["contentType"] == CARD for one in found)
    return [block for one in found for block in one["content"]["body"]]


def buttons(activity: dict[str, Any]) -> list[dict[str, Any]]:
    return [button for block in cards(activity) for button in block.get("actions", [])]


def said(blocks: list[dict[str, Any]]) -> list[str]:
    return ["".join(run["text"] for run in block["inlines"]) for block in blocks if "inlines" in block]


@settings(deadline=None, max_examples=50)
@given(replies(), st.sampled_from((None, "29:me")))
def test_no_limit_is_passed_and_nothing_has_an_effect(reply: Reply, asker: str | None) -> None:
    activities = render(reply, asker=asker)
    told: list[int] = []
    for activity in activities:
        assert activity["text"].strip()
        assert size(activity) <= limits.ACTIVITY_BYTES
        assert_harmless(activity["text"])
        for text in strings([activity["text"], cards(activity)]):
            assert not re.search(r"</?at\b", text, re.IGNORECASE)
        (message,) = activity["entities"]
        assert message["additionalType"] == ["AIGeneratedContent"]
        check_attachments(activity.get("attachments", []))
        check_entities(activity["entities"], activity["text"], [], set())
        for claim in claims(activity):
            told.append(claim["position"])
    rows = [re.match(r"([0-9]+)\. ", text) for a in activities for text in said(cards(a))]
    listed = [int(row[1]) for row in rows if row]
    assert set(told) | set(listed) >= {c.number for c in reply.citations}
    assert set(told) <= {c.number for c in reply.citations[: limits.CITATIONS]}
    assert ["channelData" in one for one in activities[:-1]] == [False] * (len(activities) - 1)


def test_labels_become_numbers_and_escaped_brackets_no_marks() -> None:
    cited = (citation(1, label="keys.md"), citation(2))
    (activity,) = render(
        Reply(turn_id="t", kind="answer", text="A [keys.md], b [2], \\[1\\].", citations=cited)
    )
    assert activity["text"] == f"A [1], b [2], [{JOINER}1]."


def test_tables_are_on_a_card_and_their_marks_in_the_text_too() -> None:
    text = "Rates [1]:\n\n| a | b |\n| --- | --: |\n| **x** [2] | y |"
    (activity,) = render(Reply(turn_id="t", kind="notice", text=text, citations=(citation(1), citation(2))))
    assert activity["text"] == "Rates [1]:\n\nSee the table below. [2]"
    assert [claim["position"] for claim in claims(activity)] == [1, 2]
    assert activity["attachments"][0]["content"]["version"] == "1.5"
    (table,) = cards(activity)
    cells = [[cell["items"][0]["text"] for cell in row["cells"]] for row in table["rows"]]
    assert cells == [["a", "b"], ["**x** [2]", "y"]]
    assert len(table["columns"]) == 2


@pytest.mark.parametrize("cell", ["a", "many words " * 20])
def test_a_long_table_goes_on_on_further_cards_each_with_its_head(cell: str) -> None:
    rows = [f"| {number} | {cell} |" for number in range(600)]
    text = "\n".join(["| Number | Word |", "| --- | --- |", *rows])
    activities = render(Reply(turn_id="t", kind="answer", text=text))
    assert len(activities) > 1
    tables = [block for activity in activities for block in cards(activity) if block["type"] == "Table"]
    firsts = [[row["cells"][0]["items"][0]["text"] for row in table["rows"]] for table in tables]
    assert {first[0] for first in firsts} == {"Number"}
    assert [int(one) for first in firsts for one in first[1:]] == list(range(600))


def test_sources_without_a_claim_stand_on_the_card_of_the_last_message() -> None:
    cited = tuple(citation(number, title=f"T{number}", page=3) for number in range(1, 13))
    text = "".join(f"Word [{number}] " for number in range(1, 13))
    (activity,) = render(Reply(turn_id="t", kind="answer", text=text, citations=cited))
    assert [claim["position"] for claim in claims(activity)] == list(range(1, 11))
    assert said(cards(activity)) == ["More sources", "11. T11, p. 3", "12. T12, p. 3"]
    opened = cards(activity)[1]["inlines"][1]["selectAction"]
    assert (opened["type"], opened["url"]) == ("Action.OpenUrl", "https://kb.example/source/abc")


def test_a_claim_is_cut_at_words_and_opens_https_only() -> None:
    cited = citation(
        quote="many words " * 40, url="http://x.example", source_url="https://y.example/f.pdf", name="f.pdf"
    )
    (claim,) = claims(render(Reply(turn_id="t", kind="answer", text="A [1]", citations=(cited,)))[0])
    shown = claim["appearance"]
    assert shown["abstract"].endswith((" many…", " words…"))
    assert shown["url"] == "https://y.example/f.pdf"
    assert shown["image"]["name"] == "PDF"


def test_a_long_answer_becomes_several_messages_each_with_the_claims_of_its_marks() -> None:
    cited = (citation(1), citation(2), citation(3))
    text = f"First [1].\n\n{'word ' * 20_000}[2]\n\nLast [1] [3]."
    activities = render(Reply(turn_id="t", kind="answer", text=text, citations=cited))
    assert len(activities) > 2
    positions = [[claim["position"] for claim in claims(activity)] for activity in activities]
    assert (positions[0], positions[-1]) == ([1], [1, 2, 3])
    assert " ".join(activity["text"] for activity in activities).count("word") == 20_000
    assert [bool(buttons(activity)) for activity in activities] == [False] * (len(activities) - 1) + [True]
    assert [activity.get("channelData") for activity in activities[:-1]] == [None] * (len(activities) - 1)


@settings(deadline=None, max_examples=30)
@given(plain_texts())
def test_no_word_is_lost_between_messages(text: str) -> None:
    activities = render(Reply(turn_id="t", kind="answer", text=text))
    shown = " ".join(strings([[activity["text"], cards(activity)] for activity in activities]))
    assert set(re.findall(r"w\d+", text)) == set(re.findall(r"w\d+", shown))
    for activity in activities:
        assert len(re.findall(r"^ *```", activity["text"], re.MULTILINE)) % 2 == 0


def test_only_answers_are_rated_and_explained() -> None:
    (notice,) = render(Reply(turn_id="t", kind="notice", text="Hello"))
    assert "channelData" not in notice
    assert "attachments" not in notice
    for kind in ("answer", "not_covered"):
        (rated,) = render(Reply(turn_id="t", kind=kind, text="Hello"))
        assert rated["channelData"] == {"feedbackLoop": {"type": "default"}}
        (why,) = buttons(rated)
        assert why["data"] == {"kind": WHY, "msteams": {"type": "task/fetch"}, "turn": "t"}


def test_passages_that_no_page_shows_open_in_teams() -> None:
    local = citation(url="http://localhost:8000/source/abc", source_url=None)
    (activity,) = render(Reply(turn_id="t", kind="answer", text="A [1]", citations=(local,)))
    assert [button["data"]["kind"] for button in buttons(activity)] == [PASSAGES, WHY]


def test_notes_and_the_reference_are_quiet_lines() -> None:
    reply = Reply(turn_id="t", kind="apology", text="Sorry.", notes=("**One**", " "), reference="r-1")
    (activity,) = render(reply)
    assert activity["text"] == "Sorry."
    assert said(cards(activity)) == ["**One**", "Reference: r-1"]
    assert all(block["inlines"][0]["isSubtle"] for block in cards(activity))


def test_the_sensitivity_label_of_the_workspace_stands_on_each_message() -> None:
    reply = Reply(turn_id="t", kind="answer", text="word " * 20_000, sensitivity="Confidential <at>x</at>")
    for activity in render(reply):
        usage = activity["entities"][0]["usageInfo"]
        assert usage["@type"] == "CreativeWork"
        assert usage["name"] == f"Confidential <{JOINER}at>x<{JOINER}/at>"


def test_questions_are_suggested_in_chats_with_the_bot_alone() -> None:
    asked = ("How?", " ", "Why?", "Who?", "When?")
    notice = Reply(turn_id="t", kind="notice", text="Hello", suggestions=asked)
    (activity,) = render(notice, asker="29:me")
    assert activity["suggestedActions"]["to"] == ["29:me"]
    assert [one["value"] for one in activity["suggestedActions"]["actions"]] == ["How?", "Why?", "Who?"]
    assert "suggestedActions" not in render(notice)[0]
    answer = notice.model_copy(update={"kind": "answer"})
    (beside,) = render(answer, asker="29:me")  # Teams shows none under a message with a card
    assert "suggestedActions" not in beside
    values = [button["data"]["msteams"].get("value") for button in buttons(beside)]
    assert values == [None, "How?", "Why?", "Who?"]
    assert len(buttons(render(answer)[0])) == 1


def test_what_teams_finds_too_large_is_made_smaller_to_an_end() -> None:
    text = "```\ncode\n\nmore\n```\n\n" * 1500 + "| a |\n| --- |\n| b |"
    activity: dict[str, Any] | None = render(Reply(turn_id="t", kind="answer", text=text))[-1]
    seen = 0
    while activity is not None:
        before, activity, seen = activity, smaller(activity), seen + 1
        if activity is not None:
            assert size(activity) < size(before)
            assert activity["text"].count("```") % 2 == 0
            assert activity["text"].endswith("to see the rest.")
    assert 2 <= seen < 20


@settings(deadline=None, max_examples=60)
@given(st.one_of(TEXTS, plain_texts()), st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_each_text_of_a_stream_goes_on_from_the_one_before(text: str, places: list[float]) -> None:
    shown = ""
    for end in sorted(int(place * len(text)) for place in places):
        more = streamed_text(text[:end])
        assert more.startswith(shown)
        assert_harmless(more)
        shown = more


def test_what_was_streamed_is_how_the_reply_begins() -> None:
    text = (
        "# Keys\n\nThey change **every 90 days** [1]. A `code` too.\n\n- one\n- two [2]\n\n"
        "```\nx | y\n\nz\n```\n\n| a | b |\n| --- | --- |\n| c | d |\n\nThat is [all](https://a.example)."
    )
    cited = (citation(1), citation(2))
    whole = render(Reply(turn_id="t", kind="answer", text=text, citations=cited))[0]["text"]
    steps = [streamed_text(text[:end]) for end in range(len(text) + 1)]
    assert all(whole.startswith(step) for step in steps)
    assert len(set(steps)) == 7
    assert "| a" not in steps[-1]


def test_a_placeholder_is_neither_labelled_nor_rated() -> None:
    assert placeholder("Searching…") == {"type": "message", "textFormat": "markdown", "text": "Searching…"}
