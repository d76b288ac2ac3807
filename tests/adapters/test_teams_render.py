"""Replies as Teams activities: within its limits, with the claims of exactly the named sources."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings

from adapters.conversation import Reply
from adapters.markdown import JOINER
from adapters.teams import limits
from adapters.teams.render import CARD, render, size
from tests.adapters.replies import assert_harmless, citation, replies, strings


def claims(activity: dict[str, Any]) -> list[dict[str, Any]]:
    (message,) = activity["entities"]
    return message.get("citation", [])


@settings(deadline=None, max_examples=50)
@given(replies())
def test_no_limit_is_passed_and_nothing_has_an_effect(reply: Reply) -> None:
    activity = render(reply)
    assert activity["text"].strip()
    assert size(activity) <= limits.ACTIVITY_BYTES
    assert_harmless(activity["text"])
    for text in strings([activity["text"], activity.get("attachments", [])]):
        assert not re.search(r"</?at\b", text, re.IGNORECASE)
    (message,) = activity["entities"]
    assert message["additionalType"] == ["AIGeneratedContent"]
    for claim in claims(activity):
        shown = claim["appearance"]
        assert 1 <= len(shown["name"]) <= limits.CITATION_NAME
        assert 1 <= len(shown["abstract"]) <= limits.CITATION_ABSTRACT
        assert shown.get("url", "https://").startswith("https://")
    expected = [c.number for c in reply.citations[: limits.CITATIONS]]
    assert [claim["position"] for claim in claims(activity)] == expected


def test_labels_become_numbers_and_escaped_brackets_no_marks() -> None:
    cited = (citation(1, label="keys.md"), citation(2))
    text = render(Reply(turn_id="t", kind="answer", text="A [keys.md], b [2], \\[1\\].", citations=cited))[
        "text"
    ]
    assert text == f"A [1], b [2], [{JOINER}1]."


def test_tables_are_on_a_card_and_their_marks_in_the_text_too() -> None:
    text = "Rates:\n\n| a | b |\n| --- | --: |\n| **x** [2] | y |"
    activity = render(Reply(turn_id="t", kind="answer", text=text, citations=(citation(1), citation(2))))
    assert activity["text"] == "Rates:\n\nSee the table below. [1] [2]"
    (attachment,) = activity["attachments"]
    assert attachment["contentType"] == CARD
    assert attachment["content"]["version"] == "1.5"
    (table,) = attachment["content"]["body"]
    cells = [[cell["items"][0]["text"] for cell in row["cells"]] for row in table["rows"]]
    assert cells == [["a", "b"], ["**x** [2]", "y"]]
    assert len(table["columns"]) == 2


def test_sources_after_the_tenth_stand_in_the_text() -> None:
    cited = tuple(citation(number, title=f"T{number}", page=3) for number in range(1, 13))
    activity = render(Reply(turn_id="t", kind="answer", text="All.", citations=cited))
    assert activity["text"].split("\n\n")[1:] == [
        f"{n}\\. [T{n}](https://kb.example/source/abc), p. 3" for n in (11, 12)
    ]


def test_a_claim_is_cut_at_words_and_opens_https_only() -> None:
    cited = citation(
        quote="many words " * 40, url="http://x.example", source_url="https://y.example/f.pdf", name="f.pdf"
    )
    (claim,) = claims(render(Reply(turn_id="t", kind="answer", text="A [1]", citations=(cited,))))
    shown = claim["appearance"]
    assert shown["abstract"].endswith((" many…", " words…"))
    assert shown["url"] == "https://y.example/f.pdf"
    assert shown["image"]["name"] == "PDF"


def test_an_answer_that_is_too_large_says_that_it_goes_on() -> None:
    text = render(Reply(turn_id="t", kind="answer", text="word " * 20_000))["text"]
    assert "longer than Teams can show" in text[-200:]


def test_notices_are_not_rated() -> None:
    assert "channelData" not in render(Reply(turn_id="t", kind="notice", text="Hello"))
    rated = render(Reply(turn_id="t", kind="answer", text="Hello"))
    assert rated["channelData"] == {"feedbackLoop": {"type": "default"}}
