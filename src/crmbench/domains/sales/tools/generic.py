"""Tools that are alike for every entity: made from its fields, so that no field is forgotten."""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import JSON, Float, Integer

from crmbench.core.arguments import ANYTHING, INTEGER, NUMBER, OBJECT, TEXT, Kind, list_of
from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.core.tool import Param, Tool
from crmbench.domains.sales import records, rules
from crmbench.domains.sales.enums import (
    ClientStatus,
    CompanyType,
    ContractStatus,
    DocumentEntity,
    NoteEntity,
    OpportunityStage,
    QuoteStatus,
)
from crmbench.domains.sales.schema import SCHEMA

_ENUMS: dict[tuple[str, str], Any] = {
    ("Client", "status"): ClientStatus,
    ("Opportunity", "stage"): OpportunityStage,
    ("Quote", "status"): QuoteStatus,
    ("Contract", "status"): ContractStatus,
    ("Company", "type"): CompanyType,
    ("Document", "entity_type"): DocumentEntity,
    ("Note", "entity_type"): NoteEntity,
}

_MEANINGS = {
    "amount": "US dollars, greater than zero and at most 10,000,000",
    "value": "US dollars, greater than zero and at most 10,000,000",
    "probability": "chance of winning in percent, a whole number from 1 to 99",
    "close_date": "expected close, YYYY-MM-DD, not in the past",
    "valid_until": "last day on which it holds, YYYY-MM-DD",
    "start_date": "first day, YYYY-MM-DD",
    "end_date": "last day, YYYY-MM-DD",
    "owner": "the salesperson who is responsible, by full name",
    "client_id": "id of the client",
    "contact_id": "id of the contact",
    "opportunity_id": "id of the opportunity",
    "quote_id": "id of the quote",
    "contract_id": "id of the contract",
    "company_id": "id of the company",
    "document_id": "id of the document",
    "note_id": "id of the note",
    "entity_type": "what kind of record it belongs to",
    "entity_id": "id of the record that it belongs to",
    "file_name": "letters, digits, dots, underscores and hyphens, with a known extension",
    "file_url": "where the file is kept",
    "document_url": "where the signed document is kept",
    "email": "e-mail address",
    "version": "version of the quote, such as v2",
    "quote_prefix": "prefix of the quote's number",
    "created_date": "day on which it was created; filled in when left out",
    "created_at": "when it was created; filled in when left out",
    "uploaded_at": "when it was uploaded; filled in when left out",
}


def kind_for(entity: str, name: str) -> Kind:
    """What a field is, for the schema; its value is checked by the rules of the entity."""
    column = SCHEMA[entity].table.c[name]
    shown = TEXT.schema
    if (entity, name) in _ENUMS:
        shown = {"type": "string", "enum": list(get_args(_ENUMS[entity, name]))}
    elif isinstance(column.type, Float):
        shown = NUMBER.schema
    elif isinstance(column.type, Integer):
        shown = INTEGER.schema
    elif isinstance(column.type, JSON):
        shown = list_of(TEXT).schema
    return Kind(shown, ANYTHING.check)


def field_params(entity: str, required: tuple[str, ...] = ()) -> tuple[Param, ...]:
    """A parameter for every field, the required ones first."""
    names = rules.field_names(entity)
    ordered = [*required, *(n for n in names if n not in required)]
    return tuple(
        Param(name, kind_for(entity, name), name in required, _MEANINGS.get(name, ""))
        for name in ordered
    )


def _no_field(entity: str) -> str:
    return f"{entity} has no field named '{{name}}'."


def create_tool(name: str, entity: str, required: tuple[str, ...], description: str) -> Tool:
    """A tool that creates a record from its fields."""

    def run(database: Database, **fields: Any) -> Row:
        return records.create(database, entity, fields)

    params = field_params(entity, required)
    return Tool(name, description, True, params, run, _no_field(entity))


def modify_tool(name: str, entity: str, description: str) -> Tool:
    """A tool that changes fields of a record, given as ``updates`` or by themselves."""
    key = SCHEMA[entity].key

    def run(database: Database, updates: Row | None = None, **fields: Any) -> Row:
        return records.modify(database, entity, fields.pop(key), updates, fields)

    own, *others = field_params(entity, (key,))
    updates = Param("updates", OBJECT, False, "the fields to change, by name")
    return Tool(name, description, True, (own, updates, *others), run, _no_field(entity))


_LIMIT = Param(
    "limit", INTEGER, False, f"records to return at most, {records.DEFAULT_LIMIT} if left out"
)
_OFFSET = Param("offset", INTEGER, False, "how many of the matching records to skip")


def search_tool(name: str, entity: str, description: str) -> Tool:
    """A tool that finds records by any field, flat or nested under ``criteria``."""

    def run(
        database: Database,
        criteria: Row | None = None,
        limit: int = records.DEFAULT_LIMIT,
        offset: int = 0,
        **fields: Any,
    ) -> Row:
        return records.search(database, entity, {**(criteria or {}), **fields}, limit, offset)

    criteria = Param("criteria", OBJECT, False, "the same fields, as an object")
    params = (*field_params(entity), criteria, _LIMIT, _OFFSET)
    text = (
        f"{description} Text matches as part of the field in any case, numbers exactly; several "
        "fields must all match. Returns total_count and the page of records, oldest first."
    )
    return Tool(name, text, False, params, run, _no_field(entity))


def list_tool(name: str, entity: str, description: str) -> Tool:
    """A tool that pages through all records of an entity."""

    def run(database: Database, limit: int = records.DEFAULT_LIMIT, offset: int = 0) -> Row:
        return records.search(database, entity, {}, limit, offset)

    return Tool(name, description, False, (_LIMIT, _OFFSET), run)
