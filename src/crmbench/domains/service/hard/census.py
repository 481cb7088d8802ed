"""Tasks: review the credits for late deliveries whose cases were closed in a period."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from crmbench.authoring.sessions import in_sessions
from crmbench.core.schema import Row
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.service.hard.articles import day_words, written
from crmbench.domains.service.hard.calendar import desk_day
from crmbench.domains.service.hard.desk.late_case import LateCase
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.sessions import limited
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.due import NEARBY, RULES, Outcome, outcome_without
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.known import reading_calls
from crmbench.domains.service.hard.rulebook import MISSED, Rulebook
from crmbench.domains.service.hard.second_truth.memos import KINDS, find_kind
from crmbench.domains.service.hard.world import (
    MONTHS_ASKED,
    HardWorld,
    Made,
    focus_months,
    focus_period,
    month_after,
)

MECHANISM = "census"
RECORDS = 24
"""Calls of a session for the lists of cases, their lines, orders, accounts, credits and comments,
to find those that report lateness under another issue, and for what memos say of a carrier in a
state."""
SESSIONS = {"L5": 6}
"""In how many sessions the months come, where it is more than one."""
WORDS = {
    **dict.fromkeys(
        ("slow money", "ladder", "wait", "members", "clearance", "express", "freight", "map"), True
    ),
    **dict.fromkeys(("clerk", "carriers"), False),
}
"""What a careful reader looks for beside the words of the desk's questions, and whether memos rule
on it by the day of purchase."""
SPANS = {"L1": (3, 4), "L2": (9, 11), "L3": (19,)}
"""Days of the shorter levels' periods."""
FIRST_PERIOD = 12
"""The month, from May 2023, of the first period but at L5: before, few of the changes hold."""


@dataclass(frozen=True)
class Period:
    """Days by the desk's clock; the end is not part of it."""

    start: date
    end: date
    words: str


def periods(level: str, rng: random.Random, seed: int) -> Iterator[Period]:
    """The periods that a level's tasks can be about, by chance; the first one lies where the memos
    of the seed's world were drawn to bear on it.
    """
    focus, number = focus_period(seed)[0], int(level[1:])
    first = [_month(n) for n in range(FIRST_PERIOD if level != "L5" else 0, 34)]
    rng.shuffle(first)
    begun = focus.replace(day=1) if level in SPANS else focus_months(seed, number)
    first.sort(key=begun.__ne__)
    for start in first:
        if level in SPANS:
            length = rng.choice(SPANS[level])
            begin = start + timedelta(days=rng.randrange(28 - length))
            if start == focus.replace(day=1):
                # Within the days that the memos were drawn to bear on.
                begin = focus if level == "L3" else max(begin, focus)
            end = begin + timedelta(days=length)
            last = end - timedelta(days=1)
            yield Period(begin, end, f"from {day_words(begin)} to {day_words(last)} (inclusive)")
            continue
        end = month_after(start, MONTHS_ASKED[number])
        if end > date(2026, 3, 1):
            continue
        yield _of_months(start, end)


def _of_months(start: date, end: date) -> Period:
    """Some whole months."""
    last = end - timedelta(days=1)
    return Period(start, end, f"from {start:%B %Y} to {last:%B %Y} (both included)")


def _month(number: int) -> date:
    return date(2023 + (4 + number) // 12, (4 + number) % 12 + 1, 1)


def tasks(world: HardWorld, level: str, seed: int, canary: str) -> Iterator[Task]:
    """The tasks of a level, as many as the org has periods for."""
    rng = random.Random(f"crmbench hard census {seed} {world.name} {level}")
    writer = Writer(rng)
    for period in periods(level, rng, world.seed):
        parts = [period]
        if level in SESSIONS:
            parts = _split(period, level)
            # Who knows one is not to know the next.
            rng.shuffle(parts)
        sessions = [(part, writer.write("task_review", period=part.words)) for part in parts]
        yield _task(world, sessions, level, canary)


def _split(period: Period, level: str) -> list[Period]:
    """The parts of a period that each session is about."""
    months = [month_after(period.start, n) for n in range(MONTHS_ASKED[int(level[1:])])]
    parts = in_sessions(months, SESSIONS[level])
    return [_of_months(part[0], month_after(part[-1], 1)) for part in parts]


def _look_alikes(made: Made, period: Period) -> Iterator[str]:
    """Cases of the period that are filed as late deliveries and are not, or were merged."""
    late = {row["Id"] for row in made.rows["Issue__c"] if row["Name"] == "Late Delivery"}
    real = set(made.case_ids.values())
    for row in made.rows["Case"]:
        filed = row["ClosedDate"] and row["IssueId__c"] in late and row["Id"] not in real
        if filed and period.start <= desk_day(row["ClosedDate"]) < period.end:
            yield row["Id"]


def _task(
    world: HardWorld, sessions: Sequence[tuple[Period, str]], level: str, canary: str
) -> Task:
    """The task of some sessions, each with its period and what the user says."""
    made = world.made
    golds: list[GoldTurn] = []
    items: list[GoldItem] = []
    readers, late = [], 0
    for turn, (period, _) in enumerate(sessions, 1):
        inside = [case for case in made.late if period.start <= case.desk_closed < period.end]
        ids = [made.case_ids[case.number] for case in inside]
        others = list(_look_alikes(made, period))
        late += len(ids)
        calls = reading_calls([*ids, *others])
        for case, key in zip(inside, ids, strict=True):
            calls.append(GoldCall("record_credit_review", {"case_id": key, **_arguments(case)}))
            items.append(_item(made, case, key, turn))
        golds.append(GoldTurn(tuple(calls)))
        items += [GoldItem(key, turn, (("Case", key),), rules=("reviewed",)) for key in others]
        readers.append(scout(made, ids))
    task = Task(
        task_id="",
        domain="service_hard",
        world=world.name,
        turns=tuple(Turn(number, said) for number, (_, said) in enumerate(sessions, 1)),
        gold=Gold(tuple(golds), canary=canary, items=tuple(items)),
        family=f"credit_review_{level}",
        category="Policy",
        complexity="complex",
        persona="the service manager",
        tags=(f"level:{level}", f"mechanism:{MECHANISM}", f"size:{len(items)}"),
    )
    # Each late case is opened and recorded; two thirds have another one that may bear on them.
    besides = RECORDS * len(sessions) + 2 * late + late * 2 // 3 + len(items) - late
    return limited(task, readers, besides)


def scout(made: Made, ids: Collection[str], more: Sequence[str] = ()) -> Scout:
    """Who reads up on the credits of some cases.

    Args:
        more: Words to look for besides.
    """
    articles = made.rows["Knowledge__kav"]
    claims = [case.claim for case in made.late if made.case_ids[case.number] in ids]
    facts = [(claim.facts, claim.ordered) for claim in claims]
    return Scout(
        articles,
        MECHANISM,
        [*written("handbook"), *_tables(articles, [day for _, day in facts])],
        {s.key: facts for s in subjects().values() if s.of == MECHANISM},
        WORDS | dict.fromkeys(more, True),
        lambda text: any(find_kind(kind, text) for kind in KINDS if kind != "hindered"),
    )


def _tables(articles: Sequence[Row], days: Sequence[date]) -> list[str]:
    """The titles of the tables of rates that may have been in force on some days, by the month that
    each names, and of three notices.
    """
    titles = sorted(row["Title"] for row in articles if row["PublishStatus"] != "Draft")
    notices = [title for title in titles if title.startswith("Desk notice")]
    tables = [title for title in titles if title.startswith("Late delivery rates")]
    if not days:
        return tables + notices[:3]
    first, last = (f"Late delivery rates ({day:%Y-%m})" for day in (min(days), max(days)))
    # One that begins within the first month may leave that month's beginning to the one before.
    before = [title for title in tables if title < first][-1:]
    return before + [title for title in tables if first <= title <= last] + notices[:3]


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


def _item(made: Made, case: LateCase, key: str, turn: int) -> GoldItem:
    found = _found(case)
    alternatives = []
    with made.book.desk[0].noting() as bearing:
        outcome_without(made.book, case.claim, frozenset())
    for rule, book, without in _ways(made, bearing):
        other = outcome_without(book, case.claim, without)
        if other != (found.outcome, found.amount):
            outcome, amount = other
            changed = {
                "ReviewOutcome__c": outcome,
                "ReviewAmount__c": None if amount is None else float(amount),
            }
            alternatives.append(Alternative((rule,), {f"Case/{key}": changed}))
    rules = tuple(sorted(name for each in alternatives for name in each.without))
    return GoldItem(key, turn, (("Case", key),), rules=rules, alternatives=tuple(alternatives))


def other_readings(made: Made, ids: Collection[str]) -> set[str]:
    """The nearby readings of the articles by which one of the cases would end otherwise."""
    cases = [case for case in made.late if made.case_ids[case.number] in ids]
    return {
        reading
        for reading in NEARBY
        for case in cases
        if outcome_without(made.book, case.claim, frozenset({reading}))
        != (_found(case).outcome, _found(case).amount)
    }


def _ways(made: Made, bearing: Collection[str]) -> Iterator[tuple[str, Rulebook, frozenset[str]]]:
    """What may be missed: a memo on one of the desk's questions that bears on a case, or another
    rule.
    """
    desk = made.book.desk[0]
    for key, title in made.rules[MECHANISM].titles.items():
        if key in bearing:
            yield title, replace(made.book, desk=(desk.without(key),)), frozenset()
    for rule in RULES:
        if rule not in MISSED:
            yield rule, made.book, frozenset({rule})
