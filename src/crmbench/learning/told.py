"""The one place where what was recalled enters an agent's prompt: the end of its house rules."""

from __future__ import annotations

from crmbench.learning.tokens import cut

HEADING = "## From earlier conversations"
_ABOUT = (
    "What was kept from conversations before this one. It may be wrong or out of date; the house "
    "rules above go before it."
)


def told(recalled: str, budget: int) -> str:
    """The section that the agent reads; "" where nothing was recalled.

    Args:
        budget: Tokens that the recalled text may have; the rest of it is cut off.
    """
    text = cut(recalled.strip(), budget).strip()
    return f"{HEADING}\n\n{_ABOUT}\n\n{text}" if text else ""
