"""Answers as Markdown that a chat platform may be sent: web links only, no images, nothing that pings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

#: Stands, unseen, where text would else be taken for markup or a mention.
JOINER = "\u2060"
_MARK = re.compile(r"\[([^\[\]\n]{1,80})\]")
_WEB = re.compile(r"https?://[^\s<>|]+", re.IGNORECASE)
#: At the start of a line it would be the definition of a link.
_DEFINITION = re.compile(r"^(\s*\[[^\]\n]*\]):", re.MULTILINE)
#: Without meaning, and six characters each in JSON.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: Longer addresses, and longer code within a line, could not be kept in one piece.
_LONGEST = 2_000
_SPECIAL = frozenset("\\`*_[]~|#")


def _citation(state: StateInline, silent: bool) -> bool:
    """`[label]` of a citation; everything else in brackets is left to Markdown."""
    match = _MARK.match(state.src, state.pos)
    if (
        match is None
        or match[1] not in state.env["marks"]
        or state.src[match.end() : match.end() + 1] == "("
    ):
        return False
    if not silent:
        state.push("citation", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("text_join")  # keeps apart what was escaped
    parser.inline.ruler.before("link", "citation", _citation)
    parser.validateLink = _any  # so that others are seen, and left out
    return parser


def _any(url: str) -> bool:  # noqa: ARG001
    return True


_PARSER = _make_parser()


@dataclass(frozen=True)
class Dialect:
    """What a platform reads into Markdown that others don't."""

    #: Begins what pings or else has an effect, anywhere: its first character is cut off from the rest.
    active: re.Pattern[str]
    #: The same outside of code.
    active_text: re.Pattern[str] | None = None
    #: What is written for an opening bracket that the text shows as such.
    bracket: str = "["
    #: What stands in the text for each citation, by its label.
    marks: Mapping[str, str] = field(default_factory=dict[str, str])

    def quiet(self, text: str) -> str:
        return self.active.sub(lambda match: f"{match[0][0]}{JOINER}{match[0][1:]}", text)

    def quiet_text(self, text: str) -> str:
        if self.active_text is not None:
            text = self.active_text.sub(lambda match: f"{match[0][0]}{JOINER}{match[0][1:]}", text)
        return self.quiet(text)

    def link(self, url: str) -> str | None:
        """The address as it may be written, or None where it may not be opened."""
        if not _WEB.fullmatch(url) or len(url) > _LONGEST:
            return None
        if self.quiet(url) != url:
            url = url.replace("@", "%40")
        return url.replace("(", "%28").replace(")", "%29")


class Piece(NamedTuple):
    """Part of a line of text; `whole` ones (links, code) are never cut."""

    text: str
    whole: bool = False


def parse(markdown: str, dialect: Dialect) -> list[Token]:
    return _PARSER.parse(_CONTROL.sub("", markdown.replace(JOINER, "")), {"marks": dialect.marks})


def write_inline(tokens: Sequence[Token], dialect: Dialect, *, in_label: bool = False) -> list[Piece]:
    """The text of a paragraph, heading or cell, written again so that only what it means has an effect."""
    pieces: list[Piece] = []
    label: list[Token] | None = None
    href, depth = "", 0
    for token in tokens:
        if label is not None:
            depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            if depth:
                label.append(token)
                continue
            pieces.extend(_link(label, href, dialect))
            label = None
        elif token.type == "link_open":
            label, href, depth = [], str(token.attrs.get("href", "")), 1
        elif token.type == "image":
            pieces.extend(write_inline(token.children or (), dialect, in_label=in_label))
        else:
            pieces.append(_piece(token, dialect, in_label=in_label))
    return [piece for piece in pieces if piece.text]


def _link(label: Sequence[Token], href: str, dialect: Dialect) -> list[Piece]:
    url = dialect.link(href)
    if url is None:
        return write_inline(label, dialect)
    text = join_pieces(write_inline(label, dialect, in_label=True), dialect).replace("\n", " ")
    linked = f"[{text or url}]({url})"
    return [Piece(linked, whole=True)] if len(text) <= _LONGEST else [Piece(text)]


def _piece(token: Token, dialect: Dialect, *, in_label: bool) -> Piece:
    match token.type:
        case "text":
            return Piece(token.content)
        case "text_special":
            return Piece(_special(token, dialect, in_label=in_label))
        case "code_inline":
            fence = "`" * (longest_run(token.content) + 1)
            space = " " if token.content[:1] == "`" or token.content[-1:] == "`" else ""
            code = f"{fence}{space}{dialect.quiet(token.content)}{space}{fence}"
            return Piece(code, whole=len(code) <= _LONGEST)
        case "citation":
            return Piece(dialect.marks[token.content], whole=True)
        case "softbreak":
            return Piece("\n")
        case "hardbreak":
            return Piece("  \n")
        case _:
            return Piece(token.markup)


def _special(token: Token, dialect: Dialect, *, in_label: bool) -> str:
    """What was escaped, or named by an entity such as `&quot;`."""
    shown = token.content
    if shown in ("[", "]") and not in_label:
        return dialect.bracket if shown == "[" else shown
    if token.info == "entity" and shown not in _SPECIAL:
        return shown
    return f"\\{shown}"


def longest_run(text: str) -> int:
    """Of backticks."""
    return max((len(run) for run in re.findall("`+", text)), default=0)


def join_pieces(pieces: Sequence[Piece], dialect: Dialect) -> str:
    """What stands side by side only now must become neither a link nor an image nor a mention."""
    text = ""
    for whole, run in groupby(pieces, key=lambda piece: piece.whole):
        for piece in run if whole else [_loose(run, dialect)]:
            begins = piece.text[0]
            if (text.endswith("]") and begins in "([") or (text.endswith("!") and begins == "["):
                text += JOINER
            text += piece.text
    return dialect.quiet(_DEFINITION.sub(rf"\1{JOINER}:", text))


def _loose(run: Iterable[Piece], dialect: Dialect) -> Piece:
    text = "".join(piece.text for piece in run)
    return Piece(dialect.quiet_text(text.replace("](", f"]{JOINER}(")))


def is_web(url: str | None) -> bool:
    return url is not None and _WEB.fullmatch(url) is not None


def to_plain(markdown: str, dialect: Dialect) -> str:
    """The words alone, a block a paragraph, cells with a bar between them; what was escaped as it reads."""
    lines: list[str] = []
    for token in parse(markdown, dialect):
        match token.type:
            case "inline":
                text = "".join(_plain(child, dialect) for child in token.children or ())
                in_row = bool(lines) and lines[-1].endswith("\t")
                lines[-1:] = [f"{lines[-1]}{text} | "] if in_row else [*lines[-1:], text]
                if in_row:
                    lines[-1] += "\t"
            case "fence" | "code_block":
                lines.append(token.content.rstrip())
            case "tr_open":
                lines.append("\t")
            case "tr_close":
                lines[-1] = lines[-1].replace("\t", "").strip(" |")
            case _:
                pass
    return "\n".join(line for line in lines if line.strip())


def _plain(token: Token, dialect: Dialect) -> str:
    match token.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return "".join(_plain(child, dialect) for child in token.children or ())
        case "citation":
            return dialect.marks[token.content]
        case _:
            return token.content


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, ended at a word."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = re.sub(r"\s\S*$", "", head)
    return f"{(at_word if len(at_word) > limit // 2 else head).rstrip()}…"
