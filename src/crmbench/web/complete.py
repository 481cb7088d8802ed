"""What may come next in a query: objects, fields, ways to parents, values, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from crmbench.salesforce.sobjects.schema import FieldSpec, ObjectSchema, OrgSchema

MOST = 30
WORD = re.compile(r"[\w.]*\Z")
"""What is being written: ``Account.Na`` of ``SELECT Account.Na``; nothing after a space."""
FROM = re.compile(r"\bFROM\s+(\w+)", re.IGNORECASE)
"""``FROM Case``; not ``from`` within a word."""
RETURNING = re.compile(r"\bRETURNING\s+(?:[\s\S]*,\s*)?(\w+)\s*\(([^()]*)\Z", re.IGNORECASE)
"""An open list of fields in SOSL: ``RETURNING Case(Id, Su``."""
LAST = re.compile(r"\b(SELECT|FROM|WHERE|AND|OR|NOT|ORDER BY|GROUP BY|HAVING|RETURNING|FIND|IN)\b",
                  re.IGNORECASE)  # fmt: skip
VALUE = re.compile(r"(\w+)\s*(?:=|!=|IN\s*\()\s*'([^']*)\Z", re.IGNORECASE)
"""A value that is being written: ``Status = 'Wo``; not one that is closed."""
CLAUSES = ("SELECT", "FROM", "WHERE", "ORDER BY", "GROUP BY", "LIMIT", "OFFSET", "AND", "OR")
SEARCH = ("FIND {", "} IN ALL FIELDS", "RETURNING", "LIMIT")


class Offer(NamedTuple):
    """Something that may come next."""

    text: str
    kind: str
    """What it is, in a word or two."""
    start: int
    """Where in the query it begins: what stands from there to the cursor is replaced."""


def offers(schema: OrgSchema, text: str, at: int) -> list[Offer]:
    """What may stand at a place of a query, best first.

    Args:
        text: SOQL or SOSL, finished or not.
        at: The cursor's place in it.
    """
    before = text[:at]
    value = VALUE.search(before)
    each = _object(schema, text, before)
    if value is not None:
        return _fitting(_values(each, value[1]), value[2], value.start(2))
    match = WORD.search(before)
    word = match[0] if match else ""
    start = at - len(word)
    clauses = list(LAST.finditer(before[:start]))
    clause = clauses[-1][1].upper() if clauses else ""
    if clause in ("FROM", "RETURNING") and not RETURNING.search(before):
        objects = ((o.name, o.spec.label) for o in schema.objects.values())
        return _fitting([*objects, *_words(text)], word, start)
    if each is None:
        return _fitting(_words(text), word, start)
    path, dot, last = word.rpartition(".")
    for step in path.split(".") if dot else ():
        found = _parent(schema, each, step)
        if found is None:
            return []
        each = found
    fields = [*_fields(schema, each)]
    return _fitting(fields if dot else [*fields, *_words(text)], last, start + len(path) + len(dot))


def _fitting(found: list[tuple[str, str]], word: str, start: int) -> list[Offer]:
    """Those that begin with what is written, then those that hold it."""
    low = word.lower()
    ranked = [(0 if t.lower().startswith(low) else 1, t, kind) for t, kind in found]
    fits = [each for each in ranked if low in each[1].lower() and each[1] != word]
    fits.sort(key=lambda each: each[0])
    return [Offer(text, kind, start) for _, text, kind in fits[:MOST]]


def _words(text: str) -> list[tuple[str, str]]:
    search = text.lstrip().upper().startswith("F")
    return [(word, "word") for word in (SEARCH if search else CLAUSES)]


def _object(schema: OrgSchema, text: str, before: str) -> ObjectSchema | None:
    inside = RETURNING.search(before)
    found = inside or FROM.search(text)
    return schema.get(found[1]) if found else None


def _parent(schema: OrgSchema, each: ObjectSchema, relation: str) -> ObjectSchema | None:
    for field in each.fields.values():
        if field.relation and field.relation.lower() == relation.lower() and field.target:
            return schema.get(field.target)
    return None


def _fields(schema: OrgSchema, each: ObjectSchema) -> Iterator[tuple[str, str]]:
    for field in each.fields.values():
        yield field.name, field.type
        if field.relation and field.target and schema.get(field.target):
            yield f"{field.relation}.", f"to {field.target}"


def _values(each: ObjectSchema | None, name: str) -> list[tuple[str, str]]:
    field: FieldSpec | None = each.fields.get(name.lower()) if each else None
    return [(value, "value") for value in field.values] if field else []
