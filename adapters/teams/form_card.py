"""A neutral form as a card in a dialog, and a filled one as a Submission. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from adapters.forms import Field, Form, Submission
from adapters.teams import limits
from adapters.teams.card import Json, actions, alert, heading, quiet, size, submit, whole, words
from adapters.teams.form_fields import field_blocks, field_value, input_id

_TOO_MANY: Final = "There is more than Teams can show. Change the rest on the settings page."
_CONFLICT: Final = (
    "Somebody else saved in between, so nothing of yours was saved. This is how it stands now: please make "
    "your changes again."
)
_EMPTY: Final = "There is nothing to fill in."
#: Bytes for what stands above and under the fields.
_FRAME: Final = 6_000


def form_card(form: Form, kind: str, *, errors: Mapping[str, str] | None = None, line: str = "") -> Json:
    """The card.

    Args:
        kind: of the submission: `task/submit` comes with it in its data.
        errors: by field name. Those of fields that the card does not show stand above, with their labels.
        line: said above everything else, as something that went wrong.
    """
    wrong = dict(errors or {})
    body: list[Json] = []
    shown: list[str] = []
    room = limits.CARD_BYTES - _FRAME - size([form.context, form.intro, line, wrong])
    full = False
    for field, blocks, fillable in _fields(form, wrong):
        room -= size(blocks) + (size(field.name) if fillable else 0)
        if room < 0:
            full = True
            break
        body += blocks
        if fillable:
            shown.append(field.name)
    labels = {field.name: field.label or field.name for field in form.fields}
    elsewhere = [f"{labels.get(name, name)}: {text}" for name, text in wrong.items() if name not in shown]
    above = [alert(text) for text in (line, *elsewhere) if text.strip()]
    above += [words(form.intro)] if form.intro.strip() else []
    below = [quiet(_TOO_MANY)] if full else ([] if body else [quiet(_EMPTY)])
    carried = {"form": form.id, "revision": form.revision, "context": form.context, "shown": shown}
    below += actions([submit(form.submit, kind, **carried)]) if shown else []
    return whole([*above, *body, *below])


def conflict_card(fresh: Form, kind: str) -> Json:
    """The form as it is now, after somebody else saved."""
    return form_card(fresh, kind, line=_CONFLICT)


def submission_of(form: Form, value: Mapping[str, Any]) -> Submission:
    """What a person filled in.

    Args:
        form: as it is now; it may have changed since the dialog was opened, which its revision tells.
        value: the data that Teams sends with `task/submit`.

    Fields that the dialog did not show are left out, so they keep the form's values.
    """
    shown: Any = value.get("shown")
    names = {str(name) for name in cast("list[Any]", shown)} if isinstance(shown, list) else set[str]()
    revision: Any = value.get("revision")
    return Submission(
        form_id=str(value.get("form") or ""),
        values={
            field.name: field_value(field, value.get(input_id(field.name)))
            for field in form.fields
            if field.name in names
        },
        revision=revision if isinstance(revision, int) else 0,
        context=context_of(value),
    )


def context_of(value: Mapping[str, Any]) -> dict[str, str]:
    """What the form carried; a person can have changed it."""
    context: Any = value.get("context")
    if not isinstance(context, dict):
        return {}
    return {str(name): str(text) for name, text in cast("dict[Any, Any]", context).items()}


def filled(form: Form, submission: Submission) -> Form:
    """With what was filled in, to be shown again with what is wrong."""
    fields = [
        field.model_copy(update={"value": submission.values[field.name]})
        if field.name in submission.values
        else field
        for field in form.fields
    ]
    return form.model_copy(
        update={
            "fields": tuple(fields),
            "revision": submission.revision,
            "context": submission.context,
        }
    )


def _fields(form: Form, errors: Mapping[str, str]) -> Iterator[tuple[Field, list[Json], bool]]:
    """Groups under their headings, in the order in which they first appear."""
    groups: dict[str, list[Field]] = {}
    for field in form.fields:
        groups.setdefault(field.group.strip(), []).append(field)
    for group, fields in groups.items():
        above = [heading(group)] if group else []
        for field in fields:
            blocks, fillable = field_blocks(field, errors.get(field.name, ""))
            if blocks:
                yield field, [*above, *blocks], fillable
                above = []
