"""The bot's Home tab. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapters.ports import DocumentView, SearchHit, SearchMode, UnansweredQuestion
from adapters.short import cut16
from adapters.slack import limits
from adapters.slack.kit import Json, plain, quiet_line, section
from adapters.slack.listing import document_block, hit_block
from adapters.slack.render import plain_text

#: `action_id`s.
UPLOAD, SETTINGS, REFRESH, SEARCH = "home_upload", "home_settings", "home_refresh", "home_search"
#: Of the search's inputs, and their blocks.
WORDS, MODE = "home_words", "home_mode"
MODES: Final[dict[SearchMode, str]] = {
    "hybrid": "Hybrid: meaning and words",
    "semantic": "Semantic: meaning alone",
    "keyword": "Keyword: words alone",
}
#: What is shown of each; a Home tab holds 100 blocks.
DOCUMENTS, HITS, QUESTIONS = 30, 10, 10
_QUESTION: Final = 300


@dataclass(frozen=True)
class Searched:
    """A search test: what was asked, and what came of it."""

    words: str
    mode: SearchMode
    hits: Sequence[SearchHit] = ()
    #: Why there was none.
    problem: str = ""


def home_view(
    documents: Sequence[DocumentView],
    *,
    may_upload: bool,
    is_admin: bool,
    unanswered: Sequence[UnansweredQuestion] = (),
    searched: Searched | None = None,
) -> Json:
    """What a person finds there: what they may do, documents, a search test; for admins what was not
    answered."""
    blocks = [
        section(_may(may_upload=may_upload, is_admin=is_admin)),
        _actions(may_upload=may_upload, is_admin=is_admin),
    ]
    if is_admin:
        blocks += _unanswered(unanswered)
    blocks += _documents(documents)
    blocks += _search(searched)
    return {"type": "home", "blocks": blocks}


def _may(*, may_upload: bool, is_admin: bool) -> str:
    """What the person may do, in sentences."""
    ask = "Mention me in a channel, or write to me directly, and I answer from the documents below."
    if is_admin:
        return f"{ask} You are an admin: you can add and delete documents, and change the settings."
    if may_upload:
        return f"{ask} You can add documents, and delete those that you added."
    return f"{ask} Only admins add documents in this workspace."


def _actions(*, may_upload: bool, is_admin: bool) -> Json:
    buttons = [_button(UPLOAD, "Add documents", primary=True)] if may_upload else []
    buttons += [_button(SETTINGS, "Settings")] if is_admin else []
    return {"type": "actions", "elements": [*buttons, _button(REFRESH, "Refresh")]}


def _button(action_id: str, label: str, *, primary: bool = False) -> Json:
    made: Json = {"type": "button", "action_id": action_id, "text": plain_text(label)}
    return made | ({"style": "primary"} if primary else {})


def _documents(documents: Sequence[DocumentView]) -> list[Json]:
    """What is on its way or has failed first, then the newest."""
    if not documents:
        return [_header("Documents"), quiet_line("There are none yet that you can ask about.")]
    newest = sorted(documents, key=lambda document: document.uploaded_at, reverse=True)
    stages = {"failed": 1, "done": 2, "cancelled": 2}
    newest.sort(key=lambda document: stages.get(document.state.stage, 0))
    blocks = [_header(f"Documents ({len(documents)})"), *map(document_block, newest[:DOCUMENTS])]
    if len(newest) > DOCUMENTS:
        blocks.append(quiet_line(f"And {len(newest) - DOCUMENTS} more. /kb list shows all."))
    return blocks


def _unanswered(questions: Sequence[UnansweredQuestion]) -> list[Json]:
    blocks = [_header("Recent questions without an answer")]
    if not questions:
        return [*blocks, quiet_line("There are none.")]
    for question in questions[:QUESTIONS]:
        where = f", in #{question.where}" if question.where else ""
        words = cut16(" ".join(question.question.split()), _QUESTION)
        blocks.append(quiet_line(f"“{words}” ({question.at:%Y-%m-%d}{where})"))
    return blocks


def _search(searched: Searched | None) -> list[Json]:
    options = [{"text": plain_text(label), "value": mode} for mode, label in MODES.items()]
    chosen = searched.mode if searched else "hybrid"
    words: Json = {
        "type": "plain_text_input",
        "action_id": WORDS,
        "max_length": limits.INPUT,
        "placeholder": plain_text("Some words, or a question"),
    }
    mode: Json = {
        "type": "static_select",
        "action_id": MODE,
        "options": options,
        "initial_option": next(option for option in options if option["value"] == chosen),
    }
    blocks: list[Json] = [
        _header("Search test"),
        {"type": "input", "block_id": WORDS, "label": plain_text("Search for"), "element": words},
        {"type": "input", "block_id": MODE, "label": plain_text("How"), "element": mode},
        {"type": "actions", "elements": [_button(SEARCH, "Search")]},
    ]
    if searched is None:
        return blocks
    about = f"“{cut16(searched.words, _QUESTION)}”, {searched.mode}:"
    if searched.problem or not searched.hits:
        return [*blocks, quiet_line(f"{about} {searched.problem or 'nothing found.'}")]
    return [*blocks, quiet_line(about), *(hit_block(hit) for hit in searched.hits[:HITS])]


def _header(text: str) -> Json:
    return {"type": "header", "text": plain(text, limits.HEADER_TEXT)}
