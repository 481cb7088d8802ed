"""The sales data set: 1,200 conversations in two halves, from a seed.

The halves play in different worlds, so they share no record and no instance of a family; fifteen
families are kept out of the training half altogether.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crmbench.authoring.dataset import Dataset, canary_of, numbered
from crmbench.authoring.family import NoCandidate
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.authoring.pools import POOLS, Pool
from crmbench.authoring.sampling import apportion, spread, stratified
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Task
from crmbench.domains.sales.authoring.compose import Order, compose
from crmbench.domains.sales.authoring.family import SalesFamily, load_families
from crmbench.domains.sales.authoring.org import SalesOrg
from crmbench.domains.sales.domain import standard_world
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.world import STANDARD_WORLDS
from crmbench.errors import HarnessError, InputError

STANDARD_SEED = 42
SIZE = 1200
SHARES: Mapping[str, int] = {"simple": 280, "medium": 625, "complex": 295}
"""Conversations of each level of complexity among `SIZE`, as the original states them."""
HELD_OUT = 15
"""Families that the training half never shows."""
STANDARD_SIZE = 400
FEWEST = 4
"""Conversations that each family has at least in a half of the full size."""
_TRIES = 80


@dataclass(frozen=True)
class _Assignment:
    family: SalesFamily
    complexity: str


def generate(seed: int = STANDARD_SEED, size: int = SIZE) -> Dataset:
    """Write the conversations. The same seed gives the same ones on every machine.

    Args:
        seed: Another one than `STANDARD_SEED` also makes other worlds: a private set.
        size: How many in all, an even number; half of them are for training.

    Raises:
        InputError: The size is odd or too small.
    """
    families = list(load_families().values())
    if size % 2 or size < 2 * len(families):
        raise InputError(
            f"cannot make a data set of {size} conversations",
            expected=f"an even number, at least {2 * len(families)}",
        )
    rng = random.Random(f"crmbench sales {seed}")
    held_out = _held_out(families)
    canary = canary_of(f"canary {seed}")
    history = PhrasingHistory()
    worlds = [name if seed == STANDARD_SEED else f"{name}.{seed}" for name in STANDARD_WORLDS]
    halves = []
    for part, names in enumerate((worlds[:6], worlds[6:])):
        known = [f for f in families if part == 1 or f.name not in held_out]
        slots = _slots(known, size // 2, part, rng)
        writer = _Writer(names, known, history, canary, f"{seed}/{part}")
        first = part * (size // 2) + 1
        halves.append(numbered(writer.write(slots), "crm", rng, first))
    train, test = halves
    wanted = min(STANDARD_SIZE, len(test))
    chosen = stratified(test, wanted, lambda t: f"{t.category}/{t.complexity}", random.Random(42))
    splits = {"train": tuple(train), "test": tuple(test), "standard": tuple(chosen)}
    about = {f.name: f.about for f in families}
    return Dataset("sales", seed, splits, canary, held_out, about)


def generate_pool(pool: Pool, seed: int, size: int) -> Dataset:
    """Conversations of one pool: worlds, names and phrasings that no other pool's set has.

    Args:
        pool: ``train``, without the families that the published training half does not show, or
            ``held_out``.
        seed: Of worlds and conversations.
        size: How many, at least one a family.

    Raises:
        InputError: The size is too small.
    """
    families = list(load_families().values())
    held_out = _held_out(families)
    part = POOLS.index(pool)
    known = [f for f in families if pool == "held_out" or f.name not in held_out]
    if size < len(known):
        raise InputError(
            f"cannot make a data set of {size} conversations", expected=f"at least {len(known)}"
        )
    rng = random.Random(f"crmbench sales {pool} {seed}")
    canary = canary_of(f"canary {pool} {seed}")
    worlds = list(STANDARD_WORLDS)[6 * part : 6 * part + 6]
    names = [f"{world}.{pool}.{seed}" for world in worlds]
    slots = _slots(known, size, part, rng)
    writer = _Writer(names, known, PhrasingHistory(), canary, f"{pool} {seed}")
    tasks = numbered(writer.write(slots), f"crm-{pool}-{seed}", rng)
    return Dataset(
        "sales", seed, {pool: tuple(tasks)}, canary, held_out, {f.name: f.about for f in known}
    )


def _held_out(families: Sequence[SalesFamily]) -> tuple[str, ...]:
    """The same families whatever the seed, spread over the categories."""
    ordered = sorted(families, key=lambda f: (f.category, f.name))
    return tuple(sorted(family.name for family in spread(ordered, HELD_OUT)))


def _slots(
    families: Sequence[SalesFamily], size: int, part: int, rng: random.Random
) -> list[_Assignment]:
    """Which family is to write how long a conversation."""
    levels: list[str] = []
    for level, share in SHARES.items():
        # Halves of an odd number: the first half rounds up, the second down.
        levels += [level] * ((share * size * 2 // SIZE + (part == 0)) // 2)
    levels = (levels + ["complex"] * size)[:size]
    rng.shuffle(levels)
    least = min(FEWEST, size // len(families))
    counts = apportion({f.name: f.weight for f in families}, size - least * len(families))
    named = [f for f in families for _ in range(least + counts[f.name])]
    rng.shuffle(named)
    return [_Assignment(f, level) for f, level in zip(named, levels, strict=True)]


class _Writer:
    """Writes the conversations of one half."""

    def __init__(
        self,
        worlds: Sequence[str],
        families: Sequence[SalesFamily],
        history: PhrasingHistory,
        canary: str,
        seed: str,
    ) -> None:
        self.orgs = [_org(name) for name in worlds]
        self.families = families
        self.history = history
        self.canary = canary
        self.seed = seed
        self.backend = SqliteBackend(SCHEMA)
        self.seen: set[tuple[str, str, tuple[str, ...]]] = set()

    def write(self, slots: Sequence[_Assignment]) -> list[Task]:
        return [self._one(number, slot) for number, slot in enumerate(slots)]

    def _one(self, number: int, slot: _Assignment) -> Task:
        rng = random.Random(f"{self.seed}/{number}")
        others = [f for f in self.families if f.category == slot.family.category]
        for attempt in range(_TRIES):
            # A family that finds nothing in any world gives its place to another of its category.
            family = slot.family if attempt < _TRIES // 2 else rng.choice(others)
            second = rng.choice(self.families) if slot.complexity == "complex" else None
            order = Order(
                task_id=f"draft-{self.seed}-{number}",
                family=family,
                second=second if second is not family else None,
                complexity=slot.complexity,
                seed=f"{self.seed}/{number}/{attempt}",
                canary=self.canary,
            )
            org = self.orgs[(number + attempt) % len(self.orgs)]
            try:
                task = compose(order, org, self.backend, self.history)
            except NoCandidate:
                continue
            except HarnessError as error:
                raise HarnessError(f"family {family.name} in {org.name}: {error}") from error
            said = (task.family, task.world, tuple(turn.utterance for turn in task.turns))
            if said not in self.seen:
                self.seen.add(said)
                return task
        raise HarnessError(
            f"the family {slot.family.name} finds no {slot.complexity} conversation in any world"
        )


def _org(name: str) -> SalesOrg:
    world = standard_world(name)
    return SalesOrg(name, world.today, world.owners, world.stream(), world.spec.pool)
