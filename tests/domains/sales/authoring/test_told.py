"""What a conversation has said so far."""

from __future__ import annotations

import pytest

from crmbench.core.fact import Fact
from crmbench.domains.sales.authoring.told import Told
from crmbench.domains.sales.phrases import Slot, day, money, noun, plain

SPEAKER = "Ada Pell"


@pytest.mark.parametrize(
    ("slot", "known", "unknown"),
    [
        (money(5000.0), Fact("money", 5000), Fact("money", 5001)),
        (money(5000.0), Fact("money", 5000, "price"), Fact("number", 5000)),
        (day("2030-01-02"), Fact("date", "2030-01-02"), Fact("date", "2030-01-03")),
        (plain("Oak Tiles"), Fact("name", "OAK tiles"), Fact("name", "Oak")),
        (plain("Proposal"), Fact("choice", "Proposal"), Fact("choice", "Negotiation")),
    ],
)
def test_what_the_user_said_is_known(slot: Slot, known: Fact, unknown: Fact) -> None:
    told = Told(SPEAKER)
    assert not told.knows(known)
    told.hear({"it": slot})
    assert told.knows(known)
    assert not told.knows(unknown)


def test_what_is_in_a_description_is_said_too() -> None:
    told = Told(SPEAKER)
    told.hear({"quote": noun("the.quote.amount", deal=noun("the.deal.x", amount=money(7.0)))})
    assert told.knows(Fact("money", 7))
    assert not told.knows(Fact("text", "the.quote.amount"))


def test_a_count_that_was_said_tells_nothing() -> None:
    told = Told(SPEAKER)
    told.hear({"weeks": Slot("count", 2)})
    assert not told.knows(Fact("count", 2, "quotes"))


def test_a_count_is_known_of_what_was_counted() -> None:
    told = Told(SPEAKER)
    told.tell([Fact("count", 2, "open deals")])
    assert told.knows(Fact("count", 2, "open deals"))
    assert not told.knows(Fact("count", 2, "quotes"))
    assert not told.knows(Fact("count", 3, "open deals"))


def test_a_list_is_known_once_all_its_items_are() -> None:
    told, both = Told(SPEAKER), Fact("list", ("Oak", "Elm"))
    told.tell([Fact("name", "Oak")])
    assert not told.knows(both)
    told.tell([Fact("name", "elm")])
    assert told.knows(both)
    another = Told(SPEAKER)
    another.tell([both])
    assert another.knows(Fact("name", "Elm"))


def test_users_know_their_own_names_and_nobody_elses() -> None:
    told = Told(SPEAKER)
    assert told.knows(Fact("name", SPEAKER))
    assert not told.knows(Fact("name", "Ben Orr"))


def test_percent_and_money_of_one_value_are_two_things() -> None:
    told = Told(SPEAKER)
    told.tell([Fact("percent", 15)])
    assert told.knows(Fact("percent", 15))
    assert not told.knows(Fact("money", 15))
