"""What the domains on a service org have in common."""

from __future__ import annotations

from functools import cached_property
from importlib import resources
from typing import ClassVar, Self

from crmbench.core.tool import Toolbox
from crmbench.domains.service.tools import TOOL_SETS, ToolSet
from crmbench.errors import InputError


class OrgDomain:
    """The tool sets and the policy of a domain on a service org; a base of two.

    Args:
        tool_set: Which tools agents have. Ground truth is walked with all of them (``both``); the
            episode of an agent that has fewer is made with `with_tools`.
    """

    tool_sets: tuple[str, ...] = TOOL_SETS
    toolboxes: ClassVar[dict[ToolSet, Toolbox]]
    """The tools of each set."""
    package: ClassVar[str]
    """Where ``policy.md`` is."""

    def __init__(self, tool_set: ToolSet = "both") -> None:
        self.tool_set = tool_set
        self.toolbox = self.toolboxes[tool_set]

    def with_tools(self, tool_set: str) -> Self:
        """The same domain for agents with another set of tools.

        Raises:
            InputError: There is no such set.
        """
        for known in TOOL_SETS:
            if known == tool_set:
                return type(self)(known)
        raise InputError(f"there is no tool set '{tool_set}'", expected=" or ".join(TOOL_SETS))

    @cached_property
    def policy(self) -> str:
        """The house rules, as every agent is told them."""
        return (resources.files(self.package) / "policy.md").read_text(encoding="utf-8")
