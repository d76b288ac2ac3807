"""views.open, push, update, publish."""

from __future__ import annotations

import json
from typing import Any, Literal

from tests.doubles.slack import limits
from tests.doubles.slack.api import Call, method
from tests.doubles.slack.api_chat import with_ids
from tests.doubles.slack.blocks import check_view_blocks
from tests.doubles.slack.checks import as_object, known, optional, optional_text, required, text
from tests.doubles.slack.core import Core, Trigger
from tests.doubles.slack.errors import Invalid, Json, SlackError
from tests.doubles.slack.things import View

_MODAL = (
    "type", "title", "blocks", "close", "submit", "private_metadata", "callback_id", "clear_on_close",
    "notify_on_close", "external_id", "submit_disabled",
)  # fmt: skip
_HOME = ("type", "blocks", "private_metadata", "callback_id", "external_id")


def check_view(core: Core, value: Any, kind: Literal["modal", "home"]) -> Json:
    """A view as it may be shown. Raises `SlackError`."""
    try:
        found = as_object(value, "/view")
        if found.get("type") != kind:
            raise Invalid(f"must be one of: {kind}", "/view/type")
        known(found, "/view", *(_MODAL if kind == "modal" else _HOME))
        if kind == "modal":
            text(required(found, "title", "/view"), "/view/title", most=limits.VIEW_TITLE, plain=True)
        for name in ("submit", "close"):
            optional_text(found, name, "/view", most=limits.VIEW_TITLE)
        optional(found, "private_metadata", "/view", most=limits.PRIVATE_METADATA)
        for name in ("callback_id", "external_id"):
            optional(found, name, "/view", most=limits.IDENTIFIER)
        required(found, "blocks", "/view")
    except Invalid as error:
        raise SlackError("invalid_arguments", messages=[str(error)]) from error
    if len(json.dumps(found)) > limits.VIEW_SIZE:
        raise SlackError("view_too_large")
    blocks = check_view_blocks(found["blocks"], kind)
    inputs = any(block["type"] == "input" for block in blocks)
    if kind == "modal" and inputs and found.get("submit") is None:
        message = "[ERROR] missing required field: submit [json-pointer:/view/submit]"
        raise SlackError("invalid_arguments", messages=[message])
    if (external := found.get("external_id")) and any(
        view.content.get("external_id") == external for view in core.world.views.values()
    ):
        raise SlackError("duplicate_external_id")
    return found | {"blocks": with_ids(core, blocks)}


def _argument(call: Call) -> Any:
    if call.args.get("view") is None:
        raise SlackError("invalid_arguments", messages=["[ERROR] missing required field: view"])
    return call.structure("view", dict, "invalid_arguments")


def _trigger(call: Call) -> Trigger:
    trigger = call.slack.triggers.get(call.need("trigger_id", "invalid_arguments"))
    if trigger is None or trigger.team != call.team.id:
        raise SlackError("invalid_trigger_id")
    if call.slack.clock.now() - trigger.at > limits.TRIGGER_SECONDS:
        raise SlackError("expired_trigger_id")
    if trigger.used:
        raise SlackError("exchanged_trigger_id")
    return trigger


def show(core: Core, team: str, user: str, content: Json, *, on: str | None = None) -> View:
    """A modal on top of the others (`on` is the one beneath), or the first one."""
    id = core.world.new_id("V")
    root = core.world.views[on].root if on else id
    view = View(id, team, user, content, core.world.secret("hash"), root, on)
    core.world.views[id] = view
    stack = core.world.stacks.setdefault(user, [])
    if on is None:
        stack.clear()
    stack.append(id)
    return view


def replace(core: Core, view: View, content: Json) -> None:
    """What a person has entered stays where block and action are the same."""
    view.content, view.hash = content, core.world.secret("hash")
    ids = {block["block_id"] for block in content["blocks"]}
    view.state = {id: values for id, values in view.state.items() if id in ids}


@method("views.open")
def views_open(call: Call) -> Json:
    trigger = _trigger(call)
    content = check_view(call.slack, _argument(call), "modal")
    trigger.used = True
    view = show(call.slack, call.team.id, trigger.user, content)
    return {"view": call.slack.payloads.view(view)}


@method("views.push")
def views_push(call: Call) -> Json:
    trigger = _trigger(call)
    content = check_view(call.slack, _argument(call), "modal")
    stack = call.slack.world.stacks.get(trigger.user, [])
    if trigger.view is None or trigger.view not in stack:
        raise SlackError("not_found")
    if len(stack) >= limits.VIEW_STACK:
        raise SlackError("push_limit_reached")
    trigger.used = True
    view = show(call.slack, call.team.id, trigger.user, content, on=stack[-1])
    return {"view": call.slack.payloads.view(view)}


@method("views.update")
def views_update(call: Call) -> Json:
    views = call.slack.world.views
    external = call.get("external_id")
    view = views.get(call.get("view_id"))
    if view is None and external:
        view = next((one for one in views.values() if one.content.get("external_id") == external), None)
    if view is None or view.team != call.team.id:
        raise SlackError("not_found")
    if call.get("hash") and call.get("hash") != view.hash:
        raise SlackError("hash_conflict")
    if view.id not in call.slack.world.stacks.get(view.user, []):
        raise SlackError("not_found")
    asked = _argument(call)
    if asked and asked.get("external_id") == view.content.get("external_id"):
        view.content.pop("external_id", None)
    replace(call.slack, view, check_view(call.slack, asked, "modal"))
    return {"view": call.slack.payloads.view(view)}


@method("views.publish")
def views_publish(call: Call) -> Json:
    world = call.slack.world
    user = call.need("user_id", "invalid_arguments")
    if user not in world.users or world.users[user].team != call.team.id:
        raise SlackError("user_not_found")
    content = check_view(call.slack, _argument(call), "home")
    place = (call.team.id, user)
    shown = world.homes.get(place)
    if shown is not None and call.get("hash") and call.get("hash") != shown.hash:
        raise SlackError("hash_conflict")
    if shown is None:
        id = world.new_id("V")
        shown = world.homes[place] = View(id, call.team.id, user, content, world.secret("hash"), id)
        world.views[id] = shown
    else:
        replace(call.slack, shown, content)
    return {"view": call.slack.payloads.view(shown)}
