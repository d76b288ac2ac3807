"""The things of the double's Slack: app, teams, people, channels, messages, files, tokens, views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.doubles.slack.errors import Json

ChannelKind = Literal["public", "private", "im", "mpim"]
StreamState = Literal["open", "stopped", "stopped_by_user", "expired"]

#: What manifest.yml asks for, and what other tests of the adapter need.
SCOPES = frozenset({
    "app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read",
    "chat:write", "commands", "files:read", "groups:history", "groups:read", "im:history", "im:read",
    "im:write", "mpim:history", "mpim:read", "reactions:write", "usergroups:read", "users:read",
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
