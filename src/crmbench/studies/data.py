"""The tasks of a study: a sample in proportion, and sets of tasks on orgs without a latent."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from crmbench.core.task import Task
from crmbench.domains.registry import load_generator
from crmbench.errors import InputError
from crmbench.runner.options import RunOptions
from crmbench.runner.task_sets import choose

LEAST_MADE = 200
"""Tasks that are made at least, of which a sample is drawn."""
MADE_FOR_ONE = 4
"""Tasks that are made for one that is drawn, so that the draw is one."""

Question = tuple[str, tuple[str, ...]]
"""What makes two tasks the same question: the family, and what the user says turn by turn."""


def stratified(tasks: Sequence[Task], sample: int | None, seed: int) -> list[Task]:
    """A sample with each category, and in it each family, in proportion; in the tasks' order.

    The tasks are put in the order of category and family, at random within a family, and every
    n-th is taken: systematic sampling with implicit stratification (Cochran, "Sampling
    Techniques", 1977, chapter 8).

    Args:
        sample: How many; all if None or more than there are.
    """
    if sample is None or sample >= len(tasks):
        return list(tasks)
    rng = random.Random(seed)
    drawn = {task.task_id: rng.random() for task in tasks}
    places = sorted(
        range(len(tasks)),
        key=lambda p: (tasks[p].category, tasks[p].family, drawn[tasks[p].task_id]),
    )
    step = len(places) / sample
    taken = sorted(places[int((number + 0.5) * step)] for number in range(sample))
    return [tasks[place] for place in taken]


def question(task: Task) -> Question:
    """What the task asks, whatever is right."""
    return task.family, tuple(turn.utterance for turn in task.turns)


def latent_sets(
    run: RunOptions, latents: Sequence[str], org_seed: int | None
) -> dict[str | None, tuple[Task, ...]]:
    """Tasks on the default org and on the orgs without one latent each.

    Every set has as many tasks of each family as the default one, families aside that cannot do
    without the latent. A question of the default set that is asked in another one too, word for
    word, is taken there and keeps its id, so that the two can be paired; any other task gets an
    id of its own, lest runs be paired by ids that mean different questions.

    Args:
        run: Domain, filters, sample and seed.
        org_seed: Of the orgs and the questions; the generator's own if None.

    Returns:
        The tasks by the latent that is switched off; by None those of the default org.
    """
    default = tuple(stratified(_made(run, (), org_seed), run.sample, run.seed))
    sets: dict[str | None, tuple[Task, ...]] = {None: default}
    for latent in latents:
        sets[latent] = _matched(default, _made(run, (latent,), org_seed), latent, run.seed)
    return sets


def _made(run: RunOptions, without: tuple[str, ...], org_seed: int | None) -> list[Task]:
    size = None if run.sample is None else max(LEAST_MADE, MADE_FOR_ONE * run.sample)
    seeds = {} if org_seed is None else {"seed": org_seed}
    made = load_generator(run.file)(**seeds, size=size, without=without)
    return choose(made.tasks, filters=run.filters)


def _matched(
    default: Sequence[Task], others: Sequence[Task], latent: str, seed: int
) -> tuple[Task, ...]:
    """As many tasks of each family as the default set has, the same questions first.

    Raises:
        InputError: No task is of a family of the default set.
    """
    rng = random.Random(f"{latent} {seed}")
    by_family: dict[str, list[Task]] = defaultdict(list)
    for task in others:
        by_family[task.family].append(task)
    ids = {question(task): task.task_id for task in default}
    wanted: dict[str, int] = defaultdict(int)
    for task in default:
        wanted[task.family] += 1
    taken: list[Task] = []
    for family, count in wanted.items():
        same = [task for task in by_family[family] if question(task) in ids]
        rest = [task for task in by_family[family] if question(task) not in ids]
        rng.shuffle(rest)
        taken += [replace(task, task_id=ids[question(task)]) for task in same]
        taken += [
            replace(task, task_id=f"{task.task_id}-without-{latent}")
            for task in rest[: max(count - len(same), 0)]
        ]
    if not taken:
        raise InputError(f"no conversation that is left needs no {latent}")
    return tuple(taken)
