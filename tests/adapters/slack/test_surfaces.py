"""What people do with the bot beside asking, against the strict Slack."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.forms import Feedback, Field, Form, FormResult, Progress, Submission
from adapters.ports import Asked, Explanation, ExplanationStep, Refused, UnansweredQuestion
from adapters.slack import work
from adapters.slack.home_view import home_view
from adapters.slack.surface import Act
from adapters.slack.uploads import work_upload
from adapters.slack.validate import check_message, check_view
from tests.adapters.fake_bot import citation, document
from tests.adapters.scripted import answer_of
from tests.adapters.slack.site import Site, World
from tests.doubles.slack import words


async def ended() -> None:
    """Until the app has done what it does after it has acknowledged."""
    running = [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__name__", "") == "run_ack_function_asynchronously"
    ]
    if running:
        await asyncio.wait(running, timeout=10)


def heard(site: Site, user: str) -> list[str]:
    """What only that person was told."""
    return [words(one.blocks) or one.text for one in site.slack.ephemerals(user)]


def calls(site: Site, name: str) -> list[Any]:
    return [call[1:] for call in site.bot.calls if call[0] == name]


async def answered(site: Site, world: World, **more: Any) -> tuple[str, str]:
    """A question of Ann's in a channel: its ts, and that of the reply."""
    site.bot.script = lambda turn: [answer_of(turn, **more)]
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often do keys change?")
    reply = site.replies(world.general, ts)[0]
    turn = site.bot.asked[-1]
    site.bot.questions[turn.id] = Asked(question=turn.text, mine=True)
    return ts, reply.ts


@pytest.fixture(autouse=True)
def _within_limits(site: Site) -> Iterator[None]:
    """Whatever was sent passes the product's own check, too."""
    yield
    for call in site.slack.calls:
        if call.method in ("chat.postMessage", "chat.postEphemeral", "chat.update"):
            check_message({"text": call.args["text"], "blocks": _parsed(call.args.get("blocks"))})
        elif call.method.startswith("views."):
            check_view(_parsed(call.args["view"]))
    for body in site.slack.responses:
        if not body.get("delete_original"):
            check_message(body)


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


class TestSettings:
    async def test_an_admin_changes_them_in_a_modal(self, site: Site, world: World) -> None:
        await site.slack.command("/kb settings", world.ben, world.general)
        await ended()
        (view,) = site.slack.views(world.ben)
        assert view["title"]["text"] == "Settings"
        answer = await site.slack.submit(world.ben, {"x": "new"})
        await ended()
        assert answer.ok
        ((submission,),) = calls(site, "submit")
        assert (submission.values, submission.revision) == ({"x": "new"}, 3)
        (view,) = site.slack.views(world.ben)
        assert "Saved." in words(view["blocks"])

    async def test_others_are_told_so_in_one_sentence(self, site: Site, world: World) -> None:
        site.bot.refuse["form"] = Refused("Only admins can change the settings.")
        await site.slack.command("/kb settings", world.ann, world.general)
        await ended()
        assert heard(site, world.ann) == ["Only admins can change the settings."]
        assert site.slack.views(world.ann) == []

    async def test_errors_stand_at_their_field(
        self, site: Site, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def submit(actor: Any, submission: Submission) -> FormResult:
            return FormResult(errors={"x": "Too short."})

        monkeypatch.setattr(site.bot, "submit", submit)
        await site.slack.command("/kb settings", world.ben, world.general)
        await ended()
        answer = await site.slack.submit(world.ben, {"x": "n"})
        await ended()
        assert answer.errors == {"3:x": "Too short."}

    async def test_who_saves_second_sees_what_was_saved_first(
        self, site: Site, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fields = (Field(name="x", label="X", kind="text", value="theirs"),)
        fresh = Form(id="workspace-settings", title="Settings", revision=4, fields=fields)

        async def submit(actor: Any, submission: Submission) -> FormResult:
            return FormResult(conflict=fresh)

        monkeypatch.setattr(site.bot, "submit", submit)
        await site.slack.command("/kb settings", world.ben, world.general)
        await ended()
        answer = await site.slack.submit(world.ben, {"x": "mine"})
        await ended()
        assert (answer.ok, answer.action) == (True, "update")
        (view,) = site.slack.views(world.ben)
        assert "Somebody else saved in between" in words(view["blocks"])
        assert view["blocks"][1]["element"]["initial_value"] == "theirs"
        assert "4:x" not in view["state"]["values"]


class TestUpload:
    async def test_files_become_documents_and_one_message_tells_how(self, site: Site, world: World) -> None:
        files = [site.slack.world.add_file(name, b"# Keys", user=world.ann).id for name in ("a.md", "b.md")]
        await site.slack.command("/kb upload", world.ann, world.general)
        await ended()
        answer = await site.slack.submit(
            world.ann, {"files": files, "labels": "HR, it", "audience": "channel"}
        )
        await ended()
        assert answer.ok
        assert site.slack.views(world.ann) == []
        await site.settle()
        added = [(names, options) for names, options in site.bot.uploads if names]
        assert [names for names, _ in added] == [{"a.md": b"# Keys"}, {"b.md": b"# Keys"}]
        assert {options.labels for _, options in added} == {("HR", "it")}
        assert {(options.audience, options.same_name) for _, options in added} == {("channel", "replace")}
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Added 2 documents" in told.text
        assert "Only the people in #general can ask about it." in told.text
        assert list(site.adapter.slack.spool.iterdir()) == []

    async def test_without_a_file_the_error_stands_at_the_field(self, site: Site, world: World) -> None:
        labels = ", ".join(f"l{n}" for n in range(30))
        file = site.slack.world.add_file("a.md", b"x", user=world.ann).id
        await site.slack.command("/kb upload", world.ann, world.general)
        await ended()
        answer = await site.slack.submit(world.ann, {"files": [file], "labels": labels})
        await ended()
        assert answer.errors == {"0:labels": "Up to 20 labels of up to 60 characters each."}
        await site.settle()
        assert not [names for names, _ in site.bot.uploads if names]

    async def test_there_is_no_channel_in_a_direct_message(self, site: Site, world: World) -> None:
        for channel, expected in (
            (world.direct, ["everyone", "person"]),
            (world.general, ["everyone", "channel", "person"]),
        ):
            await site.slack.command("/kb upload", world.ann, channel)
            await ended()
            view = site.slack.views(world.ann)[-1]
            options = next(b["element"]["options"] for b in view["blocks"] if b["block_id"] == "0:audience")
            assert [option["value"] for option in options] == expected

    async def test_who_may_not_upload_is_told_before_choosing_files(self, site: Site, world: World) -> None:
        site.bot.refuse["upload"] = Refused("Only admins can add documents here.")
        await site.slack.command("/kb upload", world.ann, world.general)
        await ended()
        assert heard(site, world.ann) == ["Only admins can add documents here."]
        assert site.slack.views(world.ann) == []

    async def test_a_file_that_fails_says_why_and_the_others_are_added(
        self, site: Site, world: World
    ) -> None:
        good = site.slack.world.add_file("a.md", b"x", user=world.ann).id
        await site.slack.command("/kb upload", world.ann, world.direct)
        await ended()
        gone = site.slack.world.add_file("b.md", b"x", user=world.ann)
        gone.deleted = True
        await site.slack.submit(world.ann, {"files": [good, gone.id]})
        await ended()
        await site.settle()
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Finished: 1 added, 1 failed." in told.text
        assert "not there (any more)" in told.text

    async def test_a_file_shared_with_the_bot_alone_is_added(self, site: Site, world: World) -> None:
        file = site.slack.world.add_file("a.md", b"x", user=world.ann).id
        ts = site.slack.say(world.direct, world.ann, "", files=[file])
        await site.settle()
        (told,) = site.replies(world.direct, ts)
        assert "Added 1 document" in told.text
        assert [options.audience for names, options in site.bot.uploads if names] == ["person"]
        assert site.bot.asked == []

    async def test_a_message_with_files_is_added_from_its_menu(self, site: Site, world: World) -> None:
        file = site.slack.world.add_file("a.md", b"x", user=world.ben).id
        ts = site.slack.say(world.general, world.ben, "the new keys", files=[file])
        await site.settle()
        answer = await site.slack.shortcut("add_to_knowledge_base", world.ann, world.general, ts)
        await ended()
        assert answer.ok
        await site.settle()
        assert [names for names, _ in site.bot.uploads] == [{"a.md": b"x"}]
        assert site.bot.uploads[0][1].audience == "everyone"
        assert "direct messages" in heard(site, world.ann)[0]

    async def test_a_thread_becomes_a_document_that_links_back(self, site: Site, world: World) -> None:
        root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
        site.slack.say(world.general, world.ann, "# Call Rui\nat the desk", root)
        await site.settle()
        await site.slack.shortcut("add_to_knowledge_base", world.ann, world.general, root)
        await ended()
        await site.settle()
        ((files, _),) = [(files, options) for files, options in site.bot.uploads if files]
        ((name, data),) = files.items()
        assert name == f"The VPN of Lisbon is down ({root.replace('.', '-')}).md"
        text = data.decode()
        assert "\n## ben, " in text
        assert "\n\\# Call Rui\nat the desk\n" in text
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Added 1 document" in told.text

    async def test_a_thread_that_cannot_be_read_says_what_to_do(self, site: Site, world: World) -> None:
        root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
        await site.settle()
        site.slack.leave(world.general)
        await site.slack.shortcut("add_to_knowledge_base", world.ann, world.general, root)
        await ended()
        await site.settle()
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Invite me" in told.text

    async def test_after_a_kill_it_goes_on_in_the_same_message(
        self, site: Site, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = site.slack.world.add_file("a.md", b"x", user=world.ann).id
        payload = {
            "team": world.team.id, "enterprise": None, "user": world.ann, "channel": None,
            "files": [file], "notify": None, "thread": None, "audience": "person",
        }  # fmt: skip
        incoming = work.incoming(work.UPLOAD, "view:1", lane="x", payload=payload)
        watching = asyncio.Event()

        async def watch(actor: Any, version_ids: Any) -> AsyncIterator[Progress]:
            watching.set()
            await asyncio.Event().wait()
            yield Progress(items=())

        with monkeypatch.context() as patched:
            patched.setattr(site.bot, "watch", watch)
            killed = asyncio.create_task(work_upload(site.adapter.slack, incoming))
            await watching.wait()
            killed.cancel()
            await asyncio.wait([killed])
        assert len([seen for seen in site.slack.visible(world.direct) if seen.by_bot]) == 1
        for starts in (2, 3):
            await work_upload(site.adapter.slack, incoming.model_copy(update={"starts": starts}))
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Added 1 document" in told.text
        assert len([names for names, _ in site.bot.uploads if names]) == 1

    async def test_what_kills_the_process_ends_with_an_apology(self, site: Site, world: World) -> None:
        payload = {
            "team": world.team.id, "enterprise": None, "user": world.ann, "channel": None, "files": ["F1"],
        }  # fmt: skip
        incoming = work.incoming(work.UPLOAD, "view:1", lane="x", payload=payload)
        await work_upload(site.adapter.slack, incoming.model_copy(update={"starts": 4}))
        (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
        assert "Something went wrong on my side. Please try again." in told.text


class TestCommands:
    async def test_a_question_is_answered_to_the_asker_alone(self, site: Site, world: World) -> None:
        for line in ("/kb ask How often?", "/kb How often do keys change?"):
            await site.slack.command(line, world.ann, world.general)
            await ended()
            await site.settle()
        assert [turn.text for turn in site.bot.asked] == ["How often?", "How often do keys change?"]
        assert all(turn.private for turn in site.bot.asked)
        assert len(heard(site, world.ann)) == 2
        assert site.slack.visible(world.general) == []

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("/kb", "What I can do"),
            ("/kb help", "What I can do"),
            ("/kb serch vacation", "Did you mean: /kb search vacation"),
            ("/kb blorp", "I don't know “blorp”."),
            ("/kb ask", "Type your question after it"),
            ("/kb search", "Type what to search for"),
            ("/kb search soup", "1. Menu · p. 2 · score 0.5000"),
            ("/kb list", "1. keys1.md · done · main"),
            ("/kb status", "Documents: 12 ready."),
            ("/kb delete", "Say which one"),
            ("/kb delete nothing.md", "There is no document “nothing.md”"),
            ("/kb delete 2", "Delete “keys2.md”?"),
            ("/kb delete KEYS3.md", "Delete “keys3.md”?"),
            ("/kb delete keys1", "Which one?"),
        ],
    )
    async def test_what_is_said(self, site: Site, world: World, line: str, said: str) -> None:
        site.bot.documents_there = [document(n) for n in range(1, 13)]
        answer = await site.slack.command(line, world.ann, world.general)
        await ended()
        assert answer.ok
        (told,) = heard(site, world.ann)
        assert said in told
        assert site.slack.visible(world.general) == []

    async def test_the_list_turns_its_pages_in_place(self, site: Site, world: World) -> None:
        site.bot.documents_there = [document(n) for n in range(1, 13)]
        await site.slack.command("/kb list", world.ann, world.general)
        await ended()
        (shown,) = site.slack.ephemerals(world.ann)
        await site.slack.click(world.ann, "kb_page:2", channel=world.general, ts=shown.ts)
        await ended()
        (told,) = heard(site, world.ann)
        assert "page 2 of 2" in told
        assert "12. keys12.md" in told

    async def test_a_document_is_deleted_once_that_is_confirmed(self, site: Site, world: World) -> None:
        site.bot.documents_there = [document(1), document(2)]
        await site.slack.command("/kb delete 1", world.ann, world.general)
        await ended()
        assert calls(site, "delete") == []
        (shown,) = site.slack.ephemerals(world.ann)
        await site.slack.click(world.ann, "kb_delete", channel=world.general, ts=shown.ts)
        await ended()
        assert calls(site, "delete") == [("d1",)]
        assert heard(site, world.ann) == ["“keys1.md” is deleted."]

    async def test_only_uploader_and_admins_delete(self, site: Site, world: World) -> None:
        site.bot.documents_there = [document(1, editable=False)]
        await site.slack.command("/kb delete 1", world.ann, world.general)
        await ended()
        assert heard(site, world.ann) == ["Only the one who added it and admins can delete it."]

    async def test_what_goes_wrong_is_told_in_one_sentence(self, site: Site, world: World) -> None:
        site.bot.refuse["list"] = RuntimeError("boom")
        answer = await site.slack.command("/kb list", world.ann, world.general)
        await ended()
        assert answer.ok
        assert heard(site, world.ann) == ["Something went wrong on my side. Please try again."]


class TestHome:
    async def opened(self, site: Site, user: str) -> dict[str, Any]:
        site.slack.open_home(user)
        await site.settle()
        await ended()
        return await self.shown(site, user)

    async def shown(self, site: Site, user: str) -> dict[str, Any]:
        view = site.slack.home(user)
        assert view is not None
        return view

    async def test_documents_and_what_the_person_may_do(self, site: Site, world: World) -> None:
        site.bot.documents_there = [document(1), document(2, editable=False)]
        site.bot.not_covered = [UnansweredQuestion(question="Who is Rui?", at=datetime.now(UTC))]
        text = words((await self.opened(site, world.ann))["blocks"])
        assert "Documents (2)" in text
        assert "keys1.md · done · main" in text
        assert ("Add documents" in text, "Settings" in text, "Rui" in text) == (True, False, False)
        text = words((await self.opened(site, world.ben))["blocks"])
        assert ("Settings" in text, "“Who is Rui?”" in text) == (True, True)

    @pytest.mark.parametrize(
        ("may_upload", "admin", "said"),
        [
            (True, True, "You are an admin"),
            (True, False, "delete those that you added"),
            (False, False, "Only admins add documents"),
        ],
    )
    def test_it_says_what_the_person_may_do(self, may_upload: bool, admin: bool, said: str) -> None:
        view = home_view([], may_upload=may_upload, is_admin=admin)
        assert said in words(view["blocks"])
        assert ("Add documents" in words(view["blocks"][1:])) == may_upload

    async def test_a_document_that_is_deleted_is_gone_from_it(self, site: Site, world: World) -> None:
        site.bot.documents_there = [document(1)]
        await self.opened(site, world.ann)
        await site.slack.click(world.ann, "kb_delete", "d1", home=True)
        await ended()
        assert calls(site, "delete") == [("d1",)]
        assert "There are none yet" in words((await self.shown(site, world.ann))["blocks"])

    async def test_a_search_shows_ranks_and_scores(self, site: Site, world: World) -> None:
        await self.opened(site, world.ann)
        await site.slack.click(world.ann, "home_mode", "keyword", home=True)
        await ended()
        view = site.slack.world.homes[world.team.id, world.ann]
        view.state["home_words"] = {"home_words": {"type": "plain_text_input", "value": "soup"}}
        await site.slack.click(world.ann, "home_search", home=True)
        await ended()
        assert calls(site, "search") == [("soup", "keyword")]
        assert "1. Menu · p. 2 · score 0.5000" in words((await self.shown(site, world.ann))["blocks"])

    async def test_its_buttons_open_modals(self, site: Site, world: World) -> None:
        await self.opened(site, world.ben)
        for button, title in (("home_upload", "Add documents"), ("home_settings", "Settings")):
            await site.slack.click(world.ben, button, home=True)
            await ended()
            assert site.slack.views(world.ben)[-1]["title"]["text"] == title

    async def test_what_was_added_there_is_listed_once_it_is_done(self, site: Site, world: World) -> None:
        await self.opened(site, world.ann)
        file = site.slack.world.add_file("a.md", b"x", user=world.ann).id
        await site.slack.click(world.ann, "home_upload", home=True)
        await ended()
        site.bot.documents_there = [document(1)]
        await site.slack.submit(world.ann, {"files": [file]})
        await ended()
        await site.settle()
        assert "keys1.md" in words((await self.shown(site, world.ann))["blocks"])


class TestUnderAnAnswer:
    async def test_a_thumb_up_is_kept_and_thanked_for(self, site: Site, world: World) -> None:
        _, reply = await answered(site, world)
        await site.slack.click(world.ben, "reply_feedback", "positive", channel=world.general, ts=reply)
        await ended()
        turn = site.bot.asked[0].id
        assert calls(site, "record") == [(Feedback(turn_id=turn, person_id=world.ben, rating="up"),)]
        assert heard(site, world.ben) == ["Thank you! That helps."]

    async def test_what_is_told_stands_in_the_thread_of_the_answer(self, site: Site, world: World) -> None:
        ts, reply = await answered(site, world)
        site.bot.questions.clear()
        again = f"again:{site.bot.asked[0].id}"

        async def click(action_id: str, value: str) -> None:
            await site.slack.click(world.ben, action_id, value, channel=world.general, ts=reply)
            await ended()

        await click("reply_feedback", "positive")
        await click("reply_feedback", "negative")
        await site.slack.submit(world.ben, {"reason": "Old prices."})
        await ended()
        await click("reply_menu", again)
        told = site.slack.ephemerals(world.ben)
        assert len(told) == 3
        assert {one.thread_ts for one in told} == {ts}

    async def test_a_private_question_in_a_thread_is_answered_there(self, site: Site, world: World) -> None:
        ts, _ = await answered(site, world)
        for number, url in enumerate([site.slack.response_url(world.ann, world.general), None]):
            payload = {
                "team": world.team.id, "enterprise": None, "user": world.ann, "channel": world.general,
                "thread": ts, "text": "Again?", "private": True, "response_url": url,
            }  # fmt: skip
            await site.inbox.accept(work.incoming(work.ASK, f"n{number}", lane="l", payload=payload))
            await site.settle()
        assert [one.thread_ts for one in site.slack.ephemerals(world.ann)] == [ts, ts]

    async def test_a_thumb_down_asks_why(self, site: Site, world: World) -> None:
        _, reply = await answered(site, world)
        await site.slack.click(world.ben, "reply_feedback", "negative", channel=world.general, ts=reply)
        await ended()
        assert [call[0].rating for call in calls(site, "record")] == ["down"]
        answer = await site.slack.submit(world.ben, {"reason": "Old prices."})
        await ended()
        assert answer.ok
        assert calls(site, "record")[-1][0].reason == "Old prices."
        assert "Thank you" in heard(site, world.ben)[0]

    async def test_why_this_answer_tells_the_steps(self, site: Site, world: World) -> None:
        _, reply = await answered(site, world)
        step = ExplanationStep(
            name="search", title="Searched", start_ms=3, ms=1500, lines=("“keys”",), input_tokens=1200
        )
        turn = site.bot.asked[0].id
        site.bot.explanation = Explanation(turn_id=turn, question="How?", steps=(step,), total_ms=1503)
        await site.slack.click(world.ben, "reply_menu", f"why:{turn}", channel=world.general, ts=reply)
        await ended()
        text = words(site.slack.views(world.ben)[0]["blocks"])
        assert "1. Searched  after 3 ms, took 1.5 s, 1,200 tokens read, 0 written\n“keys”" in text

    async def test_ask_again_is_a_new_question_each_time(self, site: Site, world: World) -> None:
        ts, reply = await answered(site, world)
        turn = site.bot.asked[0].id
        for _ in range(2):
            await site.slack.click(
                world.ben, "reply_menu", f"again:{turn}", channel=world.general, ts=reply
            )
            await ended()
            await site.settle()
        assert [t.text for t in site.bot.asked] == ["How often do keys change?"] * 3
        assert len({t.id for t in site.bot.asked}) == 3
        assert len(site.replies(world.general, ts)) == 3

    async def test_a_question_under_an_answer_is_asked_in_its_thread(
        self, site: Site, world: World
    ) -> None:
        ts, reply = await answered(site, world, suggestions=("What about <b> & co?",))
        await site.slack.click(world.ben, "ask:0", channel=world.general, ts=reply)
        await ended()
        await site.settle()
        assert site.bot.asked[-1].text == "What about <b> & co?"
        assert len(site.replies(world.general, ts)) == 2

    async def test_the_asker_deletes_all_parts_of_an_answer(self, site: Site, world: World) -> None:
        ts, reply = await answered(site, world, text="word " * 4000)
        assert len(site.replies(world.general, ts)) > 1
        first = site.replies(world.general, ts)[-1].ts
        turn = site.bot.asked[0].id
        assert reply
        await site.slack.click(world.ann, "reply_menu", f"delete:{turn}", channel=world.general, ts=first)
        await ended()
        assert site.replies(world.general, ts) == []
        assert calls(site, "forget") == []  # the transcript is the real one here
        assert all(m.role != "assistant" for m in await site.history(world.general, ts))

    async def test_others_do_not_delete_it(self, site: Site, world: World) -> None:
        ts, reply = await answered(site, world)
        turn = site.bot.asked[0].id
        site.bot.questions[turn] = Asked(question="?", mine=False)
        carl = site.slack.world.add_user("carl").id
        await site.slack.click(carl, "reply_menu", f"delete:{turn}", channel=world.general, ts=reply)
        await ended()
        assert heard(site, carl) == ["Only the one who asked and admins can delete this answer."]
        assert len(site.replies(world.general, ts)) == 1
        await site.slack.click(world.ben, "reply_menu", f"delete:{turn}", channel=world.general, ts=reply)
        await ended()
        assert site.replies(world.general, ts) == []

    async def test_a_citation_without_a_page_opens_its_own_passage(self, site: Site, world: World) -> None:
        cited = [
            citation(number=n, label=str(n), url=None, title=f"Doc {n}", page=n,
                     passage=f"Before.\nEvery {n}\ndays. After.", quote=f"Every {n} days.",
                     source_url="https://t.slack.com/files/F1")
            for n in (1, 2)
        ]  # fmt: skip
        _, reply = await answered(site, world, text="So. [1][2]", citations=tuple(cited))
        await site.slack.click(world.ben, "passage:2", channel=world.general, ts=reply)
        await ended()
        (view,) = site.slack.views(world.ben)
        assert view["blocks"][0]["text"]["text"] == "Doc 2"
        elements = view["blocks"][2]["elements"][0]["elements"]
        assert [(e["text"], "style" in e) for e in elements] == [
            ("Before.\n", False), ("Every 2\ndays.", True), (" After.", False),
        ]  # fmt: skip
        assert view["blocks"][3]["elements"][0]["url"] == "https://t.slack.com/files/F1"


@pytest.mark.parametrize(
    ("payload", "team"),
    [
        ({"team": {"id": "T1"}}, "T1"),
        ({"team": {"id": "T9"}, "view": {"app_installed_team_id": "T1"}}, "T1"),
        ({"team": None, "user": {"id": "U1", "team_id": "T1"}}, "T1"),
        ({"team": None, "view": {"team_id": "T1", "app_installed_team_id": None}}, "T1"),
    ],
)
def test_whose_app_it_is(payload: dict[str, Any], team: str) -> None:
    """A modal of somebody of a connected organisation, and an installation in a whole organisation."""
    assert Act.of({"user": {"id": "U1"}, **payload}).team == team
