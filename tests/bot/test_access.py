from itertools import product

import pytest

from adapters.conversation import Conversation, Person
from adapters.ports import Actor, Refused
from bot.access import document_audience, may_edit, may_read, person_key, reply_audience

KINDS = ("direct", "group", "private_channel", "public_channel", "shared_channel")
ANN, GUEST = Person(id="ann"), Person(id="gus", is_guest=True)


def place(kind: str, channel: str = "C1") -> Conversation:
    return Conversation.model_validate({"platform": "slack", "tenant": "T1", "id": channel, "kind": kind})


def actor(person: Person, kind: str) -> Actor:
    return Actor(workspace="w", person=person, conversation=place(kind))


@pytest.mark.parametrize("kind", KINDS[1:])
def test_only_me_is_never_read_out_where_others_read(kind: str) -> None:
    audience = document_audience(actor(ANN, "direct"), "person")
    assert not may_read(audience, reply_audience(place(kind), ANN, private=False))
    assert may_read(audience, reply_audience(place(kind), ANN, private=True))


def test_a_channels_documents_stay_in_the_channel() -> None:
    audience = document_audience(actor(ANN, "private_channel"), "channel")
    assert may_read(audience, reply_audience(place("private_channel"), ANN, private=False))
    assert not may_read(audience, reply_audience(place("public_channel", "C2"), ANN, private=False))
    assert not may_read(audience, reply_audience(place("direct", "D1"), ANN, private=False))


@pytest.mark.parametrize(("kind", "private"), list(product(KINDS, (True, False))))
def test_guests_and_shared_channels_see_only_what_is_shareable(kind: str, private: bool) -> None:
    everyone = document_audience(actor(ANN, "direct"), "everyone")
    shareable = document_audience(actor(ANN, "direct"), "shareable")
    for_guest = reply_audience(place(kind), GUEST, private=private)
    assert not may_read(everyone, for_guest)
    assert may_read(shareable, for_guest)
    in_shared = reply_audience(place("shared_channel"), ANN, private=False)
    assert not may_read(everyone, in_shared)


def test_guests_cannot_publish_to_everyone() -> None:
    for choice in ("everyone", "shareable"):
        with pytest.raises(Refused):
            document_audience(actor(GUEST, "public_channel"), choice)
    with pytest.raises(Refused, match="no channel"):
        document_audience(actor(ANN, "direct"), "channel")


def test_only_uploaders_and_admins_edit() -> None:
    mine = actor(ANN, "direct")
    assert may_edit(mine, person_key(mine))
    assert not may_edit(mine, "slack:T2:ann")
    assert not may_edit(mine, None)
    assert may_edit(actor(Person(id="boss", is_admin=True), "direct"), None)
