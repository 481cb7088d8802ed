"""An org's rows, table by table in bounded chunks, each row after those that it refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from crmbench.core.schema import Row
from crmbench.domains.service.text import ARTICLES, ISSUES
from crmbench.domains.service.world.catalog import CATEGORIES
from crmbench.domains.service.world.moments import (
    DAY,
    FIRST_DAY,
    MONTHS,
    TODAY,
    day_texts,
    moment_texts,
    month_days,
    trade_month,
)
from crmbench.domains.service.world.org import OrgArrays
from crmbench.domains.service.world.seeds import Ints
from crmbench.domains.service.world.words import (
    FIRST_NAMES,
    LAST_NAMES,
    MAIL_DOMAINS,
    STATES,
    STORE_DOMAIN,
)

CHUNK = 8_000
Chunk = tuple[str, Iterable[Row]]


def chunks(count: int, size: int = CHUNK) -> Iterator[Ints]:
    """The numbers from 0 to `count` - 1, at most `size` at a time."""
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count), dtype=np.int64)


def stream_base(org: OrgArrays) -> Iterator[Chunk]:
    """All tables but those of the service desk."""
    yield "User", _users(org)
    yield "Account", _accounts(org)
    yield "Contact", _contacts(org)
    yield "Issue__c", _issues(org)
    yield "Knowledge__kav", _articles(org)
    yield from _goods(org)
    yield from _entries(org)
    yield from _orders(org)
    yield from _lines(org)


def account_emails(org: OrgArrays) -> list[str]:
    """The e-mail address of each account; no two are alike."""
    people = org.people
    seen: dict[str, int] = {}
    emails = []
    pairs = zip(people.account_first.tolist(), people.account_last.tolist(), strict=True)
    for number, (first, last) in enumerate(pairs):
        box = f"{FIRST_NAMES[first]}.{LAST_NAMES[last]}".lower()
        times = seen[box] = seen.get(box, 0) + 1
        domain = MAIL_DOMAINS[number * 7 % len(MAIL_DOMAINS)]
        emails.append(f"{box}{times if times > 1 else ''}@{domain}")
    return emails


def contact_emails(org: OrgArrays) -> list[str]:
    """The e-mail address of each contact; the holder of an account has the account's."""
    people = org.people
    emails = account_emails(org)
    extra = zip(
        people.contact_account[people.accounts :].tolist(),
        people.contact_first[people.accounts :].tolist(),
        strict=True,
    )
    shared = [f"{FIRST_NAMES[first].lower()}+{emails[account]}" for account, first in extra]
    return emails + shared


def user_emails(org: OrgArrays) -> list[str]:
    """The e-mail address of each user at the store; no two are alike."""
    pairs = zip(org.people.user_first.tolist(), org.people.user_last.tolist(), strict=True)
    seen: dict[str, int] = {}
    emails = []
    for first, last in pairs:
        box = f"{FIRST_NAMES[first]}.{LAST_NAMES[last]}".lower()
        times = seen[box] = seen.get(box, 0) + 1
        emails.append(f"{box}{times if times > 1 else ''}@{STORE_DOMAIN}")
    return emails


def _phone(area: str, number: int) -> str:
    return f"({area}) 555-{100 + number * 37 % 100:04d}"


def _users(org: OrgArrays) -> Iterator[Row]:
    people, count = org.people, len(org.people.user_first)
    profiles = org.ids.first("Profile", 3)
    created = moment_texts((FIRST_DAY - 400 + np.arange(count) % 380) * DAY + 8 * 3600)
    emails = user_emails(org)
    for n, key in enumerate(org.ids.first("User", count)):
        first, last = FIRST_NAMES[people.user_first[n]], LAST_NAMES[people.user_last[n]]
        state = STATES[people.user_state[n]]
        agent = n < people.agents
        yield {
            "Id": key,
            "FirstName": first,
            "LastName": last,
            "Name": f"{first} {last}",
            "Email": emails[n],
            "Phone": _phone(state.area, n),
            "Username": emails[n],
            "Alias": (first[0] + last)[:8].lower(),
            "ProfileId": profiles[0 if agent else 1 + n % 2],
            "LanguageLocaleKey": "en_US",
            "EmailEncodingKey": "UTF-8",
            "TimeZoneSidKey": state.zone,
            "LocaleSidKey": "en_US",
            "IsActive": agent or n % 12 != 0,
            "CreatedDate": created[n],
        }


def _accounts(org: OrgArrays) -> Iterator[Row]:
    people = org.people
    created = moment_texts(people.account_day * DAY + 7 * 3600)
    emails = account_emails(org)
    record_type = org.ids.one("RecordType", 0)
    for n, key in enumerate(org.ids.first("Account", people.accounts)):
        first, last = FIRST_NAMES[people.account_first[n]], LAST_NAMES[people.account_last[n]]
        state = STATES[people.account_state[n]]
        yield {
            "Id": key,
            "FirstName": first,
            "LastName": last,
            "Name": f"{first} {last}",
            "PersonEmail": emails[n],
            "Phone": _phone(state.area, n),
            "RecordTypeId": record_type,
            "ShippingCity": state.cities[people.account_city[n]],
            "ShippingState": state.code,
            "CreatedDate": created[n],
        }


def _contacts(org: OrgArrays) -> Iterator[Row]:
    people = org.people
    account = people.contact_account
    accounts = org.ids.of("Account", account)
    owners = org.ids.of("User", people.contact_owner)
    created = moment_texts(people.account_day[account] * DAY + 7 * 3600)
    emails = contact_emails(org)
    for n, key in enumerate(org.ids.first("Contact", len(account))):
        first = FIRST_NAMES[people.contact_first[n]]
        last = LAST_NAMES[people.account_last[account[n]]]
        yield {
            "Id": key,
            "FirstName": first,
            "LastName": last,
            "Name": f"{first} {last}",
            "Email": emails[n],
            "AccountId": accounts[n],
            "OwnerId": owners[n],
            "CreatedDate": created[n],
        }


def _issues(org: OrgArrays) -> Iterator[Row]:
    for key, issue in zip(org.ids.first("Issue__c", len(ISSUES)), ISSUES, strict=True):
        yield {"Id": key, "Name": issue.name, "Description__c": issue.description}


def _articles(org: OrgArrays) -> Iterator[Row]:
    count = len(ARTICLES)
    created = moment_texts((FIRST_DAY - 150 + 3 * np.arange(count)) * DAY + 9 * 3600)
    keys = org.ids.first("Knowledge__kav", count)
    for key, article, moment in zip(keys, ARTICLES, created, strict=True):
        yield {
            "Id": key,
            "Title": article.title,
            "FAQ_Answer__c": article.answer,
            "Summary": article.summary,
            "UrlName": article.url_name,
            "PublishStatus": "Online",
            "CreatedDate": moment,
        }


def _goods(org: OrgArrays) -> Iterator[Chunk]:
    products, ids = org.products, org.ids
    count = len(products.items)
    categories = ids.first("ProductCategory", len(CATEGORIES))
    catalog = ids.one("ProductCatalog", 0)
    names = zip(categories, CATEGORIES, strict=True)
    yield (
        "ProductCategory",
        [{"Id": key, "Name": name, "CatalogId": catalog} for key, name in names],
    )
    keys = ids.first("Product2", count)
    sold = (products.retire >= MONTHS).tolist()
    yield (
        "Product2",
        [
            {
                "Id": key,
                "Name": item.name,
                "Description": item.description,
                "IsActive": active,
                "External_ID__c": item.code,
            }
            for key, item, active in zip(keys, products.items, sold, strict=True)
        ],
    )
    links = zip(
        ids.first("ProductCategoryProduct", count), keys, products.category.tolist(), strict=True
    )
    yield (
        "ProductCategoryProduct",
        [
            {"Id": key, "ProductCategoryId": categories[category], "ProductId": product}
            for key, product, category in links
        ],
    )
    yield "Pricebook2", _books(org)


def _books(org: OrgArrays) -> Iterator[Row]:
    for month, key in enumerate(org.ids.first("Pricebook2", MONTHS)):
        start, end = month_days(month)
        yield {
            "Id": key,
            "Name": f"Price List {start[:7]}",
            "Description": f"Retail prices in US dollars for orders placed from {start} to {end}.",
            "IsActive": month == MONTHS - 1,
            "ValidFrom": start,
            "ValidTo": end,
        }


def _entries(org: OrgArrays) -> Iterator[Chunk]:
    products, ids = org.products, org.ids
    books = ids.first("Pricebook2", MONTHS)
    month, product = np.nonzero(products.sold)
    keys = np.array(ids.first("Product2", len(products.items)), dtype=np.object_)
    for numbers in chunks(len(org.prices)):
        columns = zip(
            ids.of("PricebookEntry", numbers),
            month[numbers].tolist(),
            keys[product[numbers]].tolist(),
            org.prices[numbers].tolist(),
            strict=True,
        )
        yield (
            "PricebookEntry",
            [
                {"Id": key, "Pricebook2Id": books[at], "Product2Id": what, "UnitPrice": price}
                for key, at, what, price in columns
            ],
        )


def _orders(org: OrgArrays) -> Iterator[Chunk]:
    orders, ids = org.orders, org.ids
    books = ids.first("Pricebook2", MONTHS)
    for numbers in chunks(len(orders.order_day)):
        days = orders.order_day[numbers]
        columns = zip(
            ids.of("Order", numbers),
            ids.of("Account", orders.order_account[numbers]),
            day_texts(days),
            trade_month(days).tolist(),
            # The store sends within two days.
            np.where(days >= TODAY - 2, "Draft", "Activated").tolist(),
            strict=True,
        )
        yield (
            "Order",
            [
                {
                    "Id": key,
                    "AccountId": account,
                    "Status": status,
                    "EffectiveDate": day,
                    "Pricebook2Id": books[month],
                }
                for key, account, day, month, status in columns
            ],
        )


def _lines(org: OrgArrays) -> Iterator[Chunk]:
    orders, ids = org.orders, org.ids
    keys = np.array(ids.first("Product2", len(org.products.items)), dtype=np.object_)
    for numbers in chunks(len(orders.item_order)):
        entries = orders.item_entry[numbers]
        columns = zip(
            ids.of("OrderItem", numbers),
            ids.of("Order", orders.item_order[numbers]),
            keys[orders.item_product[numbers]].tolist(),
            orders.item_quantity[numbers].tolist(),
            org.prices[entries].tolist(),
            ids.of("PricebookEntry", entries),
            strict=True,
        )
        yield (
            "OrderItem",
            [
                {
                    "Id": key,
                    "OrderId": order,
                    "Product2Id": product,
                    "Quantity": quantity,
                    "UnitPrice": price,
                    "PriceBookEntryId": entry,
                }
                for key, order, product, quantity, price, entry in columns
            ],
        )
