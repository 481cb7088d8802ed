"""What became of each item of a task of many decisions, and what explains the wrong ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.journal import Change, Effect, fold
from crmbench.core.schema import Schema
from crmbench.core.task import GoldItem, Task
from crmbench.core.trace import EpisodeTrace
from crmbench.grading.answer import given
from crmbench.grading.evidence import Seen, evidence
from crmbench.grading.facts import conveys
from crmbench.grading.gold import GoldRun
from crmbench.grading.state import compare_effects, values_equal

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What became of one item."""

    key: str
    right: bool
    to_act: bool
    """Whether something was to be written, told or listed; else it was to be left alone."""
    wrong: tuple[str, ...] = ()
    """What is wrong, in words."""
    blame: tuple[str, ...] | None = None
    """The smallest set of rules without which what the agent did would have been right, of several
    one with a text that the agent did not open; empty: it did nothing; None: no set explains it."""
    evidence: Mapping[str, Seen] = field(default_factory=dict)
    """How far the agent came to each text that decides the item."""

    def explained(self) -> str:
        """The blame in words, and how far the agent came to what it names."""
        if self.blame is None:
            return "nothing explains it"
        if not self.blame:
            return "as if it had not been there"
        verb = "was" if len(self.blame) == 1 else "were"
        seen = [
            f"{name} {_SEEN[self.evidence[name]]}" for name in self.blame if name in self.evidence
        ]
        return "; ".join([f"as if {' and '.join(self.blame)} {verb} not there", *seen])


_SEEN = {
    Seen.OPENED: "was opened",
    Seen.LISTED: "was listed and not opened",
    Seen.NEVER: "was never found",
}


def judge_items(
    domain: Domain, task: Task, trace: EpisodeTrace, gold: GoldRun
) -> tuple[ItemVerdict, ...]:
    """A verdict on each item, from where the org stands at the end and what was told."""
    schema = domain.schema
    got = fold(change for turn in trace.turns for call in turn.calls for change in call.changes)
    right = gold.effects[-1] if gold.effects else ()
    owners = _Owners(schema, task.gold.items, (*right, *got))
    wrong: dict[str, list[str]] = {}
    for mismatch in compare_effects(schema, right, got):
        key = owners.of((mismatch.table, mismatch.key))
        if key is not None:
            wrong.setdefault(key, []).append(str(mismatch))
    acted = {owners.of((change.table, change.key)) for change in right}
    known = evidence(domain, task.gold.items, trace)
    return tuple(
        _verdict(schema, task, trace, item, seen, wrong, acted, got)
        for item, seen in zip(task.gold.items, known, strict=True)
    )


def _verdict(
    schema: Schema,
    task: Task,
    trace: EpisodeTrace,
    item: GoldItem,
    seen: Mapping[str, Seen],
    wrong: Mapping[str, Sequence[str]],
    acted: set[str | None],
    got: Effect,
) -> ItemVerdict:
    problems = [*wrong.get(item.key, ()), *_unsaid(task, trace, item)]
    to_act = item.key in acted or bool(item.facts) or item.listed is True
    if not problems:
        return ItemVerdict(item.key, True, to_act, evidence=seen)
    blame = _blame(schema, item, seen, got) if item.key in wrong else None
    return ItemVerdict(item.key, False, to_act, tuple(problems), blame, seen)


def _unsaid(task: Task, trace: EpisodeTrace, item: GoldItem) -> list[str]:
    """What was not told of an item, or told wrongly."""
    if not item.facts and item.listed is None:
        return []
    if item.turn > len(trace.turns):
        return ["its turn was never reached"]
    turn, gold = trace.turns[item.turn - 1], task.gold.turns[item.turn - 1]
    problems = []
    for place in item.facts:
        finding = conveys(turn.reply, gold.facts[place])
        if not finding.ok:
            problems.append(finding.why)
    if item.listed is not None and (item.key in str(given(turn))) is not item.listed:
        problems.append("is not in the answer" if item.listed else "is in the answer")
    return problems


class _Owners:
    """To which item a row belongs: one of its records, or one that refers to such a record."""

    def __init__(self, schema: Schema, items: Sequence[GoldItem], changes: Effect) -> None:
        self._schema = schema
        self._items = {place: item.key for item in items for place in item.records}
        self._by_key = {key: item for (_, key), item in self._items.items()}
        self._rows = {(c.table, c.key): c.after or c.before or {} for c in changes}

    def of(self, place: Place) -> str | None:
        """The key of the item that owns a row; None if none does."""
        if place in self._items:
            return self._items[place]
        table = place[0]
        info, row = self._schema[table], self._rows.get(place, {})
        for column, target in info.references.items():
            if (target, str(row.get(column))) in self._items:
                return self._items[target, str(row[column])]
        # Notes and documents are attached by the type and id of what they belong to.
        attached = (value for name, value in row.items() if name.endswith("entity_id"))
        return next((self._by_key[v] for v in attached if v in self._by_key), None)


def _blame(
    schema: Schema, item: GoldItem, seen: Mapping[str, Seen], got: Effect
) -> tuple[str, ...] | None:
    """The rules of the first alternative that looks like what was done; of the smallest such, one
    with a text that was not opened goes first, since that is what the agent cannot have known.
    """
    done = _changed(schema, item, got)
    before = {f"{change.table}/{change.key}": change.before or {} for change in got}
    alike = [
        other.without
        for other in item.alternatives
        if _same(schema, _changing(schema, other.outcome, before), done)
    ]
    if not alike:
        return () if not done else None

    def known(rules: tuple[str, ...]) -> tuple[int, bool]:
        return len(rules), all(seen.get(name, Seen.OPENED) is Seen.OPENED for name in rules)

    return min(alike, key=known)


def _changing(
    schema: Schema,
    outcome: Mapping[str, Mapping[str, Any]],
    before: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """An outcome without what it leaves as it was, such as an amount that stays empty."""
    found = {}
    for place, columns in outcome.items():
        compare, was = schema[place.partition("/")[0]].compare, before.get(place)
        changed = {
            name: value
            for name, value in columns.items()
            if was is None or not values_equal(compare[name], was.get(name), value)
        }
        if changed:
            found[place] = changed
    return found


def _changed(schema: Schema, item: GoldItem, got: Effect) -> dict[str, dict[str, Any]]:
    """The columns of an item's records that were changed, with their final values."""
    changes: dict[Place, Change] = {(change.table, change.key): change for change in got}
    found: dict[str, dict[str, Any]] = {}
    for table, key in item.records:
        change = changes.get((table, key))
        if change is None:
            continue
        info, after = schema[table], change.after or {}
        place = f"{table}/{key}"
        columns = {name: after.get(name) for name in info.columns if name not in info.assigned}
        found |= _changing(schema, {place: columns}, {place: change.before or {}})
    return found


def _same(
    schema: Schema, one: Mapping[str, Mapping[str, Any]], two: Mapping[str, Mapping[str, Any]]
) -> bool:
    if one.keys() != two.keys():
        return False
    for place, columns in one.items():
        compare, other = schema[place.partition("/")[0]].compare, two[place]
        if columns.keys() != other.keys():
            return False
        if not all(values_equal(compare[name], columns[name], other[name]) for name in columns):
            return False
    return True
