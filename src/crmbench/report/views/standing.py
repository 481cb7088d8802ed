"""How an episode ended, in a word: for lists, which know no more of it than its outline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Standing = Literal["passed", "failed", "undecided", "not counted"]


class AnyTurn(Protocol):
    """What is asked of a turn's verdict."""

    @property
    def state(self) -> bool | None:
        """Whether the records are right; None where they are not compared."""

    @property
    def mismatches(self) -> tuple[str, ...]:
        """What is wrong with the records."""

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What is wrong with the reply."""


class AnyVerdict(Protocol):
    """What is asked of an episode's verdict."""

    @property
    def counted(self) -> bool:
        """Whether it says something of the agent."""

    @property
    def success(self) -> bool:
        """Whether it succeeded."""

    @property
    def undecided(self) -> bool:
        """Whether open readings decide it."""

    @property
    def turns(self) -> Sequence[AnyTurn]:
        """Those that were played."""


def standing_of(verdict: AnyVerdict) -> Standing:
    """How an episode ended, in one word or two."""
    if not verdict.counted:
        return "not counted"
    if verdict.success:
        return "passed"
    return "undecided" if verdict.undecided else "failed"


def fault_kind(outcome: str, verdict: AnyVerdict) -> str:
    """The kind of fault that an episode failed by first.

    Args:
        outcome: How its trace ended.
    """
    if outcome != "finished":
        return outcome
    for turn in verdict.turns:
        if turn.mismatches:
            return "wrong state" if turn.state is not None else "wrong call"
        if turn.unsaid:
            return "wrong reply"
    return "not finished"
