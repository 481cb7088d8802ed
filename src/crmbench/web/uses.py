"""What a person who plays can do with a record that they look at: the tools that take its id."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Matches between the words of "OrderItem"; nowhere in "Case"."""
_NO_WORD = re.compile(r"\d*(?:__[a-z]+)?$")
"""Matches the ends of "Product2" and "Issue__c"; nothing of "Order_Item"."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that takes a record."""

    tool: str
    writes: bool
    filled: Mapping[str, str]
    """The arguments that say which record."""

    @property
    def query(self) -> str:
        """The arguments as an address holds them."""
        return urlencode(self.filled)


def uses_of(
    schemas: Mapping[str, Mapping[str, Any]],
    writing: Collection[str],
    table: str,
    key: str,
    label: str,
) -> Iterator[ToolUse]:
    """The tools that take a record, those that read first.

    A tool that writes takes it only where it cannot do without: of a client's page one may change
    the client, but not make a contact of somebody else theirs.

    Args:
        schemas: The tools by name, as model APIs take them.
        writing: Those that write.
        table: The record's table in the CRM itself.
        key: Its key there.
        label: What people call such a record.
    """
    for name in sorted(schemas, key=lambda each: (each in writing, each)):
        parameters = schemas[name]["parameters"]
        filled = _filled(parameters, table, key, label)
        required = parameters.get("required", ())
        if filled and (name not in writing or all(each in required for each in filled)):
            yield ToolUse(name, name in writing, filled)


def _filled(parameters: Mapping[str, Any], table: str, key: str, label: str) -> dict[str, str]:
    properties = parameters.get("properties", {})
    for name, each in properties.items():
        beside = f"{name.removesuffix('_type')}_id"
        if name.endswith("_type") and beside in properties and table in each.get("enum", ()):
            return {name: table, beside: key}
    words = {_WORD_START.sub(" ", _NO_WORD.sub("", table)).lower(), label.lower()}
    for name, each in properties.items():
        if any(_takes(name, str(each.get("description", "")), word) for word in words):
            return {name: key}
    return {}


def _takes(name: str, description: str, word: str) -> bool:
    own = f"{word.replace(' ', '_')}_id"
    said = re.match(rf"ids? of (?:the|these) {re.escape(word)}s?\b", description)
    return name in (own, f"{own}s") or said is not None
