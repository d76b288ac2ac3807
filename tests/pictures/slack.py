"""What people see of the bot on Slack, as pictures: the whole bot with the example handbook, against the
strict Slack of the tests, drawn with `block_kit` in Chromium.

    python -m tests.pictures.slack docs/images
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

from aiohttp import web
from playwright.async_api import Browser, async_playwright

from adapters.conversation import Conversation, Person
from adapters.ports import Actor, Bot
from adapters.slack.app import SlackAdapter
from adapters.slack.settings import SlackSettings
from bot.app import App, open_app
from bot.config import Config
from bot.demo import load_handbook
from tests.doubles.slack import SlackDouble
from tests.pictures.block_kit import message_html, page, view_html

QUESTION = "How often do I have to change my API key?"
FOLLOW_UP = "And how long does the old one work?"


async def fill(app: App, team: str) -> None:
    workspace = await app.workspaces.of("slack", team)
    conversation = Conversation(platform="slack", tenant=team, id="D0", kind="direct")
    actor = Actor(workspace=workspace, person=Person(id="U1", is_admin=True), conversation=conversation)
    progress = await load_handbook(app.documents, actor)
    async for _ in app.documents.watch(actor, [item.version_id for item in progress.items]):
        pass


async def draw(browser: Browser, html: str, path: Path) -> None:
    tab = await browser.new_page(viewport={"width": 720, "height": 400}, device_scale_factor=1.5)
    await tab.set_content(html)
    await tab.locator("body").screenshot(path=path)
    await tab.close()


def thread_html(slack: SlackDouble, channel: str, thread: str) -> str:
    """A thread as it stands, people and bot."""
    names = {user.id: user.real_name for user in slack.world.users.values()}
    parts: list[str] = []
    for message in slack.world.thread(slack.world.channels[channel], thread):
        text = message.text
        for user, name in names.items():
            text = text.replace(f"<@{user}>", f"*@{name}*")
        payload: dict[str, Any] = {"text": text, "blocks": message.blocks}
        parts.append(message_html(names[message.user], payload))
    return page(*parts)


async def settled(app: App, slack: SlackDouble) -> None:
    await slack.outbox.deliver()
    while await cast("Any", app.inbox).waiting("slack"):  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def pictures(folder: Path) -> None:
    data = Path(tempfile.mkdtemp(prefix="footnote-pictures-"))
    async with AsyncExitStack() as stack:
        stack.callback(shutil.rmtree, data, ignore_errors=True)
        slack = await stack.enter_async_context(SlackDouble())
        slack.rules.expand_markdown = False
        team = slack.world.add_team()
        ann = slack.world.add_user("ann", real_name="Ann Weber", admin=True).id
        general = slack.world.add_channel("it-help", ann).id
        config = Config(data_dir=data, public_url="https://kb.example.com")
        app = await stack.enter_async_context(open_app(config))
        await fill(app, team.id)
        settings = SlackSettings(
            bot_token=f"xoxb-{team.id}", signing_secret=slack.app.signing_secret, api_url=slack.api_url
        )
        adapter = SlackAdapter(cast("Bot", app), settings, spool=app.spool)
        application = web.Application()
        application.add_routes(adapter.routes())
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        slack.outbox.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
        await stack.enter_async_context(adapter.running())
        playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        stack.push_async_callback(browser.close)

        root = slack.say(general, ann, f"<@{team.bot_user}> {QUESTION}")
        await settled(app, slack)
        slack.say(general, ann, FOLLOW_UP, root)
        await settled(app, slack)
        await draw(browser, thread_html(slack, general, root), folder / "slack-thread.png")
        slack.open_home(ann)
        await settled(app, slack)
        await _until(lambda: slack.home(ann))
        await draw(browser, page(view_html(cast("Any", slack.home(ann)))), folder / "slack-home.png")
        for word in ("upload", "settings"):
            await slack.command(f"/kb {word}", ann, general)
            await _until(lambda: slack.views(ann))
            await draw(browser, page(view_html(slack.views(ann)[-1])), folder / f"slack-{word}.png")
            await slack.close_modal(ann)
        reply = slack.replies(general, root)[0]
        turn = (reply.message.metadata or {})["event_payload"]["turn_id"]
        await slack.click(ann, "reply_menu", f"why:{turn}", channel=general, ts=reply.ts)
        await _until(lambda: slack.views(ann))
        await draw(browser, page(view_html(slack.views(ann)[-1])), folder / "slack-why.png")
        await slack.command("/kb help", ann, general)
        await slack.command("/kb list", ann, general)
        await _until(lambda: len(slack.ephemerals(ann)) >= 2)
        hidden = [
            message_html("Footnote", {"text": one.text, "blocks": one.blocks}, quiet="Only visible to you")
            for one in slack.ephemerals(ann)
        ]
        await draw(browser, page(*hidden), folder / "slack-command.png")


async def _until(true: Any) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    asyncio.run(pictures(parser.parse_args().folder))
