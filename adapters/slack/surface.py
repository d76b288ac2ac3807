"""What commands, buttons, menus and modals have in common: who acted where, and how they are told."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from slack_bolt.async_app import AsyncAck
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.ports import Actor, Refused
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NoPlace, RateLimited, Unclear, attempt, code_of, reason_of
from adapters.slack.kit import sentence
from adapters.slack.render import SlackMessage

log = structlog.get_logger()

#: Seconds within which a modal has to be acknowledged; Slack waits for 3.
DEADLINE: Final = 2.5
_LATE: Final = "That took too long for Slack. Please try again."
_BUSY: Final = "Slack is busy just now. Please try again in a minute."
_WRONG: Final = "Something went wrong on my side. Please try again."
_NO_RIGHT: Final = "Slack does not let me do that here. Invite me to this channel, or ask an admin."


@dataclass(frozen=True)
class Act:
    """Somebody's command, click or submission. `channel` is None in modals and in the Home tab."""

    team: str
    enterprise: str | None
    user: str
    channel: str | None
    thread: str | None
    #: The message that was clicked on.
    message: str | None
    #: Only this person sees that message.
    hidden: bool
    trigger: str
    response_url: str | None
    #: What stands under the finger: a button's value, or that of the chosen option.
    value: str

    @classmethod
    def of(cls, body: dict[str, Any]) -> Act:
        """From the payload of a command or of an interaction."""
        if "command" in body:
            return cls(
                team=body["team_id"],
                enterprise=body.get("enterprise_id"),
                user=body["user_id"],
                channel=body.get("channel_id"),
                thread=None,
                message=None,
                hidden=True,
                trigger=str(body.get("trigger_id") or ""),
                response_url=body.get("response_url"),
                value=str(body.get("text") or ""),
            )
        user, container = body["user"], _object(body.get("container"))
        view = _object(body.get("view"))
        message = _object(body.get("message"))
        actions = cast("list[dict[str, Any]]", body.get("actions") or [{}])
        chosen = _object(actions[0].get("selected_option"))
        urls = cast("list[dict[str, Any]]", body.get("response_urls") or [{}])
        return cls(
            # In a channel shared with another organisation, `team` may be theirs, without the app.
            team=str(
                view.get("app_installed_team_id")
                or _object(body.get("team")).get("id")
                or user.get("team_id")
                or view.get("team_id")
                or ""
            ),
            enterprise=_object(body.get("enterprise")).get("id"),
            user=user["id"],
            channel=_object(body.get("channel")).get("id") or container.get("channel_id"),
            thread=message.get("thread_ts") or container.get("thread_ts"),
            message=message.get("ts") or body.get("message_ts") or container.get("message_ts"),
            hidden=bool(container.get("is_ephemeral")),
            trigger=str(body.get("trigger_id") or ""),
            response_url=body.get("response_url") or urls[0].get("response_url"),
            value=str(chosen.get("value") or actions[0].get("value") or ""),
        )

    def place(self, channel: str | None) -> dict[str, str | None]:
        """Who acted, for the payload of an inbox item, and the channel that it is about."""
        return {"team": self.team, "enterprise": self.enterprise, "user": self.user, "channel": channel}

    async def installed(self, slack: Slack) -> Installed:
        return await slack.clients.of(self.team, self.enterprise)

    async def actor(self, slack: Slack) -> Actor:
        return await slack.actor(await self.installed(slack), self.user, self.channel, thread=self.thread)

    async def tell(self, slack: Slack, message: SlackMessage | str, *, replace: bool = False) -> None:
        """Only to that person: where they acted, or, where that is nowhere, in a direct message.

        Args:
            replace: in place of the message, seen only by this person, that was clicked on.
        """
        shown = sentence(message) if isinstance(message, str) else message
        if self.response_url and await answer_url(
            self.response_url, {**shown, "replace_original": replace and self.hidden}, thread=self.thread
        ):
            return
        client = (await self.installed(slack)).client
        try:
            if self.channel is not None:
                await attempt(
                    lambda: client.chat_postEphemeral(
                        channel=self.channel or "",
                        user=self.user,
                        text=shown["text"],
                        blocks=shown["blocks"],
                        thread_ts=self.thread,
                    )
                )
                return
        except (NoPlace, SlackApiError) as error:
            log.info("slack_ephemeral_refused", code=code_of(error))
        await direct(await self.installed(slack), self.user, shown)


async def direct(installed: Installed, user: str, message: SlackMessage) -> None:
    """A message from the bot to a person alone."""
    opened = await attempt(lambda: installed.client.conversations_open(users=user))
    await attempt(lambda: installed.client.chat_postMessage(channel=opened["channel"]["id"], **message))


async def answer_url(url: str, payload: dict[str, Any], *, thread: str | None = None) -> bool:
    """Answer a command or a click, seen by that person alone. False where the address holds no more.

    Args:
        thread: where it was clicked; without it, Slack shows the answer beside the thread.
    """
    hidden = {"response_type": "ephemeral", **({"thread_ts": thread} if thread else {}), **payload}
    try:
        answer = await AsyncWebhookClient(url, timeout=15).send_dict(hidden)
    except (SlackClientError, OSError, TimeoutError) as error:
        log.info("slack_response_url_failed", error=type(error).__name__)
        return False
    return answer.status_code == 200


async def open_view(slack: Slack, act: Act, view: dict[str, Any]) -> None:
    """Raises what `attempt` raises; a trigger holds for 3 seconds."""
    client = (await act.installed(slack)).client
    await attempt(lambda: client.views_open(trigger_id=act.trigger, view=view))


@asynccontextmanager
async def ending(tell: Callable[[str], Awaitable[None]], what: str) -> AsyncGenerator[None]:
    """Whatever happens within, the person is told in one sentence, and the log why."""
    try:
        yield
    except Refused as error:
        await _say(tell, str(error))
    except RateLimited:
        await _say(tell, _BUSY)
    except NoPlace as error:
        log.warning("slack_surface_no_place", what=what, code=error.code)
        await _say(tell, _NO_RIGHT)
    except (Unclear, SlackApiError, TimeoutError) as error:
        code = reason_of(error)
        log.warning("slack_surface_failed", what=what, code=code)
        await _say(tell, _LATE if code in ("expired_trigger_id", "trigger_expired") else _BUSY)
    except Exception:
        log.exception("slack_surface_failed", what=what)
        await _say(tell, _WRONG)


@asynccontextmanager
async def acknowledging(
    ack: AsyncAck, tell: Callable[[str], Awaitable[None]], what: str
) -> AsyncGenerator[None]:
    """The same, where what is to survive a kill is accepted before it is acknowledged: whoever could not
    be served is told that, rather than that the app does not answer."""

    async def after(text: str) -> None:
        await ack()
        await tell(text)

    async with ending(after, what):
        yield
    await ack()


async def _say(tell: Callable[[str], Awaitable[None]], text: str) -> None:
    try:
        await tell(text)
    except (Unclear, NoPlace, SlackApiError) as error:
        log.warning("slack_not_told", error=reason_of(error))


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
