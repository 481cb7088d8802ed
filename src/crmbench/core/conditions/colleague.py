"""A colleague who edits a record between the agent's reading and its first write to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from crmbench.core.arguments import INTEGER
from crmbench.core.conditions.asked import AskedFor
from crmbench.core.conditions.automation import is_free
from crmbench.core.conditions.base import ChanceCondition, Draw, with_changed
from crmbench.core.conditions.shown import Place, copied, place_of, records_in, same_name
from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.sandbox import Sandbox
from crmbench.core.schema import Row
from crmbench.core.task import Task
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.core.trace import CallRecord
from crmbench.errors import ToolError

ACTOR = "colleague"
SHARE = 0.7
"""Of the records that the agent writes to, those that a colleague edits just before."""
EDITED = ("phone", "title", "industry", "address", "notes", "description", "subject", "summary")
"""What a colleague edits where a record has it; else the record is saved as it is."""
VERSION = "record_version"
CONFLICT = (
    "{table} {key} has been changed by a colleague since you read it: your version is {given}. "
    "Read it again, see whether your change is still right, and write with its record_version."
)


_ADDS = re.compile(r"^(?:create|add|upload|draft|clone|comment)_")
"""Tools that write and only ever make new records."""
ADDS_EXAMPLES = (
    ("create_new_contact", True),
    ("add_note", True),
    ("upload_document", True),
    ("comment_on_case", True),
    ("clone_opportunity", True),
    ("modify_contact", False),
    ("cancel_quote", False),
    ("merge_clients", False),
)


class Colleague(ChanceCondition):
    """Writes to existing records name the version that they were read in, and an old one is
    refused. The colleague's edits are no part of what the agent did: they are in no call, and the
    agent's changes are recorded as if the edit had stood in the org, and in the gold's, all along.
    """

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.edits: list[tuple[str, Change]] = []
        """Who edited, and what; a save without a change is in no journal and not here."""
        self._met: set[Place] = set()
        self._saves: dict[Place, int] = {}
        self._plain: Mapping[str, Tool] = {}
        self._asked: AskedFor | None = None

    def about(self, task: Task, asked: Callable[[], AskedFor]) -> None:
        del task
        self._asked = asked()

    def told(self) -> str:
        return (
            "Colleagues work in the same org. Records show their record_version, and a write to an "
            "existing record names the record_version in which you read it. Where a colleague has "
            "saved the record since, the write is refused and nothing is changed: read the "
            "record again and decide on what it says now. What colleagues write in other fields "
            "than those that you are asked to change stays; in those, what you are asked for goes "
            "first."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        self._plain = dict(toolbox.by_name)
        return with_changed(toolbox, changes_existing, _versioned)

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """Refuse a write that a colleague's edit has overtaken.

        Raises:
            ToolError: The write names no version of its record, or an old one.
        """
        tool = self._plain.get(name) if isinstance(name, str) else None
        if tool is None or not changes_existing(tool) or not isinstance(arguments, Mapping):
            return
        given = {n: value for n, value in arguments.items() if n != VERSION}
        database = sandbox.database
        place = _changed_by(sandbox, tool, given)
        if place is None:
            return
        if place not in self._met:
            self._met.add(place)
            if self.draw.fraction(*place) < SHARE:
                self._edit(database, place)
        version = arguments.get(VERSION)
        if version is None:
            raise ToolError(
                f"A write to {place[0]} {place[1]} must name the record_version in which you "
                "read it.",
                "conflict",
            )
        if version != self._version(database, place):
            text = CONFLICT.format(table=place[0], key=place[1], given=str(version)[:20])
            raise ToolError(text, "conflict")

    def _version(self, database: Database, place: Place) -> int:
        writes = sum(
            (change.table, change.key) == place and change.before is not None
            for change in database.journal
        )
        return 1 + writes + self._saves.get(place, 0)

    def _edit(self, database: Database, place: Place) -> None:
        """The colleague's save; of a field that neither the user nor the gold mentions."""
        row, info = database.get(*place), database.schema[place[0]]
        for name in info.columns:
            value = row[name] if row else None
            if same_name(name) not in EDITED or not isinstance(value, str) or not value:
                continue
            if not is_free(info, name) or self._is_asked_for(name, value):
                continue
            database.begin_call()
            try:
                assert row is not None
                database.update(place[0], row, {name: _edited(name, value)})
            except ToolError:
                database.undo_call()
                continue
            self.edits += [(ACTOR, change) for change in database.end_call()]
            return
        self._saves[place] = 1

    def _is_asked_for(self, name: str, value: str) -> bool:
        return self._asked is None or self._asked.names(name) or self._asked.mentions(value)

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        changes = tuple(self._own(change) for change in record.changes)
        if not record.ok or not isinstance(record.result, dict | list):
            return replace(record, changes=changes)
        record = replace(record, changes=changes, result=copied(record.result))
        for each in records_in(record.result):
            place = place_of(sandbox.database, each)
            if place is not None:
                each[VERSION] = self._version(sandbox.database, place)
        return record

    def _own(self, change: Change) -> Change:
        """The agent's change without what the colleague had changed before it."""
        for _, edit in self.edits:
            if (edit.table, edit.key) == (change.table, change.key):
                before, after = _without(edit, change.before), _without(edit, change.after)
                change = Change(change.table, change.key, before, after)
        return change


def changes_existing(tool: Tool) -> bool:
    """Whether a tool may change a record that there is."""
    return tool.writes and not adds_by_name(tool.name)


def adds_by_name(name: str) -> bool:
    """Whether a writing tool of that name only makes new records."""
    return bool(_ADDS.match(name))


def _without(edit: Change, row: Row | None) -> Row | None:
    if row is None or edit.before is None or edit.after is None:
        return row
    old, new = edit.before, edit.after
    return {n: old[n] if old[n] != new[n] == value else value for n, value in row.items()}


def _edited(name: str, value: str) -> str:
    return f"{value} ext. 14" if same_name(name) == "phone" else f"{value} (confirmed)"


def _versioned(tool: Tool) -> Tool:
    known = "of the record as you read it"
    inner = tool.function

    def function(handle: Any, **arguments: Any) -> Any:
        arguments.pop(VERSION, None)
        return inner(handle, **arguments)

    version = Param(VERSION, INTEGER, False, known)
    return replace(tool, params=(*tool.params, version), function=function)


def _changed_by(sandbox: Sandbox, tool: Tool, given: Mapping[str, Any]) -> Place | None:
    """The existing record that a call names and would change; the call is tried and undone."""
    database = sandbox.database
    named = [value for value in given.values() if isinstance(value, str)]
    try:
        checked = tool.check(given)
    except ToolError:
        return None
    database.begin_call()
    start = len(database.journal)
    try:
        tool.function(sandbox.handle, **checked)
        changes = database.journal[start:]
    except ToolError:
        # The call itself will be refused, with its reason.
        return None
    finally:
        database.undo_call()
    touched = [c for c in changes if c.before is not None and c.key in named]
    found = min(touched, key=lambda c: named.index(c.key), default=None)
    return (found.table, found.key) if found else None
