"""What the bot says in Teams, and what it asks there. Implements the `Connector` protocol."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from botbuilder.core import TurnContext

from adapters.teams.bot_adapter import Plain, PlainAdapter, conversations
from adapters.teams.errors import Unclear
from adapters.teams.reference import Reference
from adapters.teams.rest import Rest


class BotConnector:
    def __init__(self, rest: Rest, app_id: str) -> None:
        self._rest, self._app_id = rest, app_id
        self._adapter = PlainAdapter(rest)

    async def send(self, reference: Reference, activity: dict[str, Any], *, once: bool = False) -> str:
        ids: list[str] = []

        async def act(context: TurnContext) -> None:
            sent = await context.send_activity(Plain(activity, once=once))
            ids.append(sent.id if sent is not None else "")

        await self._adapter.speak(reference, act, self._app_id)
        return ids[0]

    async def update(
        self, reference: Reference, activity_id: str, activity: dict[str, Any], *, once: bool = False
    ) -> None:
        async def act(context: TurnContext) -> None:
            await context.update_activity(Plain(activity, once=once, id=activity_id))

        await self._adapter.speak(reference, act, self._app_id)

    async def delete(self, reference: Reference, activity_id: str) -> None:
        async def act(context: TurnContext) -> None:
            await context.delete_activity(activity_id)

        await self._adapter.speak(reference, act, self._app_id)

    async def member(self, reference: Reference, user: str) -> dict[str, Any]:
        where = quote(reference.channel, safe="")  # a thread has the members of its channel
        url = f"{conversations(reference.service_url)}/{where}/members/{quote(user, safe='')}"
        return await self._rest.call("GET", url)

    async def team(self, reference: Reference) -> dict[str, Any]:
        url = f"{reference.service_url.rstrip('/')}/v3/teams/{quote(reference.team or '', safe='')}"
        return await self._rest.call("GET", url)

    async def headers(self) -> dict[str, str]:
        return await self._rest.headers()

    async def personal(self, reference: Reference, user: str) -> Reference:
        made = await self._rest.call(
            "POST",
            conversations(reference.service_url),
            {
                "bot": {"id": reference.bot, "name": reference.bot_name},
                "members": [{"id": user}],
                "tenantId": reference.tenant,
                "channelData": {"tenant": {"id": reference.tenant}},
                "isGroup": False,
            },
            same=True,  # there is one such chat for each person
        )
        if not made.get("id"):
            raise Unclear("no chat was told")
        return Reference(
            service_url=reference.service_url,
            tenant=reference.tenant,
            conversation=str(made["id"]),
            kind="direct",
            bot=reference.bot,
            bot_name=reference.bot_name,
        )
