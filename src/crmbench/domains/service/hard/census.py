"""Tasks: review the credits for late deliveries whose cases were closed in a period."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.service.hard.articles import day_words
from crmbench.domains.service.hard.calendar import desk_day
from crmbench.domains.service.hard.due import RULES, Outcome, outcome_without
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.late_case import LateCase
from crmbench.domains.service.hard.world import HardWorld, Made

MECHANISM = "census"
SPANS = {"L1": (3, 4), "L2": (9, 11)}
"""Days of the shorter levels' periods."""
FIRST_PERIOD = 12
"""The month, from May 2023, of the first period but at L5: before, few of the changes hold."""
MONTHS = {"L3": 1, "L4": 3, "L5": 12}


@dataclass(frozen=True)
class Period:
    """Days by the desk's clock; the end is not part of it."""

    start: date
    end: date
    words: str


def periods(level: str, rng: random.Random) -> Iterator[Period]:
    """The periods that a level's tasks can be about, by chance."""
    first = [_month(n) for n in range(FIRST_PERIOD if level != "L5" else 0, 34)]
    rng.shuffle(first)
    for start in first:
        if level in SPANS:
            begin = start + timedelta(days=rng.randrange(0, 17))
            end = begin + timedelta(days=rng.choice(SPANS[level]))
            last = end - timedelta(days=1)
            yield Period(begin, end, f"from {day_words(begin)} to {day_words(last)} (inclusive)")
            continue
        end = _after(start, MONTHS[level])
        if end > date(2026, 3, 1):
            continue
        if level == "L3":
            yield Period(start, end, f"in {start:%B %Y}")
        else:
            last = end - timedelta(days=1)
            yield Period(start, end, f"from {start:%B %Y} to {last:%B %Y} (both included)")


def _month(number: int) -> date:
    return date(2023 + (4 + number) // 12, (4 + number) % 12 + 1, 1)


def _after(day: date, months: int) -> date:
    month = day.month - 1 + months
    return date(day.year + month // 12, month % 12 + 1, 1)


def tasks(world: HardWorld, level: str, seed: int, canary: str) -> Iterator[Task]:
    """The tasks of a level, as many as the org has periods for."""
    rng = random.Random(f"crmbench hard census {seed} {world.name} {level}")
    writer = Writer(rng)
    made = world.made
    for period in periods(level, rng):
        inside = [c for c in made.late if period.start <= c.desk_closed < period.end]
        others = list(_look_alikes(made, period))
        said = writer.write("task_review", period=period.words)
        yield _task(world, made, inside, others, said, level, canary)


def _look_alikes(made: Made, period: Period) -> Iterator[str]:
    """Cases of the period that are filed as late deliveries and are not, or were merged."""
    late = {row["Id"] for row in made.rows["Issue__c"] if row["Name"] == "Late Delivery"}
    real = set(made.case_ids.values())
    for row in made.rows["Case"]:
        filed = row["ClosedDate"] and row["IssueId__c"] in late and row["Id"] not in real
        if filed and period.start <= desk_day(row["ClosedDate"]) < period.end:
            yield row["Id"]


def _task(
    world: HardWorld,
    made: Made,
    inside: list[LateCase],
    others: list[str],
    said: str,
    level: str,
    canary: str,
) -> Task:
    ids = [made.case_ids[case.number] for case in inside]
    query = f"SELECT Id FROM Case WHERE Id IN ({', '.join(repr(i) for i in ids)})"
    calls = [GoldCall("issue_soql_query", {"query": query})]
    items = []
    for case, key in zip(inside, ids, strict=True):
        calls.append(GoldCall("record_credit_review", {"case_id": key, **_arguments(case)}))
        items.append(_item(made, case, key))
    items += [GoldItem(key, 1, (("Case", key),), rules=("reviewed",)) for key in others]
    return Task(
        task_id="",
        domain="service_hard",
        world=world.name,
        turns=(Turn(1, said),),
        gold=Gold((GoldTurn(tuple(calls)),), canary=canary, items=tuple(items)),
        family=f"credit_review_{level}",
        category="Policy",
        complexity="complex",
        persona="the service manager",
        tags=(f"level:{level}", f"mechanism:{MECHANISM}", f"size:{len(items)}"),
        call_limit=6 * len(items) + 60,
    )


def _arguments(case: LateCase) -> dict[str, Any]:
    found = _found(case)
    given: dict[str, Any] = {"outcome": found.outcome}
    if found.amount is not None:
        given["amount"] = float(found.amount)
    return given


def _found(case: LateCase) -> Outcome:
    if case.outcome is None:
        raise ValueError(f"case {case.number} was never reviewed")
    return case.outcome


def _item(made: Made, case: LateCase, key: str) -> GoldItem:
    found = _found(case)
    alternatives = []
    for rule in RULES:
        if rule in found.rules:
            outcome, amount = outcome_without(made.book, case.claim, frozenset({rule}))
            changed = {
                "ReviewOutcome__c": outcome,
                "ReviewAmount__c": None if amount is None else float(amount),
            }
            alternatives.append(Alternative((rule,), {f"Case/{key}": changed}))
    return GoldItem(
        key, 1, (("Case", key),), rules=tuple(sorted(found.rules)), alternatives=tuple(alternatives)
    )
