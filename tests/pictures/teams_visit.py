"""Someone's visit to the Agents Playground: their window, what goes on behind it, and how that is read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from tests.pictures.playground import WORLD, Exchange, Json, Playground, Relay, until
from tests.pictures.playground_window import Window
from tests.pictures.quoting_model import QuotingModel

PERSONAL: Final = WORLD["personalChat"]["id"]
GROUP: Final = WORLD["groupChat"]["id"]
CHANNEL: Final = WORLD["team"]["channels"][0]["id"]


@dataclass
class Visit:
    """A person's window, and what goes on behind it."""

    client: Playground
    relay: Relay
    window: Window
    model: QuotingModel
    pictures: Path = Path()

    def mark(self) -> int:
        """What comes after this is new."""
        return len(self.client.events)

    def messages(self, since: int, conversation: str) -> list[Json]:
        """Of the bot, as each stands now, oldest first."""
        found: dict[str, Json] = {}
        for event in self.client.events[since:]:
            message = event.get("message")
            where = str(event.get("actionConversationId", ""))
            if message and where.startswith(conversation) and message["from"]["id"] == WORLD["bot"]["id"]:
                found[message["messageId"]] = message
        return list(found.values())

    async def answer(self, since: int, conversation: str) -> Json:
        """The finished one. Its card follows as a message of its own: that is the Playground's way."""

        def finished() -> Json | None:
            said = self.messages(since, conversation)
            return next((m for m in said if m.get("aiEntity") and m.get("text")), None)

        return await until(finished, "answer", seconds=60)

    async def settled(self, since: int, conversation: str) -> int:
        """Nothing of the bot's says any more that it is on its way. Gives how many texts there are."""

        def texts() -> list[str]:
            return [m["text"] for m in self.messages(since, conversation) if m.get("text")]

        await until(lambda: not any(text.endswith("…") for text in texts()), "end of what is on its way")
        return len(texts())

    async def card(self, since: int, conversation: str, words: str) -> Json:
        """A message whose card says that."""

        def there() -> Json | None:
            said = self.messages(since, conversation)
            return next((m for m in said if words in dumps(m.get("attachments"))), None)

        return await until(there, f"card that says “{words}”", seconds=60)

    def like(self, conversation: str, **more: Any) -> Json:
        """An activity as the Playground wrote others in that conversation."""
        known = next(
            exchange.activity
            for exchange in reversed(self.relay.exchanges)
            if exchange.activity["conversation"]["id"].startswith(conversation)
            and exchange.activity["type"] == "message"
        )
        kept = ("from", "serviceUrl", "conversation", "recipient", "channelData", "channelId", "locale")
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {
            **{k: known[k] for k in kept if k in known},
            "id": str(uuid.uuid4()),
            "timestamp": now,
            **more,
        }

    async def sent(self, activity: Json) -> Exchange:
        """By the Playground; with what the bot answered."""
        await self.client.raw(activity)

        def back() -> Exchange | None:
            return next((e for e in self.relay.exchanges if e.activity.get("id") == activity["id"]), None)

        exchange = await until(back, f"answer to {activity.get('name') or 'a message'}")
        assert exchange.status < 300, f"The bot answered {exchange.status} to {activity.get('name')}."
        return exchange

    async def dialog(self, name: str, data: Json, reply_to: str | None = None) -> tuple[str, Json]:
        """Title and card of the dialog that the bot answers a button or a submission with."""
        value = {"data": data, "context": {"theme": "default"}}
        invoke = self.like(PERSONAL, type="invoke", name=name, value=value, replyToId=reply_to)
        task = ((await self.sent(invoke)).body or {}).get("task", {})
        assert task.get("type") == "continue", f"No dialog but {dumps(task)[:300]}"
        shown = task["value"]["card"]
        assert shown["contentType"] == "application/vnd.microsoft.card.adaptive", "The dialog has no card."
        return task["value"]["title"], shown["content"]


def dumps(value: Any) -> str:
    """For looking for words in it."""
    return json.dumps(value, ensure_ascii=False)


def objects(value: Any) -> Iterator[Json]:
    """All objects in it, the outer ones first."""
    if isinstance(value, dict):
        found = cast("Json", value)
        yield found
        for one in found.values():
            yield from objects(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from objects(one)


def button(value: Any, title: str) -> Json:
    """The data of the button of that title. Raises `AssertionError`."""
    found = next((o for o in objects(value) if o.get("title") == title and "data" in o), None)
    assert found is not None, f"There is no button “{title}”."
    return found["data"]


def filled(card: Json, title: str, **answers: Any) -> Json:
    """What Teams sends for the button of a form: its data, and each input's value."""
    inputs = {
        str(o["id"]): o.get("value", "") for o in objects(card) if str(o.get("type")).startswith("Input.")
    }
    given = {f"field.{name}": value for name, value in answers.items()}
    unknown = given.keys() - inputs.keys()
    assert not unknown, f"The form has no {', '.join(unknown)}, but {', '.join(inputs)}."
    return {**button(card, title), **inputs, **given}


def cited(answer: Json) -> list[Json]:
    """Its sources. Raises `AssertionError` where the text's numbers and the sources don't agree."""
    found: list[Json] = answer["aiEntity"].get("citation", [])
    assert found, f"The answer names no source: {answer.get('text')}"
    for one in found:
        assert f"[{one['position']}]" in answer["text"], (
            f"Source {one['position']} has no mark in the text."
        )
        assert all(one["appearance"].get(part) for part in ("name", "abstract")), "A source has no name."
    assert answer["aiEntity"]["additionalType"] == ["AIGeneratedContent"], "There is no AI label."
    return found
