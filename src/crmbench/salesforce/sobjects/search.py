"""A search by parameters as a search in SOSL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crmbench.salesforce.sobjects.errors import SobjectError

SPECIAL = re.compile(r"([?&|!{}\[\]()^~*:\\\"'+-])")
"""Characters that SOSL reads as its own: ``-``; not a letter."""
NAME = re.compile(r"[A-Za-z][\w.]*")
"""A name of an object or field: ``Account.Name``; not ``Id FROM User``."""
MOST = 2_000


def sosl_of(given: Mapping[str, Any]) -> str:
    """The SOSL of a search.

    Args:
        given: ``q``, and any of ``in``, ``fields``, ``sobjects`` (each with ``name`` and any of
            ``fields``, ``where``, ``limit``), ``overallLimit``, ``defaultLimit``.

    Raises:
        SobjectError: A parameter is missing, or not what it should be.
    """
    words = given.get("q")
    if not isinstance(words, str) or len(words.strip()) < 2:
        raise SobjectError("MALFORMED_SEARCH", "search term must be longer than one character: q")
    scope = given.get("in", "ALL")
    if not isinstance(scope, str) or scope.upper() not in (
        "ALL",
        "NAME",
        "EMAIL",
        "PHONE",
        "SIDEBAR",
    ):
        raise SobjectError("MALFORMED_SEARCH", "in must be ALL, NAME, EMAIL, PHONE or SIDEBAR")
    escaped = SPECIAL.sub(r"\\\1", words)
    text = f"FIND {{{escaped}}} IN {scope.upper()} FIELDS"
    objects = given.get("sobjects", [])
    if not isinstance(objects, list):
        raise SobjectError("MALFORMED_SEARCH", "sobjects must be a list")
    if objects:
        text += " RETURNING " + ", ".join(_returned(each, given) for each in objects)
    if given.get("overallLimit") is not None:
        text += f" LIMIT {_count(given['overallLimit'], 'overallLimit')}"
    return text


def _returned(each: Any, given: Mapping[str, Any]) -> str:
    if isinstance(each, str):
        each = {"name": each}
    if not isinstance(each, Mapping):
        raise SobjectError("MALFORMED_SEARCH", "each of sobjects must be an object with a name")
    name = _name(each.get("name"))
    fields = each.get("fields", given.get("fields", []))
    if not isinstance(fields, list):
        raise SobjectError("MALFORMED_SEARCH", "fields must be a list of names")
    inside = ", ".join(_name(field) for field in fields) or "Id"
    if each.get("where") is not None:
        inside += f" WHERE {_where(each['where'])}"
    limit = each.get("limit", given.get("defaultLimit"))
    if limit is not None:
        inside += f" LIMIT {_count(limit, 'limit')}"
    return f"{name}({inside})"


def _name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value.strip()):
        raise SobjectError("MALFORMED_SEARCH", f"not a name: {str(value)[:40]}")
    return value.strip()


def _where(value: Any) -> str:
    if not isinstance(value, str):
        raise SobjectError("MALFORMED_SEARCH", "where must be a condition")
    return value


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise SobjectError("MALFORMED_SEARCH", f"{name} must be from 1 to {MOST:,}")
    return value
