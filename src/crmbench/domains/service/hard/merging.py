"""Tasks: merge the duplicates among the open web cases of some states."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from crmbench.authoring.sessions import in_sessions, listed
from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.service.hard.articles import STATE_NAMES, written
from crmbench.domains.service.hard.desk.asked import focus_states
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.sessions import limited
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.duplicates import READING, Cluster, Merger, WebCase
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.known import reading_calls
from crmbench.domains.service.hard.queues import TODAY
from crmbench.domains.service.hard.world import HardWorld, Made

MECHANISM = "duplicates"
STATES = {"L1": 1, "L2": 1, "L3": 1, "L4": 4, "L5": 14}
"""How many states a task is about."""
SESSIONS = {"L5": 7}
"""In how many sessions they come, where it is more than one."""
RECORDS = 8
"""Calls of a session for the lists of cases, accounts by state and by address, order lines and
their orders."""
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
    count, parts = STATES[level], SESSIONS.get(level, 1)
    for start in range(0, len(names) - count + 1, count):
        chosen = names[start : start + count]
        if parts > 1:
            # Else all that is aimed at would come in the first sessions.
            rng.shuffle(chosen)
        sessions = []
        for part in in_sessions(chosen, parts):
            cases = [case for name in part for case in world.made.inbox[name]]
            where = listed([STATE_NAMES[name] for name in part])
            if level in CUT:
                cases, where = _first(world.made, cases, CUT[level], where)
            sessions.append((cases, writer.write("task_merge", state=where)))
        yield _task(world, sessions, level, canary)


def _first(made: Made, cases: list[WebCase], least: int, where: str) -> tuple[list[WebCase], str]:
    """The cases of customers up to a letter of the alphabet."""
    accounts = {row["Id"]: row["LastName"] for row in made.rows["Account"]}
    cases = sorted(cases, key=lambda case: accounts[case.person])
    letter = accounts[cases[min(least, len(cases)) - 1].person][0]
    kept = [case for case in cases if accounts[case.person][0] <= letter]
    return kept, f"{where} whose last name begins with A to {letter}"


def _task(
    world: HardWorld, sessions: Sequence[tuple[list[WebCase], str]], level: str, canary: str
) -> Task:
    """The task of some sessions, each with its cases and what the user says."""
    made = world.made
    merger = Merger(made.rules[MECHANISM].book(), TODAY)
    # No two states share a customer, so no cluster reaches over sessions.
    clusters = [merger.clusters(cases) for cases, _ in sessions]
    cases = [case for part, _ in sessions for case in part]
    found = [cluster for part in clusters for cluster in part]
    turn_of = {case.id: number for number, (part, _) in enumerate(sessions, 1) for case in part}
    items = (replace(item, turn=turn_of[item.key]) for item in _items(made, cases, found))
    gold = tuple(_gold(part, merged) for (part, _), merged in zip(sessions, clusters, strict=True))
    task = Task(
        task_id="",
        domain="service_hard",
        world=world.name,
        turns=tuple(Turn(number, said) for number, (_, said) in enumerate(sessions, 1)),
        gold=Gold(gold, canary=canary, items=tuple(items)),
        family=f"duplicate_cases_{level}",
        category="Cleaning",
        complexity="complex",
        persona="the service manager",
        tags=(f"level:{level}", f"mechanism:{MECHANISM}", f"size:{len(cases)}"),
    )
    readers = [scout(made, {case.id for case in part}) for part, _ in sessions]
    # Whose only case it is need not be opened: nothing can be merged with it.
    by_person = Counter(case.person for case in cases)
    opened = sum(n for n in by_person.values() if n > 1)
    return limited(task, readers, RECORDS * len(sessions) + opened + len(found) * 3 // 2)


def _gold(cases: list[WebCase], found: list[Cluster]) -> GoldTurn:
    """What is right for the cases of a session."""
    priority = {case.id: case.priority for case in cases}
    calls = reading_calls([case.id for case in cases])
    for cluster in found:
        merged = {"master_id": cluster.master, "duplicate_ids": list(cluster.others)}
        calls.append(GoldCall("merge_cases", merged))
        if cluster.priority != priority[cluster.master]:
            given = {"case_id": cluster.master, "priority": cluster.priority}
            calls.append(GoldCall("set_case_priority", given))
    return GoldTurn(tuple(calls))


def scout(made: Made, ids: Collection[str]) -> Scout:
    """Who reads up on merging some cases."""
    facts = [
        (case.facts, TODAY) for cases in made.inbox.values() for case in cases if case.id in ids
    ]
    asked = {s.key: facts for s in subjects().values() if s.of == MECHANISM}
    return Scout(made.rows["Knowledge__kav"], MECHANISM, written("duplicates"), asked)


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
