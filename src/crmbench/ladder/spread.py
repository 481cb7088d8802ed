"""A ladder shared out among workers: the tasks of each level, then each mechanism's measuring.

What comes of it does not depend on the workers: a level follows from its seed alone, and which
episode a mechanism plays next follows from its own outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.episode_store import EncodedEpisode, encode
from crmbench.grading.record import EpisodeRecord
from crmbench.ladder.climb import Climb, Stop, climb
from crmbench.ladder.pool import LEVELS, Wanted, chosen, made, named, rungs_of, wanted
from crmbench.runner.executors.rates import shared_rates
from crmbench.runner.executors.shards import PlaySetup, PlayWorker, is_ours
from crmbench.runner.executors.spread import check_executor, cores, open_executor
from crmbench.runner.options import RunOptions

Outcomes = dict[tuple[str, int], bool]


class Climbed(NamedTuple):
    """What came of measuring a mechanism."""

    mechanism: str
    outcomes: Outcomes
    """Those that it began with included."""
    episodes: tuple[EncodedEpisode, ...]
    """In the order in which they ended."""


def load_shared(
    files: Sequence[str],
    domains: Sequence[str],
    mechanisms: Sequence[str],
    per_level: int,
    seed: int,
    levels: Sequence[int] = LEVELS,
    *,
    workers: int | None = None,
    executor: str = "",
) -> list[Task]:
    """`crmbench.ladder.pool.load_tasks`, each domain and level made by whoever is free.

    Args:
        workers: Processes, or actors on Ray; None: one for each core, or CPU of the cluster.

    Raises:
        InputError: A domain has no hard set, or no task is of the mechanisms and has a size.
    """
    check_executor(executor)
    if files:
        return chosen(named(files), mechanisms)
    items = wanted(domains, levels, per_level, seed, mechanisms)
    count = workers or (0 if executor.startswith("ray") else cores())
    count = min(count, len(items))
    with open_executor(executor, count, _nothing, (), _nothing) as opened:
        tasks = [task for level in opened.stream(make_level, items) for task in level]
    return chosen(tasks, mechanisms)


def make_level(item: Wanted) -> list[Task]:
    """The tasks of a domain's level."""
    return made(item)


def _nothing() -> None:
    """Workers that make levels hold nothing."""


def climb_workers(options: RunOptions, mechanisms: int, from_code: bool) -> int:
    """How many workers measure; 0: this process alone.

    Args:
        from_code: Whether the agents are objects of this process.

    Raises:
        InputError: Workers are asked for, and cannot be had.
    """
    check_executor(options.executor)
    asked = options.executor not in ("", "inline") or (options.workers or 1) > 1
    if asked and from_code:
        raise InputError(
            "agents that are objects of this process cannot be given to others",
            field="workers",
            expected="the agent by its name, such as my_agent.py:MyAgent, or one worker",
        )
    if asked and options.max_cost is not None:
        raise InputError("workers keep to no limit of cost", expected="--max-cost with one worker")
    if from_code or options.executor == "inline" or options.max_cost is not None:
        return 0
    if options.executor.startswith("ray"):
        return min(options.workers or mechanisms, mechanisms)
    count = options.workers or (cores() if is_ours(options) else 1)
    count = min(count, mechanisms)
    return count if count > 1 or options.executor else 0


def climb_shared(
    tasks: Sequence[Task],
    climbs: Mapping[str, Climb],
    stop: Stop,
    options: RunOptions,
    workers: int,
) -> Iterator[Climbed]:
    """Measure every mechanism that is not measured yet; what came of each, in their order.

    Raises:
        InputError: The agent cannot be used.
        HarnessError: A tool broke, or workers died over the same mechanism.
    """
    items = [(name, each.outcomes) for name, each in climbs.items() if each.next_jobs()]
    with shared_rates(options) as rates:
        setup = PlaySetup(options, tuple(tasks), {}, rates)
        with open_executor(options.executor, workers, begin, (setup, stop), end) as opened:
            yield from opened.stream(climb_one, items)


_worker: PlayWorker | None = None
_stop = Stop()


def begin(setup: PlaySetup, stop: Stop) -> None:
    """Make a worker ready."""
    global _worker, _stop
    _worker, _stop = PlayWorker(setup), stop


def climb_one(item: tuple[str, Outcomes]) -> Climbed:
    """Measure a mechanism, from what is known of it on."""
    assert _worker is not None, "begin() comes before the first mechanism"
    name, known = item
    each = Climb(rungs_of(_worker.setup.tasks)[name], _stop, dict(known))
    kept: list[EncodedEpisode] = []

    def keep(record: EpisodeRecord) -> None:
        kept.append(encode(record))

    _worker.loop.run_until_complete(climb({name: each}, _worker.evaluator, keep))
    return Climbed(name, each.outcomes, tuple(kept))


def end() -> None:
    """Let go of what the worker holds."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.close()
