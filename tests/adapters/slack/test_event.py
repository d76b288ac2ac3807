"""Events as they come, and worse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.event import Deleted, Edited, Ignored, Said, read_event


def body(event: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "team_id": "T1",
        "event_id": "Ev1",
        "event": {"type": "message", "channel": "C1", **event},
        **more,
    }


def test_a_mention_may_stand_in_blocks_alone() -> None:
    elements = [{"type": "user", "user_id": "UB"}, {"type": "text", "text": " how often?"}]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}]
    said = read_event(body({"user": "U1", "ts": "1.1", "text": "", "blocks": blocks}))
    assert isinstance(said, Said)
    assert said.mentions("UB")
    assert not said.only_mentions


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"subtype": "channel_join", "user": "U1", "ts": "1.1"}, "channel_join"),
        ({"ts": "1.1", "text": "x"}, "nobody said it"),
        ({"user": "U1", "ts": "1.1", "hidden": True}, "nobody said it"),
        ({"bot_id": "B1", "ts": "1.1", "hidden": True}, "hidden"),
        ({"subtype": "message_changed", "message": {"user": "U1", "ts": "1.1"}}, "message_changed"),
        (
            {
                "subtype": "message_changed",
                "message": {"user": "U1", "ts": "1.1", "text": "a", "edited": {"ts": "2"}},
                "previous_message": {"text": "a"},
            },
            "unchanged text",
        ),
    ],
)
def test_what_is_set_aside(event: dict[str, Any], why: str) -> None:
    assert read_event(body(event)) == Ignored(why=why)


def test_edits_and_deletions() -> None:
    edited = read_event(
        body(
            {
                "subtype": "message_changed",
                "message": {"user": "U1", "ts": "1.1", "text": "b", "edited": {}},
            }
        )
    )
    assert isinstance(edited, Ignored), "nobody edited it"
    edited = read_event(
        body(
            {
                "subtype": "message_changed",
                "message": {"user": "U1", "ts": "1.1", "text": "b", "edited": {"ts": "2"}},
            }
        )
    )
    assert isinstance(edited, Edited)
    assert (edited.message.text, edited.message.channel) == ("b", "C1")
    deleted = read_event(
        body({"subtype": "message_deleted", "deleted_ts": "1.2", "previous_message": {"thread_ts": "1.1"}})
    )
    assert deleted == Deleted(team="T1", channel="C1", ts="1.2", root="1.1")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "subtype", "user", "ts", "text", "thread_ts", "files", "blocks", "attachments", "message",
     "previous_message", "bot_id", "bot_profile", "hidden", "deleted_ts", "channel", "edited", "username"]
)  # fmt: skip
SUBTYPES = st.sampled_from([None, "message_changed", "message_deleted", "file_share", "bot_message"])


@given(st.dictionaries(KEYS, JSON, max_size=8), SUBTYPES)
def test_no_shape_is_an_error(event: dict[str, Any], subtype: str | None) -> None:
    found = read_event(body({**event, "subtype": subtype}))
    assert isinstance(found, Said | Deleted | Edited | Ignored)
    if isinstance(found, Said):
        assert found.lane.startswith("T1:")
        found.mentions("UB")
        assert found.only_mentions in (True, False)
