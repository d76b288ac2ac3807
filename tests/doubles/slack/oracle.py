"""A second opinion on blocks: slackblocks, which keeps its own list of Slack's limits.

It reads only few blocks by itself, so each is rebuilt with its classes, which check when they are made.
What it does not know (rich text but for plain runs and links) it is not asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import slackblocks as sb
from slackblocks._surfaces import validate_surface_blocks  # pyright: ignore[reportPrivateUsage]

from tests.doubles.slack.errors import Json


class Unknown(Exception):
    """slackblocks has no class for it."""


def oracle(payload: Json) -> list[str]:
    """What slackblocks finds wrong with a message or a view; nothing where all is well."""
    surface = payload.get("type") if payload.get("type") in ("modal", "home") else "message"
    blocks: list[Json] = payload.get("blocks") or []
    found: list[str] = []
    for number, block in enumerate(blocks):
        try:
            _block(block)
        except Unknown:
            continue
        except (sb.InvalidUsageError, TypeError, KeyError) as error:
            found.append(f"/blocks/{number}: {type(error).__name__}: {error}")
    try:
        validate_surface_blocks(blocks, surface)  # pyright: ignore[reportArgumentType]
        if surface == "message":
            if len(blocks) > 50:
                raise sb.LengthError("more than 50 blocks")
        elif surface == "modal":
            text: dict[str, Any] = {
                key: _text(payload[key]) for key in ("title", "close", "submit") if payload.get(key)
            }
            rest = ("private_metadata", "callback_id", "external_id")
            more = {key: payload[key] for key in rest if payload.get(key)}
            sb.ModalView(blocks=[sb.DividerBlock() for _ in blocks] or [sb.DividerBlock()], **text, **more)
    except sb.InvalidUsageError as error:
        found.append(f"/: {error}")
    return found


def _text(value: Any) -> sb.Text:
    kind = sb.TextType.PLAINTEXT if value["type"] == "plain_text" else sb.TextType.MARKDOWN
    return sb.Text(value["text"], kind)


def _option(value: Json) -> sb.Option:
    description = _text(value["description"]) if value.get("description") else None
    return sb.Option(_text(value["text"]), value["value"], description)


def _given(value: Json, *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names if value.get(name) is not None}


def _parts(value: Json) -> dict[str, Any]:
    """What many elements have, rebuilt."""
    made = _given(value, "action_id", "max_selected_items", "focus_on_load")
    if value.get("placeholder"):
        made["placeholder"] = _text(value["placeholder"])
    if (asked := value.get("confirm")) is not None:
        words: dict[str, Any] = {name: _text(asked[name]) for name in ("title", "text", "confirm", "deny")}
        made["confirm"] = sb.ConfirmationDialogue(**words)
    if value.get("options") is not None:
        made["options"] = [_option(option) for option in value["options"]]
    if value.get("option_groups") is not None:
        made["option_groups"] = [
            sb.OptionGroup(_text(group["label"]), [_option(option) for option in group["options"]])
            for group in value["option_groups"]
        ]
    if value.get("initial_option"):
        made["initial_option"] = _option(value["initial_option"])
    if value.get("initial_options"):
        made["initial_options"] = [_option(option) for option in value["initial_options"]]
    return made


def _feedback(value: Json) -> sb.FeedbackButton:
    return sb.FeedbackButton(_text(value["text"]), value["value"], **_given(value, "accessibility_label"))


def _button(value: Json) -> Any:
    named = _given(value, "action_id", "url", "value", "style", "accessibility_label")
    confirm = {name: part for name, part in _parts(value).items() if name == "confirm"}
    return sb.Button(_text(value["text"]), **named, **confirm)


_PLAIN: dict[str, Any] = {
    "overflow": sb.OverflowMenu,
    "static_select": sb.StaticSelectMenu,
    "multi_static_select": sb.StaticMultiSelectMenu,
    "checkboxes": sb.CheckboxGroup,
    "radio_buttons": sb.RadioButtonGroup,
    "users_select": sb.UserSelectMenu,
    "multi_users_select": sb.UserMultiSelectMenu,
    "channels_select": sb.ChannelSelectMenu,
    "multi_channels_select": sb.ChannelMultiSelectMenu,
    "conversations_select": sb.ConversationSelectMenu,
    "multi_conversations_select": sb.ConversationMultiSelectMenu,
}


def _element(value: Json) -> Any:
    kind = value["type"]
    match kind:
        case "button":
            return _button(value)
        case "feedback_buttons":
            good, bad = _feedback(value["positive_button"]), _feedback(value["negative_button"])
            return sb.FeedbackButtons(good, bad, **_given(value, "action_id"))
        case "image":
            return sb.Image(value["alt_text"], **_given(value, "image_url"))
        case "file_input":
            return sb.FileInput(**_given(value, "action_id", "filetypes", "max_files"))
        case "plain_text_input":
            named = _given(value, "action_id", "initial_value", "multiline", "min_length", "max_length")
            return sb.PlainTextInput(
                **named, **{k: v for k, v in _parts(value).items() if k in ("placeholder", "focus_on_load")}
            )
        case "number_input":
            named = _given(
                value, "is_decimal_allowed", "action_id", "initial_value", "min_value", "max_value"
            )
            return sb.NumberInput(**named)
        case _ if kind in _PLAIN:
            return _PLAIN[kind](**_parts(value))
        case _:
            raise Unknown(kind)


def _rich(value: Json) -> sb.RichTextBlock:
    sections: list[Any] = []
    for section in value["elements"]:
        if section["type"] != "rich_text_section":
            raise Unknown(section["type"])
        runs: list[Any] = []
        for run in section["elements"]:
            style = run.get("style") or {}
            if run["type"] == "text":
                runs.append(sb.RichText(run["text"], **style))
            elif run["type"] == "link":
                runs.append(sb.RichTextLink(run["url"], run.get("text"), **style))
            else:
                raise Unknown(run["type"])
        sections.append(sb.RichTextSection(runs))
    return sb.RichTextBlock(sections)


def _task(value: Json) -> sb.TaskCardBlock:
    rich: dict[str, Any] = {name: _rich(value[name]) for name in ("details", "output") if value.get(name)}
    sources = [sb.URLSource(one["url"], one["text"]) for one in value.get("sources") or []] or None
    status = value.get("status", "pending")
    return sb.TaskCardBlock(value["task_id"], value["title"], sources=sources, status=status, **rich)


def _section(value: Json) -> Any:
    fields: Any = [_text(field) for field in value["fields"]] if value.get("fields") else None
    return sb.SectionBlock(
        _text(value["text"]) if value.get("text") else None,
        value.get("block_id"),
        fields,
        _element(value["accessory"]) if value.get("accessory") else None,
    )


def _context(value: Json) -> Any:
    inside: Any = [_element(one) if one["type"] == "image" else _text(one) for one in value["elements"]]
    return sb.ContextBlock(inside, value.get("block_id"))


def _input(value: Json) -> Any:
    hint = _text(value["hint"]) if value.get("hint") else None
    named = _given(value, "dispatch_action", "block_id", "optional")
    return sb.InputBlock(_text(value["label"]), _element(value["element"]), hint=hint, **named)


def _table(value: Json) -> Any:
    if any(cell["type"] != "raw_text" for row in value["rows"] for cell in row):
        raise Unknown("cell")
    rows: list[Any] = [[sb.RawText(cell["text"]) for cell in row] for row in value["rows"]]
    settings = [sb.ColumnSettings(one.get("align"), one.get("is_wrapped")) for one in _columns(value)]
    return sb.TableBlock(rows, settings or None)


def _columns(value: Json) -> list[Json]:
    return [one for one in value.get("column_settings") or [] if one]


_BLOCKS: dict[str, Callable[[Json], Any]] = {
    "section": _section,
    "header": lambda value: sb.HeaderBlock(_text(value["text"]), value.get("block_id")),
    "divider": lambda value: sb.DividerBlock(value.get("block_id")),
    "markdown": lambda value: sb.MarkdownBlock(value["text"], value.get("block_id")),
    "context": _context,
    "actions": lambda value: sb.ActionsBlock([_element(one) for one in value["elements"]]),
    "context_actions": lambda value: sb.ContextActionsBlock([_element(one) for one in value["elements"]]),
    "input": _input,
    "image": lambda value: sb.ImageBlock(value.get("image_url"), value["alt_text"]),
    "alert": lambda value: sb.AlertBlock(_text(value["text"]), value.get("level", "default")),
    "table": _table,
    "rich_text": _rich,
    "task_card": _task,
    "plan": lambda value: sb.PlanBlock(value["title"], [_task(one) for one in value.get("tasks") or []]),
}


def _block(value: Json) -> None:
    make = _BLOCKS.get(value["type"])
    if make is None:
        raise Unknown(value["type"])
    make(value)
