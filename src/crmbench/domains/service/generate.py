"""The service data set: nine tasks, each asked, acted on and talked through, from a seed.

Every right answer is computed twice (see `crmbench.domains.service.truth`) and found a third time
by the gold calls themselves; a difference is an error of the build.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from crmbench.authoring.dataset import Dataset, canary_of
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.authoring.pools import Pool
from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.domain import SERVICE
from crmbench.domains.service.families.best_region import BEST_REGION
from crmbench.domains.service.families.context import AGENT, TaskContext
from crmbench.domains.service.families.draft import Candidate, Draft, Maker
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.handle_time import HANDLE_TIME
from crmbench.domains.service.families.knowledge_qa import KNOWLEDGE_QA
from crmbench.domains.service.families.monthly_trend import MONTHLY_TREND
from crmbench.domains.service.families.naming import NAMED_ENTITY_DISAMBIGUATION
from crmbench.domains.service.families.policy_violation import POLICY_VIOLATION
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.families.routing import NEW_CASE_ROUTING
from crmbench.domains.service.families.top_issue import TOP_ISSUE
from crmbench.domains.service.families.transfer_count import TRANSFER_COUNT
from crmbench.domains.service.families.wording import Voice
from crmbench.domains.service.org import open_org
from crmbench.domains.service.schema import SCHEMA
from crmbench.domains.service.truth import Truth
from crmbench.domains.service.truth.plain import PlainTruth
from crmbench.domains.service.truth.query import QueryTruth
from crmbench.domains.service.world import generate as generate_world
from crmbench.errors import HarnessError, InputError

STANDARD_SEED = 42


class BalanceLimits(NamedTuple):
    """How often the same thing may come."""

    tried: int
    """From so many candidates on: not every org has ten agents who lead in something."""
    constant: float
    """Share of a task's answers that may be the same."""
    topic: float
    """Share of a task's questions that may be about the same product."""
    least: int
    """So many may be the same anyway."""


LIMITS = (
    BalanceLimits(0, 0.14, 0.08, 2),
    BalanceLimits(1500, 0.18, 0.25, 4),
    BalanceLimits(6000, 0.2, 0.5, 6),
)
_TRIES = 20_000

FAMILIES = (
    NEW_CASE_ROUTING,
    HANDLE_TIME,
    TRANSFER_COUNT,
    NAMED_ENTITY_DISAMBIGUATION,
    POLICY_VIOLATION,
    KNOWLEDGE_QA,
    TOP_ISSUE,
    MONTHLY_TREND,
    BEST_REGION,
)
NEEDED = {"policy_violations": POLICY_VIOLATION}
"""Latents without which a task has no right answer but "None", and so is left out."""


@dataclass
class _Balance:
    """Which answers and products a form of a task has how often."""

    size: int
    answers: Counter[str] = field(default_factory=Counter)
    topics: Counter[str] = field(default_factory=Counter)

    def admits(self, candidate: Candidate, tried: int) -> bool:
        """Whether none of a candidate's answers, nor its product, comes too often with it."""
        limits = next(found for found in reversed(LIMITS) if tried >= found.tried)
        most = max(limits.least, int(self.size * limits.topic))
        if candidate.topic and self.topics[candidate.topic] >= most:
            return False
        most = max(limits.least, int(self.size * len(candidate.answers) * limits.constant))
        mine = Counter(candidate.answers)
        return candidate.empty or all(self.answers[a] + n <= most for a, n in mine.items())

    def add(self, candidate: Candidate) -> None:
        self.answers.update(candidate.answers)
        self.topics[candidate.topic] += 1


def _take(candidates: Iterator[Candidate], size: int, empty: int) -> list[Candidate]:
    """The first candidates that keep the answers balanced.

    Args:
        empty: How many of them are to have no answer.

    Raises:
        HarnessError: They are not enough.
    """
    balance = _Balance(size)
    seen: set[str] = set()
    wanted = {True: empty, False: size - empty}
    taken: list[Candidate] = []
    for tried, candidate in enumerate(islice(candidates, _TRIES)):
        if wanted[candidate.empty] == 0 or candidate.about in seen:
            continue
        if not balance.admits(candidate, tried):
            continue
        seen.add(candidate.about)
        balance.add(candidate)
        wanted[candidate.empty] -= 1
        taken.append(candidate)
        if len(taken) == size:
            return taken
    raise HarnessError(f"only {len(taken)} of {size} tasks were found")


def _drafts(
    records: Records,
    truth: Truth,
    family: ServiceFamily,
    seed: int,
    share: float,
    pool: Pool = "",
) -> Iterator[Draft]:
    """The tasks of one of the nine, in all forms.

    Every form has chance of its own, so that what changes in one does not move the others.
    """
    history = PhrasingHistory()
    for form in family.forms:
        rng = random.Random(f"crmbench service {seed} {form.task} {form.form}{pool}")
        context = TaskContext(records, truth, Voice(rng, history, pool), rng)
        size = max(1, round(form.weight * share))
        try:
            taken = _take(form.write(context), size, round(size * form.empty_share))
        except HarnessError as error:
            raise HarnessError(f"{form.name}: {error}") from error
        for candidate in taken:
            yield Draft(
                family=form.name,
                category=form.category,
                persona=_named(candidate.persona, records),
                steps=candidate.build(),
                complexity=form.complexity,
                tags=("unanswerable",) if candidate.empty else (),
            )


def _named(persona: str, records: Records) -> str:
    """Who asks; a service agent is the one whose name comments bear."""
    return f"{records.desk_user}, {persona}" if persona == AGENT else persona


def generate_pool(pool: Pool, seed: int, size: int) -> Dataset:
    """Tasks of one pool: names, phrasings and questions that no other pool's set has.

    Args:
        pool: ``train`` or ``held_out``.
        seed: Of the org and the tasks.
        size: How many.

    Raises:
        InputError: The size is too small.
        HarnessError: The org has not enough for so many.
    """
    return generate(seed, size, pool=pool)


def generate(
    seed: int = STANDARD_SEED,
    size: int | None = None,
    without: Collection[str] = (),
    pool: Pool = "",
) -> Dataset:
    """Write the tasks. The same seed gives the same ones on every machine.

    Args:
        seed: Of the org as well as of the tasks; any other than `STANDARD_SEED` makes a private
            set.
        size: How many in all; the full set if left out. The forms of each of the nine tasks keep
            their proportions.
        without: Latents of the org (see `crmbench.domains.service.world.LATENTS`) to switch off.
            The tasks are then others, as the records are; one of the nine that cannot do without a
            latent is left out, so the set is smaller.
        pool: The part of names and phrasings that it draws on; the split is then called so. All
            of them if empty.

    Raises:
        InputError: The size is too small, or a latent is unknown.
        HarnessError: The org has not enough for so many tasks, or a right answer is in doubt.
    """
    full = sum(form.weight for family in FAMILIES for form in family.forms)
    if size is not None and size < 10 * len(FAMILIES):
        raise InputError(
            f"cannot make a data set of {size} conversations",
            expected=f"at least {10 * len(FAMILIES)}",
        )
    share = 1.0 if size is None else size / full
    world = generate_world(seed, without=frozenset(without), pool=pool)
    backend = SqliteBackend(SCHEMA)
    database = backend.acquire(world)
    database.start(WorldClock(world.now, "truth"))
    records = Records.of(world)
    truth = Truth(PlainTruth(records), QueryTruth(open_org(database), world.latents()))
    canary = canary_of(f"service canary {pool}{seed}")
    left_out = [family for latent, family in NEEDED.items() if latent in without]
    families = [family for family in FAMILIES if family not in left_out]
    drafts = [d for family in families for d in _drafts(records, truth, family, seed, share, pool)]
    random.Random(f"crmbench service {seed} order{pool}").shuffle(drafts)
    prefix = f"svc-{pool}-{seed}" if pool else "svc"
    maker = Maker(SERVICE, backend, world.name, canary)
    tasks = tuple(maker.make(d, f"{prefix}-{number:04d}") for number, d in enumerate(drafts, 1))
    backend.release(world, database)
    backend.close()
    about = {form.name: form.about for family in families for form in family.forms}
    return Dataset("service", seed, {pool or "test": tasks}, canary, (), about)
