"""Tasks: merge the duplicates among the open web cases of some states."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.service.hard.articles import STATE_NAMES, written
from crmbench.domains.service.hard.desk.asked import focus_states
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.duplicates import READING, Cluster, Merger, WebCase
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.known import reading_calls
from crmbench.domains.service.hard.queues import TODAY
from crmbench.domains.service.hard.world import HardWorld, Made

MECHANISM = "duplicates"
STATES = {"L1": 1, "L2": 1, "L3": 1, "L4": 4, "L5": 14}
"""How many states a task is about."""
RECORDS = 8
"""Calls for the lists of cases, accounts by state and by address, order lines and their orders."""
CUT = {"L1": 6, "L2": 14}
"""The shorter levels are about the customers of the first cases, by last name."""


def tasks(world: HardWorld, level: str, seed: int, canary: str) -> Iterator[Task]:
    """The tasks of a level, as many as the org has states for."""
    rng = random.Random(f"crmbench hard duplicates {seed} {world.name} {level}")
    writer = Writer(rng)
    names = sorted(world.made.inbox)
    rng.shuffle(names)
    # The memos of the org are drawn to bear on these.
    foci = focus_states(world.seed, world.made.inbox, world.foci)
    names.sort(key=lambda name: name not in foci)
    count = STATES[level]
    for start in range(0, len(names) - count + 1, count):
        chosen = names[start : start + count]
        cases = [case for name in chosen for case in world.made.inbox[name]]
        where = _listed([STATE_NAMES[name] for name in chosen])
        if level in CUT:
            cases, where = _first(world.made, cases, CUT[level], where)
        said = writer.write("task_merge", state=where)
        yield _task(world, cases, said, level, canary)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _first(made: Made, cases: list[WebCase], least: int, where: str) -> tuple[list[WebCase], str]:
    """The cases of customers up to a letter of the alphabet."""
    accounts = {row["Id"]: row["LastName"] for row in made.rows["Account"]}
    cases = sorted(cases, key=lambda case: accounts[case.person])
    letter = accounts[cases[min(least, len(cases)) - 1].person][0]
    kept = [case for case in cases if accounts[case.person][0] <= letter]
    return kept, f"{where} whose last name begins with A to {letter}"


def _task(world: HardWorld, cases: list[WebCase], said: str, level: str, canary: str) -> Task:
    made = world.made
    found = Merger(made.rules[MECHANISM].book(), TODAY).clusters(cases)
    priority = {case.id: case.priority for case in cases}
    calls = reading_calls([case.id for case in cases])
    for cluster in found:
        merged = {"master_id": cluster.master, "duplicate_ids": list(cluster.others)}
        calls.append(GoldCall("merge_cases", merged))
        if cluster.priority != priority[cluster.master]:
            given = {"case_id": cluster.master, "priority": cluster.priority}
            calls.append(GoldCall("set_case_priority", given))
    return Task(
        task_id="",
        domain="service_hard",
        world=world.name,
        turns=(Turn(1, said),),
        gold=Gold((GoldTurn(tuple(calls)),), canary=canary, items=_items(made, cases, found)),
        family=f"duplicate_cases_{level}",
        category="Cleaning",
        complexity="complex",
        persona="the service manager",
        tags=(f"level:{level}", f"mechanism:{MECHANISM}", f"size:{len(cases)}"),
        call_limit=_limit(made, cases, len(found)),
    )


def scout(made: Made, ids: Collection[str]) -> Scout:
    """Who reads up on merging some cases."""
    facts = [
        (case.facts, TODAY) for cases in made.inbox.values() for case in cases if case.id in ids
    ]
    asked = {s.key: facts for s in subjects().values() if s.of == MECHANISM}
    return Scout(made.rows["Knowledge__kav"], MECHANISM, written("duplicates"), asked)


def _limit(made: Made, cases: list[WebCase], groups: int) -> int:
    """What a careful path takes, and a little more."""
    reader = scout(made, {case.id for case in cases})
    reader.read()
    # Whose only case it is need not be opened: nothing can be merged with it.
    by_person = Counter(case.person for case in cases)
    opened = sum(n for n in by_person.values() if n > 1)
    return reader.limit(RECORDS + opened + groups * 3 // 2)


def _items(made: Made, cases: list[WebCase], found: list[Cluster]) -> tuple[GoldItem, ...]:
    gold = _changes(cases, found)
    memos = made.rules[MECHANISM]
    book = memos.book()
    with book.noting() as bearing:
        Merger(book, TODAY).clusters(cases)
    without = [
        (name, _changes(cases, Merger(book, TODAY, frozenset({name})).clusters(cases)))
        for name in READING
    ]
    without += [
        (name, _changes(cases, Merger(book.without(key), TODAY).clusters(cases)))
        for key, name in memos.titles.items()
        if key in bearing
    ]
    items = []
    for case in cases:
        others = [(r, changed) for r, changed in without if changed[case.id] != gold[case.id]]
        items.append(
            GoldItem(
                case.id,
                1,
                (("Case", case.id),),
                rules=tuple(rule for rule, _ in others),
                alternatives=tuple(
                    Alternative(
                        (rule,),
                        {f"Case/{case.id}": changed[case.id]} if changed[case.id] else {},
                    )
                    for rule, changed in others
                ),
            )
        )
    return tuple(items)


def _changes(cases: list[WebCase], found: list[Cluster]) -> dict[str, dict[str, Any]]:
    """For each case what becomes of it; nothing for one that stays as it is."""
    priority = {case.id: case.priority for case in cases}
    changed: dict[str, dict[str, Any]] = {case.id: {} for case in cases}
    for cluster in found:
        if cluster.priority != priority[cluster.master]:
            changed[cluster.master] = {"Priority": cluster.priority}
        for key in cluster.others:
            changed[key] = {"MasterRecordId": cluster.master, "Status": "Closed"}
    return changed
