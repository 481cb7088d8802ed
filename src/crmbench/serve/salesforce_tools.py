"""The tools that users of Salesforce's MCP servers know, over any org that speaks Salesforce.

Their names, arguments and answers are those that the servers in the field have in common, so an
agent that was built for one of them finds its way here.
"""

from __future__ import annotations

from typing import Any

from crmbench.core.sandbox import refusal
from crmbench.core.tool import Toolbox, tool
from crmbench.core.trace import CallRecord
from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import Org
from crmbench.salesforce.sobjects.describe import describe_object as described
from crmbench.seats.seat import Offered

MOST_RECORDS = 2_000


@tool()
def run_soql_query(org: Org, query: str, max_records: int = 100) -> dict[str, Any]:
    """Run a SOQL query and return its records.

    Args:
        query: The query, such as SELECT Id, Name FROM Account LIMIT 5.
        max_records: How many records to return at most, up to 2000.
    """
    page = org.query(query)
    most = max(1, min(max_records, MOST_RECORDS))
    records = page.records[:most]
    done = len(records) == len(page.records) and page.locator is None
    return {"totalSize": page.total, "done": done, "records": records}


@tool()
def run_sosl_search(org: Org, search: str) -> dict[str, Any]:
    """Run a SOSL search and return the records that it finds.

    Args:
        search: The search, such as FIND {Acme} RETURNING Account(Id, Name).
    """
    return {"searchRecords": org.search(search)}


@tool()
def list_objects(org: Org) -> dict[str, Any]:
    """List the objects of the org: name, label, and whether records can be written."""
    objects = [
        {"name": each.name, "label": each.spec.label, "writable": each.spec.writable}
        for each in org.schema.objects.values()
    ]
    return {"objects": objects}


@tool()
def describe_object(org: Org, object_name: str) -> dict[str, Any]:
    """Describe an object: its fields with types and picklist values, and its child relationships.

    Args:
        object_name: The API name of the object, such as Account.
    """
    found = described(org.schema, org.object(object_name), org.path)
    fields = [{name: field[name] for name in SHOWN if field.get(name)} for field in found["fields"]]
    children = [
        {name: child[name] for name in ("childSObject", "field", "relationshipName")}
        for child in found["childRelationships"]
    ]
    return {"name": found["name"], "label": found["label"], "fields": fields, "children": children}


SHOWN = (
    *("name", "label", "type", "length", "nillable", "createable", "updateable"),
    *("referenceTo", "relationshipName", "picklistValues"),
)
"""What is said of a field; the whole description is long, and costs an agent its context."""


@tool()
def get_record(
    org: Org, object_name: str, record_id: str, fields: list[str] | None = None
) -> dict[str, Any]:
    """Get one record.

    Args:
        object_name: The API name of the object.
        record_id: The id of the record.
        fields: The fields to return; all of them if left out.
    """
    return org.get(object_name, record_id, fields or ())


@tool(writes=True)
def create_record(org: Org, object_name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Create a record.

    Args:
        object_name: The API name of the object.
        data: The fields and their values.
    """
    return {"id": org.create(object_name, data), "success": True}


@tool(writes=True)
def update_record(
    org: Org, object_name: str, record_id: str, data: dict[str, Any]
) -> dict[str, Any]:
    """Change fields of a record.

    Args:
        object_name: The API name of the object.
        record_id: The id of the record.
        data: The fields to change and their new values.
    """
    org.update(object_name, record_id, data)
    return {"id": record_id, "success": True}


@tool(writes=True)
def delete_record(org: Org, object_name: str, record_id: str) -> dict[str, Any]:
    """Delete a record.

    Args:
        object_name: The API name of the object.
        record_id: The id of the record.
    """
    org.delete(object_name, record_id)
    return {"id": record_id, "success": True}


SALESFORCE = Toolbox(
    [
        *(run_soql_query, run_sosl_search, list_objects, describe_object),
        *(get_record, create_record, update_record, delete_record),
    ]
)
OFFERED = tuple(
    Offered(
        *(each.name, each.description, each.schema()["parameters"]),
        writes=each.writes,
        adds_only=each is create_record,
    )
    for each in SALESFORCE.by_name.values()
)


def call_salesforce(org: Org, name: str, arguments: Any) -> CallRecord:
    """Run one of these tools. A refused call changes nothing and has ``ok=False``."""
    journal = org.store.database.journal
    mark = len(journal)
    try:
        chosen = SALESFORCE.get(name)
        result = chosen.function(org, **chosen.check(arguments))
    except ToolError as refused:
        return refusal(name, arguments, refused)
    return CallRecord(name, dict(arguments), True, result, changes=tuple(journal[mark:]))
