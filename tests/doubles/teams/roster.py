"""The Bot Connector's calls about who and what there is, and the one that opens a chat with a person."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.doubles.teams import limits
from tests.doubles.teams.check_activity import check_activity
from tests.doubles.teams.errors import Json, Refusal, bad_request
from tests.doubles.teams.things import Conversation, Person, Team

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core


def _not_there() -> Refusal:
    said = "The bot is not part of the conversation roster."
    return Refusal(403, "BotNotInConversationRoster", said, blame=False)


class Roster:
    def __init__(self, core: Core) -> None:
        self._core = core

    def members(self, name: str) -> list[Json]:
        place = self._readable(name)
        return [self._core.payloads.member(who, place) for who in self._people(place)]

    def paged(self, name: str, query: Mapping[str, str]) -> Json:
        place = self._readable(name)
        least, most = limits.MEMBERS_PAGE
        try:
            size = min(max(int(query.get("pageSize", most)), least), most)
            begin = int(base64.b64decode(query.get("continuationToken", "MA==")))
        except ValueError:
            raise bad_request("pageSize is a number, and continuationToken one of an answer") from None
        people = self._people(place)
        answer: Json = {
            "members": [self._core.payloads.member(who, place) for who in people[begin : begin + size]]
        }
        if begin + size < len(people):
            answer["continuationToken"] = base64.b64encode(str(begin + size).encode()).decode()
        return answer

    def member(self, name: str, id: str) -> Json:
        place = self._readable(name)
        who = self._core.world.person_by(id)
        if who is None or who.aad not in self._core.world.members(place):
            raise Refusal(404, "MemberNotFoundInConversation", "The member could not be found", blame=False)
        return self._core.payloads.member(who, place)

    def team(self, id: str) -> Json:
        team = self._team(id)
        return {
            "id": team.id,
            "name": team.name,
            "aadGroupId": team.group,
            "channelCount": len(team.channels),
            "memberCount": len(team.members),
            "type": "standard",
        }

    def channels(self, id: str) -> Json:
        places = [self._core.world.conversations[one] for one in self._team(id).channels]
        return {
            "conversations": [
                # The name of General is not told.
                {"id": one.id, "type": one.channel_kind, **({"name": one.name} if one.id != id else {})}
                for one in places
                if one.channel_kind == "standard" or one.installed
            ]
        }

    def create(self, body: Any) -> tuple[int, Json]:
        """A chat with one person. Other kinds the bot has no business with are refused."""
        core = self._core
        if not isinstance(body, dict):
            raise bad_request("the body is no object")
        given = body.get("members")
        if body.get("isGroup") or not isinstance(given, list) or len(given) != 1:
            raise bad_request("Incorrect conversation creation parameters")
        tenant = ((body.get("channelData") or {}).get("tenant") or {}).get("id") or body.get("tenantId")
        if tenant not in core.world.tenants:
            raise bad_request("Tenant id is missing or unknown")
        bot = body.get("bot")
        if bot is not None and (
            not isinstance(bot, dict) or bot.get("id") not in (core.app.bot, core.app.id)
        ):
            raise Refusal(403, "InvalidBot", "The bot is another one")
        if core.rules.rates:
            core.rates.take(
                (("create", tenant), limits.CREATE_RATES), (("tenant", tenant), limits.TENANT_RATES)
            )
        who = core.world.person_by(str(given[0].get("id")))
        if who is None or who.tenant != tenant:
            raise Refusal(404, "UserNotFound", "The user could not be found")
        place = core.world.personal(who.aad)
        if not place.installed or place.blocked:
            code = place.blocked or "ForbiddenOperationException"
            raise Refusal(403, code, "Bot is not installed in user's personal scope", blame=False)
        answer: Json = {"id": place.id}
        if (activity := body.get("activity")) is not None:
            check_activity(activity, place, place.id, core.app.bot, {who.user, core.app.bot})
            answer["activityId"] = core.connector.send(place.id, activity)[1]["id"]
        return 201, answer

    # -- pieces --------------------------------------------------------------------------------

    def _readable(self, name: str) -> Conversation:
        core = self._core
        place, _ = core.world.place(name)
        if not core.world.installed(place):
            raise _not_there()
        if core.rules.rates:
            core.rates.take(
                (("read", place.id), limits.READ_RATES), (("tenant", place.tenant), limits.TENANT_RATES)
            )
        return place

    def _people(self, place: Conversation) -> list[Person]:
        return [self._core.world.people[aad] for aad in self._core.world.members(place)]

    def _team(self, id: str) -> Team:
        team = self._core.world.teams.get(id)
        if team is None:
            raise Refusal(404, "TeamNotFound", "The team could not be found")
        if not team.installed:
            raise _not_there()
        return team
