"""The heuristic agent's reading of dates and values, form by form."""

from __future__ import annotations

from datetime import date

import pytest

from crmbench.agents.baselines.heuristic.clean import clean
from crmbench.agents.baselines.heuristic.dates import add_months, count, month_end, take_dates
from crmbench.agents.baselines.heuristic.values import money, read_values

TODAY = date(2030, 1, 16)
"""A Wednesday in the middle of a month, of a quarter and of no year's end."""


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("on 2031-05-06", "2031-05-06"),
        ("on March 3", "2030-03-03"),
        ("on Sept. 3rd, 2029", "2029-09-03"),
        ("on the 3rd of March 2032", "2032-03-03"),
        # Without a year it is the next such day, and today is one.
        ("on January 16", "2030-01-16"),
        ("on January 15", "2031-01-15"),
        ("at the end of February", "2030-02-28"),
        ("at the end of February 2032", "2032-02-29"),
        ("by the last day of January", "2030-01-31"),
        ("two weeks from today", "2030-01-30"),
        ("in a day", "2030-01-17"),
        ("in 3 months", "2030-04-16"),
        ("in couple of years", "2032-01-16"),
        ("at the end of the week", "2030-01-18"),
        ("at the end of next week", "2030-01-25"),
        ("at the end of the month", "2030-01-31"),
        ("at the end of next month", "2030-02-28"),
        ("at the end of this quarter", "2030-03-31"),
        ("at the close of next quarter", "2030-06-30"),
        ("by year-end", "2030-12-31"),
        ("by next year end", "2031-12-31"),
        ("on Friday", "2030-01-18"),
        ("on Wednesday", "2030-01-16"),
        ("by Tuesday", "2030-01-22"),
        ("next Friday", "2030-01-25"),
        ("Monday of next week", "2030-01-21"),
        ("today", "2030-01-16"),
        ("Tomorrow", "2030-01-17"),
    ],
)
def test_a_day_is_read_and_taken_out(said: str, iso: str) -> None:
    found, left = take_dates(f"Close it {said}, please", TODAY)
    assert [day.isoformat() for day in found] == [iso]
    assert take_dates(left, TODAY) == ([], left), "nothing is read twice"
    assert not any(c.isdigit() for c in left)
    assert len(left) == len(f"Close it {said}, please"), "places of what is left are kept"


@pytest.mark.parametrize("said", ["2030-02-30", "February 30", "today's list", "may be", "32 June"])
def test_what_is_no_day_is_left(said: str) -> None:
    assert take_dates(said, TODAY) == ([], said)


@pytest.mark.parametrize(
    ("word", "number"),
    [("3", 3), ("an", 1), ("Two", 2), ("twenty", 20), ("couple of", 2), ("zero", 0)],
)
def test_small_numbers(word: str, number: int) -> None:
    assert count(word) == number


@pytest.mark.parametrize(
    ("day", "months", "later"),
    [
        ("2030-01-31", 1, "2030-02-28"),
        ("2031-12-31", 2, "2032-02-29"),
        ("2030-11-15", 1, "2030-12-15"),
        ("2030-12-15", 1, "2031-01-15"),
        ("2030-01-15", -1, "2029-12-15"),
        ("9999-12-01", 1, "9999-12-01"),
    ],
)
def test_months_on(day: str, months: int, later: str) -> None:
    assert add_months(date.fromisoformat(day), months).isoformat() == later


def test_the_end_of_a_month_knows_leap_years() -> None:
    assert month_end(date(2032, 2, 1)) == date(2032, 2, 29)
    assert month_end(date(2100, 2, 28)) == date(2100, 2, 28)


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        ("to $1,250.50", [1250.5]),
        ("to 80k", [80_000]),
        ("to 1.5 million", [1_500_000]),
        ("to 2.5m", [2_500_000]),
        ("forty is no figure, 12 grand is", [12_000]),
        ("to €5", [5]),
        ("to USD 900", [900]),
        ("to 900 dollars", [900]),
        ("to 5,000", [5000]),
        ("to 999", []),
        ("to 1000", [1000]),
        # A year is no amount; but for its sign, nothing tells one from 2030 dollars.
        ("in 2030", []),
        ("to $2030", [2030]),
        ("in 1999 and 2041", [1999, 2041]),
        ("room B1200", []),
    ],
)
def test_money_is_told_from_other_numbers(said: str, amounts: list[float]) -> None:
    assert read_values(said, TODAY).amounts == amounts


def test_every_kind_of_value_is_taken_once() -> None:
    said = (
        'Mail jo.li+crm@oak.example.org or +44 20 555 0100, file offer_v2.pdf, call it "North Hub",'
        " V3 at 12.5 % off or 20 percent of $7,000 by 2030-03-01"
    )
    found = read_values(said, TODAY)
    assert found.emails == ["jo.li+crm@oak.example.org"]
    assert found.phones == ["+44 20 555 0100"]
    assert found.files == ["offer_v2.pdf"]
    assert found.quoted == ["North Hub"]
    assert found.versions == ["v3"]
    assert found.percents == [12.5, 20.0]
    assert found.amounts == [7000.0]
    assert found.dates == [date(2030, 3, 1)]
    assert not any(c.isdigit() for c in found.text)
    assert found.text.split()[:2] == ["Mail", "or"]


@pytest.mark.parametrize(
    ("said", "titles"),
    [
        ("is now Head of Quality Assurance there", ["Head of Quality Assurance"]),
        ("is Vice President of Sales", ["Vice President of Sales"]),
        ("became Senior Plant Manager", ["Senior Plant Manager"]),
        ("is a manager", []),
        ("is head of nothing", []),
    ],
)
def test_positions_have_capitals(said: str, titles: list[str]) -> None:
    assert read_values(said, TODAY).titles == titles


@pytest.mark.parametrize(
    ("value", "text"), [(None, "none"), (0, "$0"), (1234.5, "$1,234.50"), (2e6, "$2,000,000")]
)
def test_money_is_told_with_cents_only_where_there_are_some(value: float | None, text: str) -> None:
    assert money(value) == text


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        ("Subject: Deal\nHi Ada,\nMove it to 80k.\nBest regards,\nVera", "Move it to 80k."),
        ("> Re: x\n> um, the opp w/ Oak", "the opportunity with Oak"),
        ("Thanks", "Thanks"),
        ("It\u2019s  won", "It's won"),
        ("Move it.\nVera sold it", "Move it. Vera sold it"),
    ],
)
def test_a_request_is_what_remains_of_a_mail(heard: str, kept: str) -> None:
    assert clean(heard, "Vera Quint") == kept
