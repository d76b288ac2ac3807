"""conversations.*: threads, history, and who is where."""

from __future__ import annotations

from tests.doubles.slack.api import Call, method, page
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Channel, Message


def _readable(call: Call) -> Channel:
    channel = call.channel()
    call.scope_of(channel, "history")
    if not call.slack.world.is_member(channel):
        raise SlackError("not_in_channel")
    return channel


def _limited(call: Call) -> int:
    """The default and the most of a page, in the regime that is in force."""
    if not call.slack.rules.history_limited:
        return 1000
    now = call.slack.clock.now()
    _, at = call.slack.buckets.get((call.method, call.team.id), (0.0, now - 60))
    if now - at < 60:
        wait = str(max(1, round(60 - (now - at))))
        raise SlackError("ratelimited", status=429, headers={"Retry-After": wait})
    call.slack.buckets[call.method, call.team.id] = (0.0, now)
    return 15


def _between(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest = call.get("oldest") or "0", call.get("latest") or "9" * 10
    inclusive = call.flag("inclusive")
    try:
        low, high = float(oldest), float(latest)
    except ValueError:
        raise SlackError("invalid_ts_oldest") from None
    return [
        message
        for message in messages
        if low < float(message.ts) < high or (inclusive and message.ts in (oldest, latest))
    ]


def _shown(call: Call, messages: list[Message]) -> list[Json]:
    metadata = call.flag("include_all_metadata")
    return [call.slack.payloads.message(message, metadata=metadata) for message in messages]


@method("conversations.replies")
def replies(call: Call) -> Json:
    channel = _readable(call)
    most = _limited(call)
    ts = call.need("ts", "thread_not_found")
    asked = channel.messages.get(ts)
    if asked is None:
        raise SlackError("thread_not_found")
    thread = call.slack.world.thread(channel, asked.root) if asked.root == ts else [asked]
    root, rest = thread[0], _between(call, thread[1:])
    if call.args.get("limit") not in (None, "") and most == 15:
        call.args["limit"] = min(call.number("limit", 15), 15)
    # The root counts towards the first page only.
    items, more = page(call, [root, *rest], default=most, most=most)
    if call.get("cursor") and call.slack.rules.root_on_every_page:
        items = [root, *items]
    return {
        "messages": _shown(call, items),
        "has_more": bool(more["response_metadata"]["next_cursor"]),
        **more,
    }


@method("conversations.history")
def history(call: Call) -> Json:
    channel = _readable(call)
    most = _limited(call)
    if call.args.get("limit") not in (None, "") and most == 15:
        call.args["limit"] = min(call.number("limit", 15), 15)
    roots = [message for message in channel.messages.values() if message.thread_ts is None]
    found = sorted(_between(call, roots), key=lambda message: message.ts, reverse=True)
    items, more = page(call, found, default=min(100, most), most=most)
    return {
        "messages": _shown(call, items),
        "has_more": bool(more["response_metadata"]["next_cursor"]),
        "pin_count": 0,
        **more,
    }


@method("conversations.info")
def info(call: Call) -> Json:
    channel = call.channel()
    call.scope_of(channel, "read")
    made = call.slack.payloads.channel(channel)
    if call.flag("include_num_members"):
        made["num_members"] = len(channel.members)
    return {"channel": made}


@method("conversations.members")
def members(call: Call) -> Json:
    channel = call.channel()
    call.scope_of(channel, "read")
    items, more = page(call, sorted(channel.members))
    return {"members": items, **more}


@method("conversations.open")
def open_(call: Call) -> Json:
    users = [user for user in call.get("users").split(",") if user]
    if call.get("channel"):
        return {"channel": {"id": call.channel().id}}
    if not users:
        raise SlackError("users_list_not_supplied")
    world = call.slack.world
    if any(user not in world.users or world.users[user].team != call.team.id for user in users):
        raise SlackError("user_not_found")
    if any(world.users[user].deleted for user in users):
        raise SlackError("user_disabled")
    call.scope("im:write" if len(users) == 1 else "mpim:write")
    if len(users) == 1:
        if world.users[users[0]].bot:
            raise SlackError("cannot_dm_bot")
        channel = world.dm(users[0], call.team.id)
    else:
        channel = world.add_channel("mpdm", *users, team=call.team.id, kind="mpim")
    shown = call.slack.payloads.channel(channel) if call.flag("return_im") else {"id": channel.id}
    return {"channel": shown}


@method("conversations.join", "channels:join")
def join(call: Call) -> Json:
    channel = call.channel()
    if channel.kind != "public":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    channel.members.add(call.team.bot_user)
    return {"channel": call.slack.payloads.channel(channel)}


def _of_types(call: Call) -> list[Channel]:
    names = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}
    types = [part.strip() for part in (call.get("types") or "public_channel").split(",")]
    if any(part not in names for part in types):
        raise SlackError("invalid_types")
    kinds = {names[part] for part in types}
    found: list[Channel] = []
    for channel in call.slack.world.channels.values():
        if channel.team != call.team.id or channel.kind not in kinds:
            continue
        if channel.archived and call.flag("exclude_archived"):
            continue
        call.scope_of(channel, "read")
        found.append(channel)
    return found


@method("conversations.list")
def list_(call: Call) -> Json:
    world = call.slack.world
    visible = [
        channel for channel in _of_types(call) if channel.kind == "public" or world.is_member(channel)
    ]
    items, more = page(call, visible)
    return {"channels": [call.slack.payloads.channel(channel) for channel in items], **more}


@method("users.conversations")
def users_conversations(call: Call) -> Json:
    user = call.get("user") or call.team.bot_user
    bot = call.team.bot_user
    found = [
        channel
        for channel in _of_types(call)
        if user in channel.members and (channel.kind == "public" or bot in channel.members)
    ]
    items, more = page(call, found)
    return {"channels": [call.slack.payloads.channel(channel) for channel in items], **more}
