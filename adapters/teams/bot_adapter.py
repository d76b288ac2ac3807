"""botbuilder's way out to Teams, with plain JSON for activities.

`continue_conversation` gives a turn in which the bot speaks unasked. The SDK's own connector client is not
used: it drops what its models don't know (citations, stream info), tries once, and blocks a thread a call.
"""

# ruff: noqa: ARG002 -- the SDK names the arguments
from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast
from urllib.parse import quote

from botbuilder.core import BotAdapter, TurnContext
from botbuilder.schema import (
    Activity,
    ChannelAccount,
    ConversationAccount,
    ConversationReference,
    ResourceResponse,
)

from adapters.teams.reference import Reference
from adapters.teams.rest import Rest


class Plain(Activity):
    """An activity that is told exactly as `payload`; `once`: not tried again."""

    def __init__(self, payload: dict[str, Any], *, once: bool, **fields: Any) -> None:
        super().__init__(type=payload.get("type", "message"), **fields)
        self.payload, self.once = payload, once


class PlainAdapter(BotAdapter):
    def __init__(self, rest: Rest) -> None:
        super().__init__()
        self._rest = rest

    async def speak(
        self, reference: Reference, act: Callable[[TurnContext], Awaitable[None]], app_id: str
    ) -> None:
        """A turn of the bot's own in that conversation. Raises what `act` raises."""
        where = ConversationReference(
            bot=ChannelAccount(id=reference.bot, name=reference.bot_name),
            conversation=ConversationAccount(id=reference.conversation, tenant_id=reference.tenant),
            channel_id="msteams",
            service_url=reference.service_url,
        )
        await self.continue_conversation(where, act, app_id)

    async def send_activities(
        self, context: TurnContext, activities: Sequence[Activity]
    ) -> list[ResourceResponse]:
        sent: list[ResourceResponse] = []
        for activity in activities:
            plain = cast("Plain", activity)
            payload, place = plain.payload, cast("Any", activity)
            sender = {"id": place.from_property.id, "name": place.from_property.name or ""}
            told = {**payload, "from": sender, "conversation": {"id": place.conversation.id}}
            to = payload.get("replyToId")
            url = f"{_activities(activity)}/{quote(to, safe='')}" if to else _activities(activity)
            answer = await self._rest.call("POST", url, told, once=plain.once)
            sent.append(ResourceResponse(id=str(answer.get("id") or "")))
        return sent

    async def update_activity(self, context: TurnContext, activity: Activity) -> None:
        url = f"{_activities(activity)}/{quote(activity.id, safe='')}"
        plain = cast("Plain", activity)
        await self._rest.call("PUT", url, {**plain.payload, "id": activity.id}, once=plain.once)

    async def delete_activity(self, context: TurnContext, reference: ConversationReference) -> None:
        await self._rest.call("DELETE", f"{_activities(reference)}/{quote(reference.activity_id, safe='')}")


def conversations(service_url: str) -> str:
    return f"{service_url.rstrip('/')}/v3/conversations"


def _activities(place: Any) -> str:
    """Of an activity or a reference: what msrest takes for optional is there."""
    return f"{conversations(place.service_url)}/{quote(place.conversation.id, safe='')}/activities"
