"""A strict stand-in for Slack, over real HTTP and Socket Mode."""

from tests.doubles.clock import Clock
from tests.doubles.slack.core import Called, Rules
from tests.doubles.slack.dispatch import Attempt, Delivery, signed
from tests.doubles.slack.double import SlackDouble
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.faults import Breaks, Drops, Fails, Hangs, RateLimited, Slow
from tests.doubles.slack.fields import CannotAct
from tests.doubles.slack.interactions import Answer
from tests.doubles.slack.people import Seen, words
from tests.doubles.slack.things import App

__all__ = [
    "Answer",
    "App",
    "Attempt",
    "Breaks",
    "Called",
    "CannotAct",
    "Clock",
    "Delivery",
    "Drops",
    "Fails",
    "Hangs",
    "RateLimited",
    "Rules",
    "Seen",
    "SlackDouble",
    "SlackError",
    "Slow",
    "signed",
    "words",
]
