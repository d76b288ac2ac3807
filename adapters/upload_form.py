"""What is asked before documents are added, the same on every platform. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.audience import LABELS, choices
from adapters.forms import Field, Form, FormInvalid, Option, Submission, validate
from adapters.ports import Actor, UploadOptions

FORM: Final = "kb_upload"
#: Labels of a document, and characters of one, or of a knowledge base's name.
_LABELS, _LABEL = 20, 60


def options_form(
    actor: Actor,
    knowledge_bases: Sequence[str],
    *,
    most: int,
    before: Sequence[Field] = (),
    context: Mapping[str, str] | None = None,
) -> Form:
    """Only what fits the person and the place.

    Args:
        most: options that a list can have.
        before: fields of the platform's own, such as one for the files.
    """
    audiences = choices(actor.conversation, actor.person)
    names = [name for name in dict.fromkeys(knowledge_bases) if name.strip()][:most]
    existing = Field(
        name="knowledge_base", label="Knowledge base", kind="choice",
        options=tuple(Option(value=name, label=name) for name in names), placeholder="The default one",
    )  # fmt: skip
    return Form(
        id=FORM,
        title="Add documents",
        submit="Upload",
        context=dict(context or {}),
        fields=(
            *before,
            *((existing,) if names else ()),
            Field(name="new_knowledge_base", label="Or a new knowledge base", kind="text",
                  max_length=_LABEL, placeholder="handbook"),
            Field(name="labels", label="Labels", kind="text", max_length=1000,
                  help="Separate them with commas. A question can then ask for them, e.g. label:hr."),
            Field(name="audience", label="Who can ask about them", kind="choice", required=True,
                  value=audiences[0],
                  options=tuple(Option(value=one, label=LABELS[one]) for one in audiences)),
            Field(name="same_name", label="If a document of that name is there", kind="choice",
                  required=True, value="replace",
                  options=(Option(value="replace", label="Replace it"),
                           Option(value="keep_both", label="Keep both"))),
        ),
    )  # fmt: skip


def read_options(
    form: Form, submission: Submission, errors: Mapping[str, str] | None = None
) -> UploadOptions:
    """Raises `FormInvalid` with all errors, those given too."""
    found = dict(errors or {})
    values: dict[str, Any] = {}
    try:
        values = validate(form, submission)
    except FormInvalid as error:
        found = {**error.errors, **found}
    labels = [label.strip() for label in str(values.get("labels") or "").split(",") if label.strip()]
    if len(labels) > _LABELS or any(len(label) > _LABEL for label in labels):
        found["labels"] = f"Up to {_LABELS} labels of up to {_LABEL} characters each."
    if found:
        raise FormInvalid(found)
    new = str(values.get("new_knowledge_base") or "").strip()
    return UploadOptions(
        knowledge_base=new or values.get("knowledge_base") or None,
        labels=tuple(labels),
        audience=values["audience"],
        same_name=values["same_name"],
    )
