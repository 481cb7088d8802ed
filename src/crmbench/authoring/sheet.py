"""What a person needs to solve a task of many decisions with a spreadsheet.

A domain may bring a sheet for each of its mechanisms: an attribute ``sheets``, a mapping from the
mechanism's name to a function from a task to its `Sheet`. For others `records_sheet` gives the
records that the task decides about, as they stand in the world.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Task
from crmbench.errors import InputError

SheetOf = Callable[[Task], "Sheet"]


@dataclass(frozen=True)
class Sheet:
    """Rows, and how to go through them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    method: tuple[str, ...]
    """How a person decides a row, in about five lines; no ground truth."""

    def csv(self) -> str:
        """The method as comment lines, then the rows as CSV."""
        out = StringIO()
        for line in self.method:
            out.write(f"# {line}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()


def sheet_of(domain: Domain, task: Task) -> Sheet:
    """The sheet of a task: its mechanism's own, else its records.

    Raises:
        InputError: The task has no items.
    """
    known: Mapping[str, SheetOf] = getattr(domain, "sheets", {})
    make = known.get(task.tag("mechanism") or "")
    return make(task) if make else records_sheet(domain, task)


def records_sheet(domain: Domain, task: Task) -> Sheet:
    """Every record that a task decides about, as it stands before the first turn.

    Raises:
        InputError: The task has no items.
    """
    if not any(item.records for item in task.gold.items):
        raise InputError(
            f"the task {task.task_id} has no items, so there is no sheet of it",
            expected="a task of the ladder",
        )
    rows = []
    columns: dict[str, None] = {}
    with Sandbox.open(domain, task.world, seed_data=task.seed_data) as sandbox:
        for item in task.gold.items:
            for table, key in item.records:
                row = sandbox.database.get(table, key)
                shown = {} if row is None else domain.schema[table].public(row)
                columns |= dict.fromkeys(shown)
                rows.append({"record": f"{table}/{key}", "turn": item.turn, **shown})
    names = ("record", "turn", *columns)
    method = (
        "One row for each record that the task decides about, as it stands before the first turn.",
        "For each row look up what the rules ask of it, in the records and texts that refer to it.",
        "Decide each row by the house rules or the handbook, one column a rule.",
        "Rows that no rule changes stay as they are.",
        "Then make each change once, and tell the user what was asked for.",
    )
    return Sheet(names, tuple(tuple(row.get(name) for name in names) for row in rows), method)
