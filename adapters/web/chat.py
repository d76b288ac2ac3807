"""Threads and turns."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, cast

from aiohttp import web

from adapters.conversation import Delta, Message, Reply, ReplyEvent, Turn, Working
from adapters.forms import Feedback
from adapters.web.context import BOT, LOCAL_PERSON, WORKSPACE, Lines, actor, body, conversation, lines
from adapters.web.markdown import to_html
from adapters.web.plain import to_text
from adapters.web.source import link_within

_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
#: Seconds between two pictures of an answer on its way.
_RENDER_EVERY = 0.06
_HISTORY = 40
#: Characters of a quote under its source.
_EXCERPT = 280


def checked(request: web.Request, name: str) -> str:
    """An id from the address. 404 for what can't be one."""
    value = request.match_info[name]
    if not _ID.fullmatch(value):
        raise web.HTTPNotFound
    return value


def reply_json(reply: Reply) -> dict[str, Any]:
    """A reply as the page shows it."""
    marks = {citation.label: citation.number for citation in reply.citations}
    anchor = f"source-{reply.turn_id}"
    sources = [
        {
            "number": c.number, "label": c.label, "title": c.title, "name": c.name, "place": c.place(),
            "excerpt": to_text(c.quote, limit=_EXCERPT), "url": link_within(c.url),
        }
        for c in reply.citations
    ]  # fmt: skip
    return {
        "turn": reply.turn_id, "kind": reply.kind, "text": reply.text, "anchor": anchor,
        "html": to_html(reply.text, marks=marks, anchor=anchor), "sources": sources,
        "notes": list(reply.notes), "reference": reply.reference, "suggestions": list(reply.suggestions),
    }  # fmt: skip


async def thread(request: web.Request) -> web.Response:
    """The messages of a thread, replies with their sources."""
    bot, app = request.app[BOT], request.app
    place = conversation(app, checked(request, "thread"))
    messages: list[dict[str, Any]] = []
    for message in await bot.transcript.recent(place, limit=200):
        if message.role == "person":
            messages.append({"role": "person", "text": message.text})
        elif message.turn_id:
            reply = await bot.answers.reply(actor(app, place.thread), message.turn_id)
            gone = Reply(turn_id=message.turn_id, kind="notice", text=message.text)
            messages.append({"role": "assistant", "reply": reply_json(reply or gone)})
    return web.json_response({"messages": messages})


async def ask(request: web.Request) -> web.StreamResponse:
    """Answer a question as a stream of JSON lines. Closing it cancels the work."""
    bot, app = request.app[BOT], request.app
    place = conversation(app, checked(request, "thread"))
    sent = await body(request)
    turn_id, text = sent.get("id"), sent.get("text")
    if not isinstance(turn_id, str) or not _ID.fullmatch(turn_id) or not isinstance(text, str):
        raise web.HTTPBadRequest(text="A question needs an id and a text.")
    if not text.strip():
        raise web.HTTPBadRequest(text="Type a question first.")
    history = await bot.transcript.recent(place, limit=_HISTORY)
    turn = Turn(
        id=turn_id,
        workspace=app[WORKSPACE],
        conversation=place,
        asker=LOCAL_PERSON,
        text=text,
        history=tuple(message for message in history if message.id not in (turn_id, f"{turn_id}/reply")),
        locale=_locale(request),
    )
    await bot.transcript.append(
        place,
        Message(id=turn_id, role="person", author=LOCAL_PERSON, text=text, at=datetime.now(UTC)),
    )
    async with lines(request) as stream:
        await _answer(request, turn, stream)
    return stream.response


async def _answer(request: web.Request, turn: Turn, stream: Lines) -> None:
    bot = request.app[BOT]
    shown, rendered = "", 0.0
    async with aclosing(cast("AsyncGenerator[ReplyEvent]", bot.answers.answer(turn))) as events:
        async for event in events:
            match event:
                case Working():
                    await stream.send({"type": "working", "kind": event.kind, "text": event.text})
                case Delta():
                    shown += event.text
                    if time.monotonic() - rendered >= _RENDER_EVERY:
                        rendered = time.monotonic()
                        await stream.send({"type": "text", "html": to_html(shown)})
                case Reply():
                    answered = Message(
                        id=f"{turn.id}/reply",
                        role="assistant",
                        text=event.text,
                        at=datetime.now(UTC),
                        turn_id=event.turn_id,
                    )
                    await bot.transcript.append(turn.conversation, answered)
                    await stream.send({"type": "reply", "reply": reply_json(event)})


def _locale(request: web.Request) -> str | None:
    """The first language that the browser asks for."""
    first = re.split("[,;]", request.headers.get("Accept-Language", ""))[0].strip()
    return first if _LOCALE.fullmatch(first) else None


async def explain(request: web.Request) -> web.Response:
    explanation = await request.app[BOT].answers.explain(actor(request.app), checked(request, "turn"))
    return web.json_response(explanation.model_dump(mode="json"))


async def feedback(request: web.Request) -> web.Response:
    sent = await body(request)
    rating, reason = sent.get("rating"), sent.get("reason", "")
    if rating not in ("up", "down") or not isinstance(reason, str):
        raise web.HTTPBadRequest(text="A rating is up or down.")
    given = Feedback(
        turn_id=checked(request, "turn"), person_id=LOCAL_PERSON.id, rating=rating, reason=reason[:3000]
    )
    await request.app[BOT].feedback.record(actor(request.app), given)
    return web.json_response({})


async def suggestions(request: web.Request) -> web.Response:
    return web.json_response(
        {"suggestions": await request.app[BOT].answers.suggestions(actor(request.app))}
    )


ROUTES = [
    web.get("/api/suggestions", suggestions),
    web.get("/api/threads/{thread}", thread),
    web.post("/api/threads/{thread}/turns", ask),
    web.get("/api/turns/{turn}/explanation", explain),
    web.post("/api/turns/{turn}/feedback", feedback),
]
