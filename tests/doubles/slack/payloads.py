"""The shapes that Slack sends: messages, users, channels, files, events, interactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.slack.errors import Json
from tests.doubles.slack.things import Channel, File, Message, Team, User, View

if TYPE_CHECKING:
    from tests.doubles.slack.core import Core


def section(text: str) -> Json:
    """A text as the `rich_text` block that Slack makes of it."""
    return {
        "type": "rich_text",
        "block_id": "rich",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text or " "}]}],
    }


class Payloads:
    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def _world(self) -> Any:
        return self._core.world

    def blocks(self, blocks: list[Json]) -> list[Json]:
        if not self._core.rules.expand_markdown:
            return blocks
        return [
            section(block["text"]) | {"block_id": block["block_id"]}
            if block["type"] == "markdown"
            else block
            for block in blocks
        ]

    def message(self, message: Message, *, event: bool = False, metadata: bool = False) -> Json:
        """As `conversations.replies` shows it, or as an event does."""
        channel: Channel = self._world.channels[message.channel]
        made: Json = {
            "type": "message",
            "user": "USLACKBOT" if message.tombstone else message.user,
            "text": message.text,
            "ts": message.ts,
            "team": self._world.users[message.user].team,
        }
        if message.subtype:
            made["subtype"] = message.subtype
        if message.blocks:
            made["blocks"] = self.blocks(message.blocks)
        elif message.text and not message.bot_id and not message.tombstone:
            made["blocks"] = [section(message.text)]
            made["client_msg_id"] = f"client-{message.ts}"
        if message.attachments:
            made["attachments"] = message.attachments
        if message.files:
            made["files"] = [
                self.file(file, event=event) for id in message.files if (file := self._world.files.get(id))
            ]
            made |= {"upload": False, "display_as_bot": False}
            if not message.subtype and not message.bot_id and event:
                made["subtype"] = "file_share"
        if message.bot_id:
            profile = {"id": message.bot_id, "app_id": message.app_id, "name": self._core.app.name}
            made |= {"bot_id": message.bot_id, "app_id": message.app_id, "bot_profile": profile}
        if message.edited:
            made["edited"] = message.edited
        if message.stream is not None:
            made["streaming_state"] = "in_progress" if message.stream.state == "open" else "completed"
        if message.metadata is not None and (metadata or event):
            made["metadata"] = message.metadata
        thread = self._world.thread(channel, message.root)
        if message.thread_ts:
            made["thread_ts"] = message.thread_ts
            if (root := channel.messages.get(message.thread_ts)) is not None:
                made["parent_user_id"] = root.user
        elif len(thread) > 1 and not event:
            made |= {
                "thread_ts": message.ts,
                "reply_count": len(thread) - 1,
                "reply_users": sorted({reply.user for reply in thread[1:]}),
                "latest_reply": thread[-1].ts,
            }
        return made

    def file(self, file: File, *, event: bool = False) -> Json:
        """With Slack Connect, events say no more than that `files.info` knows more."""
        if file.deleted:
            return {"id": file.id, "mode": "tombstone"}
        if file.connect and event:
            return {"id": file.id, "mode": "file_access", "file_access": "check_file_info"}
        base = f"{self._core.base}/files-pri/{file.team}-{file.id}"
        return {
            "id": file.id,
            "created": int(file.created),
            "timestamp": int(file.created),
            "name": file.name,
            "title": file.name,
            "mimetype": file.mimetype,
            "filetype": file.filetype,
            "pretty_type": file.filetype.upper(),
            "user": file.user,
            "user_team": file.team,
            "size": len(file.content),
            "mode": "hosted",
            "is_external": False,
            "is_public": False,
            "file_access": "visible",
            "url_private": f"{base}/{file.name}",
            "url_private_download": f"{base}/download/{file.name}",
            "permalink": f"https://{self._world.teams[file.team].domain}.slack.com/files/{file.user}/{file.id}",
            "channels": sorted(file.channels),
        }

    def user(self, user: User, *, locale: bool = False) -> Json:
        made: Json = {
            "id": user.id,
            "team_id": user.team,
            "name": user.name,
            "deleted": user.deleted,
            "real_name": user.real_name,
            "tz": user.tz,
            "tz_offset": 3600,
            "profile": {"real_name": user.real_name, "display_name": user.name, "team": user.team},
            "is_admin": user.admin,
            "is_owner": user.owner,
            "is_primary_owner": False,
            "is_restricted": user.restricted or user.ultra_restricted,
            "is_ultra_restricted": user.ultra_restricted,
            "is_bot": user.bot,
            "is_app_user": False,
        }
        if user.stranger:
            made["is_stranger"] = True
        if locale:
            made["locale"] = user.locale
        return made

    def channel(self, channel: Channel) -> Json:
        made: Json = {
            "id": channel.id,
            "is_channel": channel.kind in ("public", "private"),
            "is_group": channel.kind == "private",
            "is_im": channel.kind == "im",
            "is_mpim": channel.kind == "mpim",
            "is_private": channel.kind != "public",
            "is_archived": channel.archived,
            "is_shared": channel.ext_shared or channel.org_shared,
            "is_ext_shared": channel.ext_shared,
            "is_org_shared": channel.org_shared,
            "is_pending_ext_shared": False,
            "context_team_id": channel.team,
            "created": 1_700_000_000,
        }
        if channel.kind == "im":
            bot = self._world.teams[channel.team].bot_user
            made["user"] = next(iter(channel.members - {bot}), bot)
        else:
            made |= {
                "name": channel.name,
                "name_normalized": channel.name,
                "is_member": self._world.is_member(channel),
            }
        return made

    def view(self, view: View) -> Json:
        return {
            "id": view.id,
            "team_id": view.team,
            "app_id": self._core.app.id,
            "bot_id": self._world.teams[view.team].bot_id,
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "state": {"values": view.state},
            "hash": view.hash,
            "clear_on_close": False,
            "notify_on_close": False,
            "root_view_id": view.root,
            "previous_view_id": view.previous,
            **view.content,
        }

    # -- what comes to the app -----------------------------------------------------------------

    def event_callback(self, team: Team, event: Json, channel: Channel | None) -> Json:
        id = self._world.new_id("Ev")
        return {
            "token": "verification",
            "team_id": team.id,
            "context_team_id": team.id,
            "context_enterprise_id": team.enterprise,
            "enterprise_id": team.enterprise,
            "api_app_id": self._core.app.id,
            "event": event,
            "type": "event_callback",
            "event_id": id,
            "event_time": int(self._core.clock.now()),
            "authorizations": [
                {
                    "enterprise_id": team.enterprise,
                    "team_id": team.id,
                    "user_id": team.bot_user,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": channel.ext_shared if channel else False,
            "event_context": f"4-{id}",
        }

    def interaction(self, kind: str, user: User, team: Team) -> Json:
        """What `block_actions`, `view_submission` and shortcuts have in common."""
        return {
            "type": kind,
            "team": {"id": team.id, "domain": team.domain},
            "enterprise": {"id": team.enterprise, "name": team.enterprise} if team.enterprise else None,
            "is_enterprise_install": False,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
            "api_app_id": self._core.app.id,
            "token": "verification",
        }
