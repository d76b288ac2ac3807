"""Files on their way into the knowledge base: one card that tells how they get on, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import ClientSession
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from adapters.conversation import ConversationKind
from adapters.durable import Incoming
from adapters.forms import DocumentStage, Progress, ProgressItem
from adapters.ports import Bot, Refused, UploadOptions
from adapters.teams import work
from adapters.teams.card import size
from adapters.teams.connector import BotConnector
from adapters.teams.context import Teams
from adapters.teams.credentials import Credentials
from adapters.teams.graph import GraphClient
from adapters.teams.limits import CARD_BYTES
from adapters.teams.people import TeamsPeople
from adapters.teams.progress_card import progress_card
from adapters.teams.reference import Reference
from adapters.teams.rest import Rest
from adapters.teams.uploads import work_upload
from tests.adapters.fake_bot import item
from tests.adapters.replies import HOSTILE
from tests.adapters.teams.client import texts
from tests.adapters.teams.site import Site, World, open_site, settings_for
from tests.doubles.teams import Breaks, Fails, Seen, TeamsDouble

STAGES: tuple[DocumentStage, ...] = (
    "queued", "parsing", "chunking", "embedding", "indexing", "done", "failed", "cancelled",
)  # fmt: skip
WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60), st.text(min_size=900, max_size=4000))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.download._PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr("adapters.teams.graph._PAUSES", (0.0, 0.0))
    monkeypatch.setattr("adapters.teams.uploads.EVERY", 0.0)


@pytest.fixture
async def consented(redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path) -> AsyncGenerator[Site]:
    """An admin has consented to files; Graph leads to another host."""
    teams.world.tenants[world.tenant].permissions.add("Files.Read.All")
    async with open_site(redis, teams, tmp_path, file_origin=elsewhere(teams)) as site:
        yield site


def elsewhere(teams: TeamsDouble) -> str:
    return teams.base.replace("127.0.0.1", "localhost")


@pytest.fixture
async def parts(consented: Site, tmp_path: Path) -> AsyncGenerator[Teams]:
    """What the inbox's work is given, to be run and killed by hand."""
    settings = settings_for(consented.teams, file_origin=elsewhere(consented.teams))
    async with ClientSession() as session:
        credentials = Credentials(settings, session)
        connector = BotConnector(Rest(session, credentials, 5.0), settings.app_id)
        graph = GraphClient(settings, session, credentials)
        people = TeamsPeople(connector, graph, frozenset())
        yield Teams(cast("Bot", consented.bot), connector, people, graph, settings, tmp_path)


def reference_of(site: Site, place: str, thread: str | None = None) -> Reference:
    double = site.teams
    conversation = double.world.conversations[place]
    kinds: dict[str, ConversationKind] = {"personal": "direct", "groupChat": "group"}
    return Reference(
        service_url=double.url,
        tenant=conversation.tenant,
        conversation=f"{place};messageid={thread}" if thread else place,
        kind=kinds.get(conversation.kind, "public_channel"),
        bot=double.app.bot,
        team=conversation.team,
        team_group=double.world.teams[conversation.team].group if conversation.team else None,
        name=conversation.name,
    )


def upload_of(
    site: Site, place: str, person: str, *names: str, thread: str | None = None, **more: Any
) -> Incoming:
    """What is put into the inbox when a person wants files to be added."""
    world = site.teams.world
    files: list[dict[str, Any]] = []
    for name in names:
        file = world.add_file(name, f"Content of {name}")
        file.tenant = world.conversations[place].tenant
        file.url = f"https://contoso.sharepoint.example/sites/files/{file.id}/{name}"
        files.append(site.teams.payloads.attachment(world.conversations[place], file))
    who = world.people[person]
    payload = {
        "reference": reference_of(site, place, thread).model_dump(mode="json"),
        "who": {"user": who.user, "aad": who.aad, "name": who.name},
        "files": files,
        "message": thread,
        **more,
    }
    return work.incoming(work.UPLOAD, f"x:{names}", lane=f"x:{names}", payload=payload)


async def added(site: Site, incoming: Incoming) -> None:
    await site.inbox.accept(incoming)
    await site.settle()


def uploads(site: Site) -> list[tuple[dict[str, bytes], UploadOptions]]:
    return [(files, options) for files, options in site.bot.uploads if files]


def lines(seen: Seen) -> list[str]:
    (card,) = seen.cards
    return texts(card)


async def test_files_of_a_personal_chat_are_added_and_one_card_tells(site: Site, world: World) -> None:
    await added(site, upload_of(site, world.direct, world.ann, "a.md", "b.md", labels=["hr"]))
    assert [files for files, _ in uploads(site)] == [
        {"a.md": b"Content of a.md"},
        {"b.md": b"Content of b.md"},
    ]
    options = uploads(site)[0][1]
    assert (options.audience, options.labels, options.same_name) == ("person", ("hr",), "replace")
    (told,) = site.answers(world.direct)
    assert lines(told)[0] == "Added 2 documents. Ask away!"
    assert lines(told)[-1] == "Only you can ask about it."
    assert not site.teams.refusals


async def test_files_of_a_channel_come_through_graph_and_are_told_of_in_the_thread(
    consented: Site, world: World
) -> None:
    site = consented
    root = await site.ask(world.general, world.ann, f"{world.at} What is in it?")
    await added(site, upload_of(site, world.general, world.ann, "a.md", thread=root))
    assert [files for files, _ in uploads(site)] == [{"a.md": b"Content of a.md"}]
    (_, told) = site.answers(world.general, root)
    assert lines(told)[0] == "Added 1 document. Ask away!"
    assert not site.teams.refusals


async def test_without_consent_it_is_said_how(site: Site, world: World) -> None:
    await added(site, upload_of(site, world.group, world.ann, "a.md"))
    assert uploads(site) == []
    (told,) = site.answers(world.group)
    assert lines(told)[0] == "Finished: 1 failed."
    assert lines(told)[1].startswith("✗ a.md: failed: ")
    assert "Send it to me in a direct chat" in lines(told)[1]


async def test_what_was_chosen_is_kept(site: Site, world: World) -> None:
    chosen: dict[str, Any] = {
        "knowledge_base": "hr",
        "labels": ["x"],
        "audience": "everyone",
        "same_name": "keep_both",
    }
    await added(site, upload_of(site, world.direct, world.ann, "a.md", **chosen))
    ((_, options),) = uploads(site)
    assert options.model_dump(include=set(chosen)) == {**chosen, "labels": ("x",)}


async def test_one_that_is_refused_holds_up_no_other(site: Site, world: World) -> None:
    incoming = upload_of(site, world.direct, world.ann, "a.md", "b.md")
    site.teams.world.files[incoming.payload["files"][0]["content"]["uniqueId"]].gone = True
    await added(site, incoming)
    (told,) = site.answers(world.direct)
    assert lines(told)[0] == "Finished: 1 added, 1 failed."
    assert lines(told)[1:3] == [
        "✗ a.md: failed: “a.md” was deleted meanwhile. Upload it again.",
        "✓ v0: done",
    ]


async def test_who_may_not_add_is_told(site: Site, world: World) -> None:
    site.bot.refuse["upload"] = Refused("Only admins can add documents here.")
    await added(site, upload_of(site, world.direct, world.ann, "a.md"))
    (told,) = site.answers(world.direct)
    assert lines(told)[1] == "✗ a.md: failed: Only admins can add documents here."


async def test_the_same_file_twice_is_added_once(site: Site, world: World) -> None:
    incoming = upload_of(site, world.direct, world.ann, "a.md")
    incoming.payload["files"] *= 2
    await added(site, incoming)
    assert len(uploads(site)) == 1


async def test_without_files_it_says_so(site: Site, world: World) -> None:
    await added(site, upload_of(site, world.direct, world.ann))
    (told,) = site.answers(world.direct)
    assert "There is no file in that message" in lines(told)[1]


async def test_where_the_bot_may_not_write_the_person_is_told_alone(consented: Site, world: World) -> None:
    site = consented
    site.teams.world.conversations[world.group].installed = False
    await added(site, upload_of(site, world.group, world.ann, "a.md"))
    assert site.answers(world.group) == []
    (told,) = site.answers(world.direct)
    assert lines(told)[0] == "Added 1 document. Ask away!"


async def test_progress_is_one_card_that_is_updated(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = site.teams

    async def watch(_: Any, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        for stage in ("parsing", "embedding"):
            now = item("a.md", int(version_ids[0][1:]), stage)
            yield Progress(items=(now.model_copy(update={"done": 3, "total": 10}),))
            async with asyncio.timeout(10):
                while not any("3 of 10" in seen.words for seen in double.answers(world.direct)):
                    await double.news()
        yield Progress(items=(item("a.md", int(version_ids[0][1:]), "done"),))

    monkeypatch.setattr(site.bot, "watch", watch)
    await added(site, upload_of(site, world.direct, world.ann, "a.md"))
    (told,) = double.answers(world.direct)
    assert told.edits
    assert lines(told)[:2] == ["Added 1 document. Ask away!", "✓ a.md: done"]


async def test_what_takes_long_is_left_with_a_word(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def watch(_: Any, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        yield Progress(items=(item("a.md", 0, "parsing"),))
        await asyncio.Event().wait()

    monkeypatch.setattr(site.bot, "watch", watch)
    monkeypatch.setattr("adapters.uploading.WATCH", 0.05)
    await added(site, upload_of(site, world.direct, world.ann, "a.md"))
    (told,) = site.answers(world.direct)
    assert lines(told)[-1].startswith("This takes longer. Ask me for “status”")


async def test_an_end_that_could_not_be_shown_is_shown_later(site: Site, world: World) -> None:
    site.teams.faults.next("update", Breaks(status=500), times=20)
    site.teams.faults.next("send", None, Breaks(status=500), times=3)
    await added(site, upload_of(site, world.direct, world.ann, "a.md"))
    site.teams.faults.clear()
    await site.settle()
    assert lines(site.answers(world.direct)[-1])[0] == "Added 1 document. Ask away!"
    assert len(uploads(site)) == 1


async def test_a_card_that_teams_refuses_ends_nothing(site: Site, world: World) -> None:
    site.teams.faults.next("send", Fails(400, "BadSyntax"), times=9)
    await added(site, upload_of(site, world.direct, world.ann, "a.md"))
    assert site.answers(world.direct) == []
    assert len(uploads(site)) == 1


@pytest.mark.parametrize("moved", [False, True])
async def test_after_a_kill_it_goes_on_in_the_same_card(
    consented: Site, parts: Teams, world: World, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    site = consented
    site.teams.world.conversations[world.group].installed = not moved
    incoming = upload_of(site, world.group, world.ann, "a.md", "b.md")
    place = world.direct if moved else world.group
    watching = asyncio.Event()

    async def watch(_: Any, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        watching.set()
        await asyncio.Event().wait()
        yield Progress(items=())

    with monkeypatch.context() as patched:
        patched.setattr(site.bot, "watch", watch)
        killed = asyncio.create_task(work_upload(parts, incoming.model_copy(update={"starts": 1})))
        await watching.wait()
        async with asyncio.timeout(10):
            while not site.answers(place):
                await site.teams.news()
        killed.cancel()
        await asyncio.wait([killed])
    for starts in (2, 3):
        await work_upload(parts, incoming.model_copy(update={"starts": starts}))
    (told,) = site.answers(place)
    assert lines(told)[0] == "Added 2 documents. Ask away!"
    assert len(uploads(site)) == 2
    assert list(parts.spool.iterdir()) == []


async def test_what_kills_the_process_ends_with_an_apology(
    consented: Site, parts: Teams, world: World
) -> None:
    site = consented
    incoming = upload_of(site, world.direct, world.ann, "a.md")
    await work_upload(parts, incoming.model_copy(update={"starts": 4}))
    (told,) = site.answers(world.direct)
    assert "Something went wrong on my side. Please try again." in told.words
    assert uploads(site) == []


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.builds(
            ProgressItem,
            document_id=st.just("d"), version_id=st.just("v"), name=WORDS, stage=st.sampled_from(STAGES),
            done=st.integers(-5, 500), total=st.integers(0, 300), message=WORDS,
        ),
        max_size=60,
    ),
    st.integers(0, 10),
    WORDS,
)  # fmt: skip
def test_any_progress_is_a_card_that_teams_shows(
    items: list[ProgressItem], fetching: int, note: str
) -> None:
    activity = progress_card(items, fetching=fetching, note=note)
    (attachment,) = activity["attachments"]
    shown = texts(attachment["content"])
    assert activity["summary"] == shown[0]
    assert len(shown) >= min(len(items), 20) + 1
    assert size(activity) <= CARD_BYTES + 2_000
    assert not [line for line in shown if "<at" in line.lower()]
