"""The records that a result shows: which dictionaries they are, and of which rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from crmbench.core.database import Database

Place = tuple[str, str]
"""A table and a key in it."""


def copied(value: Any) -> Any:
    """A JSON value that may be changed: a result may share its rows with the journal."""
    return orjson.loads(orjson.dumps(value))


def records_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every dictionary in a result, the outer ones first."""
    if isinstance(value, dict):
        yield value
        for each in list(value.values()):
            yield from records_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from records_in(each)


def place_of(database: Database, record: dict[str, Any]) -> Place | None:
    """The row that a dictionary shows, if any.

    A quote names its deal and its client too: of the tables whose key it holds it is of the one
    with which it shares most columns.
    """
    found: list[tuple[int, str, str]] = []
    for table, info in database.schema.tables.items():
        key = record.get(info.key)
        if isinstance(key, str) and key:
            found.append((-len(record.keys() & set(info.columns)), table, key))
    for _, table, key in sorted(found):
        if database.get(table, key) is not None:
            return table, key
    return None


def same_name(name: str) -> str:
    """A field's name such that an argument and the column that it fills have the same."""
    return name.removesuffix("__c").replace("_", "").casefold()
