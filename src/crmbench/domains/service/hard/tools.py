"""The tools that the hard org has besides those of the easy one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crmbench.core.schema import Row
from crmbench.core.tool import Tool, Toolbox, tool
from crmbench.domains.service.hard.reading import OPENING, QUERIES, TASK_TOOLS, is_long_text
from crmbench.domains.service.hard.schema import ReviewOutcome, catalog
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.records import CLOSED, CLOSING, must_exist, note_history
from crmbench.domains.service.tools import TOOL_SETS, WRITE_TOOLS, ToolSet, general
from crmbench.domains.service.tools.arguments import Id, Ids
from crmbench.errors import ToolError


def _cases(*keys: str) -> list[tuple[str, dict[str, Any]]]:
    """The reading calls that show these cases as they are."""
    return [("read_case", {"case_id": key}) for key in keys]


def _as_read_here(writing: Tool) -> Tool:
    """A tool of the easy org that writes to a case: what it did is shown by opening the case, since
    queries give no long texts here.
    """
    if not any(param.name == "case_id" for param in writing.params):
        return writing
    return replace(writing, shown_by=lambda given: _cases(given["case_id"]))


@tool(writes=True, shown_by=lambda given: _cases(given["case_id"]))
def record_credit_review(
    org: ServiceOrg, case_id: Id, outcome: ReviewOutcome, amount: float | None = None
) -> Row:
    """Record what the review of a case's credit found; recording again replaces it. Returns the
    case's number, outcome and amount.

    Args:
        case_id: id of the case
        outcome: Correct, Underpaid, Overpaid or Refer
        amount: in dollars, for Underpaid what is missing and for Overpaid what is too much; left
            out for the others
    """
    case = must_exist(org, "Case", case_id)
    money = outcome in ("Underpaid", "Overpaid")
    if money != (amount is not None):
        raise ToolError(
            f"{outcome} {'needs an' if money else 'takes no'} amount.", "invalid_arguments"
        )
    if amount is not None and amount <= 0:
        raise ToolError("The amount must be more than 0.", "invalid_arguments")
    if case["MasterRecordId"] is not None:
        raise ToolError(f"The case {case['CaseNumber']} was merged into another.", "rule")
    changes = {"ReviewOutcome__c": outcome, "ReviewAmount__c": amount}
    after = org.database.update("Case", case, changes)
    return {name: after[name] for name in ("Id", "CaseNumber", *changes)}


@tool(writes=True, shown_by=lambda given: _cases(*given["duplicate_ids"]))
def merge_cases(org: ServiceOrg, master_id: Id, duplicate_ids: Ids) -> Row:
    """Merge open cases into another open one: they are closed and point to it (MasterRecordId);
    their letters and comments stay with them. Cannot be undone. Returns the case that remains.

    Args:
        master_id: id of the case that remains
        duplicate_ids: ids of the cases that are merged into it
    """
    master = _open_case(org, master_id)
    if not duplicate_ids or master_id in duplicate_ids:
        raise ToolError("Name the other cases, at least one and not the one that remains.", "rule")
    for key in dict.fromkeys(duplicate_ids):
        case = _open_case(org, key)
        changes = {"MasterRecordId": master_id, "Status": CLOSED, "ClosedDate": org.stamp()}
        org.database.update("Case", case, changes)
        note_history(org, key, CLOSING, None, None)
    return {name: master[name] for name in ("Id", "CaseNumber", "Status", "Priority")}


def _open_case(org: ServiceOrg, key: str) -> Row:
    case = must_exist(org, "Case", key)
    if case["Status"] == CLOSED:
        raise ToolError(f"The case {case['CaseNumber']} is closed.", "rule")
    return case


@tool()
def describe_object(org: ServiceOrg, object_name: str | None = None) -> Row:
    """What there is to query. Without a name all objects; with one its fields with their types,
    what its references point to, and the names of its relations to parents and children. Long text
    areas are marked: no query returns or filters them.

    Args:
        object_name: such as Case or OrderItem, in any case; left out for the list of objects
    """
    del org
    objects = catalog().objects
    if object_name is None:
        return {"objects": sorted(info.name for info in objects.values())}
    info = objects.get(object_name.lower())
    if info is None:
        known = ", ".join(sorted(each.name for each in objects.values()))
        raise ToolError(f"There is no object '{object_name[:40]}'. There are: {known}.")
    parents = {parent.field: parent for parent in info.parents.values()}
    fields = []
    for field in info.fields.values():
        shown: Row = {"name": field.name, "type": field.kind}
        if field.name in parents:
            parent = parents[field.name]
            shown |= {"refers_to": parent.target, "relation": parent.name}
        if is_long_text(field.name):
            shown["in_queries"] = False
        fields.append(shown)
    children = [f"{child.name} ({child.object})" for child in info.children.values()]
    return {"object": info.name, "fields": fields, "children": sorted(children)}


READS = (describe_object, *OPENING)
HARD_WRITES = (record_credit_review, merge_cases)
_COMMON = (*general.ENDING, *READS, *map(_as_read_here, WRITE_TOOLS), *HARD_WRITES)

TOOLBOXES: dict[ToolSet, Toolbox] = {
    "tasks": Toolbox([*TASK_TOOLS, *_COMMON]),
    "soql": Toolbox([*QUERIES, *_COMMON]),
    "both": Toolbox([*TASK_TOOLS, *QUERIES, *_COMMON]),
}

__all__ = ["HARD_WRITES", "TOOLBOXES", "TOOL_SETS"]
