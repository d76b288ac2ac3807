"""Replies as Slack messages: within its limits, whole, and without effects that nobody meant."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from slack_sdk.models.blocks import Block

from adapters.conversation import Reply
from adapters.markdown import JOINER
from adapters.slack import limits
from adapters.slack.render import SlackMessage, cost, render
from adapters.slack.validate import check_message
from tests.adapters.replies import assert_harmless, citation, plain_texts, replies, strings

PINGS = re.compile(r"<[!@#]|@(here|channel|everyone)\b", re.IGNORECASE)


def of_kind(messages: list[SlackMessage], kind: str) -> list[dict[str, Any]]:
    return [block for message in messages for block in message["blocks"] if block["type"] == kind]


def markdown(text: str, **values: Any) -> list[str]:
    messages = render(Reply(turn_id="t", kind="answer", text=text, **values))
    return [block["text"] for block in of_kind(messages, "markdown")]


def sources(messages: list[SlackMessage]) -> list[str]:
    """Line by line; many of them are several blocks, each of which begins a line."""
    blocks = [block["elements"][0]["elements"] for block in of_kind(messages, "rich_text")]
    return [line for block in blocks for line in "".join(e["text"] for e in block).split("\n")]


@settings(deadline=None, max_examples=50)
@given(replies())
def test_no_limit_is_passed_and_nothing_pings(reply: Reply) -> None:
    messages = render(reply)
    assert messages
    for message in messages:
        assert message["text"].strip()
        assert len(message["text"]) <= limits.TEXT
        assert 1 <= len(message["blocks"]) <= limits.BLOCKS
        assert sum(map(cost, message["blocks"])) <= limits.MESSAGE
        assert sum(block["type"] == "table" for block in message["blocks"]) <= 1
        for block in message["blocks"]:
            parsed = Block.parse(block)
            assert parsed is not None
            parsed.to_dict()  # raises where slack_sdk knows a limit that is passed
            shown = strings(
                {
                    key: value
                    for key, value in block.items()
                    if key != "elements" or "actions" not in block["type"]
                }
            )
            assert not [text for text in shown if PINGS.search(text)]
            if block["type"] == "markdown":
                assert_harmless(block["text"])
    links = [
        e["url"]
        for b in of_kind(messages, "rich_text")
        for e in b["elements"][0]["elements"]
        if e["type"] == "link"
    ]
    assert all(link.startswith(("https://", "http://")) for link in links)
    urls = [c.url or c.source_url for c in reply.citations]
    assert links == [u for u in urls if u and re.fullmatch(r"https?://\S+", u) and len(u) <= limits.URL]
    assert not PINGS.search("".join(message["text"] for message in messages))


@settings(deadline=None, max_examples=30)
@given(replies())
def test_the_sources_are_those_of_the_reply(reply: Reply) -> None:
    lines = sources(render(reply))
    labels = [c.label for c in reply.citations]
    assert len(lines) == len(labels)
    for line, label in zip(lines, labels, strict=True):
        assert line.startswith(f"{label}. " if label.isdecimal() else f"[{label}] ")


@pytest.mark.parametrize(
    "part",
    [
        "word{n} " * 3,
        "- word{n}\n",
        "| word{n} | x |\n",
        "[word{n}](https://a.example/{n}) ",
        "word{n}\n\n",
        "> word{n}\n",
    ],
    ids=["paragraph", "list", "table", "links", "paragraphs", "quote"],
)
@pytest.mark.parametrize("head", ["", "```py\n", "1. ", "| a | b |\n| --- | --- |\n"])
def test_a_long_answer_loses_no_word_and_is_cut_where_nothing_breaks(part: str, head: str) -> None:
    text = head + "".join(part.format(n=n) for n in range(1500))
    messages = render(Reply(turn_id="t", kind="answer", text=text))
    assert len(messages) > 1
    shown = "\n".join(text for message in messages for text in strings(message["blocks"]))
    assert re.findall(r"\bword\d+\b", shown) == re.findall(r"\bword\d+\b", text)
    for block in of_kind(messages, "markdown"):
        assert block["text"].count("```") % 2 == 0
        if not head.startswith("```"):
            assert block["text"].count("](") == len(
                re.findall(r"\[word\d+\]\(https://a\.example/\d+\)", block["text"])
            )


@settings(deadline=None, max_examples=50)
@given(plain_texts())
def test_all_words_come_through_in_order(text: str) -> None:
    messages = render(Reply(turn_id="t", kind="answer", text=text))
    shown = iter(re.findall(r"w\d+", " ".join(t for m in messages for t in strings(m["blocks"]))))
    assert all(word in shown for word in re.findall(r"w\d+", text))


def test_what_is_written_for_the_answer() -> None:
    assert markdown("Every **90 days** [1].", citations=(citation(),)) == ["Every **90 days** [1]."]
    assert markdown("As \\[1\\] says, x\\[2\\].") == ["As [1] says, x[2]."]
    assert markdown("a ![Chart of *sales*](http://x.example/i.png) b") == ["a Chart of *sales* b"]
    assert markdown("[run](javascript:alert(1)) [mail](mailto:a@b.example)") == ["run mail"]
    assert markdown("[w](https://en.example/a_(b))") == ["[w](https://en.example/a_%28b%29)"]
    assert markdown("Say &quot;x&quot; & snake_case") == ['Say "x" & snake_case']
    assert markdown("5. a\n6. b") == ["5. a\n6. b"]
    assert markdown("@here <!channel>") == [f"@{JOINER}here <{JOINER}!channel>"]


def test_tables_are_table_blocks_where_one_can_hold_them() -> None:
    small = "| a | b |\n| --- | --: |\n| *x* [1] | |"
    (block,) = of_kind(
        render(Reply(turn_id="t", kind="answer", text=small, citations=(citation(),))), "table"
    )
    assert [[cell["text"] for cell in row] for row in block["rows"]] == [["a", "b"], ["x [1]", "\u00a0"]]
    assert [column["align"] for column in block["column_settings"]] == ["left", "right"]
    wide = f"|{' a |' * 21}\n|{' - |' * 21}\n"
    long = "| a |\n| - |\n" + "| x |\n" * 100
    linked = "| a |\n| - |\n| [x](https://a.example) |"
    for text in (wide, long, linked):
        messages = render(Reply(turn_id="t", kind="answer", text=text))
        assert not of_kind(messages, "table")
        assert of_kind(messages, "markdown")


def test_the_text_says_the_words_and_slack_reads_no_markup_in_it() -> None:
    (message,) = render(
        Reply(turn_id="t", kind="answer", text="**a** < b & [c](https://x.example) <!here>")
    )
    assert message["text"] == f"a &lt; b &amp; c &lt;{JOINER}!here&gt;"


def test_what_can_be_done_with_a_reply_depends_on_its_kind() -> None:
    def kinds(kind: Any, **values: Any) -> list[str]:
        (message,) = render(Reply(turn_id="t", kind=kind, text="x", **values))
        return [block["type"] for block in message["blocks"]]

    assert kinds("answer") == ["markdown", "context_actions", "actions"]
    assert kinds("answer", citations=(citation(),)) == [
        "markdown",
        "section",
        "rich_text",
        "context_actions",
    ]
    assert kinds("notice", notes=("a",)) == ["markdown", "context"]
    assert kinds("apology", reference="r") == ["markdown", "context", "actions"]


def test_an_answer_without_words_says_so() -> None:
    for text in ("", "[r]: javascript:x"):
        (message,) = render(Reply(turn_id="t", kind="notice", text=text))
        assert message["text"] == message["blocks"][0]["text"] == "There is no text in this answer."


def test_a_passage_that_no_page_shows_has_a_button_and_the_menu_three_entries() -> None:
    cited = tuple(citation(n, url=None if n % 2 else "https://kb.example/s/1") for n in range(1, 60))
    messages = render(Reply(turn_id="t1", kind="answer", text="x", citations=cited))
    (buttons,) = [block["elements"] for block in of_kind(messages, "actions")]
    assert len(buttons) == limits.ACTIONS
    assert [(b["action_id"], b["value"], b["text"]["text"]) for b in buttons[:2]] == [
        ("passage:1", "t1 1", "Show passage 1"),
        ("passage:3", "t1 3", "Show passage 3"),
    ]
    (header,) = of_kind(messages, "section")
    assert [option["value"] for option in header["accessory"]["options"]] == [
        "why:t1", "again:t1", "delete:t1",
    ]  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(replies())
def test_every_message_passes_the_check_of_outgoing_payloads(reply: Reply) -> None:
    for message in render(reply):
        check_message({**message})
