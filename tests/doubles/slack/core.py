"""What all parts of the double share: the state, the rules in force, the record of calls, the outbox."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from tests.doubles.clock import Clock
from tests.doubles.slack.dispatch import Outbox
from tests.doubles.slack.errors import Json
from tests.doubles.slack.faults import Faults
from tests.doubles.slack.payloads import Payloads
from tests.doubles.slack.sockets import Sockets
from tests.doubles.slack.things import App, Channel, Message, Team
from tests.doubles.slack.world import World

#: Which subscription and scope a message event needs, by kind of channel.
_SUBSCRIPTIONS = {
    "channel": ("message.channels", "channels:history"),
    "group": ("message.groups", "groups:history"),
    "im": ("message.im", "im:history"),
    "mpim": ("message.mpim", "mpim:history"),
}


@dataclass
class Rules:
    """Switches between regimes of the real Slack."""

    #: `chat.startStream` works; else it answers this error.
    streaming: bool = True
    no_streaming: str = "unknown_method"
    #: Apps outside the Marketplace: `conversations.replies` and `.history` once a minute, 15 messages.
    history_limited: bool = False
    #: About one message a second and channel, with `burst` at once.
    post_limited: bool = False
    burst: int = 4
    #: Slack puts the root of a thread on each page of `conversations.replies`.
    root_on_every_page: bool = True
    #: Slack gives `markdown` blocks back as `rich_text`.
    expand_markdown: bool = True


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the Web API as it came. `error` is Slack's code, None where it went well."""

    method: str
    args: Json
    team: str | None
    at: float
    error: str | None = None


@dataclass
class Trigger:
    user: str
    team: str
    at: float
    used: bool = False
    #: The view that was open when it was given.
    view: str | None = None


@dataclass
class ResponseUrl:
    team: str
    channel: str
    user: str
    at: float
    #: What the click was on: a message, or an ephemeral one.
    message: str | None = None
    thread: str | None = None
    uses: int = 0


@dataclass
class Core:
    app: App = field(default_factory=App)
    clock: Clock = field(default_factory=Clock)
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        self.world = World(self.clock, self.app)
        self.faults = Faults()
        self.calls: list[Called] = []
        self.sockets = Sockets(self)
        self.outbox = Outbox(self)
        self.payloads = Payloads(self)
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        #: Posts to response_urls, with what came of them.
        self.responses: list[Json] = []
        self.oauth_codes: dict[str, str] = {}
        self.refresh_tokens: dict[str, str] = {}
        self.used_refresh_tokens: set[str] = set()
        self.buckets: dict[tuple[str, str], tuple[float, float]] = {}
        self.base = ""

        self._news = asyncio.Event()

    def changed_now(self) -> None:
        """Wakes those that wait for `world_changed`."""
        self._news.set()

    async def world_changed(self) -> None:
        """Until the app's next call (of a method, or to a response_url) is done."""
        self._news = asyncio.Event()
        await self._news.wait()

    def calls_of(self, method: str) -> list[Called]:
        return [call for call in self.calls if call.method == method]

    # -- what the app is told ------------------------------------------------------------------

    def publish(self, team: Team, event: Json, *, channel: Channel | None = None, needs: str = "") -> None:
        """Send an event if the app has subscribed to it (`needs`, or its type) and is installed."""
        subscription = needs or str(event["type"])
        if subscription not in self.app.events or not team.installed:
            return
        self.outbox.add_event(team, self.payloads.event_callback(team, event, channel))

    def publish_message(self, channel: Channel, event: Json) -> None:
        """A `message` event of any subtype, where the bot is a member and may read."""
        team = self.world.teams[channel.team]
        subscription, scope = _SUBSCRIPTIONS[channel.type]
        if self.world.is_member(channel) and scope in self.app.scopes:
            full = event | {"channel": channel.id, "channel_type": channel.type}
            self.publish(team, full, channel=channel, needs=subscription)

    def published(self, channel: Channel, message: Message) -> None:
        """A new message, the bot's own too."""
        event = self.payloads.message(message, event=True)
        self.publish_message(channel, event | {"event_ts": message.ts})

    def changed(self, channel: Channel, message: Message, before: Json) -> None:
        now = self.world.new_ts()
        event: dict[str, Any] = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "message": self.payloads.message(message, event=True),
            "previous_message": before,
            "ts": now,
            "event_ts": now,
        }
        self.publish_message(channel, event)

    def removed(self, channel: Channel, message: Message) -> None:
        """Delete a message. The root of a thread with replies stays, without its words."""
        before = self.payloads.message(message, event=True)
        if len(self.world.thread(channel, message.ts)) > 1 and message.thread_ts is None:
            message.tombstone, message.text, message.files = True, "This message was deleted.", []
            message.blocks, message.metadata, message.subtype = [], None, "tombstone"
            self.changed(channel, message, before)
            return
        del channel.messages[message.ts]
        channel.gone.add(message.ts)
        now = self.world.new_ts()
        event: dict[str, Any] = {
            "type": "message",
            "subtype": "message_deleted",
            "hidden": True,
            "deleted_ts": message.ts,
            "previous_message": before,
            "ts": now,
            "event_ts": now,
        }
        self.publish_message(channel, event)
