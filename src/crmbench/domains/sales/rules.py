"""The business rules of the sales CRM: one check a field, one place, whatever the backend.

`clean` takes the fields of a create or a modify as they were given and returns them as they are
stored. The texts are part of the interface: users and published data match on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, get_args

from crmbench.core.arguments import TEXT as TEXT_KIND
from crmbench.core.arguments import (
    Check,
    check_number,
    check_text,
    choice,
    label_of,
    list_of,
    optional,
)
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.sales.enums import (
    CLOSED_STAGES,
    FILE_EXTENSIONS,
    ClientStatus,
    CompanyType,
    ContractStatus,
    DocumentEntity,
    NoteEntity,
    OpportunityStage,
    QuoteStatus,
)
from crmbench.domains.sales.schema import MAX_AMOUNT, SCHEMA
from crmbench.errors import ToolError

LOCKED_WHEN_CLOSED = ("stage", "amount", "probability", "close_date")
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]+")


def trimmed(value: Any, label: str) -> str:
    """Text as a field holds it: no space around it, not blank.

    Raises:
        ToolError: The value breaks the rule.
    """
    text = check_text(value, label)
    bare = text.strip()
    if not bare:
        raise ToolError(f"{label} must not be blank or whitespace.")
    if text != bare:
        raise ToolError(f"{label} must not contain leading or trailing whitespace.")
    return text


def amount(value: Any, label: str) -> float:
    """An amount above zero, at most `MAX_AMOUNT`.

    Raises:
        ToolError: The value breaks the rule.
    """
    number = check_number(value, label)
    if number <= 0:
        raise ToolError(f"{label} must be greater than zero.")
    if number > MAX_AMOUNT:
        raise ToolError(f"{label} must not exceed {MAX_AMOUNT:,}.")
    return round(number, 2)


def probability(value: Any, label: str) -> int:
    """A whole number of percent that a probability may be.

    Raises:
        ToolError: The value breaks the rule.
    """
    number = check_number(value, label)
    if not number.is_integer():
        raise ToolError(f"{label} must be expressed as a whole-number percentage.")
    if not 1 <= number <= 99:
        raise ToolError(f"{label} must be between 1 and 99.")
    return int(number)


def iso_date(value: Any, label: str) -> str:
    """A date as YYYY-MM-DD.

    Raises:
        ToolError: The value breaks the rule.
    """
    text = trimmed(value, label)
    if not _is_iso_date(text):
        raise ToolError(f"{label} must be a valid ISO-8601 date (YYYY-MM-DD).")
    return text


@lru_cache(maxsize=4096)
def _is_iso_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def email(value: Any, label: str) -> str:
    """An e-mail address.

    Raises:
        ToolError: The value breaks the rule.
    """
    text = trimmed(value, label)
    name, at, host = text.partition("@")
    if not (at and name and host) or "@" in host or len(text.split(None, 1)) != 1:
        raise ToolError(f"{label} must be a valid e-mail address.")
    return text


def file_name(value: Any, label: str) -> str:
    """A file name with one of the endings that are allowed.

    Raises:
        ToolError: The value breaks the rule.
    """
    text = trimmed(value, label)
    label = "Document file"
    if not _FILE_NAME.fullmatch(text):
        raise ToolError(
            f"{label} name may only include letters, numbers, dots, underscores, and hyphens."
        )
    stem, dot, extension = text.rpartition(".")
    if not (stem and dot) or extension.lower() not in FILE_EXTENSIONS:
        allowed = ", ".join(FILE_EXTENSIONS)
        shown = f".{extension}" if dot else ""
        raise ToolError(f"{label} extension '{shown}' is not supported (allowed: {allowed}).")
    return text


def _one_of(enum: object) -> Check:
    return choice(get_args(enum)).check


_CHECKS: dict[tuple[str, str], Check] = {
    ("Client", "email"): email,
    ("Client", "status"): _one_of(ClientStatus),
    ("Opportunity", "stage"): _one_of(OpportunityStage),
    ("Opportunity", "amount"): amount,
    ("Opportunity", "probability"): probability,
    ("Opportunity", "close_date"): iso_date,
    ("Quote", "amount"): amount,
    ("Quote", "status"): _one_of(QuoteStatus),
    ("Quote", "valid_until"): iso_date,
    ("Contract", "status"): _one_of(ContractStatus),
    ("Contract", "start_date"): iso_date,
    ("Contract", "end_date"): iso_date,
    ("Contract", "value"): amount,
    ("Contact", "email"): email,
    ("Company", "type"): _one_of(CompanyType),
    ("Company", "contacts"): optional(list_of(TEXT_KIND)).check,
    ("Document", "entity_type"): _one_of(DocumentEntity),
    ("Document", "file_name"): file_name,
    ("Note", "entity_type"): _one_of(NoteEntity),
}

_LABELS = {"client_id": "Client ID", "contact_id": "Contact ID", "opportunity_id": "Opportunity ID"}


def field_names(entity: str) -> tuple[str, ...]:
    """The fields that a caller may set, the record's own id among them."""
    return SCHEMA[entity].visible


@lru_cache(maxsize=256)
def _field(entity: str, name: str) -> tuple[Check, str, bool]:
    """How a field is checked, what it is called, and whether it may be null."""
    column = SCHEMA[entity].table.c[name]
    check = _CHECKS.get((entity, name), trimmed)
    return check, _LABELS.get(name, label_of(name)), bool(column.nullable)


def unknown_field(entity: str, name: str) -> ToolError:
    names = ", ".join(field_names(entity))
    return ToolError(f"{entity} has no field named '{name[:80]}'. Its fields: {names}.")


def clean(entity: str, fields: Mapping[str, Any]) -> Row:
    """The fields as they are stored.

    Raises:
        ToolError: A field is unknown or its value breaks a rule.
    """
    known = field_names(entity)
    checked: Row = {}
    for name, value in fields.items():
        if name not in known:
            raise unknown_field(entity, str(name))
        check, label, nullable = _field(entity, name)
        if value is None and nullable:
            checked[name] = None
        else:
            checked[name] = check(value, label)
    return checked


# --- rules that need other rows or the clock ------------------------------------------------------


def must_exist(database: Database, entity: str, key: Any) -> Row:
    """The record of that id.

    Raises:
        ToolError: There is none.
    """
    row = database.get(entity, key) if isinstance(key, str) else None
    if row is None:
        raise ToolError(f"{entity} not found with ID '{str(key)[:80]}'.", "not_found")
    return row


def email_is_free(database: Database, address: str, own_id: str | None = None) -> None:
    """No other client has the address, in whatever case.

    Raises:
        ToolError: The value breaks the rule.
    """
    taken = database.select("client by email", _client_by_email, {"address": address})
    if taken and taken[0]["client_id"] != own_id:
        raise ToolError(f"Client already exists with email '{address}'.", "duplicate")


def _client_by_email() -> Any:
    import sqlalchemy as sa

    table = SCHEMA["Client"].table
    return sa.select(table.c.client_id).where(
        sa.func.lower(table.c.email) == sa.func.lower(sa.bindparam("address"))
    )


def not_in_the_past(database: Database, close_date: str | None) -> None:
    """A date that is today or later.

    Raises:
        ToolError: The value breaks the rule.
    """
    if close_date is not None and close_date < database.clock.today().isoformat():
        raise ToolError("Close date must be today or in the future.")


def closed_fields_locked(before: Row, changes: Row) -> None:
    """What is locked once a deal is closed stays as it is.

    Raises:
        ToolError: The value breaks the rule.
    """
    if before["stage"] not in CLOSED_STAGES:
        return
    locked = [f for f in LOCKED_WHEN_CLOSED if f in changes and changes[f] != before[f]]
    if locked:
        raise ToolError(
            f"Cannot modify closed opportunity fields {locked} while stage is '{before['stage']}'.",
            "rule",
        )


def references_exist(database: Database, entity: str, fields: Row) -> None:
    """Every foreign key among `fields`, and an attachment's entity, names a record."""
    info = SCHEMA[entity]
    for name, target in info.references.items():
        if fields.get(name) is not None:
            must_exist(database, target, fields[name])
    if "entity_id" in fields:
        # No foreign key can say it: documents and notes hang on records of several tables.
        must_exist(database, fields["entity_type"], fields["entity_id"])


def dates_in_order(fields: Row) -> None:
    """A contract does not end before it begins.

    Raises:
        ToolError: The value breaks the rule.
    """
    start, end = fields.get("start_date"), fields.get("end_date")
    if start is not None and end is not None and end < start:
        raise ToolError("End date must not be before start date.")


def _client_rules(database: Database, before: Row | None, changes: Row) -> None:
    if "email" in changes:
        email_is_free(database, changes["email"], before["client_id"] if before else None)


def _opportunity_rules(database: Database, before: Row | None, changes: Row) -> None:
    if before is not None:
        closed_fields_locked(before, changes)
    if before is None or changes.get("close_date") != before["close_date"]:
        not_in_the_past(database, changes.get("close_date"))


def _contract_rules(database: Database, before: Row | None, changes: Row) -> None:
    del database
    dates_in_order({**(before or {}), **changes})


_RULES: dict[str, Callable[[Database, Row | None, Row], None]] = {
    "Client": _client_rules,
    "Opportunity": _opportunity_rules,
    "Contract": _contract_rules,
}


def enforce(database: Database, entity: str, before: Row | None, changes: Row) -> None:
    """The rules of an entity that need more than one field: for a create, `before` is None.

    Raises:
        ToolError: A rule refuses the change.
    """
    references_exist(database, entity, changes)
    rule = _RULES.get(entity)
    if rule is not None:
        rule(database, before, changes)
