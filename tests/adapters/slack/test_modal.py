"""Neutral forms as modals: whatever is in them comes back, and Slack takes every one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.forms import Field, FieldKind, Form, Option, Submission, validate
from adapters.slack import limits
from adapters.slack.modal import conflict_view, context_of, errors_of, form_view, submission_of
from adapters.slack.validate import PayloadTooLarge, check_view
from bot.settings import WorkspaceValues, settings_form
from tests.doubles.slack.blocks import check_view_blocks
from tests.doubles.slack.oracle import oracle

Json = dict[str, Any]
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=200)
NAMES = st.from_regex(r"[a-z_]{1,30}", fullmatch=True)
FINITE = st.floats(-1e9, 1e9, allow_nan=False)


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
    many = draw(st.sampled_from((1, 3, 10, 11, 100, 101, 450)))
    long = draw(st.sampled_from(("", "x" * 200)))
    options = tuple(Option(value=f"{n}{long}", label=draw(TEXT) if n < 3 else f"o{n}") for n in range(many))
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
        case "file":
            values["max_files"] = draw(st.integers(1, 50))
        case _:
            pass
    return Field.model_validate({"name": name, "kind": kind, **values})


@st.composite
def forms(draw: st.DrawFn) -> Form:
    names = draw(st.lists(NAMES, max_size=8, unique=True))
    return Form(
        id=draw(NAMES),
        title=draw(TEXT),
        submit=draw(TEXT),
        intro=draw(TEXT),
        revision=draw(st.integers(0, 10**6)),
        context=draw(st.dictionaries(NAMES, TEXT, max_size=3)),
        fields=tuple(draw(fields(name)) for name in names),
    )


def untouched(view: Json) -> Json:
    """The view as Slack sends it when a person changes nothing."""
    values: Json = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            element = block["element"]
            values[block["block_id"]] = {element["action_id"]: _state(element)}
    return {**view, "id": "V1", "state": {"values": values}}


def _state(element: Json) -> Json:
    match kind := element["type"]:
        case "static_select":
            return {"type": kind, "selected_option": element.get("initial_option")}
        case "checkboxes" | "multi_static_select":
            return {"type": kind, "selected_options": element.get("initial_options", [])}
        case "file_input":
            return {"type": kind, "files": []}
        case _:
            return {"type": kind, "value": element.get("initial_value")}


def accepted(view: Json) -> Json:
    """Taken by Slack as three lists of its limits have it."""
    check_view(view)
    check_view_blocks(view["blocks"], "modal")
    # slackblocks wants a whole group as what is chosen at first; Slack takes one of its options.
    assert [found for found in oracle(view) if "option_groups" not in found] == []
    return view


def meant(values: Json) -> Json:
    return {name: set(value) if isinstance(value, list) else value for name, value in values.items()}


@settings(deadline=None, max_examples=40)
@given(forms())
def test_what_a_form_holds_comes_back_from_its_modal(form: Form) -> None:
    view = accepted(form_view(form, "callback"))
    submission = submission_of(form, untouched(view))
    assert (submission.form_id, submission.revision, submission.context) == (
        form.id, form.revision, form.context,
    )  # fmt: skip
    shown = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
    lacking = {field.name: "x" for field in form.fields if field.required and field.value in (None, "", [])}
    if not lacking:
        untouched_values = validate(form, Submission(form_id=form.id, values={}))
        assert meant(validate(form, submission)) == meant(untouched_values)
    errors = errors_of(form, untouched(view), {field.name: "This is needed." for field in form.fields})
    assert set(errors) <= shown
    assert bool(errors) == bool(shown and form.fields)


FILLED = Form(
    id="f",
    title="A form",
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
    view = accepted(form_view(FILLED, "cb"))
    values = {
        "name": {"value": "Ann"}, "about": {"value": None}, "age": {"value": "7"},
        "on": {"selected_options": []}, "one": {"selected_option": {"value": "a"}},
        "some": {"selected_options": [{"value": "v3"}, {"value": "v1"}]},
        "files": {"files": [{"id": "F1"}, {"id": "F2"}]},
    }  # fmt: skip
    state = {f"0:{name}": {name: state} for name, state in values.items()}
    submission = submission_of(FILLED, {**view, "state": {"values": state}})
    assert submission.values == {
        "name": "Ann", "about": "", "age": "7", "on": False, "one": "a", "some": ["v3", "v1"],
        "files": ["F1", "F2"],
    }  # fmt: skip
    assert validate(FILLED, submission)["age"] == 7
    assert context_of(view) == {"channel": "C1"}


def test_groups_stand_together_under_their_heading() -> None:
    kinds = [
        (block["type"], (block.get("label") or block.get("text") or block["elements"][0])["text"])
        for block in form_view(FILLED, "cb")["blocks"]
    ]
    assert kinds[:3] == [("header", "Who"), ("input", "Name"), ("input", "On")]
    assert ("context", "Off: No reranker is set up.") in kinds
    assert ("section", "Note\nRead me.") in kinds


def test_after_a_conflict_the_fresh_values_stand_there_not_what_was_typed() -> None:
    old = form_view(FILLED, "cb")
    fresh = accepted(conflict_view(FILLED.model_copy(update={"revision": 1}), "cb"))
    # Slack keeps what was typed in a block that it knows.
    ids = [{b["block_id"] for b in view["blocks"] if "block_id" in b} for view in (old, fresh)]
    assert not ids[0] & ids[1]
    assert fresh["blocks"][0]["text"]["text"].startswith("Somebody else saved in between")


def test_errors_of_fields_that_are_not_shown_stand_at_the_first_with_their_name() -> None:
    view = form_view(FILLED, "cb")
    assert errors_of(FILLED, view, {"off": "Is off.", "age": "Too old."}) == {
        "0:name": "Off: Is off.", "0:age": "Too old.",
    }  # fmt: skip


def test_a_value_that_slack_cannot_hold_is_left_alone() -> None:
    form = Form(id="f", title="t", fields=(Field(name="x", label="X", kind="text", value="y" * 3001),
                                           Field(name="z", label="Z", kind="text")))  # fmt: skip
    view = accepted(form_view(form, "cb"))
    submission = submission_of(form, untouched(view))
    assert validate(form, submission)["x"] == "y" * 3001


def test_a_form_of_too_many_fields_shows_what_fits_and_says_so() -> None:
    form = Form(
        id="f", title="t", fields=tuple(Field(name=f"n{n}", label="X", kind="text") for n in range(150))
    )
    view = accepted(form_view(form, "cb"))
    assert len(view["blocks"]) == limits.VIEW_BLOCKS
    assert "more than Slack can show" in view["blocks"][-1]["elements"][0]["text"]


def test_a_context_that_slack_cannot_carry_is_refused_at_once() -> None:
    with pytest.raises(PayloadTooLarge, match="private_metadata"):
        form_view(Form(id="f", title="t", fields=(), context={"a": "x" * 3000}), "cb")


@pytest.mark.parametrize("there", [True, False])
def test_the_settings_fit_into_a_modal(there: bool) -> None:
    form = settings_form(WorkspaceValues(), 4, reranker=there, rephrase=there)
    view = accepted(form_view(form, "cb"))
    same = validate(form, submission_of(form, untouched(view)))
    assert same == validate(form, Submission(form_id=form.id, values={}))
