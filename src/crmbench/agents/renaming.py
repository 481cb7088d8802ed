"""A session under a domain's usual names, where the org has other ones: found by what tools say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crmbench.agents.protocol import Session
from crmbench.core.conditions.names import with_names
from crmbench.core.conditions.searching import without_total
from crmbench.core.episode import ToolResult
from crmbench.core.tool import Tool
from crmbench.domains.registry import load_domain


def known_names(session: Session, domain: str) -> Session:
    """The session itself, or one that takes the domain's usual names and gives them back.

    A tool is known again by the text that describes it, an argument by its place, and a field of a
    result by the words that these exchange.
    """
    usual = load_domain(domain).toolbox.by_name
    offered = {schema["name"]: schema for schema in session.tools}
    if usual.keys() <= offered.keys():
        return session
    names: dict[str, str] = {}
    tokens: dict[str, str] = {}
    for tool in usual.values():
        found = _same(tool, [schema for name, schema in offered.items() if name not in names])
        if found is None:
            continue
        names[found["name"]] = tool.name
        pairs = [(tool.name, found["name"])]
        pairs += zip((p.name for p in tool.params), found["parameters"]["properties"], strict=False)
        for old, new in pairs:
            if old.count("_") == new.count("_"):
                words = zip(old.split("_"), new.split("_"), strict=True)
                tokens.update((a, b) for a, b in words if a != b)
    return _Usual(session, names, tokens)


def _same(tool: Tool, offered: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The tool that is described as this one is; words may have been added at the end."""
    # Where lists come in pages, what a tool says of its total is left out.
    own = (tool.description, without_total(tool.description))
    alike = [each for each in offered if each["description"].startswith(own)]
    return min(alike, key=lambda each: len(each["description"]), default=None)


class _Usual(Session):
    """Another session under the names that its tools had."""

    def __init__(self, inner: Session, names: Mapping[str, str], tokens: Mapping[str, str]) -> None:
        super().__init__(inner.view, inner.call_now, inner.spend)
        self._there = {usual: name for name, usual in names.items()}
        self._forth = dict(tokens)
        self._back = {new: old for old, new in tokens.items()}
        tools = tuple(self._schema(each, names) for each in inner.tools)
        self._view = replace(inner.view, tools=tools)

    def _schema(self, schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
        parameters = schema["parameters"]
        properties = with_names(parameters["properties"], self._back)
        return {
            **schema,
            "name": names.get(schema["name"], schema["name"]),
            "parameters": {**parameters, "properties": properties},
        }

    def call_now(self, name: Any, arguments: Any) -> ToolResult:
        forth = with_names(arguments, self._forth)
        result = super().call_now(self._there.get(name, name), forth)
        return replace(result, value=with_names(result.value, self._back))
