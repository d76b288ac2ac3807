"""Answers as HTML. Text of documents and models is data: no HTML, no images, only web links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_MARK = re.compile(r"\[([^\[\]\n]{1,80})\]")
_ALIGN = re.compile(r"text-align:(left|center|right)")
#: Headings of an answer stand below those of the page.
_DEEPER = 2


def _citation(state: StateInline, silent: bool) -> bool:
    """`[label]` of a citation; everything else in brackets is left to Markdown."""
    match = _MARK.match(state.src, state.pos)
    if match is None or state.src[match.end() : match.end() + 1] == "(":
        return False
    marks: Mapping[str, int] | None = state.env.get("marks")
    known = match[1] in marks if marks is not None else match[1].isdecimal()
    if not known:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = match[1]
    state.pos = match.end()
    return True


def _fit_in(state: StateCore) -> None:
    """Deeper headings; marks on the line of their words; lists and tables in the direction of their text;
    classes for what would be inline styles, which the page's policy forbids."""
    for token in state.tokens:
        for before, after in pairwise(token.children or ()):
            if after.type == "citation" and before.type == "text" and before.content.endswith(" "):
                before.content = f"{before.content.rstrip()}\u00a0"
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _DEEPER)}"
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            token.attrSet("dir", "auto")
        elif token.type in ("th_open", "td_open") and (
            align := _ALIGN.fullmatch(str(token.attrs.pop("style", "")))
        ):
            token.attrSet("class", align[1])


class _Renderer(RendererHTML):
    def citation(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, env: EnvType) -> str:
        label = escape(tokens[idx].content)
        marks: Mapping[str, int] | None = env.get("marks")
        if marks is None:  # still on its way: there is no list of sources to lead to yet
            return f'<span class="cite">{label}</span>'
        anchor = f"{escape(str(env['anchor']))}-{marks[tokens[idx].content]}"
        return f'<a class="cite" href="#{anchor}" aria-label="Source {label}">{label}</a>'

    def table_open(self, *_: Any) -> str:
        return '<div class="table" tabindex="0" role="group" aria-label="Table"><table dir="auto">'

    def table_close(self, *_: Any) -> str:
        return "</table></div>"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: ARG002
        return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'

    code_block = fence


def make_markdown() -> MarkdownIt:
    """The Markdown of answers and documents: CommonMark with tables, without HTML and images."""
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=_Renderer)
    markdown.enable(["table", "strikethrough"]).disable(["image"])
    markdown.inline.ruler.before("link", "citation", _citation)
    markdown.core.ruler.push("fit_in", _fit_in)
    markdown.validateLink = lambda url: url.startswith(("https://", "http://", "mailto:"))
    return markdown


_MARKDOWN = make_markdown()


def to_html(text: str, *, marks: Mapping[str, int] | None = None, anchor: str = "") -> str:
    """HTML of an answer.

    Args:
        marks: number by label of the citations; None while the answer is still on its way.
        anchor: what the ids of the sources begin with, e.g. "turn-abc": mark 2 leads to "#turn-abc-2".
    """
    env: dict[str, Any] = {"anchor": anchor}
    if marks is not None:
        env["marks"] = marks
    html = _MARKDOWN.render(text, env)
    return html.replace("<a href=", '<a rel="noopener noreferrer" target="_blank" href=')
