"""Posts to a `response_url`: at most five, within half an hour."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from tests.doubles.slack import limits
from tests.doubles.slack.api import Call
from tests.doubles.slack.api_chat import content, with_ids
from tests.doubles.slack.core import Core, ResponseUrl
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Ephemeral, Message


def respond(core: Core, target: ResponseUrl, body: Json) -> None:
    """Show an answer, as a response_url and the answer to a command do. Raises `SlackError`."""
    world = core.world
    channel = world.channels[target.channel]
    shown = next((one for one in world.ephemerals if one.ts == target.message), None)
    posted = channel.messages.get(target.message or "")
    if body.get("delete_original"):
        if shown is not None:
            shown.gone = True
        elif posted is not None:
            core.removed(channel, posted)
        return
    text, blocks = content(Call(core, "response_url", body, None))
    blocks = with_ids(core, blocks)
    if body.get("replace_original") and shown is not None:
        shown.text, shown.blocks = text, blocks
        return
    if body.get("replace_original") and posted is not None:
        before = core.payloads.message(posted, event=True)
        posted.text, posted.blocks = text, blocks
        posted.versions.append(text)
        core.changed(channel, posted, before)
        return
    thread = body.get("thread_ts")
    if body.get("response_type") == "in_channel":
        team = world.teams[target.team]
        made = Message(
            world.new_ts(), channel.id, team.bot_user, text, thread, blocks, bot_id=team.bot_id,
            app_id=core.app.id, versions=[text],
        )  # fmt: skip
        channel.messages[made.ts] = made
        core.published(channel, made)
        return
    world.ephemerals.append(Ephemeral(world.new_ts(), channel.id, target.user, text, blocks, thread))


async def serve(core: Core, request: web.BaseRequest) -> web.StreamResponse:
    target = core.response_urls.get(request.path.removeprefix("/response/"))
    if target is None:
        return web.Response(status=404, text="no_service")
    if core.clock.now() - target.at > limits.RESPONSE_URL_SECONDS:
        return web.Response(status=404, text="expired_url")
    if target.uses >= limits.RESPONSE_URL_USES:
        return web.Response(status=404, text="used_url")
    try:
        body: Any = json.loads(await request.read())
        if not isinstance(body, dict):
            raise SlackError("invalid_payload")
        target.uses += 1
        core.responses.append(body)
        respond(core, target, body)
        core.changed_now()
    except ValueError:
        return web.Response(status=400, text="invalid_payload")
    except SlackError as error:
        return web.Response(status=400, text=error.code)
    return web.Response(text="ok")
