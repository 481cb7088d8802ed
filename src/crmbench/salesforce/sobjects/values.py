"""A value from outside as a field stores it, with the errors that Salesforce gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from crmbench.salesforce.ids import full_id, is_id
from crmbench.salesforce.sobjects.errors import (
    MALFORMED_ID,
    NO_COLUMN,
    PARSER,
    SobjectError,
)
from crmbench.salesforce.sobjects.schema import FieldSpec
from crmbench.salesforce.soql.builder import FIRST_YEAR, LAST_YEAR
from crmbench.salesforce.soql.dates import datetime_text

MOST = 10.0**15
"""Numbers beyond this size are refused."""
MOST_INTEGER = 2**31 - 1
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that no database keeps: ``"\\x00"``; not a line break."""
_OFFSET = re.compile(r"([+-]\d\d)(\d\d)$")
"""An offset as Salesforce writes it, ``+0000``; not ``+00:00``, which Python reads as it is."""


def stored(field: FieldSpec, value: Any, text: bool = False) -> Any:
    """What a field stores of a value.

    Args:
        field: Where the value is to go.
        value: As JSON has it.
        text: Whether it comes from CSV or XML, where all values are text.

    Raises:
        SobjectError: The value does not fit the field.
    """
    if value is None or value == "":
        return None
    if text and isinstance(value, str):
        value = from_text(field, value)
    return _READERS.get(field.type, _string)(field, value)


def from_text(field: FieldSpec, value: str) -> Any:
    """A value of CSV or XML as JSON would have it.

    Raises:
        SobjectError: The text is no value of the field's type.
    """
    if field.type == "boolean":
        if value.strip().lower() not in ("true", "false", "0", "1"):
            raise bad_value(field, value)
        return value.strip().lower() in ("true", "1")
    if field.type in ("int", "double", "currency", "percent"):
        try:
            return float(value)
        except ValueError:
            raise bad_value(field, value) from None
    return value


def bad_value(field: FieldSpec, value: Any) -> SobjectError:
    """The error of a value that is not of the field's type."""
    token = {
        bool: "VALUE_TRUE" if value is True else "VALUE_FALSE",
        int: "VALUE_NUMBER_INT",
        float: "VALUE_NUMBER_FLOAT",
        str: "VALUE_STRING",
        list: "START_ARRAY",
        dict: "START_OBJECT",
    }.get(type(value), "VALUE_STRING")
    shown = "" if isinstance(value, list | dict) else f" value {str(value)[:80]}"
    return SobjectError(
        PARSER,
        f"Cannot deserialize instance of {field.type} from {token}{shown} or request may be "
        f"missing a required field: {field.name}",
    )


def _string(field: FieldSpec, value: Any) -> Any:
    if not isinstance(value, str) or UNSTORABLE.search(value):
        raise bad_value(field, value)
    cleaned = value.strip()
    if len(cleaned) > field.length:
        raise SobjectError(
            "STRING_TOO_LONG",
            f"{field.label}: data value too large: {cleaned[:60]} (max length={field.length})",
            [field.name],
        )
    return cleaned or None


def _email(field: FieldSpec, value: Any) -> Any:
    address = _string(field, value)
    name, at, host = (address or "a@b").partition("@")
    if not (name and at and host) or "@" in host or any(c.isspace() for c in name + host):
        raise SobjectError(
            "INVALID_EMAIL_ADDRESS", f"{field.label}: invalid email address: {address}",
            [field.name],
        )  # fmt: skip
    return address


def _picklist(field: FieldSpec, value: Any) -> Any:
    chosen = _string(field, value)
    if chosen is None or not field.values or chosen in field.values:
        return chosen
    same = next((v for v in field.values if v.lower() == chosen.lower()), None)
    if same is not None:
        return same
    raise SobjectError(
        "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
        f"{field.label}: bad value for restricted picklist field: {chosen}",
        [field.name],
    )


def _id(field: FieldSpec, value: Any) -> Any:
    if not isinstance(value, str):
        raise bad_value(field, value)
    if not is_id(value):
        raise SobjectError(
            MALFORMED_ID,
            f"{field.label}: id value of incorrect type: {value[:40]}",
            [field.name],
        )
    return full_id(value)


def _boolean(field: FieldSpec, value: Any) -> bool:
    if not isinstance(value, bool):
        raise bad_value(field, value)
    return value


def _number(field: FieldSpec, value: Any) -> float:
    if isinstance(value, str):
        value = from_text(field, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad_value(field, value)
    if not -MOST < value < MOST:
        raise SobjectError(
            "NUMBER_OUTSIDE_VALID_RANGE",
            f"{field.label}: value outside of valid range on numeric field: {value}",
            [field.name],
        )
    return round(float(value), 6)


def _integer(field: FieldSpec, value: Any) -> int:
    number = _number(field, value)
    if not number.is_integer():
        raise bad_value(field, value)
    if abs(number) > MOST_INTEGER:
        raise SobjectError(
            "NUMBER_OUTSIDE_VALID_RANGE",
            f"{field.label}: value outside of valid range on numeric field: {value}",
            [field.name],
        )
    return int(number)


def _date(field: FieldSpec, value: Any) -> str:
    if not isinstance(value, str):
        raise bad_value(field, value)
    try:
        day = date.fromisoformat(value[:10])
        if len(value) > 10:
            parse_moment(value)
    except ValueError:
        raise bad_value(field, value) from None
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise bad_value(field, value)
    return day.isoformat()


def _datetime(field: FieldSpec, value: Any) -> str:
    if not isinstance(value, str):
        raise bad_value(field, value)
    try:
        moment = parse_moment(value)
    except ValueError:
        raise bad_value(field, value) from None
    return datetime_text(moment)


def parse_moment(text: str) -> datetime:
    """A moment as clients write it; a day is its midnight, a moment without an offset is UTC.

    Raises:
        ValueError: It is none, or lies outside of what queries can name.
    """
    if not text.isascii():
        raise ValueError(text)
    written = re.sub(r"\.(\d{1,6})\d*", r".\1", text.strip())
    moment = datetime.fromisoformat(_OFFSET.sub(r"\1:\2", written))
    if not FIRST_YEAR < moment.year < LAST_YEAR:
        raise ValueError(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


_READERS: dict[str, Callable[[FieldSpec, Any], Any]] = {
    "id": _id,
    "reference": _id,
    "picklist": _picklist,
    "email": _email,
    "boolean": _boolean,
    "double": _number,
    "currency": _number,
    "percent": _number,
    "int": _integer,
    "date": _date,
    "datetime": _datetime,
}


def path_id(text: str) -> str:
    """The id of a record from an address.

    Raises:
        SobjectError: It has not the form of one.
    """
    if len(text) not in (15, 18) or not (text.isascii() and text.isalnum()):
        raise SobjectError(MALFORMED_ID, f"malformed id {text[:40]}", [])
    return full_id(text) if is_id(text) else text


__all__ = ["NO_COLUMN", "from_text", "parse_moment", "path_id", "stored"]
