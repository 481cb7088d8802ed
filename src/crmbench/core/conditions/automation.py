"""Documented flows that put a field back after a write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import CheckConstraint

from crmbench.core.conditions.base import ChanceCondition, Draw, with_changed, wrapped
from crmbench.core.conditions.shown import Place, copied, records_in, same_name
from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.sandbox import Sandbox
from crmbench.core.schema import TableInfo
from crmbench.core.tool import Tool, Toolbox

FLOW = "Restore from ledger"
SHARE = 0.6
"""Of the fields that a write changes, those that the flow puts back."""
MOVES = ("status", "stage")
"""Fields that other rules hang on: no flow runs after a write that changes one of them."""
SAID = "A flow may run after it; then after_flows is the whole record as it is now."


class Automation(ChanceCondition):
    """A flow puts a field back to its earlier value when it is first changed; the second change
    of that field on that record stands. The gold is the same: what was asked for must stand.
    """

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._ran: set[tuple[str, str, str]] = set()
        self._database: Database | None = None

    def told(self) -> str:
        return (
            f"The flow '{FLOW}' runs after some writes that leave status and stage alone: it puts "
            "a field that the write changed back to its earlier value, once for each field of a "
            "record. The result then names the flow and shows the whole record as it is now, "
            "under after_flows. A second write of that field stands. What was asked for must "
            "stand in the end."
        )

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        del name, arguments
        self._database = sandbox.database

    def tools(self, toolbox: Toolbox) -> Toolbox:
        return with_changed(toolbox, lambda tool: tool.writes, self._followed)

    def _followed(self, tool: Tool) -> Tool:
        def function(handle: Any, **arguments: Any) -> Any:
            if self._database is None:
                return tool.function(handle, **arguments)
            database, start = self._database, len(self._database.journal)
            result = tool.function(handle, **arguments)
            return self._flow(database, database.journal[start:], arguments, result)

        return wrapped(tool, function, SAID)

    def _flow(
        self,
        database: Database,
        changes: list[Change],
        arguments: Mapping[str, Any],
        result: Any,
    ) -> Any:
        asked = {same_name(n) for n in (*arguments, *(arguments.get("updates") or ()))}
        for change in changes:
            names = self._put_back(database.schema[change.table], change, asked)
            row = database.get(change.table, change.key)
            if not names or row is None or change.before is None:
                continue
            row = database.update(change.table, row, {name: change.before[name] for name in names})
            self._ran.update((change.table, change.key, name) for name in names)
            return _shown(database, (change.table, change.key), row, names, result)
        return result

    def _put_back(self, info: TableInfo, change: Change, asked: set[str]) -> list[str]:
        if change.before is None or change.after is None:
            return []
        if any(change.after[n] != v for n, v in change.before.items() if same_name(n) in MOVES):
            # A record that has moved, as to a closed stage, may refuse the second write.
            return []
        return [
            name
            for name in info.columns
            if change.before[name] != change.after[name]
            and same_name(name) in asked
            and (change.table, change.key, name) not in self._ran
            and is_free(info, name)
            and self.draw.fraction(change.table, change.key, name) < SHARE
        ]


def is_free(info: TableInfo, name: str) -> bool:
    """Whether a column can change by itself: no rule of the schema ties it to another one."""
    column = info.table.c[name]
    if name in info.assigned or same_name(name) in MOVES:
        return False
    if column.foreign_keys or column.unique or column.primary_key:
        return False
    rules = [
        str(each.sqltext) for each in info.table.constraints if isinstance(each, CheckConstraint)
    ]
    unique = [str(e) for each in info.table.indexes if each.unique for e in each.expressions]
    if any(name in expression for expression in unique):
        return False
    others = [other for other in info.columns if other != name]
    return not any(name in rule and any(other in rule for other in others) for rule in rules)


def _shown(database: Database, place: Place, row: Any, names: list[str], result: Any) -> Any:
    """The result with the record as it is now."""
    info = database.schema[place[0]]
    back = {same_name(name): row[name] for name in names}
    result = copied(result)
    for record in records_in(result):
        if record.get(info.key) == place[1]:
            record.update({n: back[same_name(n)] for n in record if same_name(n) in back})
    flows = {"flows": [FLOW], "after_flows": info.public(row)}
    return {**result, **flows} if isinstance(result, dict) else {"result": result, **flows}
