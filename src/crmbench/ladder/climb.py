"""Finding n50 with few episodes: play where the next tells most, until the interval is narrow."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from crmbench.errors import HarnessError
from crmbench.grading.record import EpisodeRecord
from crmbench.ladder.fit import Curve, Half, trials_of
from crmbench.ladder.pool import Rung, harder, measured
from crmbench.runner.evaluate import Evaluator, Job

BATCH = 4
"""Episodes that are chosen at once, and played side by side."""


@dataclass(frozen=True)
class Stop:
    """When a mechanism has been measured well enough."""

    episodes: int = 40
    """Most episodes a mechanism."""
    ratio: float = 2.0
    """Upper end of the interval over the lower one."""


@dataclass
class Climb:
    """One mechanism being measured.

    Args:
        rungs: Its sizes, the smallest first.
        stop: When it ends.
        stored: Task and trial to whether it passed, of episodes of an earlier sitting; other
            mechanisms' may be among them.
    """

    rungs: Sequence[Rung]
    stop: Stop
    stored: dict[tuple[str, int], bool] = field(default_factory=dict)
    outcomes: dict[tuple[str, int], bool] = field(default_factory=dict)
    """Task and trial to whether it passed."""

    def __post_init__(self) -> None:
        self._tasks = {task.task_id: task for rung in self.rungs for task in rung.tasks}

    def record(self, task_id: str, trial: int, passed: bool) -> None:
        """Take note of an episode; of another mechanism's nothing is taken."""
        if task_id in self._tasks:
            self.outcomes[task_id, trial] = passed

    def take(self, record: EpisodeRecord) -> None:
        """`record`, of an episode that counts; one that a server's failure spoilt says nothing."""
        if record.verdict.counted:
            self.record(record.task_id, record.trial, record.verdict.success)

    def curve(self) -> Curve:
        """What is known so far.

        Raises:
            HarnessError: A task of the rungs has no size.
        """
        sizes = [rung.size for rung in self.rungs]
        seen = []
        for (task_id, _), passed in self.outcomes.items():
            size = measured(self._tasks[task_id])
            if size is None:
                raise HarnessError(f"{task_id} has no size")
            seen.append((float(size), passed))
        known = [*sizes, *(x for x, _ in seen)]
        return Curve(trials_of(seen), min(known), max(known), harder(self._tasks.values()))

    def half(self) -> Half:
        """n50 so far, or b50."""
        return self.curve().half()

    def next_jobs(self) -> list[Job]:
        """The episodes to play next; none once it is measured."""
        left = self.stop.episodes - len(self.outcomes)
        if left <= 0 or self._is_narrow():
            return []
        curve = self.curve()
        worth = [curve.information(rung.size) for rung in self.rungs]
        taken: Counter[int] = Counter()
        jobs: list[Job] = []
        for _ in range(min(BATCH, left)):
            # What an episode tells is worth less beside another of the same size.
            place = max(range(len(worth)), key=lambda i: (worth[i] / (1 + taken[i]), -i))
            taken[place] += 1
            jobs.append(self._fresh(self.rungs[place], jobs))
        return jobs

    def batch(self) -> list[Job]:
        """What is left to play of the next batch; none once it is measured.

        Stored episodes are taken note of and not played again, when they are come to: what is
        chosen is what would have been without the break, also where that was within a batch.
        """
        while jobs := self.next_jobs():
            left = []
            for job in jobs:
                key = (job.task.task_id, job.trial)
                if key in self.stored:
                    self.outcomes[key] = self.stored.pop(key)
                else:
                    left.append(job)
            if left:
                return left
        return []

    def _is_narrow(self) -> bool:
        ratio = self.half().ratio()
        return ratio is not None and ratio <= self.stop.ratio

    def _fresh(self, rung: Rung, jobs: Sequence[Job]) -> Job:
        """The rung's next task; once all were played, the next trial of the first."""
        done = {*self.outcomes, *((job.task.task_id, job.trial) for job in jobs)}
        trial = 0
        while True:
            for task in rung.tasks:
                if (task.task_id, trial) not in done:
                    return Job(task, trial)
            trial += 1


async def climb(
    climbs: Mapping[str, Climb],
    evaluator: Evaluator,
    on_finished: Callable[[EpisodeRecord], None],
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Measure every mechanism, each in turn.

    Args:
        on_finished: Handed every episode as it ends.
        stop: Asked before each batch; once it says yes, nothing more is played.
    """
    for each in climbs.values():

        def keep(record: EpisodeRecord, into: Climb = each) -> None:
            into.take(record)
            on_finished(record)

        while not stop():
            jobs = each.batch()
            if not jobs:
                break
            before = len(each.outcomes)
            await evaluator.run(jobs, keep, BATCH)
            if len(each.outcomes) == before:
                # Nothing of the batch counts: the model or its server is down.
                return
            await asyncio.sleep(0)
