"""What a workspace may set: the values, and the neutral form that every platform renders."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.forms import Field as FormField
from adapters.forms import FieldKind, Form, Option

FollowUp = Literal["always", "questions", "mentions"]
Rewrites = Literal["off", "0", "1", "2", "3", "4"]

FORM_ID = "workspace-settings"


class WorkspaceValues(BaseModel):
    """A workspace's choices. The environment's flags say what is possible; see `bot.config`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    length: Literal["concise", "detailed", "steps"] = "concise"
    extra_instructions: str = ""
    #: ISO 639-1; "auto": the asker's language.
    language: str = "auto"
    labels: Literal["numbers", "names"] = "numbers"
    reply_mode: Literal["thread", "channel"] = "thread"
    #: "off": the question is searched as it stands; "0": made standalone, no alternatives.
    rewrites: Rewrites = "1"
    #: "weak": alternatives are asked for only where the question itself finds little.
    rewrite_when: Literal["weak", "always"] = "weak"
    reranking: bool = True
    threshold: float = Field(default=0.0, ge=0, le=1)
    passages_retrieved: int = Field(default=12, ge=1, le=50)
    passages_handed_on: int = Field(default=6, ge=1, le=20)
    follow_up: FollowUp = "questions"
    who_may_upload: Literal["everyone", "admins"] = "everyone"
    default_knowledge_base: str = "main"
    default_labels: tuple[str, ...] = ()
    #: "id of a channel, person or user group = in:... label:..."; one binding a line.
    bindings: str = ""
    retention_days: int = Field(default=90, ge=1, le=3650)
    #: Name of the label that answers carry where the platform shows one; empty: none.
    sensitivity: str = ""


LANGUAGES = {
    "auto": "The asker's language", "ar": "العربية", "de": "Deutsch", "en": "English", "es": "Español",
    "fr": "Français", "hi": "हिन्दी", "it": "Italiano", "ja": "日本語", "ko": "한국어", "nl": "Nederlands",
    "pl": "Polski", "pt": "Português", "ru": "Русский", "th": "ไทย", "tr": "Türkçe", "uk": "Українська",
    "vi": "Tiếng Việt", "zh": "中文",
}  # fmt: skip


def _options(**labels: str) -> tuple[Option, ...]:
    return tuple(Option(value=value.lstrip("_"), label=label) for value, label in labels.items())


def settings_form(values: WorkspaceValues, revision: int, *, reranker: bool, rephrase: bool) -> Form:
    """The form with the workspace's values. What the environment switches off says so."""

    def field(name: str, label: str, kind: FieldKind, group: str, **more: object) -> FormField:
        value = getattr(values, name)
        if isinstance(value, tuple):
            value = ", ".join(value)  # pyright: ignore[reportUnknownArgumentType]
        return FormField.model_validate(
            {"name": name, "label": label, "kind": kind, "group": group, "value": value, **more}
        )

    no_reranker = None if reranker else "No reranker is set up on this server (RERANK_MODEL)."
    no_rephrase = None if rephrase else "Rephrasing is switched off on this server."
    answers, search, conversation, documents = "Answers", "Search", "Conversation", "Documents"
    fields = (
        field("length", "Answering style", "choice", answers,
              options=_options(concise="Short", detailed="Detailed", steps="Step by step")),
        field("extra_instructions", "Extra instructions", "long_text", answers, max_length=2000,
              help="Told to the answering model in every turn, e.g. “Use British spelling.”"),
        field("language", "Answer language", "choice", answers,
              options=tuple(Option(value=code, label=name) for code, name in LANGUAGES.items())),
        field("labels", "Source marks", "choice", answers,
              options=_options(numbers="Numbers: [1]", names="Names: [keys.md]")),
        field("sensitivity", "Sensitivity label", "text", answers, max_length=80,
              placeholder="Confidential", help="Stands on each answer in Microsoft Teams."),
        field("rewrites", "Rephrasing", "choice", search, disabled_because=no_rephrase,
              help="Follow-ups become questions of their own; alternatives find more, and cost a little.",
              options=_options(off="Off", _0="Standalone question only", _1="1 alternative",
                               _2="2 alternatives", _3="3 alternatives", _4="4 alternatives")),
        field("rewrite_when", "Use alternatives", "choice", search, disabled_because=no_rephrase,
              help="They take a moment, which a question that finds its answer at once can save.",
              options=_options(weak="When the question finds little", always="With every question")),
        field("reranking", "Rerank passages", "toggle", search, disabled_because=no_reranker),
        field("threshold", "Similarity threshold", "number", search, required=True, minimum=0, maximum=1,
              disabled_because=no_reranker, help="Passages that the reranker scores lower are left out."),
        field("passages_retrieved", "Passages retrieved", "number", search, required=True,
              minimum=1, maximum=50, step=1),
        field("passages_handed_on", "Passages handed to the model", "number", search, required=True,
              minimum=1, maximum=20, step=1),
        field("reply_mode", "Answers in channels go", "choice", conversation,
              options=_options(thread="In a thread", channel="In the channel")),
        field("follow_up", "Follow-ups in a thread", "choice", conversation,
              help="When to answer in a thread without being mentioned again.",
              options=_options(always="Answer every message", questions="Answer questions",
                               mentions="Only when mentioned")),
        field("who_may_upload", "Who may add documents", "choice", documents,
              options=_options(everyone="Everyone", admins="Admins")),
        field("default_knowledge_base", "Default knowledge base", "text", documents,
              required=True, max_length=60),
        field("default_labels", "Default labels", "text", documents, max_length=300,
              help="Labels that a question searches when nothing else is said; separate with commas."),
        field("bindings", "Channels, people and groups", "long_text", documents, max_length=3000,
              placeholder="C0123456 = in:handbook label:hr",
              help="What each of them searches: one a line, an id, “=”, then in:… or label:…"),
        field("retention_days", "Keep questions and answers for (days)", "number", documents, required=True,
              minimum=1, maximum=3650, step=1),
    )  # fmt: skip
    return Form(id=FORM_ID, title="Workspace settings", fields=fields, revision=revision)
