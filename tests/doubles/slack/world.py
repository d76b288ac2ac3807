"""What there is in the double's Slack: teams, people, channels, messages, files, installations."""

from __future__ import annotations

import secrets
from typing import Any

from tests.doubles.clock import Clock
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import (
    App,
    Channel,
    ChannelKind,
    Ephemeral,
    File,
    Message,
    Team,
    Token,
    User,
    View,
)


class World:
    """State only. Whoever changes it tells `Core.publish` what the app is to hear of it."""

    def __init__(self, clock: Clock, app: App) -> None:
        self.clock, self.app = clock, app
        self.teams: dict[str, Team] = {}
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self.tokens: dict[str, Token] = {}
        self.usergroups: dict[str, list[str]] = {}
        self.views: dict[str, View] = {}
        #: Views that are open, by person, the topmost last.
        self.stacks: dict[str, list[str]] = {}
        #: Home tabs, by (team, user).
        self.homes: dict[tuple[str, str], View] = {}
        self.ephemerals: list[Ephemeral] = []
        #: What `assistant.threads.*` has set, by (channel, thread).
        self.statuses: dict[tuple[str, str], Json] = {}
        self.titles: dict[tuple[str, str], str] = {}
        self.prompts: dict[tuple[str, str | None], Json] = {}
        self._counts: dict[str, int] = {}
        self._last_ts = 0

    # -- making things -------------------------------------------------------------------------

    def new_id(self, kind: str) -> str:
        number = self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}{number:04d}"

    def new_ts(self) -> str:
        """Later than all others, as Slack's are within a channel."""
        micros = max(round(self.clock.now() * 1_000_000), self._last_ts + 100)
        self._last_ts = micros
        return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"

    def add_team(
        self,
        id: str = "T0001",
        *,
        name: str = "Example",
        installed: bool = True,
        token: str | None = None,
        enterprise: str | None = None,
    ) -> Team:
        """With its bot user; its bot token is `xoxb-<id>` unless another is given."""
        bot = User(
            id=f"UB{id[1:]}", team=id, name="footnote", real_name=self.app.name, bot=True, locale="en-US"
        )
        self.users[bot.id] = bot
        team = Team(
            id=id,
            name=name,
            domain=name.lower(),
            bot_user=bot.id,
            bot_id=f"B{id[1:]}",
            enterprise=enterprise,
            installed=installed,
        )
        self.teams[id] = team
        if installed:
            value = token or f"xoxb-{id}"
            self.tokens[value] = Token(value, id, scopes=self.app.scopes)
        return team

    def add_user(self, name: str, *, team: str | None = None, id: str | None = None, **facts: Any) -> User:
        made = User(
            id=id or self.new_id("U"),
            team=team or self.first_team,
            name=name,
            real_name=facts.pop("real_name", name.capitalize()),
            email=facts.pop("email", f"{name}@example.com"),
            **facts,
        )
        self.users[made.id] = made
        return made

    def add_channel(
        self,
        name: str,
        *members: str,
        team: str | None = None,
        kind: ChannelKind = "public",
        bot: bool = True,
        id: str | None = None,
        **facts: Any,
    ) -> Channel:
        """`bot`: the app's bot is a member."""
        team = team or self.first_team
        prefix = {"public": "C", "private": "C", "im": "D", "mpim": "G"}[kind]
        made = Channel(id or self.new_id(prefix), team, name, kind, set(members), **facts)
        if bot:
            made.members.add(self.teams[team].bot_user)
        self.channels[made.id] = made
        return made

    def add_file(
        self, name: str, content: bytes | str, *, user: str, id: str | None = None, **facts: Any
    ) -> File:
        data = content.encode() if isinstance(content, str) else content
        made = File(
            id or self.new_id("F"),
            self.users[user].team,
            user,
            name,
            data,
            created=self.clock.now(),
            **facts,
        )
        self.files[made.id] = made
        return made

    def dm(self, user: str, team: str | None = None) -> Channel:
        """The direct messages of a person with the bot; made when there are none yet."""
        team = team or self.users[user].team
        bot = self.teams[team].bot_user
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == {user, bot}:
                return channel
        return self.add_channel("", user, team=team, kind="im")

    # -- finding things ------------------------------------------------------------------------

    @property
    def first_team(self) -> str:
        return next(iter(self.teams))

    def is_member(self, channel: Channel) -> bool:
        return self.teams[channel.team].bot_user in channel.members

    def channel_for(self, team: str, id: str) -> Channel:
        """The channel as the bot of `team` may see it."""
        found = self.channels.get(id)
        if found is None or found.team != team:
            raise SlackError("channel_not_found")
        if found.kind != "public" and not self.is_member(found):
            raise SlackError("channel_not_found")
        return found

    def thread(self, channel: Channel, root: str) -> list[Message]:
        """Root first, then the replies by time."""
        found = [message for message in channel.messages.values() if message.root == root]
        return sorted(found, key=lambda message: (message.ts != root, message.ts))

    def secret(self, prefix: str) -> str:
        return f"{prefix}-{secrets.token_hex(8)}"
