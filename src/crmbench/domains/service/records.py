"""Reading and writing the org's records by the rules that hold for all tools."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.domains.service.org import ServiceOrg, among, distinct
from crmbench.domains.service.schema import LABELS, METADATA, PICKLISTS
from crmbench.errors import ToolError
from crmbench.salesforce.ids import PREFIXES, next_id, object_of

CREATION, ASSIGNMENT, CLOSING = PICKLISTS["CaseHistory__c", "Field__c"]
CLOSED = PICKLISTS["Case", "Status"][-1]


def must_exist(org: ServiceOrg, name: str, key: str) -> Row:
    """The record of the object `name` with this id.

    Raises:
        ToolError: There is none.
    """
    row = org.database.get(name, key)
    if row is None:
        raise ToolError(_absent(name, [key]), "not_found")
    return row


def must_all_exist(org: ServiceOrg, name: str, keys: list[str]) -> None:
    """Refuse a list with an id of which there is no record.

    Raises:
        ToolError: There is one; the text names the first few.
    """
    wanted = distinct(keys)
    table = METADATA.tables[name]

    def build(dialect: str) -> sa.SelectBase:
        return sa.select(table.c.Id.label("known")).where(among(dialect, table.c.Id, "ids"))

    known = {row["known"] for row in org.select(("known", name), build, ids=wanted)}
    missing = [key for key in wanted if key not in known]
    if missing:
        raise ToolError(_absent(name, missing), "not_found")


def _absent(name: str, keys: list[str]) -> str:
    label = LABELS[name].lower()
    shown = ", ".join(f"'{key}'" for key in keys[:3])
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    text = f"There is no {label} with the id {shown}{more}."
    of = object_of(keys[0])
    if of is not None and of != name:
        return f"{text} Ids that begin with {keys[0][:3]} are of the object {of}."
    if of is None:
        return f"{text} Ids of the object {name} begin with {PREFIXES[name]}."
    return text


def create(org: ServiceOrg, name: str, fields: Row) -> Row:
    """Create a record; its id and the moment of creation are filled in."""
    row = {"Id": next_id(name, org.database.clock), "CreatedDate": org.stamp(), **fields}
    return org.database.insert(name, row)


def note_history(
    org: ServiceOrg, case_id: str, field: str, old: str | None, new: str | None
) -> None:
    """Write down what happened to a case, as the org does by itself."""
    create(
        org,
        "CaseHistory__c",
        {"CaseId__c": case_id, "Field__c": field, "OldValue__c": old, "NewValue__c": new},
    )


def required_text(value: str, label: str, longest: int) -> str:
    """A text without surrounding space.

    Raises:
        ToolError: Nothing is left of it, or it is too long.
    """
    text = value.strip()
    if not text:
        raise ToolError(f"{label} must not be empty.")
    if len(text) > longest:
        raise ToolError(f"{label} must not exceed {longest:,} characters (got {len(text):,}).")
    return text


def shown(row: Row, *names: str) -> dict[str, Any]:
    """Some fields of a record, in that order."""
    return {name: row[name] for name in names}


def running_user(org: ServiceOrg) -> str:
    """The user in whose name the agent works: the org's oldest.

    Raises:
        ToolError: The org has no user.
    """
    users = METADATA.tables["User"]

    def build(dialect: str) -> sa.SelectBase:
        del dialect
        return sa.select(users.c.Id.label("oldest")).order_by(users.c.Id).limit(1)

    rows = org.select("running user", build)
    if not rows:
        raise ToolError("The org has no user who could write this.", "rule")
    oldest: str = rows[0]["oldest"]
    return oldest
