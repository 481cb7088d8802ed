"""How fast the ground truth of conversations is replayed, graded and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crmbench.agents.oracle import OracleFactory
from crmbench.bench.world import interleaved, ratio, seconds_of, timing
from crmbench.core.task import Task
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.evaluate import Evaluator, grader_on, jobs_for


@dataclass(frozen=True, slots=True)
class Replay:
    """One backend."""

    backend: str
    conversations: int
    turns: int
    seeded: int
    """Records put into the org before the first turns; not turns, but most of some files' work."""
    succeeded: int
    seconds: float
    turns_per_s: float
    slowest_turns_per_s: float
    fastest_turns_per_s: float
    ratio: float
    """Time to that of the first backend, median over rounds."""


class _Player:
    """Replays all tasks on one backend, as often as asked."""

    def __init__(self, tasks: Sequence[Task], backend: str, repeat: int) -> None:
        self.evaluator = Evaluator(OracleFactory(), grader_on(backend))
        self.evaluator.grader.backends.prepare({(task.domain, task.world) for task in tasks}, 1)
        self.jobs = jobs_for(tasks, repeat)
        self.seeded = sum(len(rows) for job in self.jobs for rows in job.task.seed_data.values())
        self.turns = self.succeeded = 0

    def round(self) -> float:
        """One pass over all jobs, one at a time; traces are encoded as a run's file has them."""
        self.turns = self.succeeded = 0
        return seconds_of(lambda: asyncio.run(self.evaluator.run(self.jobs, self._take)))

    def _take(self, finished: EpisodeRecord) -> None:
        finished.trace.to_json()
        self.turns += len(finished.trace.turns)
        self.succeeded += finished.verdict.success


def measure_replay(
    tasks: Sequence[Task], backends: Sequence[str], rounds: int, repeat: int = 1
) -> list[Replay]:
    """Replay `tasks` on every backend, taking turns.

    Args:
        repeat: How often a round plays each task.
    """
    players: dict[str, _Player] = {}
    try:
        for backend in backends:
            players[backend] = _Player(tasks, backend, repeat)
        timers: dict[str, Callable[[], float]] = {b: p.round for b, p in players.items()}
        taken = interleaved(timers, rounds)
    finally:
        for player in players.values():
            player.evaluator.grader.close()
    first = taken[backends[0]]
    return [_replay(backend, players[backend], taken[backend], first) for backend in backends]


def _replay(
    backend: str, player: _Player, seconds: Sequence[float], first: Sequence[float]
) -> Replay:
    found = timing(seconds)
    return Replay(
        backend,
        len(player.jobs),
        player.turns,
        player.seeded,
        player.succeeded,
        found.middle,
        player.turns / found.middle,
        player.turns / found.high,
        player.turns / found.low,
        ratio(seconds, first),
    )
