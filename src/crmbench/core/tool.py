"""Tools: typed functions whose signature and docstring are what the agent reads.

    @tool(writes=True)
    def add_note(crm: CRM, entity_type: EntityType, content: str) -> Row:
        \"\"\"Write a note on a record.

        Args:
            entity_type: What kind of record it is.
            content: The note.
        \"\"\"

The first parameter is the domain's own handle on the database and no part of the tool. Each
further one is checked before the function runs, so that a bad call changes nothing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, get_type_hints

import orjson

from crmbench.core.arguments import Kind, kind_of, label_of
from crmbench.errors import HarnessError, ToolError

ReadBack = Callable[[Mapping[str, Any]], list[tuple[str, dict[str, Any]]]]
"""From a call's arguments to the tools and arguments of other calls."""


@dataclass(frozen=True)
class Param:
    """One argument of a tool."""

    name: str
    kind: Kind
    required: bool
    description: str
    label: str = ""
    """How error messages name it; empty: from its name."""


@dataclass(frozen=True)
class Tool:
    """Something that an agent can call."""

    name: str
    description: str
    writes: bool
    """Whether it may change the org."""
    params: tuple[Param, ...]
    function: Callable[..., Any]
    """Takes the domain's handle and the checked arguments by name; returns a JSON value."""
    unknown: str = "{tool} has no argument named '{name}'."
    """The text for an argument that it does not take."""
    shown_by: ReadBack | None = field(default=None, compare=False)
    """For a tool that writes: the reading calls that show whether a write was done."""
    _by_name: dict[str, Param] = field(init=False, repr=False, compare=False)
    _required: frozenset[str] = field(init=False, repr=False, compare=False)
    _labels: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name = {p.name: p for p in self.params}
        object.__setattr__(self, "_by_name", by_name)
        required = frozenset(p.name for p in self.params if p.required)
        object.__setattr__(self, "_required", required)
        labels = {p.name: p.label or label_of(p.name) for p in self.params}
        object.__setattr__(self, "_labels", labels)

    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON schema of the arguments, as model APIs take them."""
        properties = {}
        for param in self.params:
            properties[param.name] = {**param.kind.schema}
            if param.description:
                properties[param.name]["description"] = param.description
        parameters = {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in self.params if p.required],
            "additionalProperties": False,
        }
        return {"name": self.name, "description": self.description, "parameters": parameters}

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments to call the function with.

        Raises:
            ToolError: One is missing, unknown or of the wrong type.
        """
        if not isinstance(arguments, Mapping):
            raise ToolError("The arguments must be an object of names and values.")
        by_name, labels = self._by_name, self._labels
        checked = {}
        for name, value in arguments.items():
            param = by_name.get(name)
            if param is None:
                raise ToolError(self._unknown_argument(str(name)))
            # Models send null for what they leave out; a required one is still missed below.
            if value is None:
                continue
            checked[name] = param.kind.check(value, labels[name])
        if not self._required <= checked.keys():
            missing = sorted(self._required - checked.keys())
            names = ", ".join(f"'{name}'" for name in missing)
            raise ToolError(f"{self.name} misses the required argument {names}.")
        return checked

    def _unknown_argument(self, name: str) -> str:
        text = self.unknown.format(tool=self.name, name=name[:80])
        return f"{text} {self.name} takes: {', '.join(self._by_name) or 'no arguments'}."


def tool(
    *, writes: bool = False, unknown: str | None = None, shown_by: ReadBack | None = None
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool. Its name, signature and Google-style docstring describe it.

    Args:
        writes: Whether it may change the org.
        unknown: The text for an argument that it does not take, with ``{name}``.
        shown_by: The reading calls that show whether a write was done.
    """

    def wrap(function: Callable[..., Any]) -> Tool:
        hints = get_type_hints(function, include_extras=True)
        text, described = _docstring(function)
        params = []
        for index, param in enumerate(inspect.signature(function).parameters.values()):
            if index == 0:
                continue
            required = param.default is inspect.Parameter.empty
            params.append(
                Param(param.name, kind_of(hints[param.name]), required, described[param.name])
            )
        name = function.__name__
        extra = {} if unknown is None else {"unknown": unknown}
        return Tool(name, text, writes, tuple(params), function, **extra, shown_by=shown_by)

    return wrap


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description and what its ``Args`` say of each parameter."""
    text = inspect.getdoc(function)
    if not text:
        raise HarnessError(f"tool {function.__name__} has no docstring")
    head, _, tail = text.partition("\nArgs:\n")
    described: dict[str, str] = {}
    current = ""
    for line in tail.split("\n"):
        start = re.match(r"    (\w+): (.*)", line)
        if start:
            current = start[1]
            described[current] = start[2]
        elif current and line.startswith("        "):
            described[current] += " " + line.strip()
        elif line.strip():
            break
    names = list(inspect.signature(function).parameters)[1:]
    if sorted(described) != sorted(names):
        raise HarnessError(
            f"tool {function.__name__}: its docstring describes {sorted(described)}, "
            f"its signature has {sorted(names)}"
        )
    return " ".join(head.split()), described


class Toolbox:
    """The tools of a domain by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.by_name: dict[str, Tool] = {}
        for each in tools:
            if each.name in self.by_name:
                raise HarnessError(f"two tools are named {each.name}")
            self.by_name[each.name] = each
        # As bytes, for each reader gets a copy of its own: parsing is cheaper than a deep copy.
        self._schemas = orjson.dumps([self.by_name[name].schema() for name in sorted(self.by_name)])

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """What an agent is told of all tools, sorted by name.

        Made anew each time: an agent that edits its own changes nobody else's.
        """
        return tuple(orjson.loads(self._schemas))

    def get(self, name: object) -> Tool:
        """The tool of that name.

        Raises:
            ToolError: There is none; the text names the nearest.
        """
        # A model may call anything, a list too: that is a refusal it can learn from, not an error
        # of ours.
        found = self.by_name.get(name) if isinstance(name, str) else None
        if found is None:
            near = get_close_matches(str(name)[:80], self.by_name, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise ToolError(f"There is no tool named '{str(name)[:80]}'.{hint}", "unknown_tool")
        return found
