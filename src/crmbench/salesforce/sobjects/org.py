"""An org as Salesforce's APIs see it: queries, records, what they are like and what became of them.

A library: it knows no server and no addresses but those that records bear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

from crmbench.core.database import Database
from crmbench.core.sandbox import Sandbox
from crmbench.errors import ToolError
from crmbench.salesforce.sobjects.columns import describe_columns
from crmbench.salesforce.sobjects.errors import NOT_FOUND, SobjectError, no_such_object
from crmbench.salesforce.sobjects.pages import PAGE, Cursors, Page
from crmbench.salesforce.sobjects.schema import FieldSpec, ObjectSchema, OrgSchema
from crmbench.salesforce.sobjects.session_fields import filled
from crmbench.salesforce.sobjects.store import Store, Values, atomic
from crmbench.salesforce.sobjects.values import path_id
from crmbench.salesforce.sobjects.write import Writer
from crmbench.salesforce.soql.dates import datetime_text
from crmbench.salesforce.soql.engine import API_PATH

MAX_ROWS = 500_000
"""Rows that a query may return over all its pages."""
RECENT = 200
"""Records that an org remembers as seen lately."""
_FIELD = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
"""A field as a client may ask for it: ``Account.Name``; not ``Id FROM User``."""


@runtime_checkable
class SpeaksSalesforce(Protocol):
    """A domain whose orgs can be used through Salesforce's APIs."""

    def sobject_store(self, database: Database) -> Store:
        """Where the records of the org in `database` are, as sObjects."""


class Upserted(NamedTuple):
    """What came of an upsert."""

    key: str
    created: bool


class Org:
    """One org.

    Args:
        store: Where its records are.
        path: What the addresses of records begin with; can be changed at any time.
    """

    def __init__(self, store: Store, path: str = API_PATH) -> None:
        self.store = store
        self.path = path
        self.writer = Writer(store, self.rows)
        self._cursors = Cursors()
        self._recent: dict[tuple[str, str], None] = {}

    @property
    def schema(self) -> OrgSchema:
        """The objects."""
        return self.store.schema

    @property
    def user_id(self) -> str:
        """In whose name clients work."""
        return self.store.user_id

    @property
    def now(self) -> datetime:
        """The org's clock."""
        return self.store.database.clock.now()

    def atomic(self) -> AbstractContextManager[None]:
        """What is written inside is undone as a whole if it raises."""
        return atomic(self.store.database)

    def object(self, name: str) -> ObjectSchema:
        """The object of this name.

        Raises:
            SobjectError: There is none.
        """
        found = self.schema.get(name)
        if found is None:
            raise no_such_object(name)
        return found

    # --- queries ------------------------------------------------------------------------------

    def query(self, text: str, *, deleted: bool = False, size: int = PAGE) -> Page:
        """The first page of a query's result.

        Args:
            text: SOQL.
            deleted: Whether deleted records count.
            size: Records of a page.

        Raises:
            SoqlError: The query is refused.
        """
        self.store.check_query(text)
        view = self.store.view()
        with self._with_deleted(view) if deleted else nullcontext():
            result = self.store.soql.run(
                text, partial(self._execute, view), self.now, attributes=True, path=self.path
            )
        return self._cursors.first(result.records, result.total_size, size)

    def columns(self, text: str) -> dict[str, Any]:
        """What the columns of a query's result are; the query is not run.

        Raises:
            SoqlError: The query is refused.
        """
        self.store.check_query(text)
        return describe_columns(self.schema, text, self.store.soql.plan(text, self.now))

    def more(self, locator: str) -> Page:
        """The page of a locator that an earlier page gave.

        Raises:
            SobjectError: It leads to no page.
        """
        return self._cursors.page(locator)

    def search(self, text: str) -> list[dict[str, Any]]:
        """The records that a SOSL search finds.

        Raises:
            SoqlError: The search is refused.
        """
        self.store.check_query(text)
        view = self.store.view()
        execute = partial(self._execute, view)
        result = self.store.sosl.run(text, execute, self.now, path=self.path)
        return [record for each in result.found for record in each.records]

    def rows(self, text: str) -> list[dict[str, Any]]:
        """The records of a query of our own, plain."""
        view = self.store.view()
        return self.store.soql.run(text, partial(self._execute, view), self.now).records

    def _execute(self, view: Database, sql: str, parameters: Sequence[Any]) -> list[Any]:
        values = filled(parameters, self.store.history, self.store.user_id)
        return view.connection.execute(sql, values)

    def _with_deleted(self, view: Database) -> AbstractContextManager[None]:
        gone = self.store.history.refresh().deleted.values()
        return view.restored([(each.object_name, each.row) for each in reversed(list(gone))])

    # --- records ------------------------------------------------------------------------------

    def get(self, name: str, key: str, fields: Iterable[str] = ()) -> dict[str, Any]:
        """A record.

        Args:
            name: Its object.
            key: Its id.
            fields: Those that are wanted; all of them if none is named.

        Raises:
            SobjectError: There is no such record or field.
        """
        each = self.object(name)
        found = self.find(each, [self._own_id(each, key)], fields)[0]
        if found is None:
            self._raise_if_deleted(key)
            raise not_accessible(key)
        self._saw(each, found["Id"])
        return found

    def find(
        self, each: ObjectSchema, keys: Sequence[str], fields: Iterable[str] = ()
    ) -> list[dict[str, Any] | None]:
        """The records of some ids, None in the place of those that are not there.

        Raises:
            SobjectError: A field does not exist.
        """
        wanted = [path_id(key) for key in keys]
        listed = ", ".join(f"'{key}'" for key in dict.fromkeys(wanted))
        if not listed:
            return []
        query = f"SELECT {self._field_list(each, fields)} FROM {each.name} WHERE Id IN ({listed})"
        view = self.store.view()
        result = self.store.soql.run(
            query, partial(self._execute, view), self.now, attributes=True, path=self.path
        )
        by_key = {record["Id"]: record for record in result.records}
        return [by_key.get(key) for key in wanted]

    def by_external_id(
        self, name: str, field: str, value: str, fields: Iterable[str] = ()
    ) -> dict[str, Any]:
        """The record with a value in an external id field.

        Raises:
            SobjectError: There is no such field, or no such record.
        """
        each = self.object(name)
        key = self.writer.key_of(each, self.external_id(each, field), value)
        if key is None:
            raise not_accessible(value)
        return self.get(name, key, fields)

    def external_id(self, each: ObjectSchema, field: str) -> FieldSpec:
        """The external id field of this name, which the id is as well.

        Raises:
            SobjectError: There is no such field, or it is no external id.
        """
        spec = each.fields.get(field.lower())
        if spec is None or not (spec.external_id or spec.name == "Id"):
            raise not_accessible(field)
        return spec

    def create(self, name: str, values: Values, *, text: bool = False) -> str:
        """Create a record.

        Args:
            name: Its object.
            values: Fields and values as JSON has them.
            text: Whether all values are text, as from CSV.

        Returns:
            Its id.

        Raises:
            ToolError: A field or rule refuses it; nothing has changed.
        """
        each = self.object(name)
        with self.atomic():
            key = self.writer.create(each, values, text)
        self._saw(each, key)
        return key

    def update(self, name: str, key: str, values: Values, *, text: bool = False) -> None:
        """Change fields of a record.

        Raises:
            ToolError: There is no such record, or a field or rule refuses it; nothing has changed.
        """
        each = self.object(name)
        found = self._must_be_there(each, key)
        with self.atomic():
            self.writer.update(each, found, values, text)
        self._saw(each, found)

    def delete(self, name: str, key: str) -> None:
        """Delete a record.

        Raises:
            ToolError: There is no such record, or a rule refuses it; nothing has changed.
        """
        each = self.object(name)
        found = self._must_be_there(each, key)
        if not each.spec.writable:
            raise SobjectError(
                "INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id", [],
                status=403,
            )  # fmt: skip
        with self.atomic():
            self.store.delete(each, found)
        self._recent.pop((each.name, found), None)

    def upsert(
        self, name: str, field: str, value: str, values: Values, *, text: bool = False
    ) -> Upserted:
        """Change the record with a value in an external id field, or create it.

        Raises:
            ToolError: The field is no external id, or a field or rule refuses it.
        """
        each = self.object(name)
        spec = self.external_id(each, field)
        if any(name.lower() == spec.name.lower() for name in values):
            raise SobjectError(
                "INVALID_FIELD",
                f"The {spec.name} field should not be specified in the sobject data.",
            )
        if spec.name == "Id":
            self.update(name, value, values, text=text)
            return Upserted(path_id(value), False)
        key = self.writer.key_of(each, spec, value)
        if key is not None:
            self.update(name, key, values, text=text)
            return Upserted(key, False)
        return Upserted(self.create(name, {**values, spec.name: value}, text=text), True)

    # --- what became of them ------------------------------------------------------------------

    def recent(self, most: int, name: str | None = None) -> list[dict[str, Any]]:
        """The records that were seen or written last, newest first: attributes, id and name."""
        found: list[dict[str, Any]] = []
        for object_name, key in reversed(self._recent):
            if len(found) >= most:
                break
            if name is not None and object_name != name:
                continue
            each = self.object(object_name)
            record = self.find(each, [key], [each.name_field] if each.name_field else [])[0]
            if record is not None:
                shown = record.get(each.name_field or "Id")
                found.append({"attributes": record["attributes"], "Id": key, "Name": shown})
        return found

    def updated(self, name: str, start: datetime, end: datetime) -> dict[str, Any]:
        """The records of an object that changed in [start, end)."""
        each = self.object(name)
        moments = f"SystemModstamp >= {_literal(start)} AND SystemModstamp < {_literal(end)}"
        rows = self.rows(f"SELECT Id FROM {each.name} WHERE {moments} ORDER BY Id")
        covered = datetime_text(min(end, self.now))
        return {"ids": [row["Id"] for row in rows], "latestDateCovered": covered}

    def deleted(self, name: str, start: datetime, end: datetime) -> dict[str, Any]:
        """The records of an object that were deleted in [start, end)."""
        each = self.object(name)
        first, last = datetime_text(start), datetime_text(end)
        gone = self.store.history.refresh().deleted
        records = [
            {"id": key, "deletedDate": row.moment}
            for key, row in gone.items()
            if row.object_name == each.name and first <= row.moment < last
        ]
        return {
            "deletedRecords": records,
            "earliestDateAvailable": datetime_text(self.store.database.clock.start),
            "latestDateCovered": datetime_text(min(end, self.now)),
        }

    # --- inside -------------------------------------------------------------------------------

    def _saw(self, each: ObjectSchema, key: str) -> None:
        self._recent.pop((each.name, key), None)
        self._recent[each.name, key] = None
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]

    def _own_id(self, each: ObjectSchema, key: str) -> str:
        """An id from an address.

        Raises:
            SobjectError: It has not the form of one, or is one of another object.
        """
        try:
            full = path_id(key)
        except SobjectError:
            raise not_accessible(key) from None
        if full[:3] != each.spec.prefix and full[:3] in self.schema.by_prefix:
            raise SobjectError("MALFORMED_ID", f"malformed id {key}", [])
        return full

    def _must_be_there(self, each: ObjectSchema, key: str) -> str:
        full = self._own_id(each, key)
        if not self.rows(f"SELECT Id FROM {each.name} WHERE Id = '{full}'"):
            self._raise_if_deleted(full)
            raise SobjectError(
                "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", status=404
            )
        return full

    def _raise_if_deleted(self, key: str) -> None:
        if path_id(key) in self.store.history.refresh().deleted:
            raise SobjectError("ENTITY_IS_DELETED", "entity is deleted", [], status=404)

    @staticmethod
    def _field_list(each: ObjectSchema, fields: Iterable[str]) -> str:
        names = [name.strip() for name in fields if name.strip()]
        if not names:
            return each.select_all
        for name in names:
            own = "." in name or name.lower() in each.fields
            if not own or not _FIELD.fullmatch(name):
                raise SobjectError(
                    "INVALID_FIELD", f"No such column '{name[:80]}' on entity '{each.name}'"
                )
        chosen = {name.lower(): name for name in (*names, "Id")}
        return ", ".join(chosen.values())


def not_accessible(segment: str) -> SobjectError:
    """The error of an address in which an id or an external id leads to nothing."""
    return SobjectError(
        NOT_FOUND,
        f"Provided external ID field does not exist or is not accessible: {segment[:80]}",
        status=404,
    )


def _literal(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def open_org(sandbox: Sandbox, path: str = API_PATH) -> Org:
    """A sandbox's org as Salesforce's APIs see it.

    Args:
        sandbox: Of a domain that speaks Salesforce: service and sales, easy and hard, do.
        path: What the addresses of records begin with.

    Raises:
        ToolError: The domain does not.
    """
    domain: Any = sandbox.domain
    while not isinstance(domain, SpeaksSalesforce) and hasattr(domain, "inner"):
        domain = domain.inner
    if not isinstance(domain, SpeaksSalesforce):
        raise ToolError(
            f"The domain {sandbox.domain.name} has no Salesforce objects.", "not_supported"
        )
    return Org(domain.sobject_store(sandbox.database), path)
