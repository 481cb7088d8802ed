"""The service org's objects as tables, and what SOQL needs to know of them.

Sixteen objects are those of the published benchmark, with all their fields. Added, because an org
that can be written to has them:

* ``CaseComment``, a seventeenth object: the notes that an agent leaves on a case.
* ``Knowledge__kav.PublishStatus`` (Draft, Online), so that an article can be drafted and published.
* ``Name`` of a User, an Account and a Contact: first and last name, as a real org composes it.
* ``User.IsActive``, and ``CreatedDate`` wherever a date tells something about the record.

Conventions: dates are ``YYYY-MM-DD``, moments are ``YYYY-MM-DDTHH:MM:SS.000+0000`` (UTC), amounts
are in US dollars. Ids are 18 characters (see ids.py) and grow in the order of creation.

Text is compared bytewise on both databases; SOQL folds case on its own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)

from crmbench.core.schema import Schema
from crmbench.salesforce.catalog import Catalog

METADATA = MetaData()

TEXT = String().with_variant(String(collation="C"), "postgresql")

PICKLISTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("Case", "Status"): ("New", "Working", "Waiting on Customer", "Escalated", "Closed"),
    ("Case", "Priority"): ("Low", "Medium", "High", "Critical"),
    ("CaseHistory__c", "Field__c"): ("Case Creation", "Owner Assignment", "Case Closed"),
    ("Knowledge__kav", "PublishStatus"): ("Draft", "Online"),
    ("Order", "Status"): ("Draft", "Activated"),
}
"""The values that a field allows, in the order in which a form lists them."""

LABELS: dict[str, str] = {
    "User": "User",
    "Account": "Account",
    "Contact": "Contact",
    "Issue__c": "Issue",
    "Knowledge__kav": "Knowledge",
    "ProductCategory": "Product Category",
    "Product2": "Product",
    "ProductCategoryProduct": "Product Category Product",
    "Pricebook2": "Price Book",
    "PricebookEntry": "Price Book Entry",
    "Order": "Order",
    "OrderItem": "Order Product",
    "Case": "Case",
    "CaseHistory__c": "Case History",
    "CaseComment": "Case Comment",
    "EmailMessage": "Email Message",
    "LiveChatTranscript": "Chat Transcript",
}
"""What people call each object."""

CHILD_NAMES: dict[tuple[str, str], str] = {
    ("Contact", "AccountId"): "Contacts",
    ("Case", "AccountId"): "Cases",
    ("Case", "ContactId"): "Cases",
    ("Case", "OrderItemId__c"): "Cases__r",
    ("Case", "IssueId__c"): "Cases__r",
    ("CaseHistory__c", "CaseId__c"): "CaseHistories__r",
    ("CaseComment", "ParentId"): "CaseComments",
    ("EmailMessage", "ParentId"): "EmailMessages",
    ("LiveChatTranscript", "CaseId"): "LiveChatTranscripts",
    ("LiveChatTranscript", "AccountId"): "LiveChatTranscripts",
    ("LiveChatTranscript", "ContactId"): "LiveChatTranscripts",
    ("Order", "AccountId"): "Orders",
    ("Order", "Pricebook2Id"): "Orders",
    ("OrderItem", "OrderId"): "OrderItems",
    ("OrderItem", "Product2Id"): "OrderItems",
    ("OrderItem", "PriceBookEntryId"): "OrderItems",
    ("PricebookEntry", "Pricebook2Id"): "PricebookEntries",
    ("PricebookEntry", "Product2Id"): "PricebookEntries",
    ("ProductCategoryProduct", "ProductCategoryId"): "ProductCategoryProducts",
    ("ProductCategoryProduct", "ProductId"): "ProductCategoryProducts",
}
"""For an object and a reference field of it, the relation's name as the parent sees it.

As in a real org, a User has no relation to the cases that it owns.
"""

PARENT_NAMES: dict[tuple[str, str], str] = {
    ("OrderItem", "PriceBookEntryId"): "PricebookEntry",
}
"""Relations to a parent that are not named as their field without ``Id`` (or ``__r``)."""


def _text(name: str, compare: str = "text", required: bool = False, **info: Any) -> Column[Any]:
    return Column(name, TEXT, nullable=not required, info={"compare": compare, **info})


def _long(name: str, compare: str = "text", required: bool = False) -> Column[Any]:
    return _text(name, compare, required, type="textarea")


def _picklist(name: str, required: bool = True) -> Column[Any]:
    return _text(name, "exact", required, type="picklist")


def _key() -> Column[Any]:
    return Column("Id", TEXT, primary_key=True, info={"assigned": True, "type": "id"})


def _reference(
    name: str, target: str, ondelete: str = "RESTRICT", required: bool = True
) -> Column[Any]:
    return Column(
        name,
        TEXT,
        ForeignKey(f"{target}.Id", ondelete=ondelete),
        nullable=not required,
        info={"type": "reference", "indexed": True},
    )


def _foreign_id(name: str) -> Column[Any]:
    """The id of a record of an object that the org does not keep."""
    return Column(name, TEXT, info={"type": "reference"})


def _date(name: str, required: bool = False, index: bool = False) -> Column[Any]:
    return Column(name, TEXT, nullable=not required, info={"type": "date", "indexed": index})


def _moment(name: str, required: bool = True, index: bool = False) -> Column[Any]:
    """A moment that the org itself notes; never compared, for it depends on when a write ran."""
    info = {"type": "datetime", "assigned": True, "indexed": index}
    return Column(name, TEXT, nullable=not required, info=info)


def _money(name: str) -> Column[Any]:
    return Column(name, Float, nullable=False, info={"type": "currency", "compare": "money"})


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False, info={"type": "boolean"})


def _table(name: str, *columns: Column[Any]) -> Table:
    table = Table(name, METADATA, _key(), *columns)
    for (owner, field), values in PICKLISTS.items():
        if owner == name:
            options = ", ".join(f"'{value}'" for value in values)
            check = CheckConstraint(
                f'"{field}" IN ({options})', name=f"{name} {field} is a known value"
            )
            table.append_constraint(check)
    return table


# --- people ---------------------------------------------------------------------------------------

USER = _table(
    "User",
    _text("FirstName"),
    _text("LastName", required=True),
    _text("Name", required=True),
    _text("Email", type="email"),
    _text("Phone", type="phone"),
    _text("Username", required=True),
    _text("Alias"),
    _foreign_id("ProfileId"),
    _picklist("LanguageLocaleKey", required=False),
    _picklist("EmailEncodingKey", required=False),
    _picklist("TimeZoneSidKey", required=False),
    _picklist("LocaleSidKey", required=False),
    _flag("IsActive"),
    _moment("CreatedDate"),
)

ACCOUNT = _table(
    "Account",
    _text("FirstName"),
    _text("LastName", required=True),
    _text("Name", required=True),
    _text("PersonEmail", type="email"),
    _text("Phone", type="phone"),
    _foreign_id("RecordTypeId"),
    _text("ShippingCity"),
    _text("ShippingState", "exact"),
    _moment("CreatedDate"),
)
Index("ix_Account_ShippingState", ACCOUNT.c.ShippingState)

CONTACT = _table(
    "Contact",
    _text("FirstName"),
    _text("LastName", required=True),
    _text("Name", required=True),
    _text("Email", type="email"),
    _reference("AccountId", "Account"),
    _reference("OwnerId", "User"),
    _moment("CreatedDate"),
)

# --- goods and prices -----------------------------------------------------------------------------

PRODUCT_CATEGORY = _table("ProductCategory", _text("Name", required=True), _foreign_id("CatalogId"))

PRODUCT2 = _table(
    "Product2",
    _text("Name", required=True),
    _long("Description"),
    _flag("IsActive"),
    _text("External_ID__c", "exact"),
)

PRODUCT_CATEGORY_PRODUCT = _table(
    "ProductCategoryProduct",
    _reference("ProductCategoryId", "ProductCategory", "CASCADE"),
    _reference("ProductId", "Product2", "CASCADE"),
)

PRICEBOOK2 = _table(
    "Pricebook2",
    _text("Name", required=True),
    _text("Description"),
    _flag("IsActive"),
    _date("ValidFrom"),
    _date("ValidTo"),
)

PRICEBOOK_ENTRY = _table(
    "PricebookEntry",
    _reference("Pricebook2Id", "Pricebook2", "CASCADE"),
    _reference("Product2Id", "Product2"),
    _money("UnitPrice"),
)

ORDER = _table(
    "Order",
    _reference("AccountId", "Account"),
    _picklist("Status"),
    _date("EffectiveDate", required=True, index=True),
    _reference("Pricebook2Id", "Pricebook2"),
)

ORDER_ITEM = _table(
    "OrderItem",
    _reference("OrderId", "Order", "CASCADE"),
    _reference("Product2Id", "Product2"),
    Column("Quantity", Integer, nullable=False, info={"type": "integer"}),
    _money("UnitPrice"),
    _reference("PriceBookEntryId", "PricebookEntry"),
)

# --- service --------------------------------------------------------------------------------------

ISSUE = _table("Issue__c", _text("Name", required=True), _long("Description__c"))

KNOWLEDGE = _table(
    "Knowledge__kav",
    _text("Title", required=True),
    _long("FAQ_Answer__c"),
    _long("Summary"),
    _text("UrlName", required=True),
    _picklist("PublishStatus"),
    _moment("CreatedDate"),
)
Index("ix_Knowledge__kav_UrlName", KNOWLEDGE.c.UrlName, unique=True)

CASE = _table(
    "Case",
    _picklist("Priority"),
    _text("Subject"),
    _long("Description"),
    _picklist("Status"),
    _reference("ContactId", "Contact"),
    _moment("CreatedDate", index=True),
    _moment("ClosedDate", required=False, index=True),
    _reference("OrderItemId__c", "OrderItem", required=False),
    _reference("IssueId__c", "Issue__c", required=False),
    _reference("AccountId", "Account"),
    _reference("OwnerId", "User"),
)
CASE.append_constraint(
    CheckConstraint(
        '("Status" = \'Closed\') = ("ClosedDate" IS NOT NULL)',
        name="a case has a closing date if and only if it is closed",
    )
)

CASE_HISTORY = _table(
    "CaseHistory__c",
    _reference("CaseId__c", "Case", "CASCADE"),
    _text("OldValue__c", "exact"),
    _text("NewValue__c", "exact"),
    _moment("CreatedDate", index=True),
    _picklist("Field__c"),
)
Index("ix_CaseHistory__c_NewValue__c", CASE_HISTORY.c.NewValue__c)

CASE_COMMENT = _table(
    "CaseComment",
    _reference("ParentId", "Case", "CASCADE"),
    _long("CommentBody", "note", required=True),
    _reference("CreatedById", "User"),
    _moment("CreatedDate"),
)

EMAIL_MESSAGE = _table(
    "EmailMessage",
    _text("Subject"),
    _long("TextBody"),
    _reference("ParentId", "Case", "CASCADE"),
    _text("FromAddress", type="email"),
    _text("ToIds", "exact"),
    _moment("MessageDate", index=True),
)

LIVE_CHAT_TRANSCRIPT = _table(
    "LiveChatTranscript",
    _reference("CaseId", "Case", "CASCADE"),
    _reference("AccountId", "Account"),
    _reference("OwnerId", "User"),
    _reference("ContactId", "Contact"),
    _long("Body"),
    _moment("EndTime", index=True),
    _foreign_id("LiveChatVisitorId"),
)

SCHEMA = Schema(METADATA)

OBJECTS: tuple[str, ...] = tuple(LABELS)
"""Every object, each after those that it refers to."""


def reference_indexes() -> list[str]:
    """Statements that index references and dates, in either database's dialect.

    They are run once a world is loaded: an index built at once costs a fraction of one that is
    kept while millions of rows come in.
    """
    return [
        f'CREATE INDEX "ix_{table.name}_{column.name}" ON "{table.name}" ("{column.name}")'
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.info.get("indexed")
    ]


@cache
def catalog() -> Catalog:
    """The objects as SOQL and SOSL see them."""
    return Catalog(METADATA, CHILD_NAMES, PARENT_NAMES)
