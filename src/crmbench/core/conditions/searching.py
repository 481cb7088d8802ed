"""Conditions under which a search does not show everything at once."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from crmbench.core.arguments import TEXT
from crmbench.core.conditions.base import Condition, with_changed, with_wait, wrapped
from crmbench.core.conditions.kinds import gives_lists, reads_index
from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.sandbox import Sandbox
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.core.trace import CallRecord
from crmbench.errors import HarnessError, ToolError

LISTS = ("records", "searchRecords")
"""Fields under which tools give lists of records."""
_TOTAL = re.compile(r"total_count and (?:the|a) page")
"""What a tool says of its total."""
TOTAL_EXAMPLES = (
    ("Returns total_count and the page of records.", "Returns a page of records."),
    ("Page through all notes.", "Page through all notes."),
)


class Pages(Condition):
    """Lists come in pages of k records, with a cursor and without a total."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self._k = k

    def told(self) -> str:
        return (
            f"Lists come in pages of at most {self._k} records, without a total. A page's next is "
            "the cursor of the page after it, to be passed with the same arguments; it is null on "
            "the last page. Lists within one record's details are whole."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        return with_changed(toolbox, _gives_pages, self._paged)

    def _paged(self, tool: Tool) -> Tool:
        names = {param.name for param in tool.params}
        skips = {"limit", "offset"} <= names
        cursor = Param("cursor", TEXT, False, "the `next` of the page before; left out: first page")
        kept = tuple(param for param in tool.params if param.name not in ("limit", "offset"))

        def function(handle: Any, *, cursor: str | None = None, **arguments: Any) -> Any:
            start = _place(cursor)
            if skips:
                arguments |= {"limit": self._k + 1, "offset": start}
                return self._page(tool.function(handle, **arguments), 0, start)
            return self._page(tool.function(handle, **arguments), start, start)

        tool = replace(tool, description=without_total(tool.description))
        paged = wrapped(tool, function, f"At most {self._k} records a page.")
        return replace(paged, params=(*kept, cursor))

    def _page(self, result: Any, start: int, place: int) -> Any:
        """The page that begins at `start` of `result`, which is at `place` of the whole."""
        if isinstance(result, list):
            name, rows = "records", result
        elif isinstance(result, dict):
            name = next((name for name in LISTS if isinstance(result.get(name), list)), "")
            if not name:
                return result
            rows = result[name]
        else:
            return result
        more = len(rows) > start + self._k
        following = f"after-{place + self._k}" if more else None
        return {name: rows[start : start + self._k], "next": following}


def _gives_pages(tool: Tool) -> bool:
    # One that has numbered pages of its own keeps them.
    return gives_lists(tool) and all(param.name != "page" for param in tool.params)


def without_total(description: str) -> str:
    """What a tool says of itself, without the total that it no longer gives."""
    return _TOTAL.sub("a page", description)


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    head, _, place = cursor.partition("-")
    if head != "after" or not place.isdigit() or len(place) > 9:
        raise ToolError("Cursor must be the next of a page before.")
    return int(place)


class Stale(Condition):
    """Searches do not know of the last m writes; records looked up by id are as they are.
    The index catches up when the agent waits.
    """

    def __init__(self, m: int) -> None:
        super().__init__()
        self._m = m
        self._recent: deque[tuple[Change, ...]] = deque(maxlen=m)
        self._sandbox: Sandbox | None = None
        self._queries = False

    def told(self) -> str:
        by_query = ", and SOQL," if self._queries else ""
        return (
            f"The search index lags: tools that search, list or add up do not know of the last "
            f"{self._m} writes, whose records they show as they were before. A write that was made "
            "counts, whether it was answered or not. Tools that show one record by its "
            f"id{by_query} read the records themselves, and so do the lists within what they show. "
            "The index catches up when you call wait, however short; what only a search shows is "
            "found after that."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        self._queries = any("_soql_" in name for name in toolbox.by_name)
        lagging = with_changed(toolbox, reads_index, self._lagging)
        return with_wait(lagging, lambda _: self._recent.clear())

    def _lagging(self, tool: Tool) -> Tool:
        inner = tool.function

        def function(handle: Any, **arguments: Any) -> Any:
            if not self._recent or self._sandbox is None:
                return inner(handle, **arguments)
            return as_before(
                self._sandbox.database, self._recent, lambda: inner(handle, **arguments)
            )

        return wrapped(tool, function, f"Does not know of the last {self._m} writes.")

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        del name, arguments
        self._sandbox = sandbox

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        del sandbox
        if record.changes:
            self._recent.append(record.changes)
        return record


def as_before(
    database: Database, writes: Sequence[tuple[Change, ...]], read: Callable[[], Any]
) -> Any:
    """What `read` gives in the state before these writes, the latest of all; nothing is changed.

    Called inside a tool call that has not written.
    """
    try:
        for changes in reversed(writes):
            for change in reversed(changes):
                _take_back(database, change)
        return read()
    finally:
        database.undo_call()
        database.begin_call()


def _take_back(database: Database, change: Change) -> None:
    now = database.get(change.table, change.key)
    if change.before is None:
        database.delete(change.table, change.key)
    elif now is not None:
        names = [name for name, value in change.before.items() if now[name] != value]
        if names:
            database.update(change.table, now, {name: change.before[name] for name in names})
    else:
        made = database.insert(change.table, change.before)
        order = database.schema[change.table].order
        if order is not None:
            database.update(change.table, made, {order: change.before[order]})
    if database.get(change.table, change.key) != change.before:
        raise HarnessError(f"{change.table} {change.key} could not be taken back")
