"""`app_uninstalled` and `tokens_revoked`: they come in either order, twice, and late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.installations import Installations, event_time


def register(app: AsyncApp, installations: Installations) -> None:
    """Acknowledged once it is done: should this process die before, Slack tells it again."""

    async def leave(req: AsyncBoltRequest, next: Callable[[], Awaitable[BoltResponse]]) -> BoltResponse:
        body = req.body
        event: dict[str, Any] = body.get("event") or {}
        kind = event.get("type") if body.get("type") == "event_callback" else None
        enterprise, team = req.context.enterprise_id, req.context.team_id
        if req.context.is_enterprise_install:
            team = None
        if kind == "app_uninstalled":
            await installations.uninstalled(enterprise, team, at=event_time(body))
        elif kind == "tokens_revoked":
            tokens: dict[str, list[str]] = event.get("tokens") or {}
            await installations.revoked(
                enterprise,
                team,
                bot=bool(tokens.get("bot")),
                users=tokens.get("oauth") or [],
                at=event_time(body),
            )
        else:
            return await next()
        return BoltResponse(status=200, body="")

    app.middleware(leave)
