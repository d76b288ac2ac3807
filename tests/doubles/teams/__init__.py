"""A strict stand-in for Microsoft Teams, over real HTTP: the Bot Connector, its tokens, Graph, people."""

from tests.doubles.clock import Clock
from tests.doubles.teams.double import TeamsDouble
from tests.doubles.teams.errors import BadAnswer, CannotAct, Refusal
from tests.doubles.teams.faults import (
    BAD_GATEWAY,
    GATEWAY_TIMEOUT,
    PRECONDITION,
    Breaks,
    Drops,
    Expires,
    Fails,
    Hangs,
    RateLimited,
    Slow,
)
from tests.doubles.teams.invokes import Dialog
from tests.doubles.teams.outbox import Attempt, Delivery
from tests.doubles.teams.rules import Called, Rules
from tests.doubles.teams.seen import Seen, words
from tests.doubles.teams.things import App

__all__ = [
    "BAD_GATEWAY",
    "GATEWAY_TIMEOUT",
    "PRECONDITION",
    "App",
    "Attempt",
    "BadAnswer",
    "Breaks",
    "Called",
    "CannotAct",
    "Clock",
    "Delivery",
    "Dialog",
    "Drops",
    "Expires",
    "Fails",
    "Hangs",
    "RateLimited",
    "Refusal",
    "Rules",
    "Seen",
    "Slow",
    "TeamsDouble",
    "words",
]
