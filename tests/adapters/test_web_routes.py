"""The routes of the page, without a browser."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse
from structlog.testing import capture_logs

from adapters.conversation import Conversation, Delta, Message, Reply, Working
from adapters.forms import Feedback, Submission
from adapters.ports import Refused
from tests.adapters.fake_bot import FakeBot, citation, page_of

TURN, THREAD = "turn-0001", "thread-0001"
REPLY = Reply(turn_id=TURN, kind="answer", text="Every **90 days** [1].", citations=(citation(),))
BODIES = {
    "/api/threads/thread-0001/turns": {"id": TURN, "text": "How often?"},
    "/api/turns/turn-0001/feedback": {"rating": "up"},
    "/api/documents/progress": {"ids": ["v1"]},
    "/api/documents/cancel": {"ids": ["v1"]},
    "/api/documents/d1/labels": {"labels": ["hr"]},
    "/api/settings": {"form_id": "workspace-settings", "values": {}, "revision": 3},
}


async def events(response: ClientResponse) -> list[dict[str, Any]]:
    assert response.content_type == "application/x-ndjson"
    return [json.loads(line) for line in (await response.text()).splitlines()]


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 400), (b"{", 400), (b"[1]", 400), (b'"text"', 400), (b"\xff\xfe{", 400),
        (b"[" * 100_000, 400),
        (b"{}", 400), (b'{"id": 1, "text": 2, "ids": "v1", "labels": [1], "values": [], "rating": 5}', 400),
        (b'{"text": "' + b"x" * 2_000_000 + b'"}', 413),
    ],
)  # fmt: skip
async def test_what_is_no_proper_request_is_refused(
    tmp_path: Path, path: str, data: bytes, status: int
) -> None:
    bot = FakeBot(events=[REPLY])
    async with page_of(bot, tmp_path) as page:
        response = await page.post(path, data=data, headers={"Content-Type": "application/json"})
        assert response.status == status
        assert "Traceback" not in await response.text()
    assert not bot.calls


@pytest.mark.parametrize("path", BODIES)
async def test_proper_requests_need_the_content_type_that_no_form_can_send(
    tmp_path: Path, path: str
) -> None:
    async with page_of(FakeBot(events=[REPLY]), tmp_path) as page:
        assert (await page.post(path, json=BODIES[path])).status == 200
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = {"Content-Type": kind}
            refused = await page.post(path, data=json.dumps(BODIES[path]), headers=headers)
            assert refused.status == 415


@pytest.mark.parametrize(
    "path",
    [
        "/api/threads/x", "/api/threads/..%2f..%2fetc", "/api/threads/" + "a" * 65,
        "/api/threads/a_b_c_d_e",
        "/api/turns/%00%00%00%00%00%00%00%00/explanation", "/assets/index.html", "/assets/..%2fguard.py",
        "/assets/source.html", "/api/unknown", "/api/documents/d1",
    ],
)  # fmt: skip
async def test_unknown_places_are_not_there(tmp_path: Path, path: str) -> None:
    async with page_of(FakeBot(), tmp_path) as page:
        assert (await page.get(path)).status in (404, 405)


async def test_an_answer_comes_in_pieces_and_is_kept(tmp_path: Path) -> None:
    bot = FakeBot(events=[Working(kind="searching", text="Searching"), Delta(text="Every **90"), REPLY])
    async with page_of(bot, tmp_path) as page:
        headers = {"Accept-Language": "de-DE;q=0.9, en"}
        asked = await page.post(
            f"/api/threads/{THREAD}/turns", json={"id": TURN, "text": "How often?"}, headers=headers
        )
        working, text, end = await events(asked)
        thread = await (await page.get(f"/api/threads/{THREAD}")).json()
    assert working == {"type": "working", "kind": "searching", "text": "Searching"}
    assert text["html"] == "<p>Every **90</p>\n"
    assert end["reply"]["html"].count('class="cite"') == 1
    assert end["reply"]["sources"] == [
        {
            "number": 1, "label": "1", "title": "Keys", "name": "keys.md", "place": "",
            "excerpt": "Every 90 days.", "url": "/source/abc#mark",
        }
    ]  # fmt: skip
    assert [m["role"] for m in thread["messages"]] == ["person", "assistant"]
    (turn,) = bot.asked
    assert (turn.locale, turn.conversation.thread, turn.history) == ("de-DE", THREAD, ())


async def test_a_thread_shows_stored_replies_and_at_least_the_text_of_lost_ones(tmp_path: Path) -> None:
    place = Conversation(platform="web", tenant="local", id="page", kind="direct", thread=THREAD)
    kept = [
        Message(id="turn-0001", role="person", text="How often?"),
        Message(id="turn-0001/reply", role="assistant", text="Every 90 days", turn_id=TURN),
        Message(id="turn-0002/reply", role="assistant", text="<b>lost</b>", turn_id="turn-0002"),
    ]
    bot = FakeBot(replies={TURN: REPLY}, messages={place.key: kept})
    async with page_of(bot, tmp_path) as page:
        thread = await (await page.get(f"/api/threads/{THREAD}")).json()
    _, first, second = thread["messages"]
    assert len(first["reply"]["sources"]) == 1
    assert second["reply"]["html"] == "<p>&lt;b&gt;lost&lt;/b&gt;</p>\n"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Refused("Not today."), "Not today."),
        (RuntimeError("secret detail"), "Something went wrong on my side. Please try again."),
    ],
)
async def test_what_fails_is_a_sentence_before_and_within_a_stream(
    tmp_path: Path, error: Exception, told: str
) -> None:
    names = ("explain", "list", "delete", "form", "submit", "record", "search", "relabel", "cancel")
    bot = FakeBot(events=[Delta(text="Every"), error], refuse=dict.fromkeys((*names, "watching"), error))
    with capture_logs() as logs:
        async with page_of(bot, tmp_path) as page:
            responses = [
                await page.get("/api/turns/turn-0001/explanation"),
                await page.get("/api/documents"),
                await page.delete("/api/documents/d1"),
                await page.get("/api/settings"),
                await page.get("/api/search?q=soup"),
                *[
                    await page.post(path, json=BODIES[path])
                    for path in BODIES
                    if path.endswith(("s", "l", "k"))
                ],
            ]
            streams = [r for r in responses if r.content_type == "application/x-ndjson"]
            for response in streams:
                assert (await events(response))[-1] == {"type": "error", "error": told}
            for response in set(responses) - set(streams):
                assert response.status == (409 if isinstance(error, Refused) else 500)
                assert await response.json() == {"error": told}
    assert len(streams) == 2
    assert len(logs) == (0 if isinstance(error, Refused) else len(responses))


async def test_closing_the_stream_ends_the_work(tmp_path: Path) -> None:
    bot = FakeBot(events=[Delta(text="Every"), asyncio.Event()])
    async with page_of(bot, tmp_path) as page:
        response = await page.post(f"/api/threads/{THREAD}/turns", json={"id": TURN, "text": "?"})
        assert await response.content.readline()
        response.close()
        await asyncio.wait_for(bot.closed.wait(), 10)


async def test_an_empty_question_is_no_question(tmp_path: Path) -> None:
    bot = FakeBot()
    async with page_of(bot, tmp_path) as page:
        asked = await page.post(f"/api/threads/{THREAD}/turns", json={"id": TURN, "text": " \n"})
        assert asked.status == 400
    assert not bot.asked


async def test_what_is_asked_reaches_the_bot(tmp_path: Path) -> None:
    bot = FakeBot()
    async with page_of(bot, tmp_path) as page:
        for path in list(BODIES)[1:]:
            assert (await page.post(path, json=BODIES[path])).status == 200
        assert (await page.delete("/api/documents/d1")).status == 200
        found = await (await page.get("/api/search?q=+soup+")).json()
        assert (await page.get("/api/search?q=+")).status == 400
    assert ("record", Feedback(turn_id=TURN, person_id="local", rating="up")) in bot.calls
    assert ("watch", ["v1"]) in bot.calls
    assert ("relabel", "d1", ["hr"]) in bot.calls
    assert ("submit", Submission(form_id="workspace-settings", values={}, revision=3)) in bot.calls
    assert ("delete", "d1") in bot.calls
    assert {c[2] for c in bot.calls if c[:2] == ("search", "soup")} == {"hybrid", "semantic", "keyword"}
    assert found["keyword"][0]["excerpt"] == "Day · Dish; Monday · Soup"
    assert [hit["place"] for hit in found["keyword"]] == ["p. 2", "slide 2", "summary of the document"]
