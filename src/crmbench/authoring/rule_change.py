"""A house rule that changes: other words on the page, and other ground truth under it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crmbench.core.task import Task
from crmbench.errors import HarnessError


@dataclass(frozen=True)
class RuleChange:
    """One rule in two versions.

    Args:
        name: As it is asked for.
        rule: Its id on the page.
        before: What the page says of it at first; stands there once.
        after: What the page says once it has changed.
        unwritten: What a page says that leaves the values out, in both versions alike.
        touches: Whether a task's ground truth depends on it.
        changed: The task with the ground truth that holds after the change, under another id; None
            where it would not be certain.
    """

    name: str
    rule: str
    before: str
    after: str
    unwritten: str
    touches: Callable[[Task], bool]
    changed: Callable[[Task], Task | None]

    def page(self, policy: str, text: str) -> str:
        """The house rules with this rule worded as `text`.

        Raises:
            HarnessError: The page does not hold the rule as it was at first.
        """
        if policy.count(self.before) != 1:
            raise HarnessError(f"the house rules do not hold {self.rule} as '{self.name}' has it")
        return policy.replace(self.before, text)
