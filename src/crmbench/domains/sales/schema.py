"""The eight entities of the sales CRM as tables.

What a database can enforce is enforced here (keys, enums, ranges, uniqueness); what needs other
rows, the clock or a sentence to explain it is in rules.py.
"""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    func,
)

from crmbench.core.schema import Schema
from crmbench.domains.sales.enums import (
    ClientStatus,
    CompanyType,
    ContractStatus,
    DocumentEntity,
    NoteEntity,
    OpportunityStage,
    QuoteStatus,
)

MAX_AMOUNT = 10_000_000

METADATA = MetaData()

# Bytewise order and ASCII case folding on both backends, so that both give the same answers.
TEXT = String().with_variant(String(collation="C"), "postgresql")


def _text(name: str, compare: str = "text", **options: Any) -> Column[Any]:
    return Column(name, TEXT, info={"compare": compare}, **options)


def _required(name: str, compare: str = "text") -> Column[Any]:
    return _text(name, compare, nullable=False)


def _assigned(name: str) -> Column[Any]:
    return Column(name, TEXT, info={"assigned": True})


def _key(name: str) -> Column[Any]:
    return Column(name, TEXT, primary_key=True, info={"assigned": True})


def _order() -> Column[Any]:
    return Column("seq", Integer, nullable=False, info={"assigned": True})


def _reference(name: str, target: str, ondelete: str, nullable: bool = False) -> Column[Any]:
    return Column(name, TEXT, ForeignKey(target, ondelete=ondelete), nullable=nullable, index=True)


def _money(name: str, nullable: bool = False) -> Column[Any]:
    return Column(name, Float, nullable=nullable, info={"compare": "money"})


def _one_of(column: str, enum: object) -> CheckConstraint:
    options = ", ".join(f"'{option}'" for option in get_args(enum))
    return CheckConstraint(f"{column} IN ({options})", name=f"{column} is a known value")


def _amount_range(column: str) -> CheckConstraint:
    return CheckConstraint(
        f"{column} > 0 AND {column} <= {MAX_AMOUNT}", name=f"{column} is in range"
    )


CLIENT = Table(
    "Client",
    METADATA,
    _key("client_id"),
    _required("name"),
    _text("industry"),
    _required("email"),
    _text("phone"),
    _text("address"),
    _required("status", "exact"),
    _assigned("created_date"),
    _text("owner"),
    _order(),
    _one_of("status", ClientStatus),
    CheckConstraint("trim(name) <> ''", name="the name is not blank"),
    info={"order": "seq"},
)
Index("client_email_unique", func.lower(CLIENT.c.email), unique=True)
Index("client_order", CLIENT.c.seq)

CONTACT = Table(
    "Contact",
    METADATA,
    _key("contact_id"),
    _required("first_name"),
    _required("last_name"),
    _text("title"),
    _text("email"),
    _text("phone"),
    _reference("client_id", "Client.client_id", "CASCADE"),
    _text("notes", "note"),
    _order(),
    info={"order": "seq"},
)
Index("contact_order", CONTACT.c.seq)

OPPORTUNITY = Table(
    "Opportunity",
    METADATA,
    _key("opportunity_id"),
    _required("name", "title"),
    _reference("client_id", "Client.client_id", "CASCADE"),
    _required("stage", "exact"),
    _money("amount"),
    _text("close_date", "exact"),
    _text("owner"),
    Column("probability", Integer),
    _text("notes", "note"),
    _assigned("created_at"),
    _order(),
    _one_of("stage", OpportunityStage),
    _amount_range("amount"),
    CheckConstraint("probability BETWEEN 1 AND 99", name="probability is between 1 and 99"),
    info={"order": "seq"},
)
Index("opportunity_order", OPPORTUNITY.c.seq)

QUOTE = Table(
    "Quote",
    METADATA,
    _key("quote_id"),
    _reference("opportunity_id", "Opportunity.opportunity_id", "CASCADE"),
    _text("name", "title"),
    _text("version"),
    _money("amount"),
    _required("status", "exact"),
    _text("valid_until", "exact"),
    _assigned("created_date"),
    Column("quote_prefix", TEXT, info={"compare": "free", "rule": "QUOTE-1"}),
    _order(),
    _one_of("status", QuoteStatus),
    _amount_range("amount"),
    info={"order": "seq"},
)
Index("quote_order", QUOTE.c.seq)

CONTRACT = Table(
    "Contract",
    METADATA,
    _key("contract_id"),
    _reference("client_id", "Client.client_id", "CASCADE"),
    _reference("opportunity_id", "Opportunity.opportunity_id", "SET NULL", nullable=True),
    _text("start_date", "exact"),
    _text("end_date", "exact"),
    _money("value", nullable=True),
    _text("status", "exact"),
    _text("document_url", "exact"),
    _order(),
    _one_of("status", ContractStatus),
    info={"order": "seq"},
)
Index("contract_order", CONTRACT.c.seq)

COMPANY = Table(
    "Company",
    METADATA,
    _key("company_id"),
    _required("name"),
    _text("type", "exact"),
    _text("industry"),
    _text("address"),
    Column("contacts", JSON),
    _order(),
    _one_of("type", CompanyType),
    info={"order": "seq"},
)
Index("company_order", COMPANY.c.seq)


def _attachment_columns() -> tuple[Column[Any], Column[Any]]:
    return (
        _required("entity_type", "exact"),
        Column("entity_id", TEXT, nullable=False, index=True, info={"refers_by": "entity_type"}),
    )


DOCUMENT = Table(
    "Document",
    METADATA,
    _key("document_id"),
    *_attachment_columns(),
    _required("file_name", "exact"),
    _text("uploaded_by"),
    _assigned("uploaded_at"),
    _text("file_url", "exact"),
    _order(),
    _one_of("entity_type", DocumentEntity),
    info={"order": "seq", "attached_to": ("entity_type", "entity_id")},
)
Index("document_order", DOCUMENT.c.seq)

NOTE = Table(
    "Note",
    METADATA,
    _key("note_id"),
    *_attachment_columns(),
    _required("content", "note"),
    _text("created_by"),
    _assigned("created_at"),
    _order(),
    _one_of("entity_type", NoteEntity),
    info={"order": "seq", "attached_to": ("entity_type", "entity_id")},
)
Index("note_order", NOTE.c.seq)

SCHEMA = Schema(METADATA)
