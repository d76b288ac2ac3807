"""The state of the double's Teams, and how it is made."""

from __future__ import annotations

import itertools

from tests.doubles.clock import Clock
from tests.doubles.teams.errors import Refusal
from tests.doubles.teams.things import (
    App,
    ChannelKind,
    Conversation,
    File,
    Message,
    Person,
    Team,
    TeamRole,
    Tenant,
)


class World:
    """State only. Whoever changes it tells the bot what it is to hear of it."""

    def __init__(self, clock: Clock, app: App) -> None:
        self.clock, self.app = clock, app
        self.tenants: dict[str, Tenant] = {}
        self.people: dict[str, Person] = {}
        self.teams: dict[str, Team] = {}
        self.conversations: dict[str, Conversation] = {}
        self.files: dict[str, File] = {}
        self._number = itertools.count(1)
        self._last_id = 0

    # -- making things -------------------------------------------------------------------------

    def guid(self) -> str:
        return f"{next(self._number):08x}-0000-4000-8000-000000000000"

    def new_id(self) -> str:
        """Milliseconds, later than all others."""
        self._last_id = max(round(self.clock.now() * 1000), self._last_id + 1)
        return str(self._last_id)

    def add_tenant(self, name: str = "Contoso", *, id: str | None = None, consented: bool = True) -> Tenant:
        made = Tenant(id or self.guid(), name, consented)
        self.tenants[made.id] = made
        return made

    @property
    def first_tenant(self) -> str:
        return next(iter(self.tenants), None) or self.add_tenant().id

    def add_person(
        self, name: str, *, tenant: str | None = None, guest: bool = False, email: str | None = None
    ) -> Person:
        tenant = tenant or self.first_tenant
        address = email or f"{name.lower().replace(' ', '.')}@{self.tenants[tenant].name.lower()}.example"
        made = Person(self.guid(), tenant, name, address, guest)
        self.people[made.aad] = made
        return made

    def add_team(
        self,
        name: str,
        *members: str,
        owners: tuple[str, ...] = (),
        tenant: str | None = None,
        installed: bool = True,
        rsc: bool = False,
    ) -> Team:
        """With its General channel, whose id is the team's."""
        roles: dict[str, TeamRole] = {
            member: "guest" if self.people[member].guest else "member" for member in members
        }
        roles |= dict.fromkeys(owners, "owner")
        tenant = tenant or self.first_tenant
        group = self.guid()
        made = Team(f"19:general{group[:8]}@thread.tacv2", group, name, tenant, roles, [], installed, rsc)
        self.teams[made.id] = made
        self._add_channel(Conversation(made.id, "channel", tenant, "General", team=made.id))
        return made

    def add_channel(
        self,
        name: str,
        team: str,
        *members: str,
        kind: ChannelKind = "standard",
        installed: bool = True,
    ) -> Conversation:
        """`members` and `installed` count for private and shared channels only."""
        made = Conversation(
            f"19:{name.lower()}{self.guid()[:8]}@thread.tacv2",
            "channel",
            self.teams[team].tenant,
            name,
            list(members),
            team,
            kind,
            installed,
        )
        return self._add_channel(made)

    def _add_channel(self, made: Conversation) -> Conversation:
        self.conversations[made.id] = made
        assert made.team is not None
        self.teams[made.team].channels.append(made.id)
        return made

    def add_chat(
        self,
        name: str,
        *members: str,
        tenant: str | None = None,
        installed: bool = True,
        rsc: bool = False,
    ) -> Conversation:
        made = Conversation(
            f"19:{self.guid().replace('-', '')}@thread.v2",
            "groupChat",
            tenant or self.first_tenant,
            name,
            list(members),
            installed=installed,
            rsc=rsc,
        )
        self.conversations[made.id] = made
        return made

    def personal(self, person: str) -> Conversation:
        """The chat of a person with the bot; made, with the bot installed, when there is none yet."""
        for one in self.conversations.values():
            if one.kind == "personal" and one.members == [person]:
                return one
        who = self.people[person]
        made = Conversation(f"a:1{who.aad.replace('-', '')}", "personal", who.tenant, members=[person])
        self.conversations[made.id] = made
        return made

    def add_file(self, name: str, content: bytes | str) -> File:
        data = content.encode() if isinstance(content, str) else content
        id = self.guid()
        made = File(id, name, data, ticket=f"t{id[:8]}")
        self.files[id] = made
        return made

    # -- finding things ------------------------------------------------------------------------

    def members(self, place: Conversation) -> list[str]:
        if place.team is not None and place.channel_kind == "standard":
            return list(self.teams[place.team].members)
        return place.members

    def installed(self, place: Conversation) -> bool:
        """The bot is a member, and may send."""
        if place.team is not None and place.channel_kind == "standard":
            return self.teams[place.team].installed
        return place.installed

    def consents(self, place: Conversation) -> bool:
        return self.teams[place.team].rsc if place.team is not None else place.rsc

    def place(self, id: str) -> tuple[Conversation, str | None]:
        """The conversation that an id of the Connector's API names, and the root of its thread."""
        name, _, root = id.partition(";messageid=")
        found = self.conversations.get(name)
        if found is None or (root and not found.channel) or (not root and ";" in id):
            raise Refusal(404, "ConversationNotFound", "Conversation not found.")
        if root and ((message := found.messages.get(root)) is None or message.root != root):
            raise Refusal(404, "ConversationNotFound", "Conversation not found.")
        return found, root or None

    def person_by(self, id: str) -> Person | None:
        """By the id that the bot knows, by that in the directory, or by the sign-in name."""
        for person in self.people.values():
            if id in (person.user, person.aad, f"8:orgid:{person.aad}", person.email):
                return person
        return None

    def thread(self, place: Conversation, root: str | None) -> list[Message]:
        """In order; of a channel the root and its replies, or (`root` None) everything."""
        found = [one for one in place.messages.values() if root is None or one.root == root]
        return sorted(found, key=lambda one: int(one.id))
