"""Neutral forms as cards: whatever is in them comes back, and a client takes every one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.forms import Field, FieldKind, Form, Option, Submission, validate
from adapters.teams.form_card import conflict_card, context_of, filled, form_card, submission_of
from bot.settings import WorkspaceValues, settings_form
from tests.adapters.teams.client import button, inputs, sent, texts, walk

Json = dict[str, Any]
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=200)
NAMES = st.from_regex(r"[a-z_]{1,30}", fullmatch=True)
FINITE = st.floats(-1e9, 1e9, allow_nan=False)
TITLE = "Save"


@st.composite
def fields(draw: st.DrawFn, name: str) -> Field:
    kind: FieldKind = draw(
        st.sampled_from(("text", "long_text", "number", "toggle", "choice", "choices", "file", "info"))
    )
    values: Json = {
        "label": draw(TEXT), "help": draw(st.one_of(st.just(""), TEXT)), "group": draw(TEXT),
        "required": draw(st.booleans()), "placeholder": draw(TEXT),
        "disabled_because": draw(st.sampled_from((None, None, None, "it is off"))),
    }  # fmt: skip
    many = draw(st.sampled_from((1, 3, 10, 11, 450)))
    odd = draw(st.sampled_from(("", ",", "~", " ", "é,")))
    options = tuple(Option(value=f"{odd}{n}", label=draw(TEXT) if n < 3 else f"o{n}") for n in range(many))
    match kind:
        case "text" | "long_text":
            values["value"] = draw(st.one_of(st.none(), TEXT))
            values["max_length"] = draw(st.sampled_from((None, 200, 3000, 10_000)))
        case "number":
            values["step"] = draw(st.sampled_from((None, 1)))
            low = draw(st.one_of(st.none(), FINITE))
            least = -1e9 if low is None else low
            values["value"] = draw(
                st.integers(int(least) + 1, 10**9 + 2) if values["step"] else st.floats(least, 1e9)
            )
            values["minimum"] = low
        case "toggle":
            values["value"] = draw(st.booleans())
        case "choice":
            values |= {"options": options, "value": draw(st.sampled_from(options)).value}
        case "choices":
            chosen = draw(st.lists(st.sampled_from(options), max_size=5, unique=True))
            values |= {"options": options, "value": [option.value for option in chosen]}
        case _:
            pass
    return Field.model_validate({"name": name, "kind": kind, **values})


@st.composite
def forms(draw: st.DrawFn) -> Form:
    names = draw(st.lists(NAMES, max_size=8, unique=True))
    return Form(
        id=draw(NAMES),
        title=draw(TEXT),
        submit=TITLE,
        intro=draw(TEXT),
        revision=draw(st.integers(0, 10**6)),
        context=draw(st.dictionaries(NAMES, TEXT, max_size=3)),
        fields=tuple(draw(fields(name)) for name in names),
    )


def meant(values: Json) -> Json:
    return {name: set(value) if isinstance(value, list) else value for name, value in values.items()}


@settings(deadline=None, max_examples=60)
@given(forms(), st.booleans())
def test_what_a_form_holds_comes_back_from_its_card(form: Form, empty: bool) -> None:
    card = form_card(form, "kind")
    if not inputs(card):
        return
    submission = submission_of(form, sent(card, TITLE, empty=empty))
    assert button(card, TITLE)["kind"] == "kind"
    assert (submission.form_id, submission.revision, submission.context) == (
        form.id, form.revision, form.context,
    )  # fmt: skip
    assert set(submission.values) == {one["id"].removeprefix("field.") for one in inputs(card)}
    lacking = [field.name for field in form.fields if field.required and field.value in (None, "", [])]
    if not lacking:
        assert meant(validate(form, submission)) == meant(
            validate(form, Submission(form_id=form.id, values={}))
        )


@settings(deadline=None, max_examples=30)
@given(forms())
def test_every_error_is_read_with_its_field_or_above_them(form: Form) -> None:
    errors = {field.name: f"wrong {number}" for number, field in enumerate(form.fields)}
    shown = "\n".join(texts(form_card(form, "kind", errors=errors)))
    assert all(error in shown for error in errors.values())


FILLED = Form(
    id="f",
    title="A form",
    submit=TITLE,
    fields=(
        Field(name="name", label="Name", kind="text", required=True, group="Who"),
        Field(name="about", label="About", kind="long_text", help="A few words."),
        Field(name="age", label="Age", kind="number", step=1, minimum=1, maximum=50),
        Field(name="on", label="On", kind="toggle", value=True, group="Who"),
        Field(name="one", label="One", kind="choice", options=(Option(value="a", label="A"),)),
        Field(name="some", label="Some", kind="choices",
              options=tuple(Option(value=f"v{n}", label=f"V{n}") for n in range(12))),
        Field(name="off", label="Off", kind="toggle", disabled_because="No reranker is set up."),
        Field(name="files", label="Files", kind="file", max_files=30),
        Field(name="note", label="Note", kind="info", help="Read me."),
    ),
    context={"channel": "C1"},
)  # fmt: skip


def test_what_a_person_fills_in_is_submitted() -> None:
    data = sent(
        form_card(FILLED, "k"), TITLE,
        name="Ann", about="Line 1\r\nLine 2", age="7", on="false", one="a", some="v3,v11",
    )  # fmt: skip
    assert submission_of(FILLED, data).values == {
        "name": "Ann", "about": "Line 1\nLine 2", "age": "7", "on": False, "one": "a",
        "some": ["v3", "v11"],
    }  # fmt: skip


@pytest.mark.parametrize("empty", [True, False])
def test_what_a_person_empties_is_empty(empty: bool) -> None:
    full = FILLED.model_copy(
        update={
            "fields": tuple(
                f.model_copy(update={"value": "x" if f.kind == "text" else ["v1"], "required": False})
                if f.kind in ("text", "choices")
                else f
                for f in FILLED.fields
            )
        }
    )
    data = sent(form_card(full, "k"), TITLE, empty=empty, name="", some="")
    values = validate(full, submission_of(full, data))
    assert (values["name"], values["some"], values["on"]) == ("", [], True)


def test_headings_help_and_what_cannot_be_filled_in_are_lines() -> None:
    lines = texts(form_card(FILLED, "k"))
    assert lines == [
        "Who", "A few words.", "Off: No reranker is set up.", "Files: attach them to a message.",
        "Note\nRead me.",
    ]  # fmt: skip


def test_errors_stand_above_their_field_and_what_was_typed_stays() -> None:
    data = sent(form_card(FILLED, "k"), TITLE, name="Ann", age="70", some="v1")
    submission = submission_of(FILLED, data)
    card = form_card(filled(FILLED, submission), "k", errors={"age": "At most 50.", "off": "It is off."})
    elements = walk(card)
    position = next(n for n, one in enumerate(elements) if one.get("id") == "field.age")
    assert elements[position - 1]["text"] == "At most 50."
    assert texts(card)[0] == "Off: It is off."
    values = {one["id"]: one.get("value") for one in inputs(card)}
    assert (values["field.name"], values["field.some"]) == ("Ann", "v1")


def test_a_conflict_shows_the_form_as_it_is_now() -> None:
    card = conflict_card(FILLED.model_copy(update={"revision": 9}), "k")
    assert "Somebody else saved in between" in texts(card)[0]
    assert button(card, TITLE)["revision"] == 9


def test_a_card_holds_as_many_fields_as_fit_and_the_others_keep_their_values() -> None:
    many = tuple(
        Field(name=f"n{n}", label=f"N{n}", kind="long_text", value="word " * 500) for n in range(40)
    )
    form = FILLED.model_copy(update={"fields": many})
    card = form_card(form, "k")
    submission = submission_of(form, sent(card, TITLE))
    assert 3 < len(submission.values) < 40
    assert "more than Teams can show" in texts(card)[-1]
    assert len(validate(form, submission)) == 40


@pytest.mark.parametrize("value", [{}, {"shown": "name", "revision": "x", "context": 3}, {"shown": [[]]}])
def test_what_no_card_of_ours_has_sent_is_an_empty_submission(value: Json) -> None:
    assert submission_of(FILLED, value) == Submission(form_id="", values={})
    assert context_of(value) == {}


def test_the_workspaces_settings_are_all_on_the_card_and_come_back() -> None:
    values = WorkspaceValues(bindings="C1 = in:a\nC2 = label:b", default_labels=("hr", "it"))
    form = settings_form(values, 4, reranker=True, rephrase=True)
    card = form_card(form, "settings")
    assert len(inputs(card)) == len(form.fields)
    back = validate(form, submission_of(form, sent(card, form.submit)))
    assert back == validate(form, Submission(form_id=form.id, values={}))
