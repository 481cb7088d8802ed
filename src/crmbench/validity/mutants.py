"""Wrong ways to do a task, made from its gold: each must fail.

For every gold write: leave it out; change each of its fields; do it to another record; do it twice;
do it to another record too. A mutant after which the org is as it should be all the same (a first
amount that a correction replaces, a record "updated" to what it was) is *equivalent*: it is no
wrong way, and is counted apart. Every mutant is a walk along the whole path, so that of a path with
hundreds of writes, which are much alike, some are drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import eq
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.journal import Change, Snapshot
from crmbench.core.task import GoldCall, Path, Task
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.grading.facts import conveys
from crmbench.grading.gold import REFERENCE, GoldRun, execute_gold
from crmbench.grading.grader import Grader
from crmbench.grading.state import compare_effects
from crmbench.grading.verdict import written_texts
from crmbench.validity.gate import GateResult, Offender, at_least

Calls = tuple[tuple[GoldCall, ...], ...]
KILLED = 0.995
MOST = 240
"""Mutants of a task that are tried; no task of a published level below the fourth has more."""
OTHER_NOTE = "Something else entirely"


@dataclass(frozen=True)
class WorldKeys:
    """The ids of a world."""

    some: Mapping[str, tuple[str, ...]]
    """A few of every table."""
    tables: Mapping[str, str]
    """The table of each id, of those that only one table has."""
    rows: Snapshot

    def like(self, key: str) -> str | None:
        """The id of the record that has most in common with the one of this id.

        What may be done to a record can mostly be done to this one. None if the id is no record's,
        or there is no other record.
        """
        table = self.tables.get(key)
        if table is None:
            return None
        rows = self.rows[table]
        own = rows[key].values()
        others = (
            (sum(map(eq, own, row.values())), other) for other, row in rows.items() if other != key
        )
        # Of equals the one with the highest id.
        return max(others, default=(0, None))[1]


@dataclass(frozen=True)
class Mutant:
    """A path with one thing wrong."""

    task_id: str
    kind: str
    """drop, field, record, twice or extra."""
    detail: str
    turns: Calls
    turn: int
    """The turn that was changed, from 0."""
    note_field: str | None = None
    """The free-text field that was changed: the turn's note facts must notice."""


@dataclass(frozen=True)
class MutantResult:
    """What became of the mutants of one task."""

    killed: int
    equivalent: int
    survivors: tuple[tuple[str, str], ...]
    """Kind and detail of each that got away."""
    untried: int = 0
    """How many there are besides."""


def mutants_tried(tasks: Sequence[Task], grader: Grader) -> list[MutantResult]:
    """Try the mutants of each task."""
    keys: dict[str, WorldKeys] = {}
    results = []
    for task in tasks:
        domain, backend = load_domain(task.domain), grader.backends.backend(task.domain)
        place = task.task_id if task.seed_data else task.world
        if place not in keys:
            keys[place] = world_keys(domain, task, backend)
        gold = grader.gold_runs(task)[0]
        results.append(try_mutants(domain, task, backend, gold, keys[place]))
    return results


def mutant_gate(tasks: Sequence[Task], found: Sequence[MutantResult]) -> GateResult:
    """The share of wrong ways that fail.

    Args:
        found: What `mutants_tried` found.
    """
    killed = sum(result.killed for result in found)
    survivors = [
        Offender(task.task_id, f"{kind}: {detail}")
        for task, result in zip(tasks, found, strict=True)
        for kind, detail in result.survivors
    ]
    equivalent = sum(result.equivalent for result in found)
    untried = sum(result.untried for result in found)
    rest = f", {untried} of long tasks are not tried" if untried else ""
    question = f"How many mutants of gold writes fail? ({equivalent} more change nothing{rest})"
    return at_least("mutants killed", question, killed, killed + len(survivors), KILLED, survivors)


def state_mutants(domain: Domain, task: Task, gold: GoldRun, keys: WorldKeys) -> Iterator[Mutant]:
    """Every mutant of a task's gold path."""
    turns: Calls = tuple(turn.calls for turn in task.gold.turns)
    for t, calls in enumerate(turns):
        for c, call in enumerate(calls):
            made = gold.calls[t][c]
            if not made.changes:
                continue
            place = f"turn {t + 1}, {call.tool}"
            yield Mutant(task.task_id, "drop", place, _swap(turns, t, c, ()), t)
            yield from _field_mutants(domain, task, turns, t, c, made.changes)
            yield from _record_mutants(domain, task, turns, t, c, keys)
            if made.changes[0].before is None:
                yield Mutant(task.task_id, "twice", place, _swap(turns, t, c, (call, call)), t)


def try_mutants(
    domain: Domain, task: Task, backend: Backend, gold: GoldRun, keys: WorldKeys
) -> MutantResult:
    """Walk the mutants, at most `MOST`, and see whether the scorer notices.

    The replies are taken to be right, so that only the state can kill.
    """
    accepted = [gold.effects]
    for path in task.gold.paths:
        if not path.same_effect:
            accepted.append(execute_gold(domain, task, backend, path).effects)
    killed = equivalent = 0
    survivors = []
    every = list(state_mutants(domain, task, gold, keys))
    tried = drawn(every, task.task_id)
    for mutant in tried:
        run = execute_gold(domain, task, backend, Path(mutant.turns, mutant.detail))
        if mutant.note_field is not None:
            caught = _note_facts_notice(domain, task, gold, run, mutant)
        else:
            caught = not _passes(domain, task, run, accepted)
        if caught:
            killed += 1
        elif mutant.note_field is None and _same_world(domain, gold, run):
            equivalent += 1
        else:
            survivors.append((mutant.kind, mutant.detail))
    return MutantResult(killed, equivalent, tuple(survivors), len(every) - len(tried))


def drawn(mutants: Sequence[Mutant], task_id: str) -> list[Mutant]:
    """At most `MOST` of a task's mutants: the same ones at every audit, in their order."""
    if len(mutants) <= MOST:
        return list(mutants)
    places = random.Random(f"crmbench mutants {task_id}").sample(range(len(mutants)), MOST)
    return [mutants[place] for place in sorted(places)]


def _passes(domain: Domain, task: Task, run: GoldRun, accepted: list[Any]) -> bool:
    """Whether the state of a run would be taken for right, by the task's own criteria."""
    turns = range(len(run.effects)) if task.gold.criteria == "all_turns" else [-1]
    return all(
        any(not compare_effects(domain.schema, effects[t], run.effects[t]) for effects in accepted)
        for t in turns
    )


def _same_world(domain: Domain, gold: GoldRun, run: GoldRun) -> bool:
    """Whether the org ends just as after the gold, so that nothing is wrong with the mutant."""
    return not compare_effects(domain.schema, gold.effects[-1], run.effects[-1])


def _note_facts_notice(
    domain: Domain, task: Task, gold: GoldRun, run: GoldRun, mutant: Mutant
) -> bool:
    turn = mutant.turn
    wanted = task.gold.turns[turn]
    texts = written_texts(domain.schema, wanted, run.calls[turn], gold.calls[turn])
    return any(not conveys(text, fact).ok for text in texts for fact in wanted.note_facts)


# --- changing a call ------------------------------------------------------------------------------


def _swap(turns: Calls, t: int, c: int, calls: tuple[GoldCall, ...]) -> Calls:
    changed = (*turns[t][:c], *calls, *turns[t][c + 1 :])
    return (*turns[:t], changed, *turns[t + 1 :])


def _field_mutants(
    domain: Domain, task: Task, turns: Calls, t: int, c: int, changes: tuple[Change, ...]
) -> Iterator[Mutant]:
    call = turns[t][c]
    own = changes[-1]
    info = domain.schema[own.table]
    for holder, name, value in _fields(call.arguments):
        column = name if name in info.columns else _column_set(own, value)
        if column is None or column in info.assigned or column == info.key:
            continue
        if column in info.references or name == "entity_id" or _is_reference(value):
            continue
        note = name if info.compare[column] == "note" else None
        other = OTHER_NOTE if note else _other_value(domain, call.tool, name, value)
        if other is None:
            continue
        mutated = GoldCall(call.tool, _with(call.arguments, holder, name, other))
        detail = f"turn {t + 1}, {call.tool}: {name} {value!r} -> {other!r}"
        yield Mutant(task.task_id, "field", detail, _swap(turns, t, c, (mutated,)), t, note)


def _column_set(change: Change, value: Any) -> str | None:
    """The column that a write set to a value, for tools that do not call arguments as columns."""
    after, before = change.after or {}, change.before or {}
    names = [n for n, held in after.items() if held == value and before.get(n) != value]
    return names[0] if len(names) == 1 else None


def _fields(arguments: Mapping[str, Any]) -> Iterator[tuple[str | None, str, Any]]:
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            for inner, item in value.items():
                yield name, inner, item
        else:
            yield None, name, value


def _with(
    arguments: Mapping[str, Any], holder: str | None, name: str, value: Any
) -> dict[str, Any]:
    if holder is None:
        return {**arguments, name: value}
    return {**arguments, holder: {**arguments[holder], name: value}}


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and bool(REFERENCE.search(value))


def _other_value(domain: Domain, tool_name: str, name: str, value: Any) -> Any:
    """A value of the same kind that is wrong."""
    tool = domain.toolbox.by_name[tool_name]
    options = next((p.kind.schema.get("enum") for p in tool.params if p.name == name), None)
    if options:
        return next(option for option in options if option != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value < 90 else value - 1
    if not isinstance(value, str):
        return None
    if len(value) == 10 and value[4:5] == value[7:8] == "-":
        return _next_day(value)
    if "." in value and " " not in value and "@" not in value:
        return f"x{value}"
    if "@" in value:
        return f"x{value}"
    return f"{value} II"


def _next_day(text: str) -> str:
    return (date.fromisoformat(text) + timedelta(days=1)).isoformat()


def _record_mutants(
    domain: Domain, task: Task, turns: Calls, t: int, c: int, keys: WorldKeys
) -> Iterator[Mutant]:
    """The same write on another record instead, and on another record as well."""
    call = turns[t][c]
    for holder, name, value in _fields(call.arguments):
        other = _neighbour(domain, call, name, value, keys)
        if other is not None:
            astray = GoldCall(call.tool, _with(call.arguments, holder, name, other))
            place = f"turn {t + 1}, {call.tool}: {name}"
            instead, too = _swap(turns, t, c, (astray,)), _swap(turns, t, c, (call, astray))
            yield Mutant(task.task_id, "record", f"{place} is another record's", instead, t)
            yield Mutant(task.task_id, "extra", f"{place}, and another record's too", too, t)


def _neighbour(
    domain: Domain, call: GoldCall, name: str, value: Any, keys: WorldKeys
) -> str | None:
    """The id of another record of the kind that the argument refers to."""
    if not isinstance(value, str):
        return None
    named = name == "entity_id"
    table = call.arguments.get("entity_type") if named else _table_of(domain, name)
    if table is None:
        return keys.like(value)
    return next((key for key in keys.some.get(table, ()) if key != value), None)


def _table_of(domain: Domain, name: str) -> str | None:
    """The table whose key is called like the argument."""
    return next((table for table, info in domain.schema.tables.items() if info.key == name), None)


def world_keys(domain: Domain, task: Task, backend: Backend) -> WorldKeys:
    """The ids of the task's world."""
    with Episode(domain, task, backend) as episode:
        state = episode.database.snapshot()
    times = Counter(key for rows in state.values() for key in rows)
    return WorldKeys(
        {table: tuple(sorted(rows)[:4]) for table, rows in state.items()},
        {key: table for table, rows in state.items() for key in rows if times[key] == 1},
        state,
    )
