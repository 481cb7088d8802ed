"""Tasks: give out the cases of a queue, one after the other, by rules that have to be found."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator

from crmbench.core.task import Alternative, Gold, GoldCall, GoldItem, GoldTurn, Task, Turn
from crmbench.domains.service.hard.articles import written
from crmbench.domains.service.hard.desk.asked import focus_queues, routing_population
from crmbench.domains.service.hard.desk.drawing import Memos
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.sessions import limited
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.known import reading_calls
from crmbench.domains.service.hard.queues import TODAY, Desk
from crmbench.domains.service.hard.staffing import READING, QueueCase, Router
from crmbench.domains.service.hard.world import HardWorld, Made

MECHANISM = "routing"
QUEUES = {"L1": 1, "L2": 1, "L3": 1, "L4": 3, "L5": 12}
"""How many queues a task is about."""
RECORDS = 20
"""Calls for what the objects hold (six), the queue, its cases with customers and lines, agents,
skills, absences, open cases by owner, closed ones of the orders (two) and the notices of the year
(three), with three to spare."""
PRIORITIES = {"L1": ("Critical",), "L2": ("Critical", "High")}
"""Which priorities the shorter levels give out."""


def tasks(world: HardWorld, level: str, seed: int, canary: str) -> Iterator[Task]:
    """The tasks of a level, as many as the org has queues for."""
    rng = random.Random(f"crmbench hard routing {seed} {world.name} {level}")
    writer = Writer(rng)
    desk = world.made.desk
    names = sorted(desk.queues)
    rng.shuffle(names)
    # The memos of the org are drawn to bear on these.
    foci = focus_queues(world.seed, desk, world.foci)
    names.sort(key=lambda name: name not in foci)
    count = QUEUES[level]
    for start in range(0, len(names) - count + 1, count):
        chosen = names[start : start + count]
        cases = [case for name in chosen for case in desk.queues[name]]
        wanted = PRIORITIES.get(level)
        if wanted is not None:
            cases = [case for case in cases if case.priority in wanted]
        if cases:
            yield _task(world, desk, cases, _said(writer, chosen, wanted), level, canary)


def _said(writer: Writer, queues: list[str], priorities: tuple[str, ...] | None) -> str:
    named = [f"the {name} Queue" for name in queues]
    listed = ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]
    if priorities is None:
        what = f"all cases that wait in {listed}"
    else:
        what = f"the cases in {listed} that are {' or '.join(priorities)} (only those)"
    if len(queues) == 12:
        what = "all cases that wait in any of the queues but the Web Inbox Queue, taken together"
    elif len(queues) > 1:
        what += ", taken together as one list"
    return writer.write("task_routing", what=what)


def _task(
    world: HardWorld, desk: Desk, cases: list[QueueCase], said: str, level: str, canary: str
) -> Task:
    memos = world.made.rules["routing"]
    gold = Router(memos.book(), desk.agents, TODAY).route(cases)
    ids = [case.id for case in cases]
    calls = reading_calls(ids)
    for key, agent in gold.items():
        if agent is None:
            calls.append(GoldCall("set_case_status", {"case_id": key, "status": "Escalated"}))
        else:
            calls.append(GoldCall("assign_case", {"case_id": key, "agent_id": agent}))
    task = Task(
        task_id="",
        domain="service_hard",
        world=world.name,
        turns=(Turn(1, said),),
        gold=Gold((GoldTurn(tuple(calls)),), canary=canary, items=_items(desk, memos, cases, gold)),
        family=f"queue_routing_{level}",
        category="Routing",
        complexity="complex",
        persona="the service manager",
        tags=(f"level:{level}", f"mechanism:{MECHANISM}", f"size:{len(cases)}"),
    )
    return limited(task, [scout(world.made, ids)], RECORDS + 2 * len(ids))


def scout(made: Made, ids: Collection[str]) -> Scout:
    """Who reads up on giving out some cases."""
    desk = made.desk
    cases = [case for queue in desk.queues.values() for case in queue if case.id in ids]
    asked = {
        key: [(facts, TODAY) for facts in found]
        for key, found in routing_population(desk, cases).items()
    }
    return Scout(made.rows["Knowledge__kav"], MECHANISM, written("routing"), asked)


def _items(
    desk: Desk, memos: Memos, cases: list[QueueCase], gold: dict[str, str | None]
) -> tuple[GoldItem, ...]:
    """The decisions, each with what it would be without single memos, or ways of reading."""
    owners = {case.id: case for case in cases}
    book = memos.book()
    with book.noting() as bearing:
        Router(book, desk.agents, TODAY).route(cases)
    without = [
        ((name,), Router(book, desk.agents, TODAY, frozenset({name})).route(cases))
        for name in READING
    ]
    without += [
        ((name,), Router(book.without(key), desk.agents, TODAY).route(cases))
        for key, name in memos.titles.items()
        if key in bearing
    ]
    items = []
    for key in owners:
        other = tuple(
            Alternative(names, {f"Case/{key}": _change(found[key])})
            for names, found in without
            if found[key] != gold[key]
        )
        rules = tuple(sorted(name for each in other for name in each.without))
        items.append(GoldItem(key, 1, (("Case", key),), rules=rules, alternatives=other))
    return tuple(items)


def _change(agent: str | None) -> dict[str, str]:
    return {"Status": "Escalated"} if agent is None else {"OwnerId": agent}
