"""How a reply looks elsewhere: the JSON that Slack and Teams would be sent."""

from __future__ import annotations

import asyncio

from aiohttp import web

from adapters.slack.render import render as slack_messages
from adapters.teams.render import render as teams_activity
from adapters.web.chat import checked
from adapters.web.context import BOT, actor


async def preview(request: web.Request) -> web.Response:
    """404 for a turn whose reply is gone."""
    reply = await request.app[BOT].answers.reply(actor(request.app), checked(request, "turn"))
    if reply is None:
        raise web.HTTPNotFound(text="This answer is no longer kept.")
    slack, teams = await asyncio.gather(
        asyncio.to_thread(slack_messages, reply), asyncio.to_thread(teams_activity, reply)
    )
    return web.json_response({"slack": slack, "teams": teams})


ROUTES = [web.get("/api/turns/{turn}/preview", preview)]
