"""A world's records in memory, indexed, for choosing what a conversation is about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from typing import Any

from crmbench.authoring.pools import Pool
from crmbench.domains.sales.enums import CLOSED_STAGES
from crmbench.domains.sales.schema import SCHEMA

Row = dict[str, Any]


class SalesOrg:
    """All records of a world as they are before anybody acts.

    Args:
        name: Of the world.
        today: ISO date.
        owners: Full names of the sales people; the first one is the sales manager.
        stream: Batches of rows by table.
        pool: Which part of the phrasings its people speak in.
    """

    def __init__(
        self,
        name: str,
        today: str,
        owners: tuple[str, ...],
        stream: Iterable[tuple[str, Iterable[Row]]],
        pool: Pool = "",
    ) -> None:
        self.name = name
        self.pool = pool
        self.today = date.fromisoformat(today)
        self.owners = owners
        self.tables: dict[str, list[Row]] = {table: [] for table in SCHEMA.tables}
        for table, rows in stream:
            self.tables[table] += rows

    @property
    def manager(self) -> str:
        """Full name of the sales manager."""
        return self.owners[0]

    @property
    def clients(self) -> list[Row]:
        """All clients, oldest first."""
        return self.tables["Client"]

    @property
    def contacts(self) -> list[Row]:
        """All contacts, oldest first."""
        return self.tables["Contact"]

    @property
    def deals(self) -> list[Row]:
        """All opportunities, oldest first."""
        return self.tables["Opportunity"]

    @property
    def quotes(self) -> list[Row]:
        """All quotes, oldest first."""
        return self.tables["Quote"]

    @property
    def contracts(self) -> list[Row]:
        """All contracts, oldest first."""
        return self.tables["Contract"]

    @property
    def companies(self) -> list[Row]:
        """All companies, oldest first."""
        return self.tables["Company"]

    @cached_property
    def open_deals(self) -> list[Row]:
        """The opportunities that are neither won nor lost."""
        return [deal for deal in self.deals if is_open(deal)]

    @cached_property
    def _client(self) -> Mapping[str, Row]:
        return {row["client_id"]: row for row in self.clients}

    @cached_property
    def _deal(self) -> Mapping[str, Row]:
        return {row["opportunity_id"]: row for row in self.deals}

    @cached_property
    def _children(self) -> Mapping[tuple[str, str], list[Row]]:
        children: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for table, column in (
            ("Contact", "client_id"),
            ("Opportunity", "client_id"),
            ("Quote", "opportunity_id"),
            ("Contract", "client_id"),
            ("Document", "entity_id"),
            ("Note", "entity_id"),
        ):
            for row in self.tables[table]:
                children[table, row[column]].append(row)
        for row in self.contracts:
            if row["opportunity_id"]:
                children["Contract", row["opportunity_id"]].append(row)
        return children

    @cached_property
    def contact_names(self) -> Counter[str]:
        """How many contacts have each full name."""
        return Counter(full_name(contact) for contact in self.contacts)

    def client_of(self, row: Row) -> Row:
        """The client of a deal, contact, contract or quote."""
        if "client_id" not in row:
            row = self._deal[row["opportunity_id"]]
        return self._client[row["client_id"]]

    def deal_of(self, row: Row) -> Row:
        """The deal of a quote or contract."""
        return self._deal[row["opportunity_id"]]

    def children(self, table: str, key: str) -> list[Row]:
        """The records of `table` that hang on the record with this id, oldest first."""
        return self._children.get((table, key), [])

    def contacts_of(self, client: Row) -> list[Row]:
        """The contacts of a client."""
        return self.children("Contact", client["client_id"])

    def deals_of(self, client: Row) -> list[Row]:
        """The opportunities of a client."""
        return self.children("Opportunity", client["client_id"])

    def quotes_of(self, deal: Row) -> list[Row]:
        """The quotes of an opportunity."""
        return self.children("Quote", deal["opportunity_id"])

    def notes_of(self, row: Row, key: str) -> list[Row]:
        """The notes on a record."""
        return self.children("Note", row[key])

    def attached(self, deal: Row) -> int:
        """How many records hang on a deal."""
        key = deal["opportunity_id"]
        tables = ("Quote", "Contract", "Document", "Note")
        return sum(len(self.children(table, key)) for table in tables)


def is_open(deal: Row) -> bool:
    """Whether an opportunity is neither won nor lost."""
    return deal["stage"] not in CLOSED_STAGES


def full_name(contact: Row) -> str:
    """First and last name of a contact."""
    return f"{contact['first_name']} {contact['last_name']}"


def product_of(deal: Row) -> str:
    """What is sold: the part of the deal's name after the client's."""
    return str(deal["name"]).rpartition(" - ")[2]


def version_of(quote: Row) -> int:
    """The number in "v3"; 0 where there is none."""
    digits = "".join(c for c in str(quote["version"] or "") if c.isdigit())
    return int(digits or 0)
