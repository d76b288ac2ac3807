"""The steps of a conversation in the Agents Playground. Each checks what it sees, and tells of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Final

from tests.pictures.playground import WORLD
from tests.pictures.teams_visit import (
    CHANNEL,
    GROUP,
    PERSONAL,
    Visit,
    button,
    cited,
    dumps,
    filled,
    objects,
)  # fmt: skip

BOT: Final = WORLD["bot"]["name"]
QUESTION: Final = "How often do I have to change my API key?"
ANSWER: Final = "Change your API key every 90 days"
THUMB: Final = "It does not say who reminds me."
#: A document that the handbook does not have.
NAME: Final = "badge-printer.md"
DOCUMENT: Final = (
    "# Badge printer\n\nThe badge printer stands on the third floor beside the lift. "
    "Its ribbon is changed every second Tuesday by the front desk.\n"
)


async def welcome(visit: Visit) -> str:
    """Welcome in a personal chat."""
    await visit.window.see(f"Hello, I'm {BOT}")
    assert await visit.window.page.get_by_text(f"Hello, I'm {BOT}").count() == 1, "It said hello twice."
    card = await visit.card(0, PERSONAL, "Hello")
    asked = [o for o in objects(card) if o.get("type") == "Action.Submit"]
    assert asked, "It suggests no questions."
    return f"one card, {len(asked)} questions to begin with"


async def personal(visit: Visit) -> str:
    """Question in a personal chat."""
    since = visit.mark()
    await visit.window.write(QUESTION)
    await visit.window.see("Searching your documents")
    answer = await visit.answer(since, PERSONAL)
    assert ANSWER in answer["text"], f"It answered: {answer['text']}"
    told = [
        e["message"] for e in visit.client.events[since:] if (e.get("message") or {}).get("streamEntity")
    ]
    stream = [m for m in told if m["messageId"] == answer["messageId"]]
    kinds = [m["streamEntity"]["streamType"] for m in stream]
    grown = [m["text"] for m in stream if m["streamEntity"]["streamType"] != "informative"]
    assert kinds[0] == "informative", f"The stream began as {kinds[0]}."
    assert kinds.count("streaming") > 1, f"The stream did not grow: {kinds}"
    assert kinds[-1] == "final", f"The stream ended as {kinds[-1]}."
    assert all(b.startswith(a) for a, b in pairwise(grown)), f"The text was no longer the same: {grown}"
    sources = cited(answer)
    await visit.window.page.locator("a[role=button]").last.wait_for()
    shown = await visit.window.source()
    assert ANSWER in shown, f"Under the mouse the source says: {shown}"
    await visit.window.picture(visit.pictures / "teams-personal.png", still=True)
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return f"{counts}, {len(sources)} source, its passage under the mouse"


async def thumb(visit: Visit) -> str:
    """Thumb down with words."""
    await visit.window.thumb_down(THUMB)
    known = visit.relay.exchanges[-1]
    assert known.activity["name"] == "message/submitAction", f"It sent {known.activity.get('name')}."
    assert (known.status, known.body) == (200, None), f"The bot answered {known.status}: {known.body}"
    # The Playground does not say which message was meant, which Teams does.
    answer = next(m for m in visit.messages(0, PERSONAL) if m.get("aiEntity") and m.get("text"))
    words = json.dumps({"feedbackText": THUMB})
    value = {"actionName": "feedback", "actionValue": {"reaction": "dislike", "feedback": words}}
    invoke = visit.like(
        PERSONAL, type="invoke", name="message/submitAction", value=value, replyToId=answer["messageId"]
    )
    await visit.sent(invoke)
    return "thanks in the window"


async def commands(visit: Visit) -> str:
    """Commands: help and list."""
    since = visit.mark()
    await visit.window.write("help")
    await visit.window.see("What I can do")
    await visit.window.write("list")
    await visit.window.see("21 documents, page 1 of 3")
    await visit.window.press("Next")
    await visit.window.see("21 documents, page 2 of 3")
    cards = [m for m in visit.messages(since, PERSONAL) if "21 documents" in dumps(m)]
    assert len(cards) == 1, "The next page came as another message."
    return "help; 21 documents, turned to page 2 in place"


async def settings(visit: Visit) -> str:
    """Settings in a dialog."""
    since = visit.mark()
    await visit.window.write("settings")
    card = await visit.card(since, PERSONAL, "Open settings")
    title, form = await visit.dialog("task/fetch", button(card, "Open settings"), card["messageId"])
    inputs = [o for o in objects(form) if str(o.get("type")).startswith("Input.")]
    save = next(o for o in objects(form) if o.get("type") == "Action.Submit")["title"]
    _, after = await visit.dialog("task/submit", filled(form, save))
    assert "aved" in dumps(after), f"After saving the dialog says {dumps(after)[:300]}"
    return f"“{title}” with {len(inputs)} fields, saved"


async def why(visit: Visit) -> str:
    """Why this answer, in a dialog."""
    card = next(m for m in visit.messages(0, PERSONAL) if "Why this answer?" in dumps(m))
    title, shown = await visit.dialog("task/fetch", button(card, "Why this answer?"), card["messageId"])
    assert QUESTION in dumps(shown), "The dialog does not say what was asked."
    return f"“{title}” with {len(shown['body'])} lines"


async def group(visit: Visit) -> str:
    """Group chat."""
    await visit.window.go(WORLD["groupChat"]["name"])
    await visit.window.see("Mention me with a question")
    since = visit.mark()
    await visit.window.write("How do I connect to the VPN?", mention=BOT)
    answer = await visit.answer(since, GROUP)
    assert "Tunnelwright" in answer["text"], f"It answered: {answer['text']}"
    assert "streamEntity" not in answer, "It streamed where Teams has no streaming."
    cited(answer)
    # The Playground can't turn text into text with a card, nor take it away, which Teams can: there, what
    # was shown on the way becomes the answer.
    texts = await visit.settled(since, GROUP)
    return f"one answer, without a stream ({texts - 1} other text, which points to it)"


async def channel(visit: Visit) -> str:
    """Channel thread with a follow-up."""
    await visit.window.go(f"{WORLD['team']['name']} - {WORLD['team']['channels'][0]['name']}")
    await visit.window.see("Mention me with a question")
    visit.model.pause = 0.0
    since = visit.mark()
    await visit.window.write(QUESTION, mention=BOT, post=True)
    first = await visit.answer(since, CHANNEL)
    cited(first)
    asked = visit.relay.exchanges[-1].activity["conversation"]["id"]
    then = visit.mark()
    await visit.window.write("And how long does the old one work?", mention=BOT, box=1)
    second = await visit.answer(then, CHANNEL)
    assert "24 more hours" in second["text"], f"The follow-up was answered: {second['text']}"
    assert visit.relay.exchanges[-1].activity["conversation"]["id"] == asked, "It was another thread."
    cited(second)
    texts = await visit.settled(since, CHANNEL)
    assert texts == 2, f"There are {texts} answers to two questions."
    await visit.window.picture(visit.pictures / "teams-channel.png", height=1250)
    return "two answers in the thread; the follow-up was understood"


async def upload(visit: Visit) -> str:
    """A file, and a question that it answers."""
    await visit.window.go("Personal Chat")
    visit.relay.files[NAME] = DOCUMENT.encode()
    attached = {
        "contentType": "application/vnd.microsoft.teams.file.download.info",
        "contentUrl": f"https://contoso.sharepoint.example/{NAME}",
        "name": NAME,
        "content": {"downloadUrl": f"{visit.relay.url}/files/{NAME}", "uniqueId": "u", "fileType": "md"},
    }
    since = visit.mark()
    await visit.sent(
        visit.like(PERSONAL, type="message", text="", textFormat="plain", attachments=[attached])
    )
    card = await visit.card(since, PERSONAL, "Add this file")
    await visit.window.see(NAME)
    title, form = await visit.dialog("task/fetch", button(card, "Add this file"), card["messageId"])
    assert "Who can ask" in dumps(form), f"“{title}” does not ask for the audience."
    answers = {"knowledge_base": "handbook", "audience": "everyone"}
    _, after = await visit.dialog("task/submit", filled(form, "Upload", **answers))
    assert "I'm adding 1 file" in dumps(after), f"After that the dialog says {dumps(after)[:300]}"
    await visit.card(since, PERSONAL, f"{NAME}: done")
    asked = visit.mark()
    await visit.window.write("Who changes the ribbon of the badge printer?")
    answer = await visit.answer(asked, PERSONAL)
    assert "front desk" in answer["text"], f"It answered: {answer['text']}"
    named = cited(answer)[0]["appearance"]["name"]
    assert "Badge printer" in named, f"The source is {named}."
    await visit.window.see("third floor")
    await visit.window.picture(visit.pictures / "teams-upload.png")
    return f"card, “{title}”, done; answered from “{named}”"


STEPS: Final[tuple[Callable[[Visit], Awaitable[str]], ...]] = (
    welcome, personal, thumb, commands, settings, why, group, channel, upload,
)  # fmt: skip
