"""The hard org's objects: those of the easy org, with what a lived-in org has besides.

The easy org's tables are copied and extended, so that its own bytes stay as they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, MetaData, Table

from crmbench.core.schema import Schema
from crmbench.domains.service.schema import CHILD_NAMES, METADATA, PARENT_NAMES, TEXT
from crmbench.salesforce.catalog import Catalog

ReviewOutcome = Literal["Correct", "Underpaid", "Overpaid", "Refer"]
OUTCOMES: tuple[str, ...] = get_args(ReviewOutcome)
CREDIT_STATES = ("Booked", "Void")
CREDIT_TYPES = ("Late Delivery", "Goodwill", "Return Postage")
ORIGINS = ("Email", "Chat", "Phone", "Web")

HARD = MetaData()
for _table in METADATA.sorted_tables:
    _table.to_metadata(HARD)


def _text(name: str, compare: str = "exact", kind: str = "string") -> Column[Any]:
    return Column(name, TEXT, info={"compare": compare, "type": kind})


def _date(name: str) -> Column[Any]:
    return Column(name, TEXT, info={"type": "date"})


def _picklist(
    table: str, name: str, values: tuple[str, ...]
) -> tuple[Column[Any], CheckConstraint]:
    listed = ", ".join(f"'{value}'" for value in values)
    check = CheckConstraint(f'"{name}" IN ({listed})', name=f"{table} {name} is a known value")
    return _text(name, kind="picklist"), check


def _reference(name: str, target: str, required: bool = False) -> Column[Any]:
    return Column(
        name,
        TEXT,
        ForeignKey(f"{target}.Id"),
        nullable=not required,
        info={"type": "reference", "indexed": True},
    )


def _money(name: str) -> Column[Any]:
    return Column(name, Float, info={"type": "currency", "compare": "money"})


def _key() -> Column[Any]:
    return Column("Id", TEXT, primary_key=True, info={"assigned": True, "type": "id"})


def _extend(name: str, *columns: Column[Any] | CheckConstraint) -> None:
    for column in columns:
        if isinstance(column, Column):
            HARD.tables[name].append_column(column)
        else:
            HARD.tables[name].append_constraint(column)


_extend(
    "User",
    _text("Title"),
    _text("UserType", kind="picklist"),
    _text("Shift__c", kind="picklist"),
    Column("MaxOpen__c", Integer, info={"type": "integer"}),
)
_extend("Account", _text("Membership__c", kind="picklist"), _date("MemberSince__c"))
_extend("Account", _date("MemberUntil__c"))
_extend("Order", _text("OrderNumber"))
_extend(
    "OrderItem",
    _text("Carrier__c", kind="picklist"),
    _text("Method__c", kind="picklist"),
    _text("SaleType__c", kind="picklist"),
    _date("PromisedDate__c"),
    _date("DeliveredDate__c"),
)
_extend("Knowledge__kav", _text("ArticleNumber"))
_extend(
    "Case",
    _text("CaseNumber"),
    *_picklist("Case", "Origin", ORIGINS),
    _text("SuppliedEmail", "text", "email"),
    _text("SuppliedName", "text"),
    _reference("MasterRecordId", "Case"),
    *_picklist("Case", "ReviewOutcome__c", OUTCOMES),
    _money("ReviewAmount__c"),
)
HARD.tables["Case"].c.ContactId.nullable = True
HARD.tables["Case"].c.AccountId.nullable = True

# Articles that are out of force stay readable, for they still hold for what was ordered in their
# time.
_knowledge = HARD.tables["Knowledge__kav"]
for _check in [c for c in _knowledge.constraints if isinstance(c, CheckConstraint)]:
    _knowledge.constraints.discard(_check)
_knowledge.append_constraint(
    CheckConstraint(
        "\"PublishStatus\" IN ('Draft', 'Online', 'Archived')",
        name="Knowledge__kav PublishStatus is a known value",
    )
)

CREDIT = Table(
    "Credit__c",
    HARD,
    _key(),
    _reference("Case__c", "Case", required=True),
    _money("Amount__c"),
    *_picklist("Credit__c", "Status__c", CREDIT_STATES),
    *_picklist("Credit__c", "Type__c", CREDIT_TYPES),
    _date("BookedDate__c"),
)
SKILL = Table(
    "Skill__c",
    HARD,
    _key(),
    _reference("User__c", "User", required=True),
    _reference("Issue__c", "Issue__c", required=True),
    Column("Level__c", Integer, info={"type": "integer"}),
    _date("ExpiresOn__c"),
)
ABSENCE = Table(
    "Absence__c",
    HARD,
    _key(),
    _reference("User__c", "User", required=True),
    _date("FirstDay__c"),
    _date("LastDay__c"),
)
HOLIDAY = Table("Holiday", HARD, _key(), _text("Name", "text"), _date("ActivityDate"))

SCHEMA = Schema(HARD)
CHILDREN = {
    **CHILD_NAMES,
    ("Credit__c", "Case__c"): "Credits__r",
    ("Skill__c", "User__c"): "Skills__r",
    ("Absence__c", "User__c"): "Absences__r",
    ("Case", "MasterRecordId"): "MergedCases",
}
PARENTS = {**PARENT_NAMES, ("Case", "MasterRecordId"): "MasterRecord"}


def reference_indexes() -> list[str]:
    """Statements that index references and dates, run once a world is loaded."""
    return [
        f'CREATE INDEX "ix_{table.name}_{column.name}" ON "{table.name}" ("{column.name}")'
        for table in HARD.sorted_tables
        for column in table.columns
        if column.info.get("indexed")
    ]


@cache
def catalog() -> Catalog:
    """The objects as SOQL and SOSL see them."""
    return Catalog(HARD, CHILDREN, PARENTS)
