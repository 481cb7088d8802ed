"""What has happened to records since an org was opened, read from its journal of writes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from crmbench.core.database import Database
from crmbench.core.journal import Change
from crmbench.core.schema import Row
from crmbench.salesforce.soql.dates import datetime_text


class Deleted(NamedTuple):
    """A record that is gone."""

    object_name: str
    moment: str
    row: Row
    """As it was."""


class Located(NamedTuple):
    """A change as one of a record of an object."""

    object_name: str
    key: str
    before: Row | None


Locate = Callable[[Change], Located | None]


class History:
    """When records were created, changed and deleted; follows the journal, undone writes included.

    Args:
        database: Whose journal it is.
        locate: Which record a change is of; None for what is no record.
    """

    def __init__(self, database: Database, locate: Locate) -> None:
        self._database = database
        self._locate = locate
        self._last: Change | None = None
        self._forget()

    def _forget(self) -> None:
        self._read = 0
        self.objects: dict[str, str] = {}
        """The object of each record that was written."""
        self.created: dict[str, str] = {}
        """Moments of creation by record."""
        self.modified: dict[str, str] = {}
        """Moments of the latest change by record, its creation included."""
        self.deleted: dict[str, Deleted] = {}
        """In the order in which they went."""

    def located(self, change: Change) -> Located | None:
        """Which record a change is of; None for what is no record."""
        return self._locate(change)

    def refresh(self) -> History:
        """Read what the journal has more than the last time."""
        journal = self._database.journal
        same = self._read <= len(journal) and (
            self._read == 0 or journal[self._read - 1] is self._last
        )
        if not same:
            self._forget()
        start = self._database.clock.start
        for number in range(self._read, len(journal)):
            # Each write takes a second of the org's clock, and each is one entry.
            self._note(journal[number], datetime_text(start + timedelta(seconds=number)))
        self._read = len(journal)
        self._last = journal[-1] if journal else None
        return self

    def _note(self, change: Change, moment: str) -> None:
        located = self._locate(change)
        if located is None:
            return
        key = located.key
        self.objects[key] = located.object_name
        if change.after is None:
            row = located.before or {}
            self.deleted[key] = Deleted(located.object_name, moment, row)
            return
        if change.before is None:
            self.created[key] = moment
            self.deleted.pop(key, None)
        self.modified[key] = moment
