"""The tools of the service org, one file an area, and the toolboxes that hold them."""

from __future__ import annotations

from typing import Literal, get_args

from crmbench.core.tool import Toolbox
from crmbench.domains.service.tools import (
    article_writes,
    calculations,
    case_writes,
    cases,
    customers,
    general,
    periods,
    search,
)

ToolSet = Literal["tasks", "soql", "both"]
"""Which tools to read with an agent has: those made for the tasks, SOQL and SOSL, or both. The
tools that write and the one that answers belong to all."""
TOOL_SETS: tuple[ToolSet, ...] = get_args(ToolSet)

TASK_TOOLS = (
    *periods.TOOLS,
    *calculations.TOOLS,
    *cases.TOOLS,
    *customers.TOOLS,
    *search.TOOLS,
)
WRITE_TOOLS = (*case_writes.TOOLS, *article_writes.TOOLS)
COMMON_TOOLS = (*general.ENDING, *WRITE_TOOLS)

TOOLBOXES: dict[ToolSet, Toolbox] = {
    "tasks": Toolbox([*TASK_TOOLS, *COMMON_TOOLS]),
    "soql": Toolbox([*general.QUERIES, *COMMON_TOOLS]),
    "both": Toolbox([*TASK_TOOLS, *general.QUERIES, *COMMON_TOOLS]),
}
TOOLBOX = TOOLBOXES["both"]
