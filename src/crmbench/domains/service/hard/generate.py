"""The hard service set: tasks of every mechanism at a level, from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from crmbench.authoring.dataset import Dataset
from crmbench.core.clock import uuid_text
from crmbench.core.task import Task
from crmbench.domains.service.hard import census, merging, worklist
from crmbench.domains.service.hard.checks import out_of_reach
from crmbench.domains.service.hard.second_truth import hidden
from crmbench.domains.service.hard.world import PUBLISHED, HardWorld, hard_world
from crmbench.errors import InputError

STANDARD_SEED = 42
LEVELS = ("L1", "L2", "L3", "L4", "L5")
Maker = Callable[[HardWorld, str, int, str], Iterator[Task]]
MECHANISMS: dict[str, Maker] = {
    census.MECHANISM: census.tasks,
    worklist.MECHANISM: worklist.tasks,
    merging.MECHANISM: merging.tasks,
}
SIZE = 120
ABOUT = {
    **{f"credit_review_{level}": (census.__doc__ or "").strip() for level in LEVELS},
    **{f"queue_routing_{level}": (worklist.__doc__ or "").strip() for level in LEVELS},
    **{f"duplicate_cases_{level}": (merging.__doc__ or "").strip() for level in LEVELS},
}


def generate(
    seed: int = STANDARD_SEED,
    size: int | None = None,
    level: int = PUBLISHED,
    mechanisms: Collection[str] = tuple(MECHANISMS),
) -> Dataset:
    """Write the hard tasks of a level. The same seed gives the same ones on every machine.

    Args:
        seed: Of the orgs as well as of the tasks; any other than `STANDARD_SEED` makes a private
            set.
        size: How many in all; 120 if left out.
        level: 1 to 5; 3 is the published one.
        mechanisms: Those that are wanted; names of other sets' are passed over.

    Raises:
        InputError: The level or the size is out of range.
    """
    if not 1 <= level <= len(LEVELS):
        raise InputError(f"there is no level {level}", field="--level", expected="1 to 5")
    wanted = SIZE if size is None else size
    makers = [make for name, make in MECHANISMS.items() if name in mechanisms]
    if wanted < len(makers):
        raise InputError(
            f"cannot make a hard set of {wanted} tasks", expected=f"at least {len(makers)}"
        )
    name = LEVELS[level - 1]
    canary = f"crmbench canary {uuid_text(f'service hard canary {seed}', 1)}"
    found = list(islice(_one_a_world(makers, seed, name, canary), wanted))
    random.Random(f"crmbench hard order {seed} {level}").shuffle(found)
    tasks = tuple(
        replace(task, task_id=f"svh-{name.lower()}-{n:04d}") for n, task in enumerate(found, 1)
    )
    return Dataset("service_hard", seed, {"hard": tasks}, canary, (), ABOUT)


def _one_a_world(makers: Sequence[Maker], seed: int, level: str, canary: str) -> Iterator[Task]:
    """One task of each mechanism from one org after the other, so that none helps with another.

    Where the first of an org is none that can be published, it comes from a spare org.
    """
    for part in count() if makers else ():
        for make in makers:
            yield next(_good(make, orgs_of(seed, part), seed, level, canary))


def orgs_of(seed: int, part: int) -> Iterator[int]:
    """The seeds of a part's org and of its spares, without end; none is one of another part's."""
    number = seed * 1000 + part
    yield number if part else seed
    yield from count(number * 1000 + 1)


def _good(make: Maker, orgs: Iterator[int], seed: int, level: str, canary: str) -> Iterator[Task]:
    """The first tasks of orgs whose gold a careful reader reaches, and on whose hidden links an
    item hangs; about one org in a hundred has none.
    """
    for number in orgs:
        world = hard_world(number, LEVELS.index(level) + 1)
        # Memos are aimed at the first only: those behind it are no equal of it.
        for task in islice(make(world, level, seed, canary), 1):
            if not hidden.problems(task, world.made.rows["Knowledge__kav"]):
                yield from () if out_of_reach(task) else (task,)
