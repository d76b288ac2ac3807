import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.forms import Field, Form, FormInvalid, Option, Submission, validate

FORM = Form(
    id="f",
    title="F",
    fields=(
        Field(name="name", label="Name", kind="text", required=True, max_length=5),
        Field(name="count", label="Count", kind="number", minimum=1, maximum=9, step=1, value=3),
        Field(name="share", label="Share", kind="number", minimum=0),
        Field(name="on", label="On", kind="toggle", value=False),
        Field(name="one", label="One", kind="choice", options=(Option(value="a", label="A"),)),
        Field(name="many", label="Many", kind="choices", options=(Option(value="a", label="A"),)),
        Field(name="gone", label="Gone", kind="toggle", disabled_because="not here"),
        Field(name="note", label="Note", kind="info"),
    ),
)


def send(**values: object) -> Submission:
    return Submission(form_id="f", values=values)


def test_values_get_their_types_and_missing_ones_keep_the_forms() -> None:
    assert validate(FORM, send(name=" x ", share="0,5", on="on", one="a", many=["a", "a"], gone=True)) == {
        "name": "x", "count": 3, "share": 0.5, "on": True, "one": "a", "many": ["a"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("name", "", "needed"),
        ("name", "123456", "At most 5 characters; this has 6"),
        ("count", "x", "number"),
        ("count", "nan", "number"),
        ("count", 10, "from 1 to 9"),
        ("count", 1.5, "whole"),
        ("share", -1, "at least 0"),
        ("on", "maybe", "on or off"),
        ("one", "b", "one of the options"),
        ("many", ["a", "b"], "among the options"),
    ],
)
def test_each_error_stands_at_its_field(field: str, value: object, text: str) -> None:
    with pytest.raises(FormInvalid) as caught:
        validate(FORM, send(**({"name": "x"} | {field: value})))
    assert list(caught.value.errors) == [field]
    assert text in caught.value.errors[field]


@given(st.dictionaries(st.sampled_from([f.name for f in FORM.fields]), st.none() | st.text() | st.integers()
                       | st.floats() | st.booleans() | st.lists(st.text(max_size=3))))  # fmt: skip
def test_anything_is_typed_or_told(values: dict[str, object]) -> None:
    errors: dict[str, str] = {}
    clean: dict[str, object] = {"count": 3}
    try:
        clean = validate(FORM, send(**values))
    except FormInvalid as error:
        errors = error.errors
    assert set(errors) <= {f.name for f in FORM.fields}
    assert clean["count"] in range(1, 10)
