"""What people do in Teams, handed to the adapter's parts directly; answers are read as Teams reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from adapters.conversation import Person
from adapters.durable import Incoming
from adapters.ports import Bot
from adapters.teams.activity import Invoked, Said, Who
from adapters.teams.context import Connector, Graph, InvokeAnswer, People, Teams
from adapters.teams.errors import NoGraph
from adapters.teams.invoke import answer_invoke
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings
from tests.adapters.fake_bot import FakeBot
from tests.adapters.teams.client import sent, texts
from tests.doubles.teams.answers import Task, compose_answer, task_answer

Json = dict[str, Any]

ANN = Who(user="29:ann", aad="aad-ann", name="Ann Lee")
BEN = Who(user="29:ben", aad="aad-ben", name="Ben Ito")
DIRECT = Reference(
    service_url="https://teams.example/", tenant="t1", conversation="a:1", kind="direct", bot="28:app"
)
CHANNEL = DIRECT.model_copy(
    update={"conversation": "19:c@thread.tacv2;messageid=1", "kind": "private_channel", "name": "General"}
)


@dataclass
class Notes:
    kept: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    async def read(self, name: str) -> dict[str, str]:
        return dict(self.kept.get(name, {}))

    async def write(self, name: str, fields: Mapping[str, str], *, seconds: int | None = None) -> None:
        assert seconds
        self.kept.setdefault(name, {}).update(fields)


@dataclass
class Inbox:
    accepted: list[Incoming] = field(default_factory=list[Incoming])

    async def accept(self, incoming: Incoming) -> bool:
        if any(set(one.names) & set(incoming.names) for one in self.accepted):
            return False
        self.accepted.append(incoming)
        return True


class _Workspaces:
    async def of(self, platform: str, tenant: str) -> str:
        return f"{platform}-{tenant}"


class _People:
    async def person(self, reference: Reference, user: str, *, aad: str = "", name: str = "") -> Person:
        return Person(id=aad or user, name=name, is_admin=user == ANN.user)


@dataclass
class _Graph:
    thread: list[Json] | None = None

    async def replies(self, reference: Reference, *, limit: int = 200) -> list[Json]:
        if self.thread is None:
            raise NoGraph("no consent")
        return self.thread


class Chat:
    """The adapter's parts, and a person who uses them."""

    def __init__(self, spool: Path, bot: FakeBot | None = None) -> None:
        self.bot = bot or FakeBot()
        self.notes, self.inbox, self.graph = Notes(), Inbox(), _Graph()
        ports = {"notes": self.notes, "inbox": self.inbox, "workspaces": _Workspaces()}
        for name, port in ports.items():
            setattr(self.bot, name, port)
        self.teams = Teams(
            bot=cast("Bot", self.bot),
            connector=cast("Connector", None),
            people=cast("People", _People()),
            graph=cast("Graph", self.graph),
            settings=TeamsSettings(),
            spool=spool,
        )
        self._number = 0

    def said(self, text: str = "", *, reference: Reference = DIRECT, who: Who = ANN, **more: Any) -> Said:
        self._number += 1
        return Said(reference=reference, id=f"m{self._number}", who=who, text=text, **more)

    async def invoke(
        self,
        name: str,
        value: Json,
        *,
        reference: Reference = DIRECT,
        who: Who = ANN,
        reply_to: str | None = None,
    ) -> InvokeAnswer:
        self._number += 1
        invoked = Invoked(
            reference=reference, who=who, id=f"i{self._number}", name=name, value=value, reply_to=reply_to
        )
        return await answer_invoke(self.teams, invoked)

    async def opens(self, data: Json, **more: Any) -> Json:
        """The card of the dialog that a button with that data opens."""
        answer = await self.invoke("task/fetch", {"data": data}, **more)
        return _card(task_answer(answer.status, answer.body, first=True))

    async def presses(self, card: Json, title: str, *, filled: Json | None = None, **more: Any) -> Json:
        """A button of a dialog: the card that stands there then."""
        data = sent(card, title, **(filled or {}))
        answer = await self.invoke("task/submit", {"data": data}, **more)
        return _card(task_answer(answer.status, answer.body, first=False))

    async def acts_on(self, payload: Json, **more: Any) -> Json:
        """“Add to knowledge base” in the menu of a message."""
        value = {"commandId": "addToKnowledgeBase", "commandContext": "message", "messagePayload": payload}
        answer = await self.invoke("composeExtension/fetchTask", value, **more)
        return _card(compose_answer(answer.status, answer.body, first=True))


def _card(task: Task | str | None) -> Json:
    assert isinstance(task, Task)
    assert task.card is not None
    return task.card


def words(card: Json) -> str:
    return "\n".join(texts(card))
