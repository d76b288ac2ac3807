"""What people do in Slack, and what they see. What the app is to hear of it is sent by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.doubles.slack.core import Core
from tests.doubles.slack.errors import Json
from tests.doubles.slack.things import Channel, Ephemeral, Message, Team


@dataclass(frozen=True, slots=True)
class Seen:
    """A message as a person sees it. `text` is what stands there: blocks' words, else the text."""

    ts: str
    user: str
    text: str
    message: Message
    blocks: list[Json] = field(default_factory=list[Json])

    @property
    def by_bot(self) -> bool:
        return self.message.bot_id is not None


def words(value: Any) -> str:
    """All text in blocks, elements and views, in reading order."""
    if isinstance(value, list):
        return "\n".join(part for item in value if (part := words(item)))
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "rich_text_section":
        return "".join(words(item) for item in value["elements"])
    parts: list[str] = []
    for key, item in value.items():
        if key in ("text", "title", "alt_text", "label", "hint", "details", "output") and isinstance(
            item, str
        ):
            parts.append(item)
        elif key not in ("style", "value", "confirm", "options") and isinstance(item, dict | list):
            parts.append(words(item))
    return "\n".join(part for part in parts if part)


class People(Core):
    """Acts are named as in `slack.say(channel, user, text)`; ids, not objects, go in and out."""

    # -- saying --------------------------------------------------------------------------------

    def say(
        self,
        channel: str,
        user: str,
        text: str,
        thread: str | None = None,
        *,
        files: Sequence[str] = (),
        broadcast: bool = False,
    ) -> str:
        """A person's message. `text` mentions as `<@U…>`. Gives its ts."""
        place = self.world.channels[channel]
        place.members.add(user)
        message = Message(
            self.world.new_ts(), channel, user, text, thread, files=list(files), versions=[text]
        )
        if broadcast:
            message.subtype = "thread_broadcast"
        place.messages[message.ts] = message
        for file in files:
            self.world.files[file].channels.add(channel)
        self._heard(place, message)
        return message.ts

    def say_as_other_bot(
        self, channel: str, text: str, thread: str | None = None, *, name: str = "ci"
    ) -> str:
        """A message of another app, with subtype `bot_message` as older ones send it."""
        place = self.world.channels[channel]
        message = Message(self.world.new_ts(), channel, f"U{name.upper()}", text, thread)
        if message.user not in self.world.users:
            self.world.add_user(name, team=place.team, id=message.user, bot=True)
        message.bot_id, message.app_id, message.subtype = f"B{name.upper()}", "A0OTHER", "bot_message"
        place.messages[message.ts] = message
        self.published(place, message)
        return message.ts

    def _heard(self, channel: Channel, message: Message) -> None:
        team = self.world.teams[channel.team]
        if f"<@{team.bot_user}" in message.text and channel.kind != "im":
            self._mentioned(team, channel, message)
        self.published(channel, message)
        for file in message.files:
            event: Json = {
                "type": "file_shared",
                "file_id": file,
                "file": {"id": file},
                "user_id": message.user,
                "channel_id": channel.id,
                "event_ts": message.ts,
            }
            if self.world.is_member(channel) and "files:read" in self.app.scopes:
                self.publish(team, event, channel=channel)

    def _mentioned(self, team: Team, channel: Channel, message: Message) -> None:
        if not self.world.is_member(channel) or "app_mentions:read" not in self.app.scopes:
            return
        event = self.payloads.message(message, event=True)
        event.pop("subtype", None)
        event |= {"type": "app_mention", "channel": channel.id, "event_ts": message.ts}
        self.publish(team, event, channel=channel)

    def edit(self, channel: str, ts: str, text: str) -> None:
        place = self.world.channels[channel]
        message = place.messages[ts]
        before = self.payloads.message(message, event=True)
        mention = f"<@{self.world.teams[place.team].bot_user}"
        fresh = mention in text and mention not in message.text
        message.text = text
        message.versions.append(text)
        message.edited = {"user": message.user, "ts": self.world.new_ts()}
        if fresh and place.kind != "im":
            self._mentioned(self.world.teams[place.team], place, message)
        self.changed(place, message, before)

    def delete(self, channel: str, ts: str) -> None:
        place = self.world.channels[channel]
        self.removed(place, place.messages[ts])

    def unfurl(self, channel: str, ts: str, url: str = "https://example.com/") -> None:
        """Slack shows a preview of a link: a `message_changed` that no person made."""
        place = self.world.channels[channel]
        message = place.messages[ts]
        before = self.payloads.message(message, event=True)
        message.attachments = [{"id": 1, "from_url": url, "title": "Example", "fallback": "Example"}]
        self.changed(place, message, before)

    # -- coming and going ----------------------------------------------------------------------

    def join(self, channel: str, user: str | None = None, *, inviter: str | None = None) -> None:
        """A member joins; without a user, the bot."""
        place = self.world.channels[channel]
        team = self.world.teams[place.team]
        who = user or team.bot_user
        place.members.add(who)
        event: Json = {
            "type": "member_joined_channel",
            "user": who,
            "channel": channel,
            "channel_type": "C" if place.kind == "public" else "G",
            "team": place.team,
            "event_ts": self.world.new_ts(),
        }
        if inviter:
            event["inviter"] = inviter
        if self.world.is_member(place):
            self.publish(team, event, channel=place)

    def leave(self, channel: str) -> None:
        """The bot is removed from a channel."""
        place = self.world.channels[channel]
        place.members.discard(self.world.teams[place.team].bot_user)

    def open_home(self, user: str) -> None:
        self._opened(user, "home")

    def open_messages_tab(self, user: str) -> str:
        """Gives the id of the direct messages."""
        return self._opened(user, "messages")

    def _opened(self, user: str, tab: str) -> str:
        team = self.world.teams[self.world.users[user].team]
        channel = self.world.dm(user, team.id)
        event: Json = {
            "type": "app_home_opened",
            "user": user,
            "channel": channel.id,
            "tab": tab,
            "event_ts": self.world.new_ts(),
        }
        if tab == "home" and (view := self.world.homes.get((team.id, user))) is not None:
            event["view"] = self.payloads.view(view)
        self.publish(team, event)
        return channel.id

    def press_stop(self, channel: str, thread: str, user: str) -> list[str]:
        """The stop button of an agent. Gives the messages that were being streamed."""
        place = self.world.channels[channel]
        stopped: list[str] = []
        for message in self.world.thread(place, thread):
            if message.stream is not None and message.stream.state == "open":
                message.stream.state = "stopped_by_user"
                stopped.append(message.ts)
        event: Json = {
            "type": "agent_session_stopped",
            "channel": channel,
            "thread_ts": thread,
            "streaming_message_ts": stopped,
            "user": user,
            "event_ts": self.world.new_ts(),
        }
        self.publish(self.world.teams[place.team], event, channel=place)
        return stopped

    def uninstall(self, team: str, *, tokens_first: bool = False, events: bool = True) -> None:
        """A person removes the app: its tokens die, and two events come, in either order."""
        found = self.world.teams[team]
        revoked = [token for token in self.world.tokens.values() if token.team == team]
        for token in revoked:
            token.revoked = True
        now = self.world.new_ts()
        gone: list[Json] = [
            {"type": "app_uninstalled", "event_ts": now},
            {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [found.bot_user]}, "event_ts": now},
        ]
        for event in reversed(gone) if tokens_first else gone:
            if events:
                self.publish(found, event)
        found.installed = False

    def revoke(self, team: str) -> None:
        """The bot's token is revoked, without an uninstallation."""
        found = self.world.teams[team]
        for token in self.world.tokens.values():
            if token.team == team:
                token.revoked = True
        event: Json = {
            "type": "tokens_revoked",
            "tokens": {"oauth": [], "bot": [found.bot_user]},
            "event_ts": self.world.new_ts(),
        }
        self.publish(found, event)

    # -- seeing --------------------------------------------------------------------------------

    def visible(self, channel: str, thread: str | None = None) -> list[Seen]:
        """The messages of a thread, root first, or of the channel without its threads, oldest first."""
        place = self.world.channels[channel]
        if thread is not None:
            found = self.world.thread(place, thread)
        else:
            roots = [message for message in place.messages.values() if message.thread_ts is None]
            found = sorted(roots, key=lambda message: message.ts)
        return [self._seen(message) for message in found]

    def replies(self, channel: str, thread: str) -> list[Seen]:
        """What the bot has said in a thread."""
        mine = self.world.teams[self.world.channels[channel].team].bot_id
        return [seen for seen in self.visible(channel, thread)[0:] if seen.message.bot_id == mine]

    def _seen(self, message: Message) -> Seen:
        stream = message.stream
        if stream is not None and not message.edited:
            tasks = [str(task.get("title") or "") for task in stream.tasks.values()]
            head = [stream.plan_title] if stream.plan_title else []
            shown = [*head, *tasks, stream.text, words(stream.blocks), words(message.blocks)]
            return Seen(message.ts, message.user, "\n".join(filter(None, shown)), message, message.blocks)
        return Seen(
            message.ts, message.user, words(message.blocks) or message.text, message, message.blocks
        )

    def ephemerals(self, user: str) -> list[Ephemeral]:
        return [one for one in self.world.ephemerals if one.user == user and not one.gone]

    def views(self, user: str) -> list[Json]:
        """The modals that are open, the topmost last, as Slack shows them."""
        return [self.payloads.view(self.world.views[id]) for id in self.world.stacks.get(user, [])]

    def home(self, user: str) -> Json | None:
        view = self.world.homes.get((self.world.users[user].team, user))
        return None if view is None else self.payloads.view(view)

    def status(self, channel: str, thread: str) -> str:
        return str(self.world.statuses.get((channel, thread), {}).get("status", ""))
