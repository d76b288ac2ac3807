"""Adding documents: files of a message, the dialog that asks how, and a message's own action."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.ports import Refused
from adapters.teams import work
from adapters.teams.commands import run_command
from adapters.teams.message_file import message_file
from tests.adapters.teams.acts import BEN, CHANNEL, DIRECT, Chat, Json, words
from tests.adapters.teams.client import buttons, inputs, sent

DOWNLOAD = "application/vnd.microsoft.teams.file.download.info"


def file(name: str) -> Json:
    return {"contentType": DOWNLOAD, "name": name, "content": {"downloadUrl": f"https://x.example/{name}"}}


def message(text: str = "Keys change every 90 days.", **more: Any) -> Json:
    return {
        "id": "100", "createdDateTime": "2026-11-30T10:00:00.000Z",
        "from": {"user": {"id": "aad-ben", "displayName": "Ben Ito"}},
        "body": {"contentType": "html", "content": f"<p>{text}</p>"},
        "linkToMessage": "https://teams.example/l/message/1", "attachments": [], **more,
    }  # fmt: skip


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


async def offered(chat: Chat, *names: str, **more: Any) -> Json:
    said = chat.said(more.pop("text", ""), files=tuple(map(file, names)), **more)
    (activity,) = await run_command(chat.teams, said)
    return activity["attachments"][0]["content"]


async def test_files_are_added_as_the_dialog_says(chat: Chat) -> None:
    card = await offered(chat, "a.pdf", "b.pdf")
    (button,) = buttons(card)
    assert button["title"] == "Add these 2 files"
    form = await chat.opens(button["data"])
    assert "a.pdf\nb.pdf" in words(form)
    done = await chat.presses(
        form, "Upload", filled={"knowledge_base": "main", "labels": "hr, it", "same_name": "keep_both"}
    )
    assert words(done) == "I'm adding 2 files. A message shows how it goes."
    (incoming,) = chat.inbox.accepted
    assert (incoming.kind, incoming.platform) == (work.UPLOAD, work.DOCUMENTS)
    assert incoming.payload == {
        "reference": DIRECT.model_dump(mode="json"),
        "who": {"user": "29:ann", "aad": "aad-ann", "name": "Ann Lee", "role": ""},
        "files": [file("a.pdf"), file("b.pdf")], "said": None, "knowledge_base": "main",
        "labels": ["hr", "it"], "audience": "everyone", "same_name": "keep_both", "message": "m1",
    }  # fmt: skip
    again = await chat.presses(form, "Upload")
    assert "adding that already" in words(again)
    assert len(chat.inbox.accepted) == 1


async def test_what_is_wrong_is_said_and_the_rest_stays(chat: Chat) -> None:
    (button,) = buttons(await offered(chat, "a.pdf"))
    assert button["title"] == "Add this file"
    form = await chat.opens(button["data"])
    wrong = await chat.presses(
        form, "Upload", filled={"labels": "x" * 99, "new_knowledge_base": "handbook"}
    )
    assert "Up to 20 labels" in words(wrong)
    values = {one["id"]: one.get("value") for one in inputs(wrong)}
    assert values["field.new_knowledge_base"] == "handbook"
    assert chat.inbox.accepted == []
    await chat.presses(wrong, "Upload", filled={"labels": "hr"})
    assert chat.inbox.accepted[0].payload["knowledge_base"] == "handbook"


async def test_who_may_not_add_is_told_in_the_chat_and_in_the_dialog(chat: Chat) -> None:
    (button,) = buttons(await offered(chat, "a.pdf"))
    form = await chat.opens(button["data"])
    chat.bot.refuse["upload"] = Refused("Only admins can add documents.")
    with pytest.raises(Refused, match="Only admins"):
        await offered(chat, "a.pdf")
    assert words(await chat.opens(button["data"])) == "Only admins can add documents."
    assert "Only admins can add documents." in words(await chat.presses(form, "Upload"))
    assert chat.inbox.accepted == []


async def test_only_the_one_who_sent_files_adds_them(chat: Chat) -> None:
    (button,) = buttons(await offered(chat, "a.pdf", text="kb upload", reference=CHANNEL))
    form = await chat.opens(button["data"], reference=CHANNEL)
    why = "Only the one who sent that can add it."
    assert words(await chat.opens(button["data"], reference=CHANNEL, who=BEN)) == why
    assert words(await chat.presses(form, "Upload", reference=CHANNEL, who=BEN)) == why
    elsewhere = CHANNEL.model_copy(update={"tenant": "t2"})
    assert "too long ago" in words(await chat.opens(button["data"], reference=elsewhere))


@pytest.mark.parametrize("key", ["", "nothing", None, 3])
async def test_files_that_are_not_kept_any_more(chat: Chat, key: Any) -> None:
    assert "too long ago" in words(await chat.opens({"kind": "upload", "key": key}))


async def test_without_files_it_says_how(chat: Chat) -> None:
    assert "Attach files" in words(await offered(chat, text="upload"))
    assert "kb upload" in words(await offered(chat, text="kb upload", reference=CHANNEL))


async def test_the_files_of_any_message_are_added_by_its_action(chat: Chat) -> None:
    shared = {"contentType": "reference", "contentUrl": "https://x.sharepoint.com/a.pdf", "name": "a.pdf"}
    picture = {"contentType": "application/vnd.microsoft.card.adaptive", "content": {}}
    form = await chat.acts_on(message(attachments=[picture, shared]), reference=CHANNEL)
    assert "a.pdf" in words(form)
    value = {"commandId": "addToKnowledgeBase", "data": sent(form, "Upload")}
    answer = await chat.invoke("composeExtension/submitAction", value, reference=CHANNEL)
    assert "I'm adding 1 file." in str(answer.body)
    (incoming,) = chat.inbox.accepted
    assert incoming.payload["files"] == [shared]
    assert incoming.payload["message"] == "100"


async def test_a_message_without_files_is_added_by_its_words(chat: Chat) -> None:
    form = await chat.acts_on(message(), reference=CHANNEL)
    value = {"commandId": "addToKnowledgeBase", "data": sent(form, "Upload")}
    answer = await chat.invoke("composeExtension/submitAction", value, reference=CHANNEL)
    assert "I'm adding that message." in str(answer.body)
    said = chat.inbox.accepted[0].payload["said"]
    assert said["body"]["content"] == "<p>Keys change every 90 days.</p>"
    made = await message_file(chat.teams, CHANNEL, said)
    text = made.path.read_text("utf-8")
    assert text.startswith("# Keys change every 90 days.\n\nA thread from Microsoft Teams, General.")
    assert "## Ben Ito, 2026-11-30 10:00 UTC" in text
    assert made.permalink == "https://teams.example/l/message/1"


async def test_where_the_team_has_consented_the_whole_thread_is_added(chat: Chat) -> None:
    chat.graph.thread = [message("How often?", messageType="message"), message(messageType="message")]
    made = await message_file(chat.teams, CHANNEL.model_copy(update={"team": "19:t"}), message())
    text = made.path.read_text("utf-8")
    assert text.count("## Ben Ito") == 2
    assert text.startswith("# How often?")


@pytest.mark.parametrize("payload", [{}, {"body": 3}, {"body": {"content": " "}}, {"attachments": "x"}])
async def test_a_message_with_nothing_in_it_is_refused(chat: Chat, payload: Json) -> None:
    assert "nothing in that message" in words(await chat.acts_on(payload))
