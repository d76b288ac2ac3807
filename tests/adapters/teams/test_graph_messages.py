"""Graph's messages as neutral ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.conversation import Message
from adapters.teams.graph_messages import message_of

BOT = "28:app-1"


def raw(content: str = "<p>Hello</p>", **more: Any) -> dict[str, Any]:
    return {
        "id": "1700000000100",
        "messageType": "message",
        "createdDateTime": "2026-11-30T10:00:00.123Z",
        "from": {"user": {"id": "aad-ann", "displayName": "Ann"}},
        "body": {"contentType": "html", "content": content},
        "attachments": [],
        "mentions": [],
        **more,
    }


def read(content: str = "<p>Hello</p>", **more: Any) -> Message:
    found = message_of(raw(content, **more), bot=BOT)
    assert found is not None
    return found


def test_what_a_person_said() -> None:
    found = read()
    assert found.role == "person"
    assert found.author is not None
    assert (found.author.id, found.author.name) == ("aad-ann", "Ann")
    assert found.text == "Hello"
    assert found.at is not None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>One</p><p>Two &amp; three</p>", "One\n\nTwo & three"),
        ("One<br>Two", "One\nTwo"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n\n- b"),
        ("<div>a&nbsp;&nbsp;b</div>", "a b"),
        ("<table><tr><td>x</td><td>y</td></tr></table>", "x y"),
        ("<style>p{}</style>seen<script>no()</script>", "seen"),
        ("1 &lt; 2", "1 < 2"),
        ("<b>open", "open"),
        ("a < b", "a < b"),
        ("a <![if x]> b", "a <![if x]> b"),
        ("a <![1", "a <![1"),
    ],
)
def test_html_as_a_reader_sees_it(content: str, text: str) -> None:
    assert read(content).text == text


def test_only_the_bots_own_mention_goes() -> None:
    mentions = [
        {"id": 0, "mentionText": "Footnote", "mentioned": {"application": {"id": "app-1"}}},
        {"id": 1, "mentionText": "Ben", "mentioned": {"user": {"id": "aad-ben"}}},
    ]
    content = '<p><at id="0">Footnote</at> ask <at id="1">Ben</at></p>'
    assert read(content, mentions=mentions).text == "ask @Ben"


def test_the_bots_own_and_other_bots() -> None:
    assert read(**{"from": {"application": {"id": "app-1"}}}).role == "assistant"
    other = read(**{"from": {"application": {"id": "app-2", "displayName": "Pager"}}})
    assert other.role == "other_bot"
    assert other.author is not None
    assert other.author.is_bot


def test_files_are_named() -> None:
    files = [{"contentType": "reference", "name": "plan.docx"}, {"contentType": "card", "name": "x"}]
    assert read("", attachments=files).text == "[plan.docx]"


@pytest.mark.parametrize(
    "more",
    [
        {"messageType": "systemEventMessage"},
        {"messageType": "unknownFutureValue"},
        {"deletedDateTime": "2026-11-30T10:00:00Z"},
        {"id": None},
        {"from": None},
        {"body": None},
    ],
)
def test_what_nobody_said(more: dict[str, Any]) -> None:
    assert message_of(raw(**more), bot=BOT) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(raw())), _JSON)
def test_odd_messages_are_no_messages(name: str, value: Any) -> None:
    message_of(raw(**{name: value}), bot=BOT)


@given(st.text(max_size=300))
def test_any_body_is_read(content: str) -> None:
    message_of(raw(content), bot=BOT)
