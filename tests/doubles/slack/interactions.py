"""Commands, clicks, modals, shortcuts: what a person does, what the app answers, what follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.doubles.slack.api_views import check_view, replace, show
from tests.doubles.slack.core import ResponseUrl, Trigger
from tests.doubles.slack.dispatch import Delivery
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.fields import CannotAct, empty, find, initial, state
from tests.doubles.slack.hooks import respond
from tests.doubles.slack.people import People
from tests.doubles.slack.things import Team, View


@dataclass
class Answer:
    """What came of an act. `errors` are those at the fields of a modal; `problem` is what Slack says
    when it does not take the app's answer."""

    delivery: Delivery
    action: str | None = None
    errors: dict[str, str] = field(default_factory=dict[str, str])
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.delivery.acknowledged and self.problem is None

    @property
    def body(self) -> Any:
        return self.delivery.answer


class Interactions(People):
    def trigger(self, user: str, *, view: str | None = None) -> str:
        """A trigger_id, good for three seconds and one view."""
        team = self.world.users[user].team
        id = f"{len(self.triggers) + 1}.{team}.{self.world.secret('t')}"
        self.triggers[id] = Trigger(user, team, self.clock.now(), view=view)
        return id

    def response_url(self, user: str, channel: str, message: str | None = None) -> str:
        id = self.world.secret("r")
        team = self.world.users[user].team
        self.response_urls[id] = ResponseUrl(team, channel, user, self.clock.now(), message)
        return f"{self.base}/response/{id}"

    def _who(self, user: str, kind: str) -> tuple[Team, Json]:
        person = self.world.users[user]
        team = self.world.teams[person.team]
        return team, self.payloads.interaction(kind, person, team)

    async def command(self, line: str, user: str, channel: str) -> Answer:
        """A slash command such as "/kb help". The answer's text is shown to the person."""
        person, place = self.world.users[user], self.world.channels[channel]
        team = self.world.teams[person.team]
        name, _, rest = line.partition(" ")
        names = {"im": "directmessage", "private": "privategroup", "mpim": "mpdm"}
        url = self.response_url(user, channel)
        form: Json = {
            "token": "verification",
            "team_id": team.id,
            "team_domain": team.domain,
            "channel_id": channel,
            "channel_name": names.get(place.kind, place.name),
            "user_id": user,
            "user_name": person.name,
            "command": name,
            "text": rest,
            "api_app_id": self.app.id,
            "is_enterprise_install": "false",
            "response_url": url,
            "trigger_id": self.trigger(user),
        }
        if team.enterprise:
            form |= {"enterprise_id": team.enterprise, "enterprise_name": team.enterprise}
        answer = Answer(await self.outbox.interact("slash_commands", form, team))
        said = {"text": answer.body} if isinstance(answer.body, str) else answer.body
        if said and (said.get("text") or said.get("blocks")):
            try:
                respond(self, self.response_urls[url.rsplit("/", 1)[1]], said)
            except SlackError as error:
                answer.problem = str(error)
        return answer

    async def shortcut(self, callback_id: str, user: str, channel: str, ts: str) -> Answer:
        """A message shortcut."""
        team, payload = self._who(user, "message_action")
        message = self.world.channels[channel].messages[ts]
        payload |= {
            "callback_id": callback_id,
            "trigger_id": self.trigger(user),
            "response_url": self.response_url(user, channel, None),
            "action_ts": self.world.new_ts(),
            "message_ts": ts,
            "channel": {"id": channel, "name": self.world.channels[channel].name or "directmessage"},
            "message": self.payloads.message(message),
        }
        return Answer(await self.outbox.interact("interactive", payload, team))

    # -- clicks --------------------------------------------------------------------------------

    async def click(
        self,
        user: str,
        action_id: str,
        value: Any = None,
        *,
        channel: str | None = None,
        ts: str | None = None,
        view: str | None = None,
        home: bool = False,
    ) -> Answer:
        """A click on an element of a message (`channel`, `ts`; an ephemeral one's too), of a modal
        (`view`), or of the Home tab.

        `value` is the value of the option or button that is chosen, a list of them for several, an id for
        selects of people and channels, "positive" or "negative" for feedback buttons.
        """
        team, payload = self._who(user, "block_actions")
        shown = self.world.homes.get((team.id, user)) if home else self.world.views.get(view or "")
        if shown is not None:
            self._on_view(payload, shown)
            blocks = shown.content["blocks"]
        elif channel is not None and ts is not None:
            blocks = self._on_message(payload, user, channel, ts)
        else:
            raise CannotAct("nothing to click on")
        block, element = find(blocks, action_id, value)
        action = state(self.payloads, self.world.files, element, value) | {
            "action_id": element["action_id"],
            "block_id": block["block_id"],
            "action_ts": self.world.new_ts(),
        }
        if element["type"] == "button":
            action["text"] = element["text"]
        if shown is not None and element["type"] not in ("button", "overflow"):
            shown.state.setdefault(block["block_id"], {})[element["action_id"]] = state(
                self.payloads, self.world.files, element, value
            )
        payload |= {
            "actions": [action],
            "trigger_id": self.trigger(user, view=shown.id if shown and not home else None),
        }
        return Answer(await self.outbox.interact("interactive", payload, team))

    def _on_view(self, payload: Json, shown: View) -> None:
        payload |= {
            "container": {"type": "view", "view_id": shown.id},
            "view": self.payloads.view(shown),
        }

    def _on_message(self, payload: Json, user: str, channel: str, ts: str) -> list[Json]:
        place = self.world.channels[channel]
        hidden = next((one for one in self.ephemerals(user) if one.ts == ts), None)
        message = place.messages.get(ts)
        if hidden is None and message is None:
            raise CannotAct(f"there is no message {ts}")
        container: Json = {
            "type": "message",
            "message_ts": ts,
            "channel_id": channel,
            "is_ephemeral": hidden is not None,
        }
        if message is not None:
            container |= {"thread_ts": message.thread_ts} if message.thread_ts else {}
            payload["message"] = self.payloads.message(message, metadata=True)
        payload |= {
            "container": container,
            "channel": {"id": channel, "name": place.name or "directmessage"},
            "response_url": self.response_url(user, channel, ts),
            "state": {"values": {}},
        }
        if hidden is not None:
            return hidden.blocks
        assert message is not None
        return [*(message.stream.blocks if message.stream else []), *message.blocks]

    # -- modals --------------------------------------------------------------------------------

    async def submit(self, user: str, values: dict[str, Any] | None = None) -> Answer:
        """Fill in the topmost modal and send it. `values` are by action_id (or block_id).

        What was filled in before, and initial values, stay. Errors at fields, another view, or the end
        follow as the app says.
        """
        stack = self.world.stacks.get(user) or []
        if not stack:
            raise CannotAct("no modal is open")
        shown = self.world.views[stack[-1]]
        self.fill(user, values or {})
        team, payload = self._who(user, "view_submission")
        payload |= {
            "trigger_id": self.trigger(user, view=shown.id),
            "view": self.payloads.view(shown),
            "response_urls": [],
        }
        answer = Answer(await self.outbox.interact("interactive", payload, team))
        if answer.delivery.acknowledged:
            try:
                self._follow(answer, shown)
            except SlackError as error:
                answer.problem = str(error)
        return answer

    def fill(self, user: str, values: dict[str, Any]) -> None:
        """Enter values into the topmost modal without sending it."""
        shown = self.world.views[self.world.stacks[user][-1]]
        left = dict(values)
        for block in shown.content["blocks"]:
            if block["type"] != "input":
                continue
            element = block["element"]
            action = element.setdefault("action_id", "action")
            name = action if action in left else block["block_id"]
            kept = shown.state.get(block["block_id"], {}).get(action)
            if name in left:
                said = state(self.payloads, self.world.files, element, left.pop(name))
            else:
                said = kept or state(self.payloads, self.world.files, element, initial(element))
            if not block.get("optional") and empty(said):
                raise CannotAct(f"{action} has to be filled in")
            shown.state[block["block_id"]] = {action: said}
        if left:
            raise CannotAct(f"no such fields: {', '.join(left)}")

    def _follow(self, answer: Answer, shown: View) -> None:
        body = answer.body if isinstance(answer.body, dict) else {}
        stack = self.world.stacks[shown.user]
        answer.action = body.get("response_action")
        match answer.action:
            case "errors":
                blocks = {
                    block["block_id"] for block in shown.content["blocks"] if block["type"] == "input"
                }
                answer.errors = body.get("errors") or {}
                if not answer.errors or not set(answer.errors) <= blocks:
                    raise SlackError("invalid_arguments", messages=["[ERROR] errors at unknown blocks"])
            case "update":
                replace(self, shown, check_view(self, body.get("view"), "modal"))
            case "push":
                if len(stack) >= 3:
                    raise SlackError("push_limit_reached")
                show(self, shown.team, shown.user, check_view(self, body.get("view"), "modal"), on=shown.id)
            case "clear":
                stack.clear()
            case None:
                stack.pop()
            case other:
                raise SlackError("invalid_arguments", messages=[f"[ERROR] response_action {other}"])

    async def close_modal(self, user: str) -> Answer | None:
        """The person closes the topmost modal; the app hears of it when it asked to."""
        shown = self.world.views[self.world.stacks[user].pop()]
        if not shown.content.get("notify_on_close"):
            return None
        team, payload = self._who(user, "view_closed")
        payload |= {"view": self.payloads.view(shown), "is_cleared": False}
        return Answer(await self.outbox.interact("interactive", payload, team))
