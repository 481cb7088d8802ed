"""The handbook engine: precedence, amendments, and sentences read back."""

from __future__ import annotations

import random
from datetime import date

import pytest

from crmbench.authoring.handbook import Amendment, Condition, Phrasebook, Provision, Rulebook
from crmbench.errors import HarnessError

GENERAL = Provision("A", "fee", "3 %", date(2024, 1, 1))
SPECIAL = Provision("B", "fee", "5 %", date(2020, 1, 1), (Condition("public"),))
LATER = Provision("C", "fee", "6 %", date(2025, 3, 1), (Condition("value", 100, "at least"),))
FACTS = {"public": True, "value": 100}
DAY = date(2025, 6, 1)


def fee(*amendments: Amendment, day: date = DAY, **facts: object) -> object:
    book = Rulebook([GENERAL, SPECIAL, LATER], amendments)
    return book.decide("fee", {**FACTS, **facts}, day).value


def test_a_condition_goes_before_none_and_the_later_before_the_earlier() -> None:
    assert fee() == "6 %"
    assert fee(value=99) == "5 %"
    assert fee(value=99, public=False) == "3 %"
    assert fee(day=date(2025, 2, 28)) == "5 %"


def test_amendments_hold_from_their_day_and_can_be_repealed() -> None:
    change = Amendment("D", "C", date(2025, 5, 1), "value", value="7 %")
    newer = Amendment("E", "C", date(2025, 5, 20), "value", value="8 %")
    gone = Amendment("F", "E", date(2025, 5, 25), "repeal")
    assert fee(change, day=date(2025, 4, 30)) == "6 %"
    assert fee(change, newer) == "8 %"
    assert fee(change, newer, gone) == "7 %"


def test_repeal_and_exception_leave_the_field_to_others() -> None:
    assert fee(Amendment("D", "C", date(2025, 5, 1), "repeal")) == "5 %"
    unless = Condition("public")
    assert fee(Amendment("D", "C", date(2025, 5, 1), "except", unless=unless)) == "5 %"
    assert Rulebook([GENERAL, LATER], []).without("C").articles == ("A",)


def test_a_tie_and_a_gap_are_the_authors_fault() -> None:
    twin = Provision("Z", "fee", "9 %", LATER.since, (Condition("public"),))
    with pytest.raises(HarnessError, match="each of C, Z"):
        Rulebook([LATER, twin], []).decide("fee", FACTS, DAY)
    with pytest.raises(HarnessError, match="no provision answers"):
        Rulebook([LATER], []).decide("fee", {**FACTS, "value": 1}, DAY)


def test_a_phrasebook_reads_what_it_says() -> None:
    book = Phrasebook(
        {"rate": ("The rate is {rate} %.", "{rate} % is due."), "end": ("Ends on {day}.",)},
        {"rate": r"\d+", "day": r"[A-Z]\w+"},
    )
    text = f"{book.say('rate', random.Random(1), rate='12')} Ends on Friday."
    assert [(s.kind, dict(s.gaps)) for s in book.read(text)] == [
        ("rate", {"rate": "12"}),
        ("end", {"day": "Friday"}),
    ]


def test_wordings_of_a_kind_share_their_gaps() -> None:
    with pytest.raises(HarnessError, match="different gaps"):
        Phrasebook({"rate": ("The rate is {rate}.", "It is due.")}, {"rate": r"\d+"})
    with pytest.raises(HarnessError, match="no pattern for the gap 'rate'"):
        Phrasebook({"rate": ("The rate is {rate}.",)}, {})
