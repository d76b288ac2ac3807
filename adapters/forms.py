"""Neutral forms, progress and feedback. Each platform renders them in its own way."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field as ModelField

from adapters.conversation import Neutral

FieldKind = Literal["text", "long_text", "number", "toggle", "choice", "choices", "file", "info"]


class Option(Neutral):
    value: str
    label: str


class Field(Neutral):
    """One field. Bounds hold for validation and for the platform's own widget alike."""

    name: str
    label: str
    kind: FieldKind
    help: str = ""
    required: bool = False
    value: Any = None
    placeholder: str = ""
    options: tuple[Option, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    #: For numbers: 1 means whole numbers.
    step: float | None = None
    max_length: int | None = None
    #: For files.
    max_files: int = 1
    #: Fields with the same group stand together under it as a heading.
    group: str = ""
    #: Said instead of the field when the environment switches it off, e.g. "no reranker is set up".
    disabled_because: str | None = None


class Form(Neutral):
    """A form as data. `revision` is what the values were read at: saving with an old one conflicts."""

    id: str
    title: str
    fields: tuple[Field, ...]
    submit: str = "Save"
    intro: str = ""
    revision: int = 0
    #: Carried through the platform unchanged (e.g. which document); never shown.
    context: dict[str, str] = ModelField(default_factory=dict[str, str])


class Submission(Neutral):
    """A filled form as it comes back. Values are what the platform sent, not yet validated."""

    form_id: str
    values: dict[str, Any]
    revision: int = 0
    context: dict[str, str] = ModelField(default_factory=dict[str, str])


class FormResult(Neutral):
    """Empty `errors` and no `conflict`: it was saved, and `message` says so."""

    errors: dict[str, str] = ModelField(default_factory=dict[str, str])
    #: Somebody saved in between: the form as it is now, to be shown again.
    conflict: Form | None = None
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.errors and self.conflict is None


class FormInvalid(Exception):
    """Errors by field name, each one sentence."""

    def __init__(self, errors: dict[str, str]) -> None:
        self.errors = errors
        super().__init__("; ".join(f"{name}: {text}" for name, text in errors.items()))


def _number(field: Field, value: Any) -> float | int:
    try:
        number = float(str(value).strip().replace(",", "."))
    except ValueError:
        raise ValueError("Enter a number.") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError("Enter a number.")
    low, high = field.minimum, field.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        if low is not None and high is not None:
            raise ValueError(f"Enter a number from {low:g} to {high:g}.")
        raise ValueError(
            f"Enter a number of at least {low:g}."
            if low is not None
            else f"Enter a number of at most {high:g}."
        )
    if field.step == 1:
        if number != int(number):
            raise ValueError("Enter a whole number.")
        return int(number)
    return number


def _clean(field: Field, value: Any) -> Any:
    match field.kind:
        case "toggle":
            if isinstance(value, bool):
                return value
            text = str(value).strip().lower()
            if text in ("true", "on", "yes", "1"):
                return True
            if text in ("false", "off", "no", "0", ""):
                return False
            raise ValueError("Choose on or off.")
        case "number":
            return _number(field, value)
        case "choice":
            if value not in {o.value for o in field.options}:
                raise ValueError("Choose one of the options.")
            return value
        case "choices":
            chosen = [value] if isinstance(value, str) else list(value)
            if not set(chosen) <= {o.value for o in field.options}:
                raise ValueError("Choose among the options.")
            return list(dict.fromkeys(chosen))
        case _:
            text = str(value).strip()
            if field.max_length is not None and len(text) > field.max_length:
                raise ValueError(f"At most {field.max_length:,} characters; this has {len(text):,}.")
            return text


#: What an emptied field means. Of the other kinds there is no empty value: they keep the form's.
_EMPTY: dict[str, Any] = {"text": "", "long_text": "", "choices": []}


def validate(form: Form, submission: Submission) -> dict[str, Any]:
    """Typed values by field name. Raises `FormInvalid` with every error at its field.

    Fields that are missing keep the form's value; those that don't exist or are disabled are left out.
    An emptied text is "", emptied choices are [].
    """
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in form.fields:
        if field.kind in ("info", "file") or field.disabled_because is not None:
            continue
        raw = submission.values.get(field.name, field.value)
        if raw is None or (isinstance(raw, str | list) and not raw):
            if field.required:
                errors[field.name] = "This is needed."
            else:
                values[field.name] = _EMPTY.get(field.kind, field.value)
            continue
        try:
            values[field.name] = _clean(field, raw)
        except (ValueError, TypeError) as error:
            errors[field.name] = str(error)
    if errors:
        raise FormInvalid(errors)
    return values


DocumentStage = Literal[
    "queued", "parsing", "chunking", "embedding", "indexing", "done", "failed", "cancelled"
]


class ProgressItem(Neutral):
    """One document on its way. `done` of `total` counts the units of its stage."""

    document_id: str
    version_id: str
    name: str
    stage: DocumentStage
    done: int = 0
    total: int = 0
    #: For `failed`: one sentence with what to do next. For `done`: a remark, such as "unchanged".
    message: str = ""

    @property
    def finished(self) -> bool:
        return self.stage in ("done", "failed", "cancelled")


class Progress(Neutral):
    items: tuple[ProgressItem, ...]

    @property
    def finished(self) -> bool:
        return all(item.finished for item in self.items)


class Feedback(Neutral):
    """A person's thumb on a reply."""

    turn_id: str
    person_id: str
    rating: Literal["up", "down"]
    reason: str = ModelField(default="", max_length=3000)
