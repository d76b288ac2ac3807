"""The sensitivity label of a workspace: set in its form, carried by answers that rest on documents."""

from __future__ import annotations

from adapters.conversation import Turn
from adapters.forms import Submission, validate
from bot.connect import local_actor
from bot.links import Links
from bot.replies import reply_of
from bot.settings import WorkspaceValues, settings_form
from retrieval.answer.events import CitedSource, Done
from tests.retrieval.answer.handbook import chunk


def test_it_is_a_field_of_the_settings() -> None:
    form = settings_form(WorkspaceValues(sensitivity="Confidential"), 1, reranker=True, rephrase=True)
    (field,) = [field for field in form.fields if field.name == "sensitivity"]
    assert field.value == "Confidential"
    sent = Submission(form_id=form.id, values={"sensitivity": " Internal "}, revision=1)
    assert validate(form, sent)["sensitivity"] == "Internal"


def test_it_stands_on_answers_and_on_nothing_that_holds_no_document() -> None:
    who, links = local_actor("demo"), Links(b"s" * 32, "https://kb.example")
    turn = Turn(id="t1", workspace="demo", conversation=who.conversation, asker=who.person, text="Keys?")
    cited = CitedSource(number=1, label="1", chunk=chunk("keys.md", "Every 90 days."), quote="")
    answer = Done(outcome="answered", text="Every 90 days [1].", citations=(cited,))
    assert reply_of(turn, answer, links, sensitivity="Internal").sensitivity == "Internal"
    hello = Done(outcome="small_talk", text="Hello!")
    assert reply_of(turn, hello, links, sensitivity="Internal").sensitivity == ""
