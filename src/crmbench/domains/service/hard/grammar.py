"""Sentences from a grammar, so that two orgs share few of them.

A rule of the grammar is a text with ``[one|other]`` for a choice (which may be empty, and nested),
``<name>`` for another rule and ``{name}`` for a value that the caller fills in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

import yaml

from crmbench.errors import HarnessError

Node = str | tuple["Node", ...] | list["Node"]
"""A text, a sequence (tuple) or a choice (list)."""

_TOKEN = re.compile(r"[\[\]|]|<\w+>|[^\[\]|<]+|<")


@cache
def rules() -> Mapping[str, Node]:
    """The rules of the grammar by name."""
    text = (resources.files("crmbench.domains.service.hard") / "data" / "grammar.yaml").read_text(
        encoding="utf-8"
    )
    data: dict[str, str | list[str]] = yaml.safe_load(text)
    found: dict[str, Node] = {}
    for name, value in data.items():
        options = [value] if isinstance(value, str) else value
        found[name] = [parse(option) for option in options]
    return found


def parse(text: str) -> Node:
    """A text of the grammar as a tree.

    Raises:
        HarnessError: Its brackets do not match.
    """
    tokens = _TOKEN.findall(text)
    node, end = _sequence(tokens, 0)
    if end != len(tokens):
        raise HarnessError(f"the brackets of {text!r} do not match")
    return node


def _sequence(tokens: list[str], at: int) -> tuple[Node, int]:
    parts: list[Node] = []
    while at < len(tokens) and tokens[at] not in ("|", "]"):
        if tokens[at] == "[":
            options: list[Node] = []
            while True:
                option, at = _sequence(tokens, at + 1)
                options.append(option)
                if at >= len(tokens):
                    raise HarnessError("a bracket of the grammar is never closed")
                if tokens[at] == "]":
                    break
            parts.append(options)
        else:
            parts.append(tokens[at])
        at += 1
    return tuple(parts), at


class Writer:
    """Writes texts of the grammar with chance of its own."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def write(self, rule: str, **values: str) -> str:
        """A text of a rule, its values filled in, its spaces and capitals put right."""
        return tidy(self._expand(f"<{rule}>", 0).format_map(values))

    def _expand(self, node: Node, depth: int) -> str:
        if depth > 60:
            raise HarnessError("the grammar goes in circles")
        if isinstance(node, list):
            return self._expand(node[int(self.rng.random() * len(node))], depth + 1)
        if isinstance(node, tuple):
            return "".join([self._expand(part, depth + 1) for part in node])
        if node[0] == "<" and node[-1] == ">":
            return self._expand(rules()[node[1:-1]], depth + 1)
        return node


_SPACES = re.compile(r"[ \t]+")
_BEFORE = re.compile(r" +([,.;:!?])")
_START = re.compile(r"(^|[.!?]\s+|\n)([a-z])")


def tidy(text: str) -> str:
    """One space between words, none before a stop, a capital where a sentence begins."""
    text = _BEFORE.sub(r"\1", _SPACES.sub(" ", text)).replace(" \n", "\n").replace("\n ", "\n")
    return _START.sub(lambda m: m[1] + m[2].upper(), text.strip())
