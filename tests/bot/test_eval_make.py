"""What becomes an evaluation set, and what an admin doesn't get to see that way either."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.conversation import Citation, Conversation, Person, Reply
from adapters.forms import Feedback
from adapters.ports import Actor, Refused, UnansweredQuestion
from bot.eval_desk import EvaluationDesk, Exported, ForReview, Liked, Passage
from bot.eval_make import write_set
from bot.feedback import FeedbackStore
from bot.turns import TurnRecord, TurnStore
from retrieval.documents import chunk_id
from retrieval.evaluation.dataset import load
from retrieval.trace import Step, Trace
from tests.bot.doubles import House


class Unanswered:
    async def unanswered(self, actor: Actor, *, limit: int = 10) -> list[UnansweredQuestion]:
        return [UnansweredQuestion(question="Where is Lisbon?", at=datetime.now(UTC))]


def actor(*, admin: bool = True) -> Actor:
    place = Conversation(platform="cli", tenant="acme", id="root", kind="direct")
    return Actor(
        workspace="acme", person=Person(id="root", name="root", is_admin=admin), conversation=place
    )


class Desk:
    def __init__(self, house: House) -> None:
        self.turns, self.feedback = TurnStore(house.redis), FeedbackStore(house.redis)
        self.desk = EvaluationDesk(
            house.library,
            lambda: house.index,
            self.turns,
            self.feedback,
            Unanswered(),  # type: ignore[arg-type]
        )

    async def turn(self, name: str, *ratings: str, cites: tuple[str, ...] = (), **more: Any) -> None:
        citations = tuple(
            Citation(number=n, label=str(n), title="", document_id="d", version_id="v", version=1,
                     chunk_id=chunk, name="n", quote="q")
            for n, chunk in enumerate(cites, 1)
        )  # fmt: skip
        given: dict[str, Any] = {
            "question": f"{name}?", "public": True, "workspace": "acme", "asker": "slack:T1:ann"
        } | more  # fmt: skip
        record = TurnRecord(
            turn_id=name, conversation="slack:T1:C1", private=False,
            reply=Reply(turn_id=name, kind="answer", text="So.", citations=citations), **given,
        )  # fmt: skip
        await self.turns.save(record, days=1)
        for n, rating in enumerate(ratings):
            feedback = Feedback(turn_id=name, person_id=f"U{n}", rating=rating, reason=f"Why {n}")  # type: ignore[arg-type]
            await self.feedback.record(actor(), feedback)

    async def export(self, who: Actor | None = None) -> list[Exported]:
        return [item async for item in self.desk.export(who or actor())]


@pytest.fixture
async def stored(house: House) -> tuple[str, str]:
    """Version ids of a document for all and of one that is not for the admin."""
    async with house.working():
        _, everyone = await house.accept("Keys last 90 days.\nTokens last an hour.", "keys.md")
        _, secret = await house.accept("Ann's pay.", "pay.md", audience=("person:slack:T1:ann",))
        await house.end_of(everyone, secret)
    return everyone, secret


async def test_thumbs_become_judgements(house: House, stored: tuple[str, str], tmp_path: Path) -> None:
    desk, (everyone, _) = Desk(house), stored
    await desk.turn("good", "up", "up", cites=(chunk_id(everyone, 0),))
    await desk.turn("again", "up", cites=(chunk_id(everyone, 1),), question="GOOD?")
    await desk.turn("bad", "down", cites=(chunk_id(everyone, 1),))
    await desk.turn("mixed", "up", "down", cites=(chunk_id(everyone, 1),))
    lines = write_set(await desk.export(), tmp_path / "set")
    data = load(tmp_path / "set")
    assert [d.text for d in data.corpus] == ["Keys last 90 days.", "Tokens last an hour."]
    ((query, judged),) = data.qrels.items()
    assert data.queries[query].casefold() == "good?"
    assert judged == {chunk_id(everyone, 0): 1, chunk_id(everyone, 1): 1}
    review = [json.loads(row) for row in (tmp_path / "set" / "review.jsonl").read_text().splitlines()]
    assert {(row["_id"], row["why"]) for row in review} == {
        ("bad", "thumb down"),
        ("mixed", "thumbs differ"),
        ("unanswered-1", "not covered"),
    }
    assert lines[0].endswith("questions with a thumb up: 1.")


async def test_only_what_the_admin_may_see(house: House, stored: tuple[str, str]) -> None:
    desk, (everyone, secret) = Desk(house), stored
    kept = chunk_id(everyone, 0)
    await desk.turn("private", "up", cites=(kept,), public=False)
    await desk.turn("elsewhere", "up", cites=(kept,), workspace="other")
    await desk.turn("secret", "up", cites=(chunk_id(secret, 0),))
    await desk.turn("mine", "up", cites=(kept,), public=False, asker="cli:acme:root")
    found = await desk.export()
    assert {item.question for item in found if isinstance(item, Liked)} == {"mine?"}
    assert {item.id for item in found if isinstance(item, ForReview)} == {"secret", "unanswered-1"}
    assert next(i for i in found if isinstance(i, ForReview) and i.id == "secret").passages == ()
    assert "pay" not in " ".join(item.text for item in found if isinstance(item, Passage))


async def test_a_follow_up_is_kept_as_it_reads_alone(house: House, stored: tuple[str, str]) -> None:
    desk = Desk(house)
    outputs = {"standalone": "How long do tokens last?", "used_history": True}
    trace = Trace(turn_id="t", workspace="acme", steps=[Step(name="rephrase", start_ms=0, outputs=outputs)])
    await desk.turn("t", "up", cites=(chunk_id(stored[0], 1),), question="And tokens?", trace=trace)
    (liked,) = [item for item in await desk.export() if isinstance(item, Liked)]
    assert liked.question == "How long do tokens last?"


async def test_for_admins_only(house: House) -> None:
    with pytest.raises(Refused, match="Only admins"):
        await Desk(house).export(actor(admin=False))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Refused, match="not empty"):
        write_set([], tmp_path)
