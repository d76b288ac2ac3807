"""The route of the preview."""

from __future__ import annotations

from pathlib import Path

from adapters.conversation import Reply
from adapters.slack.render import render as slack_messages
from adapters.teams.render import render as teams_activity
from tests.adapters.fake_bot import FakeBot, citation, page_of


async def test_what_is_shown_is_what_slack_and_teams_would_be_sent(tmp_path: Path) -> None:
    reply = Reply(
        turn_id="turn-0001", kind="answer", text="Every **90 days** [1].", citations=(citation(),)
    )
    async with page_of(FakeBot(replies={"turn-0001": reply}), tmp_path) as page:
        shown = await (await page.get("/api/turns/turn-0001/preview")).json()
        assert shown == {"slack": slack_messages(reply), "teams": teams_activity(reply)}
        gone = await page.get("/api/turns/turn-0002/preview")
        assert (gone.status, await gone.text()) == (404, "This answer is no longer kept.")
        other = await page.get("/api/turns/turn-0001/preview", headers={"Sec-Fetch-Site": "cross-site"})
        assert other.status == 403
