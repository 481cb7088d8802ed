"""The truth, computed twice: on an org written out by hand, and against each other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.domains.service.example_org import (
    ACME,
    ANA,
    BEN,
    CLEO,
    LAMP,
    LATE,
    NOW,
    TARP,
    TENT,
    TORN,
    DeskWorld,
    cases,
)

from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.world import WorldSource
from crmbench.domains.service.families.mention import MentionedGoods, mentions
from crmbench.domains.service.families.periods import all_periods
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.org import open_org
from crmbench.domains.service.schema import SCHEMA
from crmbench.domains.service.truth import Truth
from crmbench.domains.service.truth.plain import PlainTruth
from crmbench.domains.service.truth.query import QueryTruth
from crmbench.domains.service.world import generate
from crmbench.domains.service.world.latents import Latents
from crmbench.errors import HarnessError

DAY = 24 * 60.0
"""Minutes."""


def truth_of(world: WorldSource, latents: Latents) -> Truth:
    database = SqliteBackend(SCHEMA).acquire(world)
    database.start(WorldClock(world.now, "truth"))
    return Truth(PlainTruth(Records.of(world)), QueryTruth(open_org(database), latents))


@pytest.fixture(scope="module")
def desk() -> Truth:
    nothing = Latents({}, {}, {}, {}, {}, {}, {}, {})
    return truth_of(DeskWorld(), nothing)


@pytest.fixture(scope="module")
def org() -> Truth:
    world = generate(5, factor=0.5)
    return truth_of(world, world.latents())


def test_issues_are_counted_by_the_day_of_creation(desk: Truth) -> None:
    assert desk.issue_counts(TENT, "2025-03-01", "2025-04-01") == {LATE: 1, TORN: 2}
    assert desk.issue_counts(TENT, "2025-03-01", "2025-03-31") == {LATE: 1, TORN: 1}
    assert desk.issue_counts(LAMP, "2025-01-01", "2025-04-01") == {}


def test_months_are_counted_whatever_the_status(desk: Truth) -> None:
    assert desk.month_counts(LAMP, "2025-01-01", "2026-01-01") == {"2025-04": 2}
    found = desk.month_counts(TENT, "2025-01-01", "2026-01-01")
    assert found == {"2025-03": 3, "2025-07": 1}


def test_a_state_has_the_mean_of_its_closed_cases(desk: Truth) -> None:
    # Cases 1 to 3 are Californian: 1, 3 and 1 days. Case 4 is from Oregon: 4 days.
    days = {"CA": (1 + 3 + 1) / 3 * DAY * 60, "OR": 4 * DAY * 60}
    assert desk.closing_times("2025-03-01", "2025-04-02") == pytest.approx(days)


def test_a_case_that_was_passed_on_counts_as_handled_twice(desk: Truth) -> None:
    assert desk.handled("2025-04-01", "2025-05-01") == {ANA: 2, BEN: 1, CLEO: 2}


def test_handle_time_leaves_out_transferred_and_open_cases(desk: Truth) -> None:
    # Cleo: case 7 alone, for 6 is open and 5 was passed on. Ana and Ben had nothing else.
    assert desk.handle_times("2025-04-01", "2025-05-01", 0) == {CLEO: 4 * DAY}
    assert desk.handle_times("2025-04-01", "2025-05-01", 2) == {}
    assert desk.handle_times("2025-03-01", "2025-04-01", 1) == {ANA: 2 * DAY}


def test_agents_without_a_transfer_have_none_rather_than_no_count(desk: Truth) -> None:
    assert desk.transfers("2025-04-01", "2025-05-01", 0) == {ANA: 1, BEN: 0, CLEO: 0}
    assert desk.transfers("2025-04-01", "2025-05-02", 1) == {ANA: 2, CLEO: 0}


def test_routing_goes_by_issue_then_product_then_open_cases(desk: Truth) -> None:
    # Closed: Ana a late and a torn tent, Ben a torn tent and a late lamp.
    assert desk.route(LATE, LAMP) == [BEN]
    assert desk.route(TORN, TENT) == [ANA], "Ana has closed two cases of tents"
    assert desk.route(TORN, TARP) == [ANA], "no tarps: Ana has no open case, Ben has one"
    assert desk.route(TORN, TENT, (ANA,)) == [BEN]
    assert desk.route(LATE, TARP, (ANA, BEN)) == [CLEO], "inactive agents are left out"


def test_what_a_customer_bought_on_a_day(desk: Truth) -> None:
    assert sorted(desk.bought(ACME, "2025-02-20")) == sorted([TENT, TARP])
    assert desk.bought(ACME, "2025-02-21") == {}


def test_a_difference_is_an_error(desk: Truth) -> None:
    records = desk.plain.records
    other = Records({**records.rows, "Case": cases()["Case"][1:]}, NOW.date())
    wrong = replace(desk, plain=PlainTruth(other), known={})
    with pytest.raises(HarnessError, match="by the rows"):
        wrong.issue_counts(TENT, "2025-03-01", "2025-04-01")


def test_both_agree_on_many_periods(org: Truth) -> None:
    rng = random.Random(1)
    records = org.plain.records
    products = [records.product_of(case)["Id"] for case in records.cases]
    for period in rng.sample(all_periods(records.today), 60):
        span = (period.start, period.end)
        above = rng.randrange(6)
        assert org.handle_times(*span, above).keys() <= org.transfers(*span, above).keys()
        months = org.month_counts(rng.choice(products), *span)
        assert all(period.start[:7] <= month <= period.end[:7] for month in months)
        assert all(time > 0 for time in org.closing_times(*span).values())


def test_both_agree_on_routing(org: Truth) -> None:
    rng = random.Random(2)
    records = org.plain.records
    for issue in records.rows["Issue__c"]:
        absent: list[str] = []
        for _ in range(4):
            product = records.product_of(rng.choice(records.cases))["Id"]
            found = org.route(issue["Id"], product, tuple(absent))
            assert found
            assert not set(found) & set(absent)
            absent.append(found[0])


def test_both_agree_on_what_words_fit(org: Truth) -> None:
    rng = random.Random(3)
    records = org.plain.records
    accounts = [row["Id"] for row in records.rows["Account"]]
    for account in rng.sample(accounts, 60):
        for day in sorted(records.items_of(account))[:3]:
            for key, name in org.bought(account, day).items():
                for mention in mentions(MentionedGoods.read(name), rng):
                    assert key in org.fitting(account, day, mention)


def test_the_words_of_every_closed_case_show_what_was_broken(org: Truth) -> None:
    """The latent violations and a reader of the stored conversations agree on all of them."""
    found = [org.broken(case["Id"]) for case in closed(org)]
    assert sum(article is not None for article in found) > 100


def closed(org: Truth) -> Iterator[dict[str, str]]:
    return (case for case in org.plain.records.cases if case["ClosedDate"])
