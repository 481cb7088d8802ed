"""An org for people: lists of records, one record with all of its own, searches, the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crmbench.core.journal import Change
from crmbench.report.views.episode import RowDiff, row_diff
from crmbench.report.views.values import shown
from crmbench.salesforce.sobjects import Org
from crmbench.salesforce.sobjects.describe import child_relationships
from crmbench.salesforce.sobjects.schema import FieldSpec, ObjectSchema
from crmbench.salesforce.sobjects.search import sosl_of

PAGE = 50
COLUMNS = 7
RELATED = 6
"""Related records that a record's page shows of each kind."""
SYSTEM = ("SystemModstamp", "LastModifiedById", "CreatedById", "IsDeleted", "LastModifiedDate")
"""Fields that stand last on a page, and in no list."""
OPERATORS = {"contains": "LIKE", "is": "=", "is not": "!=", "over": ">", "under": "<"}
QUOTED = ("string", "picklist", "email", "phone", "url", "id", "reference", "textarea")


@dataclass(frozen=True, slots=True)
class OrgValue:
    """A value; of a reference also where it leads."""

    text: str
    object_name: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class RecordList:
    """A page of an object's records."""

    columns: tuple[FieldSpec, ...]
    rows: tuple[tuple[str, tuple[OrgValue, ...]], ...]
    """Id, and a cell a column."""
    total: int


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What of an object's records is listed, as an address says it."""

    field: str = ""
    operator: str = "contains"
    value: str = ""
    sort: str = ""
    falling: bool = False
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str], each: ObjectSchema) -> ListQuery:
        """What an address asks for; fields that the object lacks are passed over."""
        sort = query.get("sort", "")
        falling, sort = sort.startswith("-"), sort.removeprefix("-")
        field = each.fields.get(query.get("field", "").lower())
        order = each.fields.get(sort.lower())
        page = query.get("page", "1")
        return cls(
            field.name if field and query.get("value") else "",
            query.get("op", "") if query.get("op", "") in OPERATORS else "contains",
            query.get("value", ""),
            order.name if order else "",
            falling,
            int(page) if page.isdigit() and 0 < int(page) < 1_000 else 1,
        )


def columns_of(each: ObjectSchema) -> tuple[FieldSpec, ...]:
    """The fields that a list shows: the name first, then what is neither long nor the system's."""
    fields = [
        f
        for f in each.fields.values()
        if f.name not in SYSTEM and f.name != "Id" and f.type != "textarea"
    ]
    fields.sort(key=lambda f: f.name != each.name_field)
    return tuple(fields[:COLUMNS])


def records_of(org: Org, each: ObjectSchema, wanted: ListQuery) -> RecordList:
    """A page of an object's records.

    Raises:
        ToolError: The org refuses the query, as where a field cannot be compared so.
    """
    columns = columns_of(each)
    where = f" WHERE {_condition(each, wanted)}" if wanted.field else ""
    total = org.rows(f"SELECT COUNT(Id) total FROM {each.name}{where}")[0]["total"]
    sort = wanted.sort or each.name_field or "Id"
    order = f" ORDER BY {sort} {'DESC' if wanted.falling else 'ASC'}"
    window = f" LIMIT {PAGE} OFFSET {PAGE * (wanted.page - 1)}"
    names = ", ".join(["Id", *_paths(org, columns)])
    rows = org.rows(f"SELECT {names} FROM {each.name}{where}{order}{window}")
    return RecordList(columns, tuple((row["Id"], _cells(org, columns, row)) for row in rows), total)


def _condition(each: ObjectSchema, wanted: ListQuery) -> str:
    field = each.fields[wanted.field.lower()]
    operator = OPERATORS[wanted.operator]
    if operator == "LIKE" and field.type not in QUOTED[:5]:
        operator = "="
    text = wanted.value.replace("\\", "\\\\").replace("'", "\\'")
    if operator == "LIKE":
        text = "%" + text.replace("%", "\\%").replace("_", "\\_") + "%"
    quoted = f"'{text}'" if field.type in QUOTED else wanted.value.strip()
    return f"{field.name} {operator} {quoted}"


def _paths(org: Org, fields: tuple[FieldSpec, ...]) -> Iterator[str]:
    """The fields as a query names them, each reference with the name of what it refers to."""
    for field in fields:
        yield field.name
        named = _named(org, field)
        if named:
            yield f"{field.relation}.{named}"


def _named(org: Org, field: FieldSpec) -> str | None:
    target = org.schema.get(field.target) if field.target and field.relation else None
    return target.name_field if target else None


def _cells(org: Org, fields: tuple[FieldSpec, ...], row: Mapping[str, Any]) -> tuple[OrgValue, ...]:
    return tuple(_cell(org, field, row) for field in fields)


def _cell(org: Org, field: FieldSpec, row: Mapping[str, Any]) -> OrgValue:
    value = row.get(field.name)
    named = _named(org, field)
    if value and named and field.relation:
        other = row.get(field.relation)
        label = other.get(named) if isinstance(other, Mapping) else None
        return OrgValue(shown(label or value), str(field.target), str(value))
    return OrgValue("" if value is None else shown(value))


@dataclass(frozen=True, slots=True)
class Related:
    """Records that refer to another."""

    object_name: str
    label: str
    field: str
    total: int
    rows: tuple[tuple[str, str], ...]
    """Id and name."""


@dataclass(frozen=True, slots=True)
class OrgRecord:
    """A record with what belongs to it."""

    key: str
    label: str
    """What people call such a record."""
    title: str
    fields: tuple[tuple[FieldSpec, OrgValue], ...]
    related: tuple[Related, ...]
    history: tuple[RowDiff, ...]


def record_of(org: Org, each: ObjectSchema, key: str) -> OrgRecord:
    """A record, the lists of those that refer to it, and what happened to it in this org.

    Raises:
        SobjectError: There is no such record.
    """
    fields = tuple(sorted(each.fields.values(), key=lambda f: f.name in SYSTEM))
    row = org.get(each.name, key, _paths(org, fields))
    cells = tuple((field, _cell(org, field, row)) for field in fields if field.name != "Id")
    found = (_related(org, child, row["Id"]) for child in child_relationships(org.schema, each))
    return OrgRecord(
        row["Id"],
        each.spec.label,
        shown(row.get(each.name_field or "Id") or row["Id"]),
        cells,
        tuple(related for related in found if related.total),
        tuple(diff for where, diff in changes_of(org) if where and where[1] == row["Id"]),
    )


def _related(org: Org, child: Mapping[str, Any], key: str) -> Related:
    each = org.object(child["childSObject"])
    condition = f"WHERE {child['field']} = '{key}'"
    total = org.rows(f"SELECT COUNT(Id) total FROM {each.name} {condition}")[0]["total"]
    name = each.name_field or "Id"
    names = "Id" if name == "Id" else f"Id, {name}"
    rows = org.rows(f"SELECT {names} FROM {each.name} {condition} ORDER BY Id LIMIT {RELATED}")
    shown_rows = tuple((row["Id"], shown(row.get(name) or row["Id"])) for row in rows)
    label = each.spec.plural or f"{each.spec.label}s"
    return Related(each.name, label, child["field"], total if total else 0, shown_rows)


def changes_of(org: Org) -> list[tuple[tuple[str, str] | None, RowDiff]]:
    """What was written since the org was opened, oldest first: which record, and the fields."""
    return [(_place(org, change), row_diff(change)) for change in org.store.database.journal]


def _place(org: Org, change: Change) -> tuple[str, str] | None:
    located = org.store.history.located(change)
    return (located.object_name, located.key) if located else None


def found_in(org: Org, words: str) -> list[tuple[str, str, str]]:
    """What a search for words finds: object, id and name.

    Raises:
        ToolError: The search is refused, as for a single letter.
    """
    objects = [
        {"name": each.name, "fields": ["Id", each.name_field], "limit": 20}
        for each in org.schema.objects.values()
        if each.name_field and org.store.sosl.can_find(each.name)
    ]
    records = org.search(sosl_of({"q": words, "sobjects": objects}))
    found = []
    for record in records:
        name = record["attributes"]["type"]
        title = record.get(org.object(name).name_field or "Id") or record["Id"]
        found.append((name, record["Id"], shown(title)))
    return found


def flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """A query's record as columns: ``Account.Name`` for a related one's field."""
    for name, value in record.items():
        if name == "attributes":
            continue
        if isinstance(value, Mapping) and "records" not in value:
            yield from flat(value, f"{before}{name}.")
        elif isinstance(value, Mapping):
            yield f"{before}{name}", f"{len(value['records'])} records"
        else:
            yield f"{before}{name}", "" if value is None else shown(value)
