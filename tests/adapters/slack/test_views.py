"""What is shown beside answers, whatever it holds: within the limits of Slack, and of no effect."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.audience import choices, fitting
from adapters.conversation import Conversation, Message, Person
from adapters.forms import DocumentStage, ProgressItem
from adapters.kb import VERBS, read_command
from adapters.ports import Explanation, ExplanationStep, Refused, SearchHit, UnansweredQuestion
from adapters.progress import item_line, summary
from adapters.slack.explain import explanation_view
from adapters.slack.home_view import Searched, home_view
from adapters.slack.listing import (
    choose_message,
    confirm_message,
    hits_message,
    list_message,
    status_message,
)
from adapters.slack.passage import passage_view, split
from adapters.slack.progress import progress_message
from adapters.slack.validate import PayloadTooLarge, check_message, check_view
from adapters.thread_document import thread_file, thread_markdown
from tests.adapters.fake_bot import document
from tests.adapters.replies import HOSTILE, URLS, citation, strings
from tests.doubles.slack import blocks as double
from tests.doubles.slack.oracle import oracle

WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60), st.text(min_size=900, max_size=4000))
STAGES: tuple[DocumentStage, ...] = (
    "queued", "parsing", "chunking", "embedding", "indexing", "done", "failed", "cancelled",
)  # fmt: skip
PINGS = re.compile(r"<[!@#]|@(here|channel|everyone)\b", re.IGNORECASE)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
MANY = settings(deadline=None, max_examples=25)

items = st.lists(
    st.builds(
        ProgressItem,
        document_id=st.just("d"), version_id=st.just("v"), name=WORDS, stage=st.sampled_from(STAGES),
        done=st.integers(-5, 500), total=st.integers(0, 300), message=WORDS,
    ),
    max_size=60,
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> list[Any]:
    many = draw(st.sampled_from((0, 1, 11, 200)))
    words = draw(WORDS)
    return [
        document(
            number, name=f"{words}{number}", labels=tuple(draw(st.lists(WORDS, max_size=2))),
            editable=draw(st.booleans()) if number < 3 else True, pages=draw(st.sampled_from((None, 1, 9))),
        )
        for number in range(many)
    ]  # fmt: skip


@st.composite
def hits(draw: st.DrawFn) -> list[SearchHit]:
    words, url = draw(WORDS), draw(URLS)
    return [
        SearchHit(
            rank=rank, score=0.5, lists={"dense:0": (rank, 0.1), "bm25:0": (2, 3.0)}, chunk_id="c",
            document_id="d", title=words, heading_path=(words,), page=2, text=words, url=url,
        )
        for rank in range(1, draw(st.sampled_from((1, 2, 11))))
    ]  # fmt: skip


def shown(payload: Any) -> list[str]:
    """Texts that people see; values go back to the bot alone."""
    if isinstance(payload, dict):
        payload = {key: value for key, value in payload.items() if key not in ("value", "url")}
        return [text for value in payload.values() for text in shown(value)]
    if isinstance(payload, list):
        return [text for value in payload for text in shown(value)]
    return strings(payload)


def taken(payload: Any) -> None:
    kind = payload.get("type")
    if kind is None:
        check_message(payload)
        double.check_message(payload["blocks"])
    else:
        check_view(payload)
        double.check_view_blocks(payload["blocks"], kind)
    assert oracle(payload) == []
    assert not [text for text in shown(payload) if PINGS.search(text)]


@MANY
@given(items, st.integers(0, 10), WORDS)
def test_progress(found: list[ProgressItem], fetching: int, note: str) -> None:
    taken({**progress_message(found, fetching=fetching, note=note)})


@MANY
@given(documents(), st.integers(-1, 40))
def test_lists(found: list[Any], page: int) -> None:
    for message in (list_message(found, page), status_message(found)):
        taken({**message})
    if found:
        taken({**confirm_message(found[0])})
        taken({**choose_message(found)})


@MANY
@given(documents(), hits(), WORDS, st.booleans())
def test_home(found: list[Any], passages: list[SearchHit], words: str, admin: bool) -> None:
    asked = [UnansweredQuestion(question=words, at=NOW, where=words)] * 30
    for searched in (None, Searched(words, "keyword", passages), Searched(words, "hybrid", problem=words)):
        view = home_view(found, may_upload=admin, is_admin=admin, unanswered=asked, searched=searched)
        taken(view)
    taken({**hits_message(words, passages)})


@MANY
@given(WORDS, st.integers(0, 90))
def test_explanations(words: str, steps: int) -> None:
    step = ExplanationStep(
        name="x", title=words, start_ms=1, ms=2, lines=(words,) * 30, output_tokens=3, note=words
    )
    taken(explanation_view(Explanation(turn_id="t", question=words, steps=(step,) * steps, total_ms=9)))


@MANY
@given(WORDS, WORDS, URLS)
def test_passages(passage: str, quote: str, url: str | None) -> None:
    taken(passage_view(citation(passage=passage + quote, quote=quote, title=quote, source_url=url)))


def test_the_cited_words_are_found_however_they_are_spaced() -> None:
    assert split("A  b\nc d.", "b c") == ("A  ", "b\nc", " d.")
    assert split("A b", "z") == ("A b", "", "")
    assert split("", "only words") == ("", "only words", "")


def test_what_progress_says() -> None:
    def item(stage: DocumentStage, **more: Any) -> ProgressItem:
        return ProgressItem(document_id="d", version_id="v", name="keys.pdf", stage=stage, **more)

    assert item_line(item("embedding", done=30, total=100)) == (
        "… keys.pdf: learning the passages ▓▓▓░░░░░░░ 30 of 100"
    )
    assert item_line(item("failed", message="It is empty.")) == "✗ keys.pdf: failed: It is empty."
    assert item_line(item("done")) == "✓ keys.pdf: done"
    assert summary([item("done")]) == "Added 1 document. Ask away!"
    assert summary([item("done"), item("failed")]) == "Finished: 1 added, 1 failed."
    assert summary([item("done"), item("queued")]) == "Adding 2 documents: 1 finished…"
    many = [item("done")] * 300 + [item("failed", message="Too large.")] * 3
    text = progress_message(many)["text"]
    assert text.count("\n") == 21
    assert text.splitlines()[1] == "✗ keys.pdf: failed: Too large."
    assert text.endswith("And 283 more: 283 done")


@pytest.mark.parametrize(
    ("typed", "verb", "rest", "guess"),
    [
        ("", "help", "", None),
        ("ASK how often?", "ask", "how often?", None),
        ("list 2", "list", "2", None),
        ("How often do keys change", "ask", "How often do keys change", None),
        ("vacation?", "ask", "vacation?", None),
        ("serch vacation days in may", "unknown", "vacation days in may", "search"),
        ("uplaod", "unknown", "", "upload"),
        ("xyzzy", "unknown", "", None),
        ("settings", "settings", "", None),
    ],
)
def test_what_a_command_means(typed: str, verb: str, rest: str, guess: str | None) -> None:
    command = read_command(typed)
    assert (command.verb, command.rest, command.guess) == (verb, rest, guess)


@given(st.text(max_size=80))
def test_every_command_means_something(typed: str) -> None:
    assert read_command(typed).verb in (*VERBS, "unknown")


class TestThreads:
    def said(self, text: str, name: str = "Ann", **more: Any) -> Message:
        return Message(id="1", role="person", author=Person(id="U1", name=name), text=text, at=NOW, **more)

    def test_no_message_changes_the_document_around_it(self) -> None:
        text = thread_markdown(
            [
                self.said("Why?"),
                self.said("# Big\nx\n---\n"),
                self.said("```\ncode"),
                self.said("end", "Ben"),
            ],
            platform="Slack",
        )
        headings = [line for line in text.split("\n") if line.startswith("#")]
        times = ", 2026-11-30 00:00 UTC"
        assert headings == ["# Why?", *[f"## Ann{times}"] * 3, f"## Ben{times}"]
        assert text.count("```") == 2
        assert "\n---" not in text

    async def test_another_thread_has_another_name_the_same_one_the_same(self, tmp_path: Any) -> None:
        messages = [self.said("Why is <the> VPN down? " * 9)]
        made = [
            await thread_file(
                messages, ts, tmp_path, platform="Slack", where="#it", permalink="https://s/p1"
            )
            for ts in ("1.1", "1.1", "2.2")
        ]
        assert made[0].name == made[1].name != made[2].name
        assert re.fullmatch(r"[\w\- ()]+\.md", made[0].name)
        assert made[0].path.stat().st_size == made[0].size

    async def test_a_thread_without_words_is_refused(self, tmp_path: Any) -> None:
        with pytest.raises(Refused, match="no text"):
            await thread_file([self.said(" ")], "1.1", tmp_path, platform="Slack", where="", permalink=None)


@pytest.mark.parametrize(
    ("kind", "guest", "fits", "unsaid"),
    [
        ("public_channel", False, ("everyone", "channel", "person"), "everyone"),
        ("private_channel", False, ("everyone", "channel", "person"), "channel"),
        ("shared_channel", False, ("everyone", "channel", "person"), "channel"),
        ("public_channel", True, ("channel", "person"), "channel"),
        ("direct", False, ("everyone", "person"), "person"),
        ("direct", True, ("person",), "person"),
    ],
)
def test_who_will_read_a_document(kind: Any, guest: bool, fits: tuple[str, ...], unsaid: str) -> None:
    place = Conversation(platform="slack", tenant="T1", id="C1", kind=kind)
    person = Person(id="U1", is_guest=guest)
    assert choices(place, person) == fits
    assert fitting(place, person) == unsaid


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": "a", "text": plain("x"), **more}


def option(text: str = "x", value: str = "v") -> dict[str, Any]:
    return {"text": plain(text), "value": value}


def select(**more: Any) -> dict[str, Any]:
    return {"type": "section", "text": plain("x"), "accessory": {"type": "static_select", **more}}


@pytest.mark.parametrize(
    ("path", "block"),
    [
        ("/blocks/0/text", {"type": "section", "text": plain("x" * 3001)}),
        ("/blocks/0/text", {"type": "section", "text": plain("")}),
        ("/blocks/0/text", {"type": "header", "text": plain("😀" * 76)}),
        ("/blocks/0", {"type": "context", "elements": [plain("x" * 2001)]}),
        ("/blocks/0/elements", {"type": "context", "elements": [plain("x")] * 11}),
        ("/blocks/0/elements/0/text", {"type": "actions", "elements": [button(text=plain("x" * 76))]}),
        ("/blocks/0/elements/0/value", {"type": "actions", "elements": [button(value="x" * 2001)]}),
        ("/blocks/0/elements/0/action_id", {"type": "actions", "elements": [button(action_id="x" * 256)]}),
        ("/blocks/0/elements", {"type": "actions", "elements": [button()] * 2}),
        ("/blocks/0/fields", {"type": "section", "fields": [plain("x")] * 11}),
        ("/blocks/0/fields/0", {"type": "section", "fields": [plain("x" * 2001)]}),
        ("/blocks/0/rows", {"type": "table", "rows": [[plain("x")]] * 101}),
        ("/blocks/0/rows/0", {"type": "table", "rows": [[plain("x")] * 21]}),
        ("/blocks/0/accessory/options", select(options=[option()] * 101)),
        ("/blocks/0/accessory/options", select(options=[])),
        ("/blocks/0/accessory/options/0/text", select(options=[option("x" * 76)])),
        ("/blocks/0/accessory/options/0/value", select(options=[option(value="x" * 151)])),
        (
            "/blocks/0/accessory/initial_option",
            select(options=[option()], initial_option=option(value="w")),
        ),
    ],
)
def test_what_slack_refuses_is_refused_with_its_place(path: str, block: dict[str, Any]) -> None:
    for check in (
        lambda: check_message({"text": "x", "blocks": [block]}),
        lambda: check_view({"type": "modal", "title": plain("x"), "blocks": [block]}),
    ):
        with pytest.raises(PayloadTooLarge) as caught:
            check()
        assert caught.value.path == path


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("/title", {"title": plain("x" * 25)}),
        ("/submit", {"submit": plain("x" * 25)}),
        ("/private_metadata", {"private_metadata": "x" * 3001}),
        ("/callback_id", {"callback_id": "x" * 256}),
        ("/blocks", {"blocks": [{"type": "divider"}] * 101}),
        ("/blocks/1/block_id", {"blocks": [{"type": "divider", "block_id": "a"}] * 2}),
        ("/blocks/0", {"blocks": [{"type": "markdown", "text": "x"}]}),
    ],
)
def test_what_slack_refuses_of_views(path: str, change: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge) as caught:
        check_view({"type": "modal", "title": plain("x"), "blocks": [{"type": "divider"}], **change})
    assert caught.value.path == path


@pytest.mark.parametrize(
    "message",
    [
        {"text": ""},
        {"text": "x" * 4001},
        {"text": "x", "blocks": [{"type": "divider"}] * 51},
        {"text": "x", "blocks": [{"type": "section", "text": plain("x" * 2900)}] * 4},
    ],
)
def test_what_slack_refuses_of_messages(message: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge):
        check_message(message)
