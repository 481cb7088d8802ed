"""Changing cases. The org keeps their history by itself."""

from __future__ import annotations

from typing import Literal

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg
from crmbench.domains.service.records import (
    ASSIGNMENT,
    CLOSED,
    CLOSING,
    CREATION,
    create,
    must_exist,
    note_history,
    required_text,
    running_user,
)
from crmbench.domains.service.tools.arguments import Id
from crmbench.errors import ToolError

Priority = Literal["Low", "Medium", "High", "Critical"]
OpenStatus = Literal["New", "Working", "Waiting on Customer", "Escalated"]
MAX_SUBJECT = 255
MAX_BODY = 4_000


@tool(writes=True)
def create_case(
    org: ServiceOrg,
    contact_id: Id,
    agent_id: Id,
    subject: str,
    description: str,
    priority: Priority = "Medium",
    issue_id: Id | None = None,
    order_item_id: Id | None = None,
) -> Row:
    """Open a new case for a customer and give it to an agent. Its status is New, and its account is
    that of the contact. Returns the case.

    Args:
        contact_id: id of the customer's contact
        agent_id: id of the user who is to own the case
        subject: one line
        description: what the customer reports, in full
        priority: Low, Medium (if left out), High or Critical
        issue_id: id of the issue that it is about
        order_item_id: id of the order item that it is about; one of the customer's own
    """
    contact = must_exist(org, "Contact", contact_id)
    _must_be_able_to_own(org, agent_id)
    fields: Row = {
        "ContactId": contact_id,
        "AccountId": contact["AccountId"],
        "OwnerId": agent_id,
        "Subject": required_text(subject, "Subject", MAX_SUBJECT),
        "Description": required_text(description, "Description", 32_000),
        "Priority": priority,
        "Status": "New",
        **_about(org, contact["AccountId"], issue_id, order_item_id),
    }
    case = create(org, "Case", fields)
    note_history(org, case["Id"], CREATION, None, None)
    note_history(org, case["Id"], ASSIGNMENT, None, agent_id)
    return case


@tool(writes=True)
def assign_case(org: ServiceOrg, case_id: Id, agent_id: Id) -> Row:
    """Give an open case to another agent. The org adds the change of owner to the case's history.
    Returns the case.

    Args:
        case_id: id of the case
        agent_id: id of the user who is to own it
    """
    case = _must_be_open(org, case_id)
    _must_be_able_to_own(org, agent_id)
    if case["OwnerId"] == agent_id:
        raise ToolError(f"The case {case_id} already belongs to {agent_id}.", "rule")
    changed = org.database.update("Case", case, {"OwnerId": agent_id})
    note_history(org, case_id, ASSIGNMENT, case["OwnerId"], agent_id)
    return changed


@tool(writes=True)
def set_case_status(org: ServiceOrg, case_id: Id, status: OpenStatus) -> Row:
    """Set the status of an open case. A case is closed with close_case, and a closed case is not
    opened again. Returns the case.

    Args:
        case_id: id of the case
        status: New, Working, Waiting on Customer or Escalated
    """
    return _set(org, _must_be_open(org, case_id), {"Status": status})


@tool(writes=True)
def set_case_priority(org: ServiceOrg, case_id: Id, priority: Priority) -> Row:
    """Set the priority of an open case. Returns the case.

    Args:
        case_id: id of the case
        priority: Low, Medium, High or Critical
    """
    return _set(org, _must_be_open(org, case_id), {"Priority": priority})


@tool(writes=True)
def update_case(
    org: ServiceOrg,
    case_id: Id,
    issue_id: Id | None = None,
    order_item_id: Id | None = None,
    subject: str | None = None,
    description: str | None = None,
) -> Row:
    """Correct what a case says it is about: its issue, the order item (and with it the product),
    its subject or its description. Closed cases can be corrected too. What is left out stays as it
    is. Returns the case.

    Args:
        case_id: id of the case
        issue_id: id of the right issue
        order_item_id: id of the right order item; one that the case's account has bought
        subject: one line
        description: what the customer reports, in full
    """
    case = must_exist(org, "Case", case_id)
    changes = _about(org, case["AccountId"], issue_id, order_item_id)
    if subject is not None:
        changes["Subject"] = required_text(subject, "Subject", MAX_SUBJECT)
    if description is not None:
        changes["Description"] = required_text(description, "Description", 32_000)
    if not changes:
        raise ToolError("Nothing to change: name the issue, order item, subject or description.")
    return _set(org, case, changes)


@tool(writes=True)
def close_case(org: ServiceOrg, case_id: Id) -> Row:
    """Close a case: its status becomes Closed, its closing date now, and the org adds the closing
    to its history. A closed case is not opened again. Returns the case.

    Args:
        case_id: id of the case
    """
    case = _must_be_open(org, case_id)
    changed = org.database.update("Case", case, {"Status": CLOSED, "ClosedDate": org.stamp()})
    note_history(org, case_id, CLOSING, None, None)
    return changed


@tool(writes=True)
def comment_on_case(org: ServiceOrg, case_id: Id, comment: str) -> Row:
    """Leave a comment on a case, open or closed, for the colleagues; customers do not see it.
    Returns the comment.

    Args:
        case_id: id of the case
        comment: at most 4,000 characters
    """
    must_exist(org, "Case", case_id)
    body = required_text(comment, "Comment", MAX_BODY)
    author = running_user(org)
    fields: Row = {"ParentId": case_id, "CommentBody": body, "CreatedById": author}
    return create(org, "CaseComment", fields)


@tool(writes=True)
def delete_case_comment(org: ServiceOrg, comment_id: Id) -> Row:
    """Delete a comment on a case. Returns the id of what was deleted.

    Args:
        comment_id: id of the comment
    """
    must_exist(org, "CaseComment", comment_id)
    org.database.delete("CaseComment", comment_id)
    return {"deleted": comment_id}


def _must_be_open(org: ServiceOrg, case_id: str) -> Row:
    case = must_exist(org, "Case", case_id)
    if case["Status"] == CLOSED:
        raise ToolError(
            f"The case {case_id} was closed on {case['ClosedDate'][:10]}; a closed case cannot be "
            "changed in this way.",
            "rule",
        )
    return case


def _must_be_able_to_own(org: ServiceOrg, agent_id: str) -> None:
    if not must_exist(org, "User", agent_id)["IsActive"]:
        raise ToolError(f"The user {agent_id} is not active and cannot own cases.", "rule")


def _about(
    org: ServiceOrg, account_id: str, issue_id: str | None, order_item_id: str | None
) -> Row:
    """The fields that say what a case is about, of those that are given."""
    fields: Row = {}
    if issue_id is not None:
        must_exist(org, "Issue__c", issue_id)
        fields["IssueId__c"] = issue_id
    if order_item_id is not None:
        item = must_exist(org, "OrderItem", order_item_id)
        if must_exist(org, "Order", item["OrderId"])["AccountId"] != account_id:
            raise ToolError(
                f"The order item {order_item_id} was not bought by the account {account_id} of "
                "this case.",
                "rule",
            )
        fields["OrderItemId__c"] = order_item_id
    return fields


def _set(org: ServiceOrg, case: Row, changes: Row) -> Row:
    """Change what differs; setting a field to what it is changes nothing."""
    changes = {name: value for name, value in changes.items() if case[name] != value}
    return org.database.update("Case", case, changes) if changes else case


TOOLS = (
    create_case,
    assign_case,
    set_case_status,
    set_case_priority,
    update_case,
    close_case,
    comment_on_case,
    delete_case_comment,
)
