"""Rewards: the verdict alone, or shaped by turn, as named parts that add up."""

from __future__ import annotations

from dataclasses import dataclass, fields

from crmbench.errors import InputError
from crmbench.grading.verdict import SAID_DONE, EpisodeVerdict, TurnVerdict
from crmbench.grading.words import Outcome

Parts = dict[str, float]
"""Name to value. The reward is their sum; a part that did not occur is left out."""


@dataclass(frozen=True, slots=True)
class Rewards:
    """What each thing is worth. Weights of penalties are given as positive numbers.

    Raises:
        InputError: A weight is negative, or `undecided` is above 1.
    """

    success: float = 1.0
    """At the end, for an episode whose verdict is a success."""
    turns: float = 0.0
    """For all turns together, shared equally: each right turn pays as it ends."""
    undecided: float = 0.0
    """The share, 0 to 1, of `success` and of a turn's pay where the grader cannot decide. 0 by
    default: what no careful reader can be sure of should not be what a policy learns to write."""
    wrong_record: float = 0.0
    """Penalty for each record written that was to be left alone, in the turn that wrote it."""
    false_success: float = 0.0
    """Penalty for each turn whose reply says that something was done that was not."""
    call: float = 0.0
    """Penalty for each tool call, refused ones included."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value < 0 or (each.name == "undecided" and value > 1):
                raise InputError(
                    f"is {value}",
                    field=f"rewards.{each.name}",
                    expected="0 to 1" if each.name == "undecided" else "0 or more",
                )

    def of_calls(self, count: int) -> Parts:
        """For tool calls that were made."""
        return {"call": -self.call * count} if self.call and count else {}

    def of_turn(self, turn: TurnVerdict, wronged: set[str], of: int) -> Parts:
        """For a turn that has ended.

        Args:
            wronged: Records written in earlier turns that were to be left alone; those of this
                turn are added.
            of: How many turns the task has.
        """
        parts: Parts = {}
        paid = self.turns / of * self._share(turn.outcome)
        if paid:
            parts["turns"] = paid
        wrong = set(turn.wrong_records) - wronged
        wronged |= wrong
        if wrong and self.wrong_record:
            parts["wrong_record"] = -self.wrong_record * len(wrong)
        if turn.misreport == SAID_DONE and self.false_success:
            parts["false_success"] = -self.false_success
        return parts

    def of_episode(self, verdict: EpisodeVerdict) -> Parts:
        """For an episode that has ended."""
        paid = self.success * self._share(verdict.outcome)
        return {"success": paid} if paid else {}

    def _share(self, outcome: Outcome) -> float:
        if outcome is Outcome.UNDECIDED:
            return self.undecided
        return 1.0 if outcome is Outcome.SUCCEEDS else 0.0


VERDICT = Rewards()
"""1 at the end of an episode that succeeds, else 0."""
SHAPED = Rewards(success=1.0, turns=1.0, wrong_record=0.25, false_success=0.25)
"""A right conversation pays 2: half of it turn by turn. Harm costs where it is done."""
