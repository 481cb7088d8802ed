"""The house rules, read from the page that agents are given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_RULE = re.compile(r"^- \*\*([A-Z]+-\d+)\*\* (.+?)(?=^- |^#|\Z)", re.MULTILINE | re.DOTALL)


@cache
def text() -> str:
    """The page as agents are given it."""
    return (resources.files("crmbench.domains.sales") / "policy.md").read_text(encoding="utf-8")


@cache
def rules() -> Mapping[str, str]:
    """Id to text of every rule, in the order of the page."""
    return MappingProxyType({m[1]: " ".join(m[2].split()) for m in _RULE.finditer(text())})
