"""Sets in shards, made by workers: a shard is generated, encoded and given back as bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from crmbench.authoring.domain import Generate
from crmbench.domains.registry import load_generator
from crmbench.errors import InputError
from crmbench.formats.shards import MadeShard, ShardedSet, ShardPlan, shard_of
from crmbench.language.counts import counted
from crmbench.runner.executors.spread import check_executor, open_executor, workers_asked

Progress = Callable[[int, int], None]
"""Told the number of shards done and of all."""


def generate_shards(
    plan: ShardPlan,
    folder: Path,
    *,
    workers: int | None = None,
    executor: str = "",
    on_progress: Progress | None = None,
) -> ShardedSet:
    """Write a set in shards, or what is lacking of it. The bytes do not depend on the workers.

    Args:
        workers: Processes that share the work, or actors on Ray; None: one for each core, on Ray
            one for each CPU of the cluster.
        executor: See `crmbench.runner.executors.spread.open_executor`.

    Raises:
        InputError: The domain cannot make shards of that size, or the directory holds another set.
        HarnessError: A family finds no further task.
    """
    check_executor(executor)
    generator_of(plan)
    written = ShardedSet(folder)
    first = written.begin(plan)
    rest = range(first, plan.shards)
    if rest:
        count = min(workers_asked(workers, executor), len(rest))
        with open_executor(executor, count, begin, (plan,), end) as opened:
            for made in opened.stream(make_shard, rest):
                written.add(plan, made)
                if on_progress is not None:
                    on_progress(made.record.number + 1, plan.shards)
    written.finish()
    return written


def generator_of(plan: ShardPlan) -> Generate:
    """What makes a shard's conversations, from a seed and a size.

    Raises:
        InputError: There is no such domain, or it has no hard set.
    """
    if plan.level is None:
        return load_generator(plan.domain)
    return partial(load_generator(plan.domain, "hard"), level=plan.level)


def plan_shards(
    domain: str, seed: int, size: int, shards: int, level: int | None = None
) -> ShardPlan:
    """The plan of a set of `size` conversations.

    Raises:
        InputError: They cannot be shared out equally.
    """
    if size % shards:
        near = size - size % shards + shards
        raise InputError(
            f"{counted(size, 'conversation')} make no {shards:,} shards of the same size",
            field="--size",
            expected=f"a multiple of the shards, such as {near}",
        )
    return ShardPlan(domain, seed, size // shards, shards, level)


_plan: ShardPlan | None = None
_generate: Generate | None = None


def begin(plan: ShardPlan) -> None:
    """Make a worker ready."""
    global _plan, _generate
    _plan, _generate = plan, generator_of(plan)


def make_shard(number: int) -> MadeShard:
    """The shard of a number."""
    assert _plan is not None, "begin() comes before the first shard"
    assert _generate is not None, "begin() loads what generates"
    return shard_of(_plan, number, _generate(_plan.seed_of(number), _plan.size))


def end() -> None:
    """Let go of what the worker holds."""
    global _plan, _generate
    _plan = _generate = None
