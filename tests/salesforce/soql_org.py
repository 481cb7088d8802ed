"""A small org for the tests of SOQL and SOSL: seven objects, seeded rows, both databases."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateTable

from crmbench.salesforce.catalog import Catalog

NOW = datetime(2026, 3, 18, 10, 30, tzinfo=UTC)
Rows = list[dict[str, Any]]
Data = dict[str, Rows]


def text(size: int = 255) -> sa.types.TypeEngine[str]:
    return sa.String(size).with_variant(sa.String(size, collation="C"), "postgresql")


def key(target: str | None = None, **options: Any) -> Any:
    if target is None:
        return sa.Column("Id", text(18), primary_key=True)
    name = options.pop("name")
    return sa.Column(name, text(18), sa.ForeignKey(f"{target}.Id"), index=True)


METADATA = sa.MetaData()


def typed(name: str, kind: str, **options: Any) -> Any:
    sql: Any = sa.Float() if kind == "currency" else text()
    return sa.Column(name, sql, info={"type": kind}, **options)


sa.Table("User", METADATA, key(), sa.Column("LastName", text(), nullable=False),
         sa.Column("IsActive", sa.Boolean()))  # fmt: skip
sa.Table(
    "Account", METADATA, key(),
    sa.Column("Name", text(), nullable=False), sa.Column("City__c", text()),
    sa.Column("Score__c", sa.Float()), sa.Column("Active__c", sa.Boolean()),
    typed("Since__c", "date"), typed("CreatedDate", "datetime", nullable=False),
    key("User", name="OwnerId"),
)  # fmt: skip
sa.Table(
    "Contact", METADATA, key(),
    sa.Column("LastName", text(), nullable=False), sa.Column("Email", text()),
    key("Account", name="AccountId"), typed("CreatedDate", "datetime", nullable=False),
)  # fmt: skip
sa.Table("Issue__c", METADATA, key(), sa.Column("Name", text(), nullable=False))
sa.Table(
    "Case", METADATA, key(),
    sa.Column("Subject", text(), nullable=False), sa.Column("Status", text(), nullable=False),
    sa.Column("Priority", text()), typed("Description", "textarea"),
    typed("Cost__c", "currency"), sa.Column("Reopened__c", sa.Integer()),
    typed("CreatedDate", "datetime", nullable=False), typed("ClosedDate", "datetime"),
    key("Contact", name="ContactId"), key("Account", name="AccountId"),
    key("User", name="OwnerId"), key("Issue__c", name="IssueId__c"),
)  # fmt: skip
sa.Table(
    "Order", METADATA, key(), key("Account", name="AccountId"),
    sa.Column("Status", text(), nullable=False), typed("EffectiveDate", "date", nullable=False),
)  # fmt: skip
sa.Table(
    "OrderItem", METADATA, key(), key("Order", name="OrderId"),
    sa.Column("Quantity", sa.Integer(), nullable=False), typed("UnitPrice", "currency"),
)  # fmt: skip

CHILDREN = {
    ("Account", "OwnerId"): "Accounts",
    ("Contact", "AccountId"): "Contacts",
    ("Case", "ContactId"): "Cases",
    ("Case", "AccountId"): "Cases",
    ("Case", "OwnerId"): "Cases",
    ("Case", "IssueId__c"): "Cases__r",
    ("Order", "AccountId"): "Orders",
    ("OrderItem", "OrderId"): "OrderItems",
}
PARENTS = {("Case", "IssueId__c"): "Issue__r"}
PREFIXES = {
    "User": "005", "Account": "001", "Contact": "003", "Issue__c": "a00", "Case": "500",
    "Order": "801", "OrderItem": "802",
}  # fmt: skip
SIZES = {
    "User": 6, "Account": 25, "Contact": 40, "Issue__c": 4, "Case": 90, "Order": 50,
    "OrderItem": 120,
}  # fmt: skip
WORDS: dict[str, list[str | None]] = {
    "LastName": ["Miller", "miller", "O'Neil", "Ångström", "Zhou", "abe", "Van_Dyk", "50%off"],
    "Name": ["Acme", "acme two", "Beta Corp", "Gamma", "delta", "Épsilon", "Zeta_1", "Back\\Slash"],
    "City__c": ["Austin", "AUSTIN", "Reno", "boise", None, None],
    "Email": ["a@x.org", "B@X.org", "c_d@y.com", None],
    "Subject": ["Broken zip", "late delivery", "Wrong size", "Broken heel", "Refund please"],
    "Status": ["New", "Working", "Closed", "Escalated"],
    "Priority": ["High", "Medium", "Low", None],
    "Description": ["It broke on the first day.", "Please call me back about the order.", None],
}


def catalog() -> Catalog:
    return Catalog(METADATA, CHILDREN, PARENTS)


def make_data(seed: int = 7) -> Data:
    """Rows of every object; the same for the same seed."""
    rng = random.Random(seed)
    data: Data = {}
    for table in METADATA.sorted_tables:
        prefix = PREFIXES[table.name]
        data[table.name] = [
            {c.name: value(rng, c, data, f"{prefix}{n:012d}AAA") for c in table.columns}
            for n in range(SIZES[table.name])
        ]
        rng.shuffle(data[table.name])
    return data


def value(rng: random.Random, column: Any, data: Data, row_id: str) -> Any:
    if column.primary_key:
        return row_id
    empty = column.nullable and rng.random() < 0.2
    if column.foreign_keys:
        (foreign,) = column.foreign_keys
        return None if empty else rng.choice(data[foreign.column.table.name])["Id"]
    if column.name in WORDS:
        return rng.choice([w for w in WORDS[column.name] if w is not None or column.nullable])
    if empty:
        return None
    if isinstance(column.type, sa.Boolean):
        return rng.random() < 0.5
    if isinstance(column.type, sa.Integer):
        return rng.randint(0, 5)
    if isinstance(column.type, sa.Float):
        return round(rng.uniform(-20, 200), rng.choice([0, 1, 2]))
    moment = NOW + timedelta(seconds=rng.randint(-700 * 86400, 60 * 86400))
    if column.info["type"] == "date":
        return moment.date().isoformat()
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000+0000")


class SqliteOrg:
    """The org in SQLite."""

    def __init__(self, data: Data) -> None:
        self.dialect: Dialect = SQLiteDialect_pysqlite(paramstyle="qmark")
        self.raw = sqlite3.connect(":memory:", isolation_level=None)
        load(self, data)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.raw.execute(sql, parameters).fetchall()


class PostgresOrg:
    """The org in a schema of its own on a PostgreSQL server."""

    def __init__(self, data: Data, url: str) -> None:
        import psycopg
        from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

        dialect_class: Callable[..., Dialect] = PGDialect_psycopg
        self.dialect = dialect_class(paramstyle="format")
        self.raw = psycopg.connect(url, autocommit=True)
        self.execute("DROP SCHEMA IF EXISTS soql_test CASCADE")
        self.execute("CREATE SCHEMA soql_test")
        self.execute("SET search_path TO soql_test")
        load(self, data)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self.raw.execute(sql.encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []


Org = SqliteOrg | PostgresOrg


def load(org: Org, data: Data) -> None:
    for table in METADATA.sorted_tables:
        org.execute(str(CreateTable(table).compile(dialect=org.dialect)))
        insert = sa.insert(table).compile(dialect=org.dialect)
        names = list(insert.positiontup or ())
        for row in data[table.name]:
            org.execute(str(insert), [row[name] for name in names])
