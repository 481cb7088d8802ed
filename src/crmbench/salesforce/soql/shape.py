"""How values look in a result, and how FORMAT writes them in the locale en_US."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from crmbench.salesforce.soql.plan import Convert
from crmbench.salesforce.soql.scope import Typed

PLACES = 6
"""Decimals of sums and averages."""


def as_number(value: Any) -> Any:
    """A float for whatever number the database gives."""
    return None if value is None else float(value)


def as_boolean(value: Any) -> Any:
    """A stored flag as a boolean."""
    return None if value is None else bool(value)


def converter(typed: Typed, dialect: str) -> Convert | None:
    """What must be done to the database's value so that it is the same from both databases."""
    if typed.kind == "boolean":
        return as_boolean if dialect == "sqlite" else None
    if typed.kind == "number":
        return as_number
    return None


def formatter(typed: Typed) -> Convert:
    """The FORMAT function for values of this type."""
    if typed.kind == "date":
        return format_date
    if typed.kind == "datetime":
        return format_datetime
    if typed.kind in ("number", "integer"):
        currency = typed.field is not None and typed.field.currency
        return format_money if currency else format_number
    if typed.kind == "boolean":
        return lambda value: None if value is None else str(bool(value)).lower()
    return lambda value: value


def format_number(value: Any) -> str | None:
    """1234.5 as ``1,234.5``."""
    if value is None:
        return None
    text = f"{float(value):,.{PLACES}f}"
    return text.rstrip("0").rstrip(".")


def format_money(value: Any) -> str | None:
    """1234.5 as ``$1,234.50``."""
    if value is None:
        return None
    number = float(value)
    return f"{'-' if number < 0 else ''}${abs(number):,.2f}"


def format_date(value: Any) -> str | None:
    """2026-03-02 as ``3/2/2026``."""
    if value is None:
        return None
    day = date.fromisoformat(str(value)[:10])
    return f"{day.month}/{day.day}/{day.year}"


def format_datetime(value: Any) -> str | None:
    """2026-03-02T09:30:00.000+0000 as ``3/2/2026, 9:30 AM``."""
    if value is None:
        return None
    moment = datetime.fromisoformat(str(value))
    hour = moment.hour % 12 or 12
    half = "AM" if moment.hour < 12 else "PM"
    return f"{format_date(str(value))}, {hour}:{moment.minute:02d} {half}"
