"""chat.postMessage, update, delete, postEphemeral, getPermalink."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.doubles.slack import limits
from tests.doubles.slack.api import Call, method
from tests.doubles.slack.blocks import check_message
from tests.doubles.slack.core import Core
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Channel, Ephemeral, Message

_TS = re.compile(r"\d{10}\.\d{6}")
_EVENT_TYPE = re.compile(r"[\w-]{1,255}", re.ASCII)


def with_ids(core: Core, blocks: list[Json]) -> list[Json]:
    """Slack names each block that has no name; those of `markdown` blocks it takes for itself."""
    return [
        block | {"block_id": core.world.new_id("blk")}
        if not block.get("block_id") or block["type"] == "markdown"
        else block
        for block in blocks
    ]


def metadata(call: Call) -> Json | None:
    found: Any = call.structure("metadata", dict, "invalid_metadata_format")
    if found is None:
        return None
    if found == {}:
        return {}
    if set(found) - {"event_type", "event_payload", "entities"}:
        raise SlackError("invalid_metadata_format")
    kind, payload = found.get("event_type"), found.get("event_payload")
    if not isinstance(kind, str) or not _EVENT_TYPE.fullmatch(kind) or not isinstance(payload, dict):
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(payload)) > limits.METADATA:
        raise SlackError("metadata_too_large")
    return found


def content(call: Call, *, most: int = limits.MESSAGE_TEXT, needed: bool = True) -> tuple[str, list[Json]]:
    """`text` and `blocks`, checked."""
    text = call.get("text")
    blocks = check_message(call.args.get("blocks"))
    attachments = call.structure("attachments", list, "invalid_attachments") or []
    if len(attachments) > limits.MESSAGE_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    markdown = call.get("markdown_text")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > limits.MARKDOWN:
            raise SlackError("msg_too_long")
        return markdown, [{"type": "markdown", "text": markdown}]
    if len(text) > most:
        raise SlackError("msg_too_long")
    if needed and not text.strip() and not blocks and not attachments:
        raise SlackError("no_text")
    return text, blocks


def place(call: Call) -> Channel:
    """Where something is to be said; a person's id stands for the direct messages with them."""
    world = call.slack.world
    target = call.need("channel", "channel_not_found")
    if target in world.users:
        user = world.users[target]
        if user.bot:
            raise SlackError("cannot_dm_bot")
        if user.team != call.team.id or user.deleted:
            raise SlackError("channel_not_found")
        channel = world.dm(target, call.team.id)
    else:
        channel = world.channel_for(call.team.id, target)
    if channel.archived:
        raise SlackError("is_archived")
    if not world.is_member(channel) and "chat:write.public" not in call.token.scopes:
        raise SlackError("not_in_channel")
    if channel.kind == "im" and not call.slack.app.messages_tab:
        raise SlackError("messages_tab_disabled")
    if channel.read_only:
        raise SlackError("restricted_action_read_only_channel")
    return channel


def thread(channel: Channel, ts: str) -> str | None:
    """The root, as it was asked for. Slack takes no reply for a root, nor what is no message."""
    if not ts:
        return None
    if ts in channel.gone:
        raise SlackError("thread_not_found")
    root = channel.messages.get(ts)
    if not _TS.fullmatch(ts) or root is None or root.thread_ts not in (None, ts):
        raise SlackError("invalid_thread_ts")
    return ts


def own(call: Call, channel: Channel, code: str) -> Message:
    message = channel.messages.get(call.need("ts", "message_not_found"))
    if message is None:
        raise SlackError("message_not_found")
    if message.bot_id != call.team.bot_id or message.tombstone:
        raise SlackError(code)
    return message


def limited(call: Call, channel: Channel) -> None:
    """About one message a second and channel, with some at once."""
    if not call.slack.rules.post_limited:
        return
    now, burst = call.slack.clock.now(), float(call.slack.rules.burst)
    left, at = call.slack.buckets.get((call.method, channel.id), (burst, now))
    left = min(burst, left + now - at)
    if left < 1:
        raise SlackError("ratelimited", status=429, headers={"Retry-After": "1"})
    call.slack.buckets[call.method, channel.id] = (left - 1, now)


def posted(call: Call, channel: Channel, **facts: Any) -> Message:
    """A new message of the bot's."""
    made = Message(
        ts=call.slack.world.new_ts(),
        channel=channel.id,
        user=call.team.bot_user,
        bot_id=call.team.bot_id,
        app_id=call.slack.app.id,
        **facts,
    )
    channel.messages[made.ts] = made
    call.slack.published(channel, made)
    return made


@method("chat.postMessage", "chat:write")
def post_message(call: Call) -> Json:
    channel = place(call)
    root = thread(channel, call.get("thread_ts"))
    text, blocks = content(call)
    found = metadata(call)
    limited(call, channel)
    made = posted(
        call,
        channel,
        text=text,
        thread_ts=root,
        blocks=with_ids(call.slack, blocks),
        attachments=call.structure("attachments", list, "invalid_attachments") or [],
        metadata=found or None,
        versions=[text],
    )
    return {
        "channel": channel.id,
        "ts": made.ts,
        "message": call.slack.payloads.message(made, metadata=True),
    }


@method("chat.update", "chat:write")
def update(call: Call) -> Json:
    channel = call.channel()
    message = own(call, channel, "cant_update_message")
    if channel.archived:
        raise SlackError("is_archived")
    settle(call.slack, message)
    if message.stream is not None and message.stream.state == "open":
        raise SlackError("streaming_state_conflict")
    has_blocks = call.args.get("blocks") is not None
    text, blocks = content(call, most=limits.UPDATE_TEXT, needed=False)
    if not text.strip() and not blocks and not call.args.get("attachments"):
        raise SlackError("no_text")
    found = metadata(call)
    before = call.slack.payloads.message(message, event=True)
    if call.args.get("text") is not None or call.get("markdown_text"):
        message.text = text
    if has_blocks or call.get("markdown_text"):
        message.blocks = with_ids(call.slack, blocks)
    if call.args.get("attachments") is not None:
        message.attachments = call.structure("attachments", list, "invalid_attachments") or []
    if found is not None:
        message.metadata = found or None
    message.versions.append(message.text)
    message.edited = {"user": message.user, "ts": call.slack.world.new_ts()}
    call.slack.changed(channel, message, before)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": call.slack.payloads.message(message, metadata=True),
    }


def settle(core: Core, message: Message) -> None:
    """Slack ends a stream by itself when its time is over."""
    stream = message.stream
    if stream is None or stream.state != "open":
        return
    if core.clock.now() - stream.started >= limits.STREAM_SECONDS:
        stream.state = "expired"


@method("chat.delete", "chat:write")
def delete(call: Call) -> Json:
    channel = call.channel()
    message = own(call, channel, "cant_delete_message")
    settle(call.slack, message)
    if message.stream is not None and message.stream.state == "open":
        raise SlackError("cant_delete_message")
    call.slack.removed(channel, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Call) -> Json:
    channel = place(call)
    user = call.need("user", "invalid_arguments")
    root = thread(channel, call.get("thread_ts"))
    text, blocks = content(call)
    if user not in channel.members:
        raise SlackError("user_not_in_channel")
    ts = call.slack.world.new_ts()
    made = Ephemeral(ts, channel.id, user, text, with_ids(call.slack, blocks), root)
    call.slack.world.ephemerals.append(made)
    return {"message_ts": ts}


@method("chat.getPermalink")
def get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = channel.messages.get(call.need("message_ts", "message_not_found"))
    if message is None:
        raise SlackError("message_not_found")
    link = f"https://{call.team.domain}.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}
