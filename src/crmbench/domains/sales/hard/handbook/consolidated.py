"""A handbook put together as it stands for one item on one day: the second way to decide.

`crmbench.authoring.handbook.Rulebook` asks each rule, from the top, whether anything sets it aside.
This works from the bottom: it begins with the amendments that nothing changes, settles what has
effect, then what these change, and so on up to the provisions; what is left standing answers.
Both have to agree on every question of a hard set.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from crmbench.authoring.handbook import Amendment, Condition, Facts, Provision
from crmbench.errors import HarnessError


class Consolidated:
    """All rules of a handbook, in the order in which they are settled.

    Args:
        provisions: What it lays down.
        amendments: What changes these, or each other.
    """

    def __init__(self, provisions: Sequence[Provision], amendments: Sequence[Amendment]) -> None:
        self._provisions: dict[str, list[Provision]] = {}
        for rule in provisions:
            self._provisions.setdefault(rule.subject, []).append(rule)
        self._targets = {amendment.article: amendment.target for amendment in amendments}
        ordered = sorted(amendments, key=lambda a: (-self._root(a.article)[1], a.since))
        self._amendments: dict[str, list[Amendment]] = {}
        """Question to what changes its answers, the changes of changes first."""
        for subject, rules in self._provisions.items():
            own = {rule.article for rule in rules}
            self._amendments[subject] = [a for a in ordered if self._root(a.article)[0] in own]

    def _root(self, article: str) -> tuple[str, int]:
        """The provision that an article changes in the end, and how far above it stands."""
        steps = 0
        while article in self._targets:
            article, steps = self._targets[article], steps + 1
        return article, steps

    def answer(self, subject: str, facts: Facts, day: date) -> Any:
        """What holds for an item on a day; see `winner`."""
        return self.winner(subject, facts, day)[1]

    def needed(self, subject: str, facts: Facts, day: date) -> set[str]:
        """The articles on whose being unchanged an answer rests, and what changes them.

        They are the provision that wins, those in force that would go before it if anything widened
        them, and the amendments of all of these. What is older than the winner cannot win.
        """
        winner, _ = self.winner(subject, facts, day)
        rank = _rank(winner)
        found = {
            rule.article
            for rule in self._provisions[subject]
            if rule.since <= day and _rank(rule) >= rank
        }
        # The changes of changes come first in this order, so it is gone through from behind.
        for amendment in reversed(self._amendments[subject]):
            if amendment.target in found and amendment.since <= day:
                found.add(amendment.article)
        return found

    def winner(self, subject: str, facts: Facts, day: date) -> tuple[Provision, Any]:
        """The provision that decides for an item on a day, and its answer as changed by then.

        Raises:
            HarnessError: Nothing answers, or two articles of one rank do.
        """
        void: set[str] = set()
        """Articles that have no effect."""
        wider: set[str] = set()
        """Articles that an extension has speak of the item."""
        figures: dict[str, Any] = {}
        """Article to its figure as changed; the later change is met later."""
        for amendment in self._amendments.get(subject, ()):
            if amendment.since > day or amendment.article in void:
                continue
            target, change = amendment.target, amendment.change
            speaks = amendment.article in wider or _true(amendment.unless or amendment.also, facts)
            if change == "repeal" or (change == "except" and speaks):
                void.add(target)
            elif change == "extend" and speaks:
                wider.add(target)
            elif change == "value":
                figures[target] = figures.get(amendment.article, amendment.value)
        standing = sorted(
            (
                rule
                for rule in self._provisions.get(subject, ())
                if rule.since <= day
                and rule.article not in void
                and (rule.article in wider or all(_true(c, facts) for c in rule.when))
            ),
            key=_rank,
        )
        if not standing:
            raise HarnessError(f"nothing answers '{subject}' on {day}")
        if len(standing) > 1 and _rank(standing[-2]) == _rank(standing[-1]):
            raise HarnessError(f"'{subject}' on {day}: two articles of one rank answer")
        best = standing[-1]
        return best, figures.get(best.article, best.value)


def _rank(rule: Provision) -> tuple[bool, date]:
    return bool(rule.when), rule.since


def _true(condition: Condition | None, facts: Facts) -> bool:
    if condition is None:
        return False
    value = facts[condition.attribute]
    if condition.op == "at least":
        return bool(value >= condition.value)
    if condition.op == "below":
        return bool(value < condition.value)
    return bool(value == condition.value)
