"""Questions about customers, what they bought, and what was written to them."""

from __future__ import annotations

import sqlalchemy as sa

from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.domains.service.org import ServiceOrg, among
from crmbench.domains.service.records import must_all_exist, must_exist, shown
from crmbench.domains.service.schema import (
    EMAIL_MESSAGE,
    ISSUE,
    LIVE_CHAT_TRANSCRIPT,
    ORDER,
    ORDER_ITEM,
    PRODUCT2,
)
from crmbench.domains.service.tools.arguments import Day, Id, Ids
from crmbench.errors import ToolError


@tool()
def get_account_id_by_contact_id(org: ServiceOrg, contact_id: Id) -> str:
    """The account that a contact belongs to. Returns its id as text.

    Args:
        contact_id: id of the contact, such as a case has under ContactId
    """
    account: str = must_exist(org, "Contact", contact_id)["AccountId"]
    return account


@tool()
def get_order_item_ids_by_product(org: ServiceOrg, product_id: Id) -> list[str]:
    """All order items in which a product was sold. Returns a list of order item ids, empty if it
    was never sold.

    Args:
        product_id: id of the product
    """
    must_exist(org, "Product2", product_id)
    rows = org.select("items of product", _items_statement, product=product_id)
    return [row["Id"] for row in rows]


def _items_statement(dialect: str) -> sa.SelectBase:
    del dialect
    c = ORDER_ITEM.c
    return sa.select(c.Id).where(c.Product2Id == sa.bindparam("product")).order_by(c.Id)


@tool()
def get_purchase_history(
    org: ServiceOrg, account_id: Id, purchase_date: Day, related_product_ids: Ids | None = None
) -> list[Row]:
    """What a customer ordered on one day. Returns a list of records with Product2Id, ProductName,
    OrderItemId, OrderId, Quantity and UnitPrice (US dollars); it is empty when nothing of that was
    ordered that day.

    Args:
        account_id: id of the customer's account
        purchase_date: the day of the order, such as 2025-03-01
        related_product_ids: only these products, for example those that search_products found
    """
    must_exist(org, "Account", account_id)
    if related_product_ids is None:
        return org.select("bought", _bought_statement, account=account_id, day=purchase_date)
    if not related_product_ids:
        raise ToolError(
            "Related product ids is an empty list, which no order can fit. Leave it out to see "
            "everything that was ordered that day."
        )
    must_all_exist(org, "Product2", related_product_ids)
    return org.select(
        "bought of products",
        _bought_of_statement,
        account=account_id,
        day=purchase_date,
        products=related_product_ids,
    )


def _bought_statement(dialect: str) -> sa.Select[tuple[object, ...]]:
    del dialect
    item, order = ORDER_ITEM.c, ORDER.c
    return (
        sa.select(
            item.Product2Id,
            PRODUCT2.c.Name.label("ProductName"),
            item.Id.label("OrderItemId"),
            item.OrderId,
            item.Quantity,
            item.UnitPrice,
        )
        .select_from(
            ORDER_ITEM.join(ORDER, order.Id == item.OrderId).join(
                PRODUCT2, PRODUCT2.c.Id == item.Product2Id
            )
        )
        .where(order.AccountId == sa.bindparam("account"))
        .where(order.EffectiveDate == sa.bindparam("day"))
        .order_by(item.Id)
    )


def _bought_of_statement(dialect: str) -> sa.SelectBase:
    return _bought_statement(dialect).where(among(dialect, ORDER_ITEM.c.Product2Id, "products"))


@tool()
def get_issues(org: ServiceOrg) -> list[Row]:
    """All issues that a case can be about. Returns a list of records with Id, Name and
    Description__c.
    """
    return org.select("issues", lambda _: sa.select(ISSUE).order_by(ISSUE.c.Name))


@tool()
def get_email_messages_by_case_id(org: ServiceOrg, case_id: Id) -> list[Row]:
    """The e-mails of a case, oldest first. Returns a list of records with Id, Subject, TextBody,
    FromAddress, ToIds and MessageDate (UTC); it is empty when there are none.

    Args:
        case_id: id of the case
    """
    must_exist(org, "Case", case_id)
    rows = org.select("emails", _emails_statement, case=case_id)
    names = ("Id", "Subject", "TextBody", "FromAddress", "ToIds", "MessageDate")
    return [shown(row, *names) for row in rows]


def _emails_statement(dialect: str) -> sa.SelectBase:
    del dialect
    c = EMAIL_MESSAGE.c
    chosen = sa.select(EMAIL_MESSAGE).where(c.ParentId == sa.bindparam("case"))
    return chosen.order_by(c.MessageDate, c.Id)


@tool()
def get_livechat_transcript_by_case_id(org: ServiceOrg, case_id: Id) -> list[Row]:
    """The chats of a case, oldest first. Returns a list of records with Id, OwnerId (the agent who
    chatted), Body (the whole conversation) and EndTime (UTC); it is empty when there was no chat.

    Args:
        case_id: id of the case
    """
    must_exist(org, "Case", case_id)
    rows = org.select("chats", _chats_statement, case=case_id)
    return [shown(row, "Id", "OwnerId", "Body", "EndTime") for row in rows]


def _chats_statement(dialect: str) -> sa.SelectBase:
    del dialect
    c = LIVE_CHAT_TRANSCRIPT.c
    chosen = sa.select(LIVE_CHAT_TRANSCRIPT).where(c.CaseId == sa.bindparam("case"))
    return chosen.order_by(c.EndTime, c.Id)


TOOLS = (
    get_account_id_by_contact_id,
    get_order_item_ids_by_product,
    get_purchase_history,
    get_issues,
    get_email_messages_by_case_id,
    get_livechat_transcript_by_case_id,
)
