"""A data set from families: worlds and families in turn, ids, splits and canary."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from crmbench.authoring.builder import TaskBuilder
from crmbench.authoring.dataset import Dataset, canary_of, numbered
from crmbench.authoring.family import Family, NoCandidate
from crmbench.core.domain import Domain
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task
from crmbench.core.world import Backend
from crmbench.errors import HarnessError, InputError
from crmbench.grading.directory import directory_of

WriteTask = Callable[[TaskBuilder, random.Random], None]
"""Writes a whole task; raises `NoCandidate` where the world has no record for it."""
TRIES = 80
"""How often a family may fail, or repeat what was said before, until that is an error."""


@dataclass(frozen=True)
class _TaskWriter:
    domain: Domain
    backend: Backend
    families: Sequence[Family[WriteTask]]
    worlds: Sequence[str]
    seed: int
    persona: str
    canary: str
    seen: set[tuple[str, ...]]

    def one(self, number: int) -> Task:
        """The task of a number, from 0: families in turn, worlds as often as each other."""
        family = self.families[number % len(self.families)]
        for attempt in range(TRIES):
            place = f"{self.domain.name} {self.seed}/{number}/{attempt}"
            world = self.worlds[(number // len(self.families) + attempt) % len(self.worlds)]
            source = self.domain.world(world)
            with Sandbox(self.domain, source, self.backend, seed=place) as sandbox:
                builder = TaskBuilder(sandbox, directory_of(self.domain, world).names)
                try:
                    family.write(builder, random.Random(place))
                except NoCandidate:
                    continue
                except HarnessError as error:
                    raise HarnessError(f"family {family.name} in {world}: {error}") from error
            said = tuple(turn.utterance for turn in builder.turns)
            if said and said not in self.seen:
                self.seen.add(said)
                return self._task(family, world, builder)
        raise HarnessError(f"the family {family.name} finds no further task in {TRIES} tries")

    def _task(self, family: Family[WriteTask], world: str, builder: TaskBuilder) -> Task:
        turns = len(builder.turns)
        return Task(
            task_id="",
            domain=self.domain.name,
            world=world,
            turns=tuple(builder.turns),
            gold=Gold(tuple(builder.gold), canary=self.canary),
            family=family.name,
            category=family.category,
            complexity="simple" if turns <= 3 else "medium" if turns <= 6 else "complex",
            persona=self.persona,
            tags=tuple(sorted(builder.tags)),
            success_note=family.about,
        )


def generate_dataset(
    domain: Domain,
    families: Sequence[Family[WriteTask]],
    *,
    seed: int,
    size: int,
    worlds: Sequence[str],
    splits: Mapping[str, float],
    persona: str = "",
    prefix: str = "task",
) -> Dataset:
    """Write the tasks of a domain. The same arguments give the same bytes on every machine.

    Args:
        domain: Whose tools the gold calls use.
        families: They take turns.
        seed: Of all choices.
        size: How many tasks in all.
        worlds: Names of the worlds that the tasks play in.
        splits: Name to share of the tasks; the shares add up to 1.
        persona: Who the user is.
        prefix: What the tasks' ids begin with.

    Raises:
        InputError: There is less than one task a family.
        HarnessError: A gold call is refused, or a family finds no further task.
    """
    if size < len(families):
        raise InputError(
            f"cannot make a data set of {size} conversations", expected=f"at least {len(families)}"
        )
    canary = canary_of(f"{domain.name} canary {seed}")
    with closing(SqliteBackend(domain.schema)) as backend:
        writer = _TaskWriter(domain, backend, families, worlds, seed, persona, canary, set())
        written = [writer.one(number) for number in range(size)]
    rng = random.Random(f"{domain.name} {seed} order")
    tasks = numbered(written, prefix, rng)
    ends = [round(size * sum(list(splits.values())[: i + 1])) for i in range(len(splits))]
    parts = {
        name: tuple(tasks[start:end])
        for name, start, end in zip(splits, [0, *ends[:-1]], ends, strict=True)
    }
    about = {family.name: family.about for family in families}
    return Dataset(domain.name, seed, parts, canary, (), about)
