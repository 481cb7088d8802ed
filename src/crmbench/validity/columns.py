"""Whether the comparison of states sees every column: a wrong value in any of them must be found.

For every column of the domain, in every task: another value on a record that the task leaves alone,
on one that its gold changes, and on one that its gold makes; and in every table a record that
nobody asked for. Not compared are ids, the moment of a
write that the gold makes too (of a new record its day is), free text that the gold writes, which
the facts of the note judge, and on a new record a column that a rule of the policy leaves free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.journal import Change, Effect, Snapshot
from crmbench.core.schema import Row, TableInfo
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.gold import GoldRun
from crmbench.grading.grader import Grader
from crmbench.grading.state import compare_effects, day_of
from crmbench.validity.gate import GateResult, Offender, none_wrong
from crmbench.validity.mutants import world_keys

LONG_AGO = "1999-12-31T08:00:00Z"
FILLED = "Something that nobody asked for."
"""What is put into an empty text."""


@dataclass(frozen=True)
class ColumnResult:
    """What became of the wrong values of one task."""

    tried: int
    seen: frozenset[tuple[str, str]]
    """Table and column of each wrong value that was found."""
    inhabited: frozenset[str]
    """Tables that have a record, before or after the gold: in no other can a value be wrong."""
    made: frozenset[str]
    """Tables of which the gold makes a record."""
    missed: tuple[str, ...]
    """Those that were not found though they should be, in words."""


def columns_tried(tasks: Sequence[Task], grader: Grader) -> list[ColumnResult]:
    """Put wrong values into every column, task by task."""
    states: dict[str, Snapshot] = {}
    results = []
    for task in tasks:
        domain, backend = load_domain(task.domain), grader.backends.backend(task.domain)
        place = task.task_id if task.seed_data else task.world
        if place not in states:
            states[place] = world_keys(domain, task, backend).rows
        results.append(_try(domain, task, grader.gold_runs(task)[0], states[place]))
    return results


def column_gate(tasks: Sequence[Task], found: Sequence[ColumnResult]) -> GateResult:
    """Every column is compared, or a rule says why it is not.

    Args:
        found: What `columns_tried` found.
    """
    offenders = [
        Offender(task.task_id, text)
        for task, result in zip(tasks, found, strict=True)
        for text in result.missed
    ]
    seen = {place for result in found for place in result.seen}
    inhabited = frozenset[str]().union(*(result.inhabited for result in found))
    made = frozenset[str]().union(*(result.made for result in found))
    excepted: list[str] = []
    domains = [load_domain(name) for name in sorted({task.domain for task in tasks})]
    for domain in domains:
        for table, info in domain.schema.tables.items():
            offenders += [
                Offender("", f"{table}.{name}: no task compares it")
                for name in _compared(info)
                if table in inhabited and (table, name) not in seen
            ]
            excepted += [
                f"{table}.{name} of new records by {rule}"
                for name, rule in info.free_by.items()
                if table in made
            ]
        offenders += list(_without_rule(domain, made))
    tried = sum(result.tried for result in found)
    free = f" (but {', '.join(excepted)})" if excepted else ""
    question = f"Is a wrong value found in whatever column it stands?{free}"
    return none_wrong("columns compared", question, offenders, tried, applies=tried > 0)


def _compared(info: TableInfo) -> Iterator[str]:
    """The columns of a table that hold more than an id or a place in an order."""
    return (name for name in info.columns if name not in (info.key, info.order))


def _without_rule(domain: Domain, made: frozenset[str]) -> Iterator[Offender]:
    for table in sorted(made & domain.schema.tables.keys()):
        info = domain.schema.tables[table]
        for name, rule in info.free_by.items():
            if not rule or f"**{rule}**" not in domain.policy:
                yield Offender(
                    "", f"{table}.{name} is not compared, and no rule says why: {rule!r}"
                )


def _try(domain: Domain, task: Task, gold: GoldRun, state: Snapshot) -> ColumnResult:
    tried = 0
    seen: set[tuple[str, str]] = set()
    missed: list[str] = []
    for table, name, what, wrong in _wrong_effects(domain, gold.effects[-1], state):
        tried += 1
        if compare_effects(domain.schema, gold.effects[-1], wrong):
            seen.add((table, name))
        else:
            missed.append(f"{table}.{name} of {what} is not compared")
    for table, name, number in _free_texts(domain, gold):
        tried += 1
        if task.gold.turns[number - 1].note_facts:
            seen.add((table, name))
        else:
            missed.append(f"turn {number}: {table}.{name} is written, and no fact judges it")
    made = frozenset(change.table for change in gold.effects[-1] if change.before is None)
    inhabited = made.union(table for table in domain.schema.tables if state[table])
    return ColumnResult(tried, frozenset(seen), inhabited, made, tuple(missed))


def _free_texts(domain: Domain, gold: GoldRun) -> Iterator[tuple[str, str, int]]:
    """Table and column of each free text that the gold writes, and in which turn."""
    for number, calls in enumerate(gold.calls, start=1):
        for change in (change for call in calls for change in call.changes):
            before, after = change.before or {}, change.after or {}
            for name, compare in domain.schema[change.table].compare.items():
                if compare == "note" and after.get(name) and after[name] != before.get(name):
                    yield change.table, name, number


def _wrong_effects(
    domain: Domain, gold: Effect, state: Snapshot
) -> Iterator[tuple[str, str, str, Effect]]:
    """Table, column, what kind of record, and the gold's effect with a wrong value there."""
    touched = {(change.table, change.key) for change in gold}
    for table, info in domain.schema.tables.items():
        other = next((k for k in sorted(state[table]) if (table, k) not in touched), None)
        new = state[table][other] if other is not None else dict.fromkeys(info.columns, FILLED)
        unasked = Change(table, "unasked", None, new)
        yield table, info.key, "a record that nobody asked for", (*gold, unasked)
        if other is None:
            continue
        row = state[table][other]
        for name in _compared(info):
            changed = Change(table, other, row, {**row, name: _other(row[name], info, name)})
            yield table, name, "a record to be left alone", (*gold, changed)
    for place, change in enumerate(gold):
        info, after = domain.schema[change.table], change.after
        for name in _compared(info) if after else ():
            assert after is not None
            if not _is_judged_otherwise(info, change, after, name):
                wrong = {**after, name: _other(after[name], info, name)}
                one = Change(change.table, change.key, change.before, wrong)
                what = "a record to be changed" if change.before else "a new record"
                yield change.table, name, what, (*gold[:place], one, *gold[place + 1 :])


def _is_judged_otherwise(info: TableInfo, change: Change, after: Row, name: str) -> bool:
    """Whether the column of a record that the gold writes is left to other means, or to nobody."""
    written = change.before is None or after[name] != change.before[name]
    if name in info.assigned:
        return written and (change.before is not None or day_of(after[name]) is None)
    if info.compare[name] == "note":
        return written and bool(after[name])
    return info.compare[name] == "free" and change.before is None


def _other(value: Any, info: TableInfo, name: str) -> Any:
    """Another value than the one that a column holds."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, FILLED]
    if name in info.assigned:
        return LONG_AGO
    if isinstance(value, str) and value:
        return f"{value} II"
    return 1 if info.compare[name] in {"number", "money"} else FILLED
