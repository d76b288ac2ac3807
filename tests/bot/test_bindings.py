"""What a channel, a person or a user group is bound to, most specific first."""

from __future__ import annotations

import pytest

from adapters.conversation import Conversation, Person, Turn
from bot.questions import Questions
from bot.settings import WorkspaceValues

BINDINGS = "C1 = in:channel\nU1 = in:person\nS1 = in:group\nS2 = label:second"


class Library:
    async def knowledge_bases(self, _workspace: str) -> tuple[str, ...]:
        return ("channel", "person", "group", "main")


class Nothing:
    async def of(self, _turn: Turn) -> None:
        return None

    async def get(self, _turn: str) -> None:
        return None


@pytest.mark.parametrize(
    ("channel", "person", "groups", "knowledge_bases", "labels"),
    [
        ("C1", "U1", ("S1",), {"channel"}, None),
        ("C2", "U1", ("S1",), {"person"}, None),
        ("C2", "U2", ("S1", "S2"), {"group"}, None),
        ("C2", "U2", ("S2",), None, {"second"}),
        ("C2", "U2", ("S9",), None, None),
    ],
)
async def test_the_most_specific_binding_holds(
    channel: str,
    person: str,
    groups: tuple[str, ...],
    knowledge_bases: set[str] | None,
    labels: set[str] | None,
) -> None:
    questions = Questions(Library(), Nothing(), Nothing(), reranker=False, rephrase=False)  # type: ignore[arg-type]
    turn = Turn(
        id="t",
        workspace="w",
        conversation=Conversation(platform="slack", tenant="T1", id=channel, kind="public_channel"),
        asker=Person(id=person, groups=groups),
        text="How?",
    )
    question = await questions.of(turn, WorkspaceValues(bindings=BINDINGS))
    assert question.scope.knowledge_bases == knowledge_bases
    assert question.scope.labels == labels
