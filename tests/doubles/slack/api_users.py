"""auth.test, users.info, usergroups.*, files.info, and the chat with the bot (assistant.threads.*)."""

from __future__ import annotations

from typing import Any, cast

from tests.doubles.slack import limits
from tests.doubles.slack.api import Call, method, page
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Channel


@method("auth.test")
def auth_test(call: Call) -> Json:
    team = call.team
    made: Json = {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": "footnote",
        "team_id": team.id,
        "user_id": team.bot_user,
        "bot_id": team.bot_id,
        "is_enterprise_install": False,
    }
    return made | ({"enterprise_id": team.enterprise} if team.enterprise else {})


@method("users.info", "users:read")
def users_info(call: Call) -> Json:
    user = call.slack.world.users.get(call.need("user", "user_not_found"))
    if user is None:
        raise SlackError("user_not_found")
    if user.team != call.team.id and not user.stranger:
        raise SlackError("user_not_visible")
    return {"user": call.slack.payloads.user(user, locale=call.flag("include_locale"))}


@method("users.list", "users:read")
def users_list(call: Call) -> Json:
    found = [user for user in call.slack.world.users.values() if user.team == call.team.id]
    items, more = page(call, found)
    locale = call.flag("include_locale")
    return {"members": [call.slack.payloads.user(user, locale=locale) for user in items], **more}


@method("usergroups.users.list", "usergroups:read")
def usergroups_users(call: Call) -> Json:
    group = call.slack.world.usergroups.get(call.need("usergroup", "no_such_subteam"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": group}


@method("usergroups.list", "usergroups:read")
def usergroups_list(call: Call) -> Json:
    groups: list[Json] = [
        {"id": id, "team_id": call.team.id, "handle": id.lower(), "name": id, "user_count": len(users)}
        for id, users in call.slack.world.usergroups.items()
    ]
    if call.flag("include_users"):
        for group in groups:
            group["users"] = call.slack.world.usergroups[group["id"]]
    return {"usergroups": groups}


@method("files.info", "files:read")
def files_info(call: Call) -> Json:
    file = call.slack.world.files.get(call.need("file", "file_not_found"))
    if file is None:
        raise SlackError("file_not_found")
    if file.deleted:
        raise SlackError("file_deleted")
    if file.team != call.team.id and not file.connect:
        raise SlackError("file_not_found")
    return {"file": call.slack.payloads.file(file), "comments": []}


@method("reactions.add", "reactions:write")
def reactions_add(call: Call) -> Json:
    channel = call.channel()
    call.need("name", "invalid_name")
    if call.need("timestamp", "no_item_specified") not in channel.messages:
        raise SlackError("message_not_found")
    return {}


# -- the chat with the bot ---------------------------------------------------------------------


def _thread(call: Call) -> tuple[Channel, str]:
    channel = call.channel("channel_id")
    root = call.need("thread_ts", "invalid_thread_ts")
    if root not in channel.messages:
        raise SlackError("invalid_thread_ts")
    if not call.slack.world.is_member(channel):
        raise SlackError("not_in_channel")
    return channel, root


@method("assistant.threads.setStatus", "chat:write")
def set_status(call: Call) -> Json:
    channel, root = _thread(call)
    if "status" not in call.args:
        raise SlackError("invalid_arguments", messages=["[ERROR] missing required field: status"])
    loading = call.structure("loading_messages", list, "invalid_arguments") or []
    if len(loading) > limits.LOADING_MESSAGES:
        raise SlackError("invalid_arguments", messages=["[ERROR] no more than 10 items allowed"])
    call.slack.world.statuses[channel.id, root] = {
        "status": call.get("status"),
        "loading_messages": loading,
    }
    return {}


@method("assistant.threads.setTitle", "assistant:write")
def set_title(call: Call) -> Json:
    channel, root = _thread(call)
    if channel.kind != "im":
        raise SlackError("method_not_supported_for_channel_type")
    call.slack.world.titles[channel.id, root] = call.need("title")
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write")
def set_suggested_prompts(call: Call) -> Json:
    channel = call.channel("channel_id")
    if channel.kind != "im":
        raise SlackError("method_not_supported_for_channel_type")
    prompts = cast("list[Any]", call.structure("prompts", list, "invalid_arguments") or [])
    if not 1 <= len(prompts) <= limits.PROMPTS:
        raise SlackError("invalid_arguments", messages=["[ERROR] 1 to 4 prompts allowed"])
    for number, prompt in enumerate(prompts):
        if not isinstance(prompt, dict) or not all(
            isinstance(prompt.get(key), str) and prompt[key] for key in ("title", "message")
        ):
            raise SlackError("invalid_arguments", messages=[f"[ERROR] [json-pointer:/prompts/{number}]"])
    root = call.get("thread_ts") or None
    if root is not None and call.slack.app.agent_view:
        # With the agent view Slack says yes, and shows nothing.
        return {}
    call.slack.world.prompts[channel.id, root] = {"title": call.get("title"), "prompts": prompts}
    return {}
