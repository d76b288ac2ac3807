"""Slack's markup read as plain text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.text import addresses, escape, mentions, readable, text_in, unescape

NAMES = {"U1": "Ann", "U2": "Ben", "UNKNOWN": ""}


async def name_of(user: str) -> str:
    return NAMES.get(user, "")


async def channel_name_of(channel: str) -> str:
    return {"C1": "general"}.get(channel, "")


async def read(text: str) -> str:
    return await readable(text, bot_user="UBOT", name_of=name_of, channel_name_of=channel_name_of)


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<@UBOT> how often?", "how often?"),
        ("<@UBOT|footnote>: how often?", "how often?"),
        ("<@UBOT>, how often?", "how often?"),
        ("how often, <@UBOT>", "how often,"),
        ("hey <@UBOT> what does <@U1> say?", "hey what does @Ann say?"),
        ("<@U2|benny> asks <@U1>", "@benny asks @Ann"),
        ("<@UNKNOWN> asks", "@somebody asks"),
        ("<@UBOTTLE> is nobody's bot", "@somebody is nobody's bot"),
        ("in <#C1> and <#C2|secret> and <#C3>", "in #general and #secret and #a-channel"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@support> <!subteam^S2>", "@support @a-group"),
        ("at <!date^1392734382^{date}|Feb 18, 2014>", "at Feb 18, 2014"),
        ("<https://example.com/a?b=1&amp;c=2>", "https://example.com/a?b=1&c=2"),
        ("<https://example.com|the page>", "the page (https://example.com)"),
        ("<http://example.com|example.com>", "example.com"),
        ("<https://example.com/a|https://example.com/a>", "https://example.com/a"),
        ("<mailto:ann@example.com|ann@example.com>", "ann@example.com"),
        ("<mailto:ann@example.com|Ann>", "Ann (ann@example.com)"),
        ("<mailto:ann@example.com>", "ann@example.com"),
        ("a &lt; b &amp;&amp; c &gt; d", "a < b && c > d"),
        ("&amp;lt; is an entity", "&lt; is an entity"),
        ("&lt;@U1&gt; was typed", "<@U1> was typed"),
        ("```\ndef f():\n    return  1\n```", "```\ndef f():\n    return  1\n```"),
        ("", ""),
    ],
)
async def test_markup_is_read(markup: str, plain: str) -> None:
    assert await read(markup) == plain


async def test_every_mention_of_the_bot_goes_and_no_other() -> None:
    assert await read("<@UBOT> and <@U1> and <@UBOT|x> again <@UBOT>") == "and @Ann and again"


@given(st.text(alphabet="<>@#!|^&;ltgamp U1\nC:/.x", max_size=60))
async def test_nothing_makes_it_raise(text: str) -> None:
    assert isinstance(await read(text), str)


@given(st.text(max_size=60).map(lambda text: " ".join(text.split())))
async def test_what_a_person_typed_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert await read(escape(text)) == text


def test_who_is_named() -> None:
    text = "<@U1> and <@W2|ben>, not &lt;@U3&gt; and not <#C1>"
    assert mentions(text) == {"U1", "W2"}
    assert addresses(text, "W2")
    assert not addresses(text, "U3")


def rich(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "rich_text", "elements": list(elements)}]


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_text_stands_for_the_blocks() -> None:
    assert text_in("said", rich(section(words("other"))), []) == "said"


async def test_blocks_are_read_where_text_is_empty() -> None:
    blocks = rich(
        section(
            words("Ask "), {"type": "user", "user_id": "U1"}, words(" in "),
            {"type": "channel", "channel_id": "C1"}, words(" or "), {"type": "broadcast", "range": "here"},
            words(", see "), {"type": "link", "url": "https://example.com/a|b", "text": "a | b"},
            {"type": "emoji", "name": "tada"},
        ),
        {"type": "rich_text_list", "style": "ordered", "elements": [section(words(w)) for w in "xy"]},
        {"type": "rich_text_list", "style": "bullet", "indent": 1, "elements": [section(words("z"))]},
        {"type": "rich_text_preformatted", "elements": [words("a = 1")]},
    )  # fmt: skip
    assert await read(text_in("", blocks, [])) == (
        "Ask @Ann in #general or @here, see a ¦ b (https://example.com/a%7Cb):tada:\n"
        "1. x\n2. y\n  - z\na = 1"
    )


async def test_words_in_blocks_are_no_markup() -> None:
    """Else a person could make the bot ask for, or speak to, whom they like by typing an id."""
    for blocks in (
        rich(section(words("<@U1> <!channel> a & b"))),
        [{"type": "header", "text": {"type": "plain_text", "text": "<@U1> <!channel> a & b"}}],
    ):
        markup = text_in("", blocks, [])
        assert mentions(markup) == set()
        assert await read(markup) == "<@U1> <!channel> a & b"


def test_what_was_forwarded_is_read_with_its_author() -> None:
    forwarded = {"is_share": True, "is_msg_unfurl": True, "author_name": "Ben", "text": "VPN is down"}
    assert text_in("see this", [], [forwarded]) == "see this\n\nBen: VPN is down"
    assert text_in("", [], [forwarded]) == "Ben: VPN is down"


def test_an_alert_that_is_only_an_attachment_is_read() -> None:
    alert = {
        "fallback": "short",
        "title": "Build 7",
        "text": "failed",
        "fields": [{"title": "Branch", "value": "main"}],
    }
    assert text_in("", [], [alert]) == "Build 7\nfailed\nBranch: main"
    assert text_in("", [], [{"fallback": "short"}]) == "short"
    assert text_in("", [], [{"blocks": rich(section(words("in blocks")))}]) == "in blocks"


def test_a_preview_of_a_link_is_not_what_was_said() -> None:
    assert (
        text_in("https://example.com", [], [{"title": "Example", "text": "Lorem"}]) == "https://example.com"
    )


def test_sections_fields_context_and_markdown_are_read() -> None:
    def mrkdwn(text: str) -> dict[str, Any]:
        return {"type": "mrkdwn", "text": text}

    blocks = [
        {"type": "section", "text": mrkdwn("one"), "fields": [mrkdwn("two"), mrkdwn("three")]},
        {"type": "context", "elements": [mrkdwn("four"), {"type": "image", "image_url": "x"}]},
        {"type": "markdown", "text": "five"},
        {"type": "divider"},
    ]
    assert text_in("", blocks, []) == "one\ntwo\nthree\nfour\nfive"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["rich_text", "text", "user", "<@U1>"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "elements", "fields", "user_id", "url", "indent", "blocks"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["type", "text", "elements", "fields"]), _JSON), max_size=3)
)
def test_odd_blocks_do_not_make_it_raise(odd: list[dict[str, Any]]) -> None:
    assert isinstance(text_in("", odd, odd), str)


def test_deep_blocks_do_not_make_it_raise() -> None:
    deep: dict[str, Any] = words("down")
    for _ in range(5000):
        deep = section(deep)
    assert text_in("", rich(deep), []) == ""
