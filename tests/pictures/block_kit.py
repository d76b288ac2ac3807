"""Block Kit as HTML, near enough to judge how a message, a modal or the Home tab reads. Raises for a block
or an element that it doesn't know, so that nothing is left out of a picture unseen."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
Json = dict[str, Any]


def _mrkdwn(text: str) -> str:
    out = escape(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    out = re.sub(r"&lt;(https?://[^|&]+)\|([^&]*)&gt;", r'<a href="#">\2</a>', out)
    out = re.sub(r"```(.+?)```", r"<pre>\1</pre>", out, flags=re.DOTALL)
    out = re.sub(r"`([^`]+)`", r"<code>\1</code>", out)
    out = re.sub(r"(?<!\w)\*([^*\n]+)\*", r"<b>\1</b>", out)
    out = re.sub(r"(?<!\w)_([^_\n]+)_(?!\w)", r"<i>\1</i>", out)
    return out.replace("\n", "<br>")


def text_of(value: Json | None) -> str:
    if value is None:
        return ""
    if value["type"] == "mrkdwn":
        return _mrkdwn(value["text"])
    return escape(value["text"]).replace("\n", "<br>")


def _rich(element: Json) -> str:
    match element["type"]:
        case "text":
            style = element.get("style") or {}
            out = escape(element["text"]).replace("\n", "<br>")
            for name, tag in (("bold", "b"), ("italic", "i"), ("code", "code"), ("strike", "s")):
                if style.get(name):
                    out = f"<{tag}>{out}</{tag}>"
            return out
        case "link":
            return f'<a href="#">{escape(element.get("text") or element["url"])}</a>'
        case "emoji":
            return f":{escape(element['name'])}:"
        case "rich_text_section":
            return "".join(map(_rich, element["elements"]))
        case "rich_text_list":
            tag = "ol" if element["style"] == "ordered" else "ul"
            return f"<{tag}>{''.join(f'<li>{_rich(item)}</li>' for item in element['elements'])}</{tag}>"
        case "rich_text_quote":
            return f"<blockquote>{''.join(map(_rich, element['elements']))}</blockquote>"
        case "rich_text_preformatted":
            return f"<pre>{''.join(map(_rich, element['elements']))}</pre>"
        case other:
            raise ValueError(f"unknown rich text: {other}")


def _option(option: Json) -> str:
    return text_of(option["text"])


def _initial(element: Json, otherwise: str = "Choose…") -> str:
    if option := element.get("initial_option"):
        return _option(option)
    if options := element.get("initial_options"):
        return ", ".join(map(_option, options))
    return escape(str(element.get("initial_value") or "")) or (
        f'<span class="hint">{text_of(element.get("placeholder")) or otherwise}</span>'
    )


def _element(element: Json) -> str:
    match element["type"]:
        case "button":
            return f'<span class="button {element.get("style", "")}">{text_of(element["text"])}</span>'
        case "overflow":
            return '<span class="button">⋯</span>'
        case "feedback_buttons":
            pair = (element["positive_button"], element["negative_button"])
            return "".join(
                f'<span class="button">{sign} {text_of(b["text"])}</span>'
                for sign, b in zip("👍👎", pair, strict=True)
            )
        case "icon_button":
            return '<span class="button">🗑</span>'
        case "plain_text_input":
            tall = " tall" if element.get("multiline") else ""
            return f'<div class="input{tall}">{_initial(element, "")}</div>'
        case "number_input" | "email_text_input" | "url_text_input":
            return f'<div class="input">{_initial(element)}</div>'
        case "file_input":
            return f'<div class="input">Add files (up to {element.get("max_files", 10)})</div>'
        case kind if kind.endswith("_select"):
            return f'<div class="input">{_initial(element)} <span class="hint">▾</span></div>'
        case "checkboxes" | "radio_buttons":
            chosen = {o["value"] for o in element.get("initial_options") or []}
            chosen |= {o["value"] for o in [element.get("initial_option")] if o}
            on, off = ("☑", "☐") if element["type"] == "checkboxes" else ("◉", "○")
            return "".join(
                f"<div>{on if o['value'] in chosen else off} {_option(o)}</div>" for o in element["options"]
            )
        case "image":
            return "🖼"
        case "plain_text" | "mrkdwn":
            return text_of(element)
        case other:
            raise ValueError(f"unknown element: {other}")


def _table(block: Json) -> str:
    def cell(value: Json) -> str:
        return (
            escape(value["text"]) if value["type"] == "raw_text" else "".join(map(_rich, value["elements"]))
        )

    rows = "".join(f"<tr>{''.join(f'<td>{cell(c)}</td>' for c in row)}</tr>" for row in block["rows"])
    return f"<table>{rows}</table>"


def _section(block: Json) -> str:
    fields = "".join(f"<div>{text_of(f)}</div>" for f in block.get("fields") or [])
    side = _element(block["accessory"]) if "accessory" in block else ""
    grid = f'<div class="fields">{fields}</div>' if fields else ""
    return f'<div class="section"><div>{text_of(block.get("text"))}{grid}</div><div>{side}</div></div>'


def _input(block: Json) -> str:
    more = ' <span class="hint">(optional)</span>' if block.get("optional") else ""
    hint = f'<div class="hint">{text_of(block["hint"])}</div>' if block.get("hint") else ""
    return f"<label>{text_of(block['label'])}{more}</label>{_element(block['element'])}{hint}"


def _actions(block: Json) -> str:
    return f'<div class="actions">{"".join(map(_element, block["elements"]))}</div>'


_BLOCKS: dict[str, Callable[[Json], str]] = {
    "header": lambda block: f"<h3>{text_of(block['text'])}</h3>",
    "section": _section,
    "divider": lambda _block: "<hr>",
    "context": lambda block: f'<div class="hint">{" &nbsp; ".join(map(_element, block["elements"]))}</div>',
    "actions": _actions,
    "context_actions": _actions,
    "markdown": lambda block: _MARKDOWN.render(block["text"]),
    "rich_text": lambda block: "".join(map(_rich, block["elements"])),
    "table": _table,
    "input": _input,
}


def blocks_html(blocks: list[Json]) -> str:
    return "".join(f'<div class="block">{_BLOCKS[block["type"]](block)}</div>' for block in blocks)


def message_html(author: str, payload: Json, *, quiet: str = "") -> str:
    """`payload` as posted; `quiet` stands beside the name, for instance "Only visible to you"."""
    body = blocks_html(payload["blocks"]) if payload.get("blocks") else f"<p>{_mrkdwn(payload['text'])}</p>"
    note = f'<span class="hint">{escape(quiet)}</span>'
    face = f'<span class="face">{escape(author[0])}</span>'
    return f"<article>{face}<div><b>{escape(author)}</b> {note}{body}</div></article>"


def view_html(view: Json) -> str:
    """A modal, or the Home tab."""
    body = blocks_html(view["blocks"])
    if view["type"] == "home":
        return f'<main class="home">{body}</main>'
    foot = "".join(
        f'<span class="button {style}">{text_of(view.get(part))}</span>'
        for part, style in (("close", ""), ("submit", "primary"))
        if view.get(part)
    )
    return f'<main class="modal"><h2>{text_of(view["title"])}</h2>{body}<footer>{foot}</footer></main>'


_STYLE = (Path(__file__).parent / "block_kit.css").read_text("utf-8")


def page(*parts: str) -> str:
    """A whole HTML document."""
    return f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style>{"".join(parts)}'
