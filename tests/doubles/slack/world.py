"""What there is in the double's Slack: teams, people, channels, messages, files, installations."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.doubles.slack.clock import Clock
from tests.doubles.slack.errors import Json, SlackError

ChannelKind = Literal["public", "private", "im", "mpim"]
StreamState = Literal["open", "stopped", "stopped_by_user", "expired"]

#: What manifest.yml asks for, and what other tests of the adapter need.
SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read",
    "chat:write", "commands", "files:read", "groups:history", "groups:read", "im:history", "im:read", "im:write",
    "mpim:history", "mpim:read", "reactions:write", "usergroups:read", "users:read",
})  # fmt: skip
EVENTS = frozenset({
    "agent_session_stopped", "app_home_opened", "app_mention", "app_uninstalled", "file_shared",
    "member_joined_channel", "message.channels", "message.groups", "message.im", "message.mpim",
    "tokens_revoked",
})  # fmt: skip


@dataclass
class App:
    """The app as it is set up at Slack."""

    id: str = "A0FOOTNOTE"
    name: str = "Footnote"
    client_id: str = "111.222"
    client_secret: str = "client-secret"
    signing_secret: str = "signing-secret"
    app_token: str = "xapp-1-footnote"
    scopes: frozenset[str] = SCOPES
    events: frozenset[str] = EVENTS
    #: With rotation, tokens last 12 hours and refresh tokens are used once.
    rotation: bool = False
    agent_view: bool = True
    messages_tab: bool = True


@dataclass
class User:
    id: str
    team: str
    name: str = ""
    real_name: str = ""
    admin: bool = False
    owner: bool = False
    restricted: bool = False
    ultra_restricted: bool = False
    stranger: bool = False
    bot: bool = False
    deleted: bool = False
    locale: str = "en-US"
    tz: str = "Europe/Berlin"
    email: str = ""


@dataclass
class File:
    id: str
    team: str
    user: str
    name: str
    content: bytes
    mimetype: str = "text/plain"
    filetype: str = "text"
    created: float = 0.0
    #: As Slack Connect shares it: no addresses in events, `files.info` tells them.
    connect: bool = False
    deleted: bool = False
    channels: set[str] = field(default_factory=set[str])


@dataclass
class Stream:
    """A message that is being streamed."""

    state: StreamState
    started: float
    mode: Literal["markdown_text", "chunks"]
    text: str = ""
    plan_title: str | None = None
    tasks: dict[str, Json] = field(default_factory=dict[str, Json])
    blocks: list[Json] = field(default_factory=list[Json])
    display: str = "timeline"


@dataclass
class Message:
    ts: str
    channel: str
    user: str
    text: str
    thread_ts: str | None = None
    blocks: list[Json] = field(default_factory=list[Json])
    attachments: list[Json] = field(default_factory=list[Json])
    files: list[str] = field(default_factory=list[str])
    metadata: Json | None = None
    #: Of a bot's message.
    bot_id: str | None = None
    app_id: str | None = None
    subtype: str | None = None
    edited: Json | None = None
    stream: Stream | None = None
    #: Changes of the text that a person has seen, oldest first.
    versions: list[str] = field(default_factory=list[str])
    #: Root of a thread whose text was taken away.
    tombstone: bool = False

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


@dataclass
class Ephemeral:
    ts: str
    channel: str
    user: str
    text: str
    blocks: list[Json] = field(default_factory=list[Json])
    thread_ts: str | None = None
    #: A deleted or replaced one is not seen any more.
    gone: bool = False


@dataclass
class Channel:
    id: str
    team: str
    name: str = ""
    kind: ChannelKind = "public"
    members: set[str] = field(default_factory=set[str])
    archived: bool = False
    #: Shared with another workspace (Slack Connect).
    ext_shared: bool = False
    org_shared: bool = False
    read_only: bool = False
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    #: Timestamps of messages that were deleted.
    gone: set[str] = field(default_factory=set[str])

    @property
    def type(self) -> str:
        """As in `channel_type` of events."""
        return {"public": "channel", "private": "group", "im": "im", "mpim": "mpim"}[self.kind]


@dataclass
class Token:
    value: str
    team: str
    kind: Literal["bot", "app"] = "bot"
    scopes: frozenset[str] = SCOPES
    revoked: bool = False
    expires: float | None = None


@dataclass
class Team:
    id: str
    name: str
    domain: str
    bot_user: str
    bot_id: str
    enterprise: str | None = None
    installed: bool = True
    inactive: bool = False


@dataclass
class View:
    """A modal or a Home tab as it stands."""

    id: str
    team: str
    user: str
    content: Json
    hash: str
    root: str
    previous: str | None = None
    state: Json = field(default_factory=dict[str, Any])


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
