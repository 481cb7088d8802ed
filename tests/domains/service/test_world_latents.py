"""Each latent leaves a trace that can be measured, loses it when it is off, and is told nowhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import cache

import numpy as np
import pytest

from crmbench.core.schema import Row
from crmbench.domains.service.schema import OBJECTS
from crmbench.domains.service.text import ARTICLES
from crmbench.domains.service.world import LATENTS, Latents, generate

FACTOR = 3.0
SEED = 11
Rows = dict[str, list[Row]]
UNTOUCHED = {
    "shopping_habits": ["User", "Account", "Contact", "Product2", "PricebookEntry"],
    "agent_skill": ["Account", "Product2", "Order", "OrderItem"],
    "complaint_habits": ["Account", "Product2", "Order", "OrderItem"],
    "response_time": ["Account", "Product2", "Order", "OrderItem"],
    "policy_violations": ["Account", "Product2", "Order", "OrderItem", "CaseHistory__c"],
    "product_quality": ["Account", "Product2", "Order", "OrderItem"],
    "region_effects": ["Account", "Product2", "Order", "OrderItem"],
}
SAME_CASES = {
    "agent_skill": ("Id", "CreatedDate", "OrderItemId__c", "IssueId__c", "ContactId"),
    "response_time": ("Id", "CreatedDate", "OrderItemId__c", "IssueId__c", "OwnerId"),
    "region_effects": ("Id", "CreatedDate", "OrderItemId__c", "IssueId__c", "OwnerId"),
    "policy_violations": ("Id", "CreatedDate", "ClosedDate", "IssueId__c", "OwnerId", "Status"),
}


@cache
def world(off: str = "") -> tuple[Rows, Latents]:
    made = generate(SEED, FACTOR, frozenset({off} - {""}))
    rows: Rows = {name: [] for name in OBJECTS}
    for table, some in made.stream():
        rows[table].extend(some)
    return rows, made.latents()


def minutes(case: Row) -> float:
    start, end = (datetime.fromisoformat(case[c][:19]) for c in ("CreatedDate", "ClosedDate"))
    return (end - start).total_seconds() / 60


def closed(rows: Rows) -> list[Row]:
    return [case for case in rows["Case"] if case["ClosedDate"]]


def quarter(case: Row) -> str:
    return f"{case['CreatedDate'][:4]}-Q{(int(case['CreatedDate'][5:7]) + 2) // 3}"


def correlation(pairs: list[tuple[float, float]]) -> float:
    first, second = np.array(pairs).T
    return float(np.corrcoef(first, second)[0, 1]) if first.std() and second.std() else 0.0


def shopping(rows: Rows, truth: Latents) -> float:
    counts = Counter(order["AccountId"] for order in rows["Order"])
    return correlation([(h.orders, counts[key]) for key, h in truth.shopping_habits.items()])


def skill(rows: Rows, truth: Latents) -> float:
    """How much better than an average agent at its issue the owner of a case is."""
    level = [truth.agent_skill[c["OwnerId"]][c["IssueId__c"]] for c in rows["Case"]]
    every = [v for levels in truth.agent_skill.values() for v in levels.values()]
    return sum(level) / len(level) - sum(every) / len(every)


def complaints(rows: Rows, truth: Latents) -> float:
    counts = Counter(case["AccountId"] for case in rows["Case"])
    bought = Counter(order["AccountId"] for order in rows["Order"])
    return correlation(
        [
            (habit.rate, counts[key] / bought[key])
            for key, habit in truth.complaint_habits.items()
            if bought[key] > 4
        ]
    )


def response(rows: Rows, truth: Latents) -> float:
    return correlation(
        [
            (np.log(truth.response_time[c["OwnerId"]][quarter(c)]), np.log(minutes(c)))
            for c in closed(rows)
        ]
    )


def regions(rows: Rows, truth: Latents) -> float:
    state = {a["Id"]: a["ShippingState"] for a in rows["Account"]}
    return correlation(
        [
            (np.log(truth.region_effects[state[c["AccountId"]]][quarter(c)]), np.log(minutes(c)))
            for c in closed(rows)
        ]
    )


def violations(rows: Rows, truth: Latents) -> float:
    return len(truth.policy_violations) / len(closed(rows))


def quality(rows: Rows, truth: Latents) -> float:
    """How many of the cases are about the weak point of their product."""
    product = {item["Id"]: item["Product2Id"] for item in rows["OrderItem"]}
    weak = {key: found.issue for key, found in truth.product_quality.items()}
    hits = sum(weak[product[c["OrderItemId__c"]]] == c["IssueId__c"] for c in rows["Case"])
    return int(hits) / len(rows["Case"])


MEASURES: dict[str, tuple[Callable[[Rows, Latents], float], float, float]] = {
    "shopping_habits": (shopping, 0.5, 0.01),
    "agent_skill": (skill, 0.2, 0.01),
    "complaint_habits": (complaints, 0.4, 0.01),
    "response_time": (response, 0.35, 0.01),
    "policy_violations": (violations, 0.15, 0.001),
    "product_quality": (quality, 0.4, 0.17),
    "region_effects": (regions, 0.35, 0.01),
}
"""For each latent what is measured, at least how much it is, and at most without the latent."""


@pytest.mark.parametrize("latent", LATENTS)
def test_a_latent_shows_in_the_records(latent: str) -> None:
    measure, least, _ = MEASURES[latent]
    assert measure(*world()) >= least


@pytest.mark.parametrize("latent", LATENTS)
def test_it_vanishes_when_it_is_off(latent: str) -> None:
    measure, _, most = MEASURES[latent]
    assert abs(measure(*world(latent))) <= most


@pytest.mark.parametrize("latent", ["shopping_habits", "complaint_habits", "response_time"])
def test_records_without_it_do_not_follow_what_it_would_have_been(latent: str) -> None:
    measure, least, _ = MEASURES[latent]
    assert abs(measure(world(latent)[0], world()[1])) < least / 2


@pytest.mark.parametrize("latent", LATENTS)
def test_all_else_stays_as_it_is(latent: str) -> None:
    rows, others = world()[0], world(latent)[0]
    for table in UNTOUCHED[latent]:
        assert rows[table] == others[table], table
    if latent in SAME_CASES:
        fields = SAME_CASES[latent]
        assert [[c[f] for f in fields] for c in rows["Case"]] == [
            [c[f] for f in fields] for c in others["Case"]
        ]


def test_bad_batches_are_complained_of() -> None:
    rows, truth = world()
    day = {order["Id"]: order["EffectiveDate"] for order in rows["Order"]}
    reported = {case["OrderItemId__c"] for case in rows["Case"]}
    shares: dict[bool, list[bool]] = {True: [], False: []}
    for item in rows["OrderItem"]:
        batch = truth.product_quality[item["Product2Id"]].bad_batch
        if batch:
            sold = batch[0] <= day[item["OrderId"]] <= batch[1]
            shares[sold].append(item["Id"] in reported)
    assert np.mean(shares[True]) > 1.8 * np.mean(shares[False])


def test_complaints_have_their_months() -> None:
    rows, truth = world()
    factors = [
        truth.complaint_habits[c["AccountId"]].months[int(c["CreatedDate"][5:7]) - 1]
        for c in rows["Case"]
    ]
    assert np.mean(np.array(factors) > 1) > 0.4


def test_some_agents_never_hand_a_case_over_and_some_do_often() -> None:
    rows, truth = world()
    away = Counter(e["OldValue__c"] for e in rows["CaseHistory__c"] if e["OldValue__c"])
    busy = [key for key, n in Counter(c["OwnerId"] for c in rows["Case"]).items() if n > 10]
    assert sum(away[key] == 0 for key in busy) >= 0.15 * len(busy)
    assert max(away.values()) > 15
    assert set(away) <= set(truth.agent_skill)


def test_every_issue_has_one_agent_who_handles_most_of_it() -> None:
    rows: Rows = {"Case": [], "Issue__c": []}
    for table, some in generate().stream():
        if table in rows:
            rows[table].extend(some)
    best = set()
    for issue in rows["Issue__c"]:
        owners = Counter(c["OwnerId"] for c in closed(rows) if c["IssueId__c"] == issue["Id"])
        (first, most), (_, second) = owners.most_common(2)
        assert most > second
        best.add(first)
    assert len(best) >= 9


def test_violations_name_articles_and_spread_over_them() -> None:
    rows, truth = world()
    articles = {row["Id"]: row for row in rows["Knowledge__kav"]}
    cases = {case["Id"]: case for case in rows["Case"]}
    rules = {article.title: {rule.id for rule in article.rules} for article in ARTICLES}
    for key, violation in truth.policy_violations.items():
        assert cases[key]["Status"] == "Closed"
        assert violation.rule in rules[articles[violation.article]["Title"]]
        assert truth.violation_share[cases[key]["OwnerId"]] > 0
    counts = Counter(violation.article for violation in truth.policy_violations.values())
    assert len(counts) >= 8
    assert max(counts.values()) <= 0.2 * sum(counts.values())


def test_latents_are_listed_for_everyone() -> None:
    rows, truth = world()
    assert set(truth.shopping_habits) == {row["Id"] for row in rows["Account"]}
    assert set(truth.complaint_habits) == set(truth.shopping_habits)
    assert set(truth.product_quality) == {row["Id"] for row in rows["Product2"]}
    assert set(truth.agent_skill) == set(truth.response_time)
    assert {case["OwnerId"] for case in rows["Case"]} <= set(truth.agent_skill)
    assert {row["ShippingState"] for row in rows["Account"]} <= set(truth.region_effects)


def test_no_table_has_a_place_for_latents() -> None:
    names = {key for rows in world()[0].values() for row in rows[:1] for key in row}
    assert not {name for name in names if any(latent in name.lower() for latent in LATENTS)}
