"""What an episode changed: a journal of writes and the effect that it folds to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
"""One record: column name to value (text, int, float, bool, None, or a JSON list or object)."""


@dataclass(frozen=True, slots=True)
class Change:
    """One write: a row before and after it."""

    table: str
    key: str
    before: Row | None
    """None: the row was created."""
    after: Row | None
    """None: the row was deleted."""


Effect = tuple[Change, ...]
"""The net changes of a stretch of writes, at most one a row, sorted by table and key."""


def fold(changes: Iterable[Change]) -> Effect:
    """The net effect of `changes`: the first `before` and the last `after` of each row.

    A row that ends as it began, or that was created and deleted again, is no change at all.
    """
    net: dict[tuple[str, str], Change] = {}
    for change in changes:
        place = (change.table, change.key)
        earlier = net.get(place)
        before = change.before if earlier is None else earlier.before
        net[place] = Change(change.table, change.key, before, change.after)
    # Sorted, so that two ways to the same end have the same effect.
    return tuple(net[place] for place in sorted(net) if net[place].before != net[place].after)


Snapshot = dict[str, dict[str, Row]]
"""A whole database: table to key to row."""


def diff(tables: Iterable[str], before: Snapshot, after: Snapshot) -> Effect:
    """The effect that leads from one snapshot to the other; both hold every one of `tables`."""
    changes = []
    for table in sorted(tables):
        old, new = before[table], after[table]
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                changes.append(Change(table, key, old.get(key), new.get(key)))
    return tuple(changes)
