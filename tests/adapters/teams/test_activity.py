"""Activities as values: recorded shapes, and anything at all."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.teams.activity import (
    Deleted,
    Edited,
    Ignored,
    Invoked,
    Joined,
    NoActivity,
    Said,
    read_activity,
    readable,
)

BOT = "28:app"
CHANNEL = "19:c0ffee@thread.tacv2"


def activity(**more: Any) -> dict[str, Any]:
    """A message in a channel's thread."""
    return {
        "type": "message",
        "id": "1700000000100",
        "timestamp": "2026-11-30T10:00:00.000Z",
        "serviceUrl": "https://smba.example/emea/",
        "channelId": "msteams",
        "from": {"id": "29:ann", "name": "Ann", "aadObjectId": "aad-ann"},
        "conversation": {
            "id": f"{CHANNEL};messageid=1700000000000",
            "conversationType": "channel",
            "isGroup": True,
            "tenantId": "T",
        },
        "recipient": {"id": BOT, "name": "Footnote"},
        "text": "<at>Footnote</at> How often do keys change?",
        "entities": [
            {
                "type": "mention",
                "text": "<at>Footnote</at>",
                "mentioned": {"id": BOT, "name": "Footnote"},
            }
        ],
        "channelData": {
            "tenant": {"id": "T"},
            "team": {"id": "19:team@thread.tacv2", "aadGroupId": "group-1"},
            "channel": {"id": CHANNEL, "name": "General"},
        },
        **more,
    }


def personal(**more: Any) -> dict[str, Any]:
    conversation = {"id": "a:1", "conversationType": "personal", "tenantId": "T"}
    given = {"conversation": conversation, "channelData": {"tenant": {"id": "T"}}, "entities": [], **more}
    return activity(**given)


def said(body: dict[str, Any]) -> Said:
    found = read_activity(body)
    assert isinstance(found, Said)
    return found


def test_a_message_in_a_thread() -> None:
    found = said(activity())
    assert found.text == "How often do keys change?"
    assert found.mentioned
    assert found.addressed
    assert found.reference.channel == CHANNEL
    assert found.reference.root == "1700000000000"
    assert found.reference.team_group == "group-1"
    assert found.reference.tenant == "T"
    assert found.who.aad == "aad-ann"


def test_the_root_may_exist_only_in_the_conversation_id() -> None:
    assert said(activity(replyToId=None)).reference.neutral().thread == "1700000000000"


def test_a_post_that_opens_a_thread_is_its_root() -> None:
    body = activity(conversation={"id": CHANNEL, "conversationType": "channel"})
    assert said(body).reference.root == "1700000000100"


@pytest.mark.parametrize(
    ("channel", "kind"),
    [
        ({"id": CHANNEL}, "private_channel"),
        ({"id": CHANNEL, "type": "standard"}, "private_channel"),
        ({"id": CHANNEL, "type": "private"}, "private_channel"),
        ({"id": CHANNEL, "type": "shared"}, "shared_channel"),
    ],
)
def test_the_narrowest_reading_of_a_channel(channel: dict[str, Any], kind: str) -> None:
    data = {"tenant": {"id": "T"}, "team": {"id": "19:t"}, "channel": channel}
    assert said(activity(channelData=data)).reference.kind == kind


def test_kinds_of_chats() -> None:
    assert said(personal()).reference.kind == "direct"
    group = {"id": "19:g@thread.v2", "conversationType": "groupChat", "isGroup": True}
    found = said(activity(conversation=group, channelData={"tenant": {"id": "T"}}))
    assert found.reference.kind == "group"
    assert found.reference.root is None


def test_in_a_chat_with_the_bot_alone_nobody_has_to_mention_it() -> None:
    assert said(personal(text="Hello")).addressed
    assert not said(activity(text="Hello", entities=[])).addressed


def test_only_the_bots_own_mention_goes() -> None:
    body = activity(
        text="<at>Footnote</at>, ask <at>Ben</at> and&nbsp;<at>Footnote</at>",
        entities=[
            *activity()["entities"],
            {"type": "mention", "text": "<at>Ben</at>", "mentioned": {"id": "29:ben", "name": "Ben"}},
        ],
    )
    assert said(body).text == ", ask @Ben and"


def test_a_person_of_the_bots_name_stays() -> None:
    entities = [{"type": "mention", "text": "<at>Footnote</at>", "mentioned": {"id": "29:other"}}]
    assert readable("<at>Footnote</at> hi", BOT, entities) == "@Footnote hi"


def test_what_html_escapes_is_read_as_it_was_written() -> None:
    assert readable("a &lt;b&gt; &amp;amp; c&nbsp;&nbsp;d\r\n e", BOT, []) == "a <b> &amp; c d\ne"


def test_files_are_told_from_cards_and_copies_of_the_text() -> None:
    attachments = [
        {"contentType": "text/html", "content": "<p>hi</p>"},
        {"contentType": "application/vnd.microsoft.card.adaptive", "content": {}},
        {"contentType": "application/vnd.microsoft.teams.file.download.info", "name": "a.pdf"},
        {"contentType": "reference", "contentUrl": "https://contoso.sharepoint.com/a.docx"},
        {"contentType": "image/png", "contentUrl": "https://smba.example/x"},
    ]
    files = said(activity(attachments=attachments)).files
    assert [file.get("name") or file["contentType"] for file in files] == [
        "a.pdf",
        "reference",
        "image/png",
    ]  # fmt: skip


def test_a_click_is_for_the_bot() -> None:
    found = said(activity(text=None, entities=None, value={"kind": "page"}, replyToId="17"))
    assert found.addressed
    assert found.value == {"kind": "page"}
    assert found.reply_to == "17"


def test_edits_deletions_and_what_comes_back() -> None:
    edited = read_activity(activity(type="messageUpdate", channelData={**activity()["channelData"]}))
    assert isinstance(edited, Edited)
    deleted = read_activity(activity(type="messageDelete"))
    assert isinstance(deleted, Deleted)
    assert deleted.name == said(activity()).name
    data = {**activity()["channelData"], "eventType": "undeleteMessage"}
    assert isinstance(read_activity(activity(type="messageUpdate", channelData=data)), Ignored)


def test_the_bot_was_added() -> None:
    assert isinstance(read_activity(personal(type="installationUpdate", action="add")), Joined)
    assert isinstance(read_activity(personal(type="installationUpdate", action="add-upgrade")), Joined)
    assert isinstance(read_activity(personal(type="installationUpdate", action="remove")), Ignored)
    added = personal(type="conversationUpdate", membersAdded=[{"id": BOT}])
    assert isinstance(read_activity(added), Joined)
    other = personal(type="conversationUpdate", membersAdded=[{"id": "29:ben"}])
    assert isinstance(read_activity(other), Ignored)


def test_an_invoke() -> None:
    found = read_activity(personal(type="invoke", name="task/fetch", value={"data": {}}))
    assert isinstance(found, Invoked)
    assert found.name == "task/fetch"


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"type": "message"},
        personal(id=None),
        personal(**{"from": None}),
        personal(serviceUrl=None),
        personal(recipient=None),
        personal(conversation={}),
        personal(timestamp="yesterday"),
        {**personal(), "conversation": {"id": "a:1"}, "channelData": {}},
    ],
)
def test_what_is_no_activity(body: Any) -> None:
    with pytest.raises(NoActivity):
        read_activity(body)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(activity())), _JSON)
def test_a_field_that_holds_anything_is_read_or_refused(name: str, value: Any) -> None:
    for body in (activity(**{name: value}), personal(**{name: value})):
        with suppress(NoActivity):
            read_activity(body)
