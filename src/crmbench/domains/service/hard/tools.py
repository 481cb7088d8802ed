"""The tools that the hard org has besides those of the easy one."""

from __future__ import annotations

from typing import Literal

from crmbench.core.schema import Row
from crmbench.core.tool import Toolbox, tool
from crmbench.domains.service.hard.schema import OUTCOMES
from crmbench.domains.service.org import Org
from crmbench.domains.service.records import must_exist
from crmbench.domains.service.tools import TASK_TOOLS, TOOL_SETS, WRITE_TOOLS, ToolSet, general
from crmbench.domains.service.tools.arguments import Id
from crmbench.errors import ToolError

ReviewOutcome = Literal["Correct", "Underpaid", "Overpaid", "Refer"]
assert ReviewOutcome.__args__ == OUTCOMES  # type: ignore[attr-defined]


@tool(writes=True)
def record_credit_review(
    org: Org, case_id: Id, outcome: ReviewOutcome, amount: float | None = None
) -> Row:
    """Record what the review of a case's credit found; recording again replaces it. Returns the
    case's number, outcome and amount.

    Args:
        case_id: id of the case
        outcome: Correct, Underpaid, Overpaid or Refer
        amount: in dollars, for Underpaid what is missing and for Overpaid what is too much; left
            out for the others
    """
    case = must_exist(org, "Case", case_id)
    money = outcome in ("Underpaid", "Overpaid")
    if money != (amount is not None):
        raise ToolError(
            f"{outcome} {'needs an' if money else 'takes no'} amount.", "invalid_arguments"
        )
    if amount is not None and amount <= 0:
        raise ToolError("The amount must be more than 0.", "invalid_arguments")
    if case["MasterRecordId"] is not None:
        raise ToolError(f"The case {case['CaseNumber']} was merged into another.", "rule")
    changes = {"ReviewOutcome__c": outcome, "ReviewAmount__c": amount}
    after = org.database.update("Case", case, changes)
    return {name: after[name] for name in ("Id", "CaseNumber", *changes)}


HARD_WRITES = (record_credit_review,)
_COMMON = (*general.ENDING, *WRITE_TOOLS, *HARD_WRITES)

TOOLBOXES: dict[ToolSet, Toolbox] = {
    "tasks": Toolbox([*TASK_TOOLS, *_COMMON]),
    "soql": Toolbox([*general.QUERIES, *_COMMON]),
    "both": Toolbox([*TASK_TOOLS, *general.QUERIES, *_COMMON]),
}

__all__ = ["HARD_WRITES", "TOOLBOXES", "TOOL_SETS"]
