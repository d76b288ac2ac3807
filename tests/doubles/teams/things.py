"""What there is in the double's Teams: tenants, people, teams, conversations, messages, files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.doubles.teams.errors import Json

ConversationType = Literal["personal", "groupChat", "channel"]
ChannelKind = Literal["standard", "private", "shared"]
TeamRole = Literal["owner", "member", "guest"]


@dataclass
class Tenant:
    id: str
    name: str
    #: The app has a service principal there: its tokens for Microsoft Graph are given out.
    consented: bool = True
    #: Of Microsoft Graph, granted by an admin for all of the tenant: "Files.Read.All",
    #: "ChannelMessage.Read.All", "Chat.Read.All", "TeamMember.Read.All".
    permissions: set[str] = field(default_factory=set[str])


@dataclass
class Person:
    """`aad` is the id in the directory, by which this double's API names people."""

    aad: str
    tenant: str
    name: str
    email: str
    #: Of another organisation, seen as a guest in this tenant.
    guest: bool = False
    locale: str = "en-US"

    @property
    def user(self) -> str:
        """The id that the bot is told."""
        return f"29:1{self.aad.replace('-', '')}"


@dataclass
class Team:
    """`id` is that of its General channel; `group` is the id that Microsoft Graph knows."""

    id: str
    group: str
    name: str
    tenant: str
    members: dict[str, TeamRole]
    channels: list[str] = field(default_factory=list[str])
    installed: bool = True
    #: Resource-specific consent: un-mentioned messages, and Microsoft Graph.
    rsc: bool = False


@dataclass
class File:
    """`url` is that of SharePoint; `ticket` opens a download without a token, for a while."""

    id: str
    name: str
    content: bytes
    ticket: str
    url: str = ""
    tenant: str = ""
    #: When its ticket was last told.
    told: float = 0.0
    gone: bool = False

    @property
    def type(self) -> str:
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""


@dataclass
class Message:
    """`sender` is a person's `aad`, a bot's id, or None where Teams itself says something.

    `activity` is what a bot has sent, as it stands now; `root` is set in channels.
    """

    id: str
    conversation: str
    sender: str | None
    text: str = ""
    root: str | None = None
    reply_to: str | None = None
    entities: list[Json] = field(default_factory=list[Json])
    attachments: list[Json] = field(default_factory=list[Json])
    activity: Json = field(default_factory=dict[str, Any])
    files: list[str] = field(default_factory=list[str])
    #: Pictures that were pasted into the text.
    pasted: list[str] = field(default_factory=list[str])
    created: float = 0.0
    edited: float | None = None
    deleted: float | None = None
    #: Texts that stood there, the newest last.
    versions: list[str] = field(default_factory=list[str])
    #: None: never streamed; False: a stream that has not been ended by its bot.
    final: bool | None = None

    @property
    def edits(self) -> int:
        return len(self.versions) - 1


StreamState = Literal["open", "completed", "canceled", "expired"]


@dataclass
class Stream:
    id: str
    started: float
    sequence: int = 0
    #: "informative" until the first text of the message itself.
    phase: Literal["informative", "streaming"] = "informative"
    line: str = ""
    text: str = ""
    last: float = 0.0
    state: StreamState = "open"


@dataclass
class Conversation:
    """A chat with the bot, a group chat, or a channel; `members` are those of a chat, a private or a
    shared channel, while a standard channel has those of its team."""

    id: str
    kind: ConversationType
    tenant: str
    name: str = ""
    members: list[str] = field(default_factory=list[str])
    team: str | None = None
    channel_kind: ChannelKind = "standard"
    #: The bot is there.
    installed: bool = True
    #: Resource-specific consent of a group chat.
    rsc: bool = False
    #: Code of the 403 that every message of the bot is answered with, such as "MessageWritesBlocked".
    blocked: str | None = None
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    streams: dict[str, Stream] = field(default_factory=dict[str, Stream])
    #: Where the bot typed, when: by thread.
    typing: list[tuple[float, str | None]] = field(default_factory=list[tuple[float, str | None]])

    @property
    def channel(self) -> bool:
        return self.kind == "channel"


@dataclass
class App:
    """The registration of the bot. `tenant` is set where it is for one tenant only."""

    id: str = "11111111-2222-4333-8444-555555555555"
    name: str = "Footnote"
    password: str = "s3cret~value"
    tenant: str | None = None
    #: A managed identity instead of a password.
    managed: bool = False

    @property
    def bot(self) -> str:
        return f"28:{self.id}"
