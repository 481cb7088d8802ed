"""The verdict on an episode while it is being played: each turn is judged once, as it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmbench.core.domain import Domain
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace, TurnTrace
from crmbench.grading.gold import GoldRun
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict, conclude, judge_each


class RunningVerdict:
    """Judges the turns of one episode as they come, and the episode at its end.

    What it says of a turn is what `judge_turns` would say of it in the finished trace, and its
    last word is that of `judge_episode`.

    Args:
        domain: The whole domain, whatever the agent was given of it.
        task: What is played.
        gold_runs: The gold path first, then every other accepted path.
    """

    def __init__(self, domain: Domain, task: Task, gold_runs: Sequence[GoldRun]) -> None:
        self._domain = domain
        self.task = task
        self._gold_runs = gold_runs
        self._coming: list[TurnTrace] = []
        self._judging = judge_each(domain, task, self._arrivals(), gold_runs)
        self.turns: list[TurnVerdict] = []
        """The verdicts so far."""

    def _arrivals(self) -> Iterator[TurnTrace]:
        while True:
            yield self._coming.pop()

    def add(self, turn: TurnTrace) -> TurnVerdict:
        """The verdict on the next turn."""
        self._coming.append(turn)
        verdict = next(self._judging)
        self.turns.append(verdict)
        return verdict

    def conclude(self, trace: EpisodeTrace) -> EpisodeVerdict:
        """The verdict on the whole; turns that were not added yet are judged now.

        Args:
            trace: Of the episode; its first turns are those that were added.
        """
        for turn in trace.turns[len(self.turns) :]:
            self.add(turn)
        return conclude(self._domain, self.task, trace, self._gold_runs, tuple(self.turns))
