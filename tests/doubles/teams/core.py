"""What all parts of the double share: the state, the rules in force, the record of calls, the outbox."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from tests.doubles.clock import Clock
from tests.doubles.teams.bad_tokens import bad_headers
from tests.doubles.teams.connector import Connector
from tests.doubles.teams.errors import Json, Refusal
from tests.doubles.teams.faults import Faults
from tests.doubles.teams.files import Downloads
from tests.doubles.teams.graph import Graph
from tests.doubles.teams.keys import Keys
from tests.doubles.teams.login import Login
from tests.doubles.teams.outbox import Outbox
from tests.doubles.teams.payloads import Payloads
from tests.doubles.teams.rates import Rates
from tests.doubles.teams.roster import Roster
from tests.doubles.teams.rules import Called, Rules
from tests.doubles.teams.things import App, Conversation, Message
from tests.doubles.teams.world import World


@dataclass
class Core:
    app: App = field(default_factory=App)
    clock: Clock = field(default_factory=Clock)
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        self.world = World(self.clock, self.app)
        self.faults = Faults()
        self.rates = Rates(self.clock)
        self.keys = Keys(self.app, self.clock)
        self.login = Login(self.app, self.world, self.clock)
        self.payloads = Payloads(self)
        self.connector = Connector(self)
        self.roster = Roster(self)
        self.graph = Graph(self)
        self.downloads = Downloads(self)
        self.calls: list[Called] = []
        #: What the bot's answers to invokes had wrong.
        self.wrong_answers: list[str] = []
        #: Messages that people were notified of: (conversation, id).
        self.notified: list[tuple[str, str]] = []
        self.base = ""
        self.outbox = Outbox(self)
        self._news = asyncio.Event()

    # -- addresses -----------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The service URL, as activities name it: with a slash at its end."""
        return f"{self.base}/smba/emea/"

    @property
    def openid_url(self) -> str:
        return f"{self.base}/openid/.well-known/openidconfiguration"

    @property
    def login_url(self) -> str:
        """Instead of `https://login.microsoftonline.com`, and as the host of managed identities (IMDS)."""
        return self.base

    @property
    def graph_url(self) -> str:
        return f"{self.base}/graph/v1.0"

    @property
    def app_id(self) -> str:
        return self.app.id

    @property
    def app_password(self) -> str:
        return self.app.password

    # -- what the bot is told ------------------------------------------------------------------

    def authorization(self, activity: Json) -> str | None:
        claims = self.keys.claims(str(activity.get("serviceUrl", self.url)))
        return f"Bearer {self.keys.sign(claims)}"

    def bad_headers(self, service_url: str | None = None) -> dict[str, str | None]:
        """Authorization headers that no bot may take, by what is wrong; None: without the header."""
        return bad_headers(self.keys, self.app, service_url or self.url)

    def hears(self, place: Conversation, message: Message) -> bool:
        """A message in a group or a channel reaches the bot when it names it, or by consent."""
        if not self.world.installed(place):
            return False
        named = any(one.get("mentioned", {}).get("id") == self.app.bot for one in message.entities)
        return named or place.kind == "personal" or self.world.consents(place)

    # -- the record ----------------------------------------------------------------------------

    def record(self, called: Called) -> None:
        self.calls.append(called)
        self.changed()

    def changed(self) -> None:
        """Wakes those that wait for `news`."""
        self._news.set()

    async def news(self) -> None:
        """Until the bot's next call is done."""
        self._news = asyncio.Event()
        await self._news.wait()

    def calls_of(self, kind: str) -> list[Called]:
        return [call for call in self.calls if call.kind == kind]

    @property
    def refusals(self) -> list[str]:
        """What the bot was refused by its own fault, and what its answers to invokes had wrong."""
        refused = [
            f"{call.kind} {call.place}: {call.status} {call.error}: {call.message}"
            for call in self.calls
            if call.error is not None and not call.fault
        ]
        return refused + self.wrong_answers

    def refused(self, kind: str, place: str, body: Json, error: Refusal, *, fault: bool = False) -> None:
        """Record what was turned down."""
        at = self.clock.now()
        fault = fault or not error.blame
        self.record(Called(kind, place, body, at, error.status, error.code, error.message, fault))
