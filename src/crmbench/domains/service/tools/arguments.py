"""The arguments of the service tools beyond plain text and numbers, checked before a tool runs."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from crmbench.core.arguments import Kind, check_number, check_text
from crmbench.domains.service.org import moment_text
from crmbench.domains.service.schema import PICKLISTS
from crmbench.errors import ToolError
from crmbench.salesforce.ids import full_id, is_id

MAX_IDS = 10_000
"""Items that a list of ids or cases may hold, and cases that a tool returns at most."""

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?"
)
_ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?")


def check_moment(value: Any, label: str) -> str:
    """A date (its first moment in UTC) or a moment, in the form in which the org stores moments.

    Raises:
        ToolError: The value is not of that form.
    """
    text = check_text(value, label).strip()
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        zone = "+00:00" if match[3] in (None, "Z") else match[3]
        return moment_text(datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{zone}"))
    except (ValueError, OverflowError):
        raise ToolError(
            f"{label} must be a date such as 2025-03-01 or a moment in UTC such as "
            f"2025-03-01T00:00:00Z (got '{text[:40]}')."
        ) from None


def check_date(value: Any, label: str) -> str:
    """A calendar date; of a moment the day in UTC."""
    return check_moment(value, label)[:10]


def check_id(value: Any, label: str) -> str:
    """Something of the form of an id; whether there is such a record is for the tool to see.

    Raises:
        ToolError: The value is not of that form.
    """
    text = check_text(value, label).strip()
    if is_id(text):
        return full_id(text)
    if _ID.fullmatch(text):
        raise ToolError(f"{label}: '{text}' is no valid id; was it copied letter by letter?")
    raise ToolError(
        f"{label} must be an id of 18 letters and digits (got '{text[:40] or 'empty text'}')."
    )


def check_ids(value: Any, label: str) -> list[str]:
    return [check_id(item, f"{label} item") for item in _check_list(value, label)]


def check_cases(value: Any, label: str) -> list[Any]:
    """Ids of cases, or records that have one under "Id".

    Raises:
        ToolError: The value is not of that form.
    """
    ids = []
    for item in _check_list(value, label):
        if isinstance(item, dict):
            found = item.get("Id", item.get("id"))
            if found is None:
                raise ToolError(f"{label}: every record of a case needs its Id.")
            item = found
        ids.append(check_id(item, f"{label} item"))
    return ids


def check_numbers(value: Any, label: str) -> dict[str, float]:
    """Numbers by name.

    Raises:
        ToolError: The value is not of that form.
    """
    if type(value) is not dict:
        raise ToolError(f"{label} must be an object of ids and numbers.")
    if len(value) > MAX_IDS:
        raise ToolError(f"{label} must not hold more than {MAX_IDS:,} numbers.")
    return {
        check_text(name, label): check_number(number, f"{label}: the value of '{str(name)[:40]}'")
        for name, number in value.items()
    }


def check_case_lists(value: Any, label: str) -> dict[str, int]:
    """How many cases each agent has, of lists of cases (or of the numbers themselves).

    Raises:
        ToolError: The value is not of that form.
    """
    if type(value) is not dict:
        raise ToolError(f"{label} must be an object of agent ids and lists of case ids.")
    counts = {}
    for name, held in value.items():
        agent = check_id(name, f"{label}: an agent's id")
        if isinstance(held, list):
            counts[agent] = len(set(check_cases(held, f"{label}: cases of {agent}")))
        else:
            counts[agent] = int(check_number(held, f"{label}: cases of {agent}"))
    return counts


def check_statuses(value: Any, label: str) -> list[str]:
    """Read check statuses.

    Raises:
        ToolError: The value is not of that form.
    """
    known = PICKLISTS["Case", "Status"]
    statuses = _check_list(value, label)
    for status in statuses:
        if status not in known:
            raise ToolError(f"{label} item must be one of: {', '.join(known)}.")
    return statuses


def _check_list(value: Any, label: str) -> list[Any]:
    if type(value) is not list:
        raise ToolError(f"{label} must be a list.")
    if len(value) > MAX_IDS:
        raise ToolError(f"{label} must not hold more than {MAX_IDS:,} items.")
    return value


class Argument(Kind):
    """A kind that an annotation can hold: one whose JSON schema does not keep it from hashing."""

    def __hash__(self) -> int:
        return hash(self.check)


_STRING = {"type": "string"}

Moment = Annotated[str, Argument(_STRING, check_moment)]
Day = Annotated[str, Argument(_STRING, check_date)]
Id = Annotated[str, Argument(_STRING, check_id)]
Ids = Annotated[list[str], Argument({"type": "array", "items": _STRING}, check_ids)]
Cases = Annotated[
    list[str],
    Argument({"type": "array", "items": {"anyOf": [_STRING, {"type": "object"}]}}, check_cases),
]
Numbers = Annotated[
    dict[str, float],
    Argument({"type": "object", "additionalProperties": {"type": "number"}}, check_numbers),
]
CaseLists = Annotated[
    dict[str, int],
    Argument(
        {"type": "object", "additionalProperties": {"type": "array", "items": _STRING}},
        check_case_lists,
    ),
]
Statuses = Annotated[
    list[str],
    Argument(
        {
            "type": "array",
            "items": {"type": "string", "enum": list(PICKLISTS["Case", "Status"])},
        },
        check_statuses,
    ),
]


def check_period(start: str | None, end: str | None) -> None:
    """Refuse a period that ends before it starts, or where it starts.

    Raises:
        ToolError: It holds no moment.
    """
    if start is not None and end is not None and start >= end:
        raise ToolError(
            f"The start date must lie before the end date (got {start[:10]} and {end[:10]}); the "
            "end itself is not part of a period."
        )
