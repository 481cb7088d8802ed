"""A generated world: its name, its rows, and what lies behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from crmbench.authoring.pools import Pool, read_pool
from crmbench.domains.service.schema import OBJECTS, catalog, reference_indexes
from crmbench.domains.service.world.latents import LATENTS, Latents, read_latents
from crmbench.domains.service.world.moments import NOW_TIME
from crmbench.domains.service.world.org import OrgArrays, make_org
from crmbench.domains.service.world.rows import Chunk, stream_base
from crmbench.domains.service.world.support_rows import stream_desk
from crmbench.errors import InputError
from crmbench.salesforce.catalog import folded_indexes
from crmbench.salesforce.sosl.index import create_index, searchable

DEFAULT_SEED = 42
LEAST_FACTOR = 0.05
MOST_FACTOR = 100.0

_NAME = re.compile(
    r"org-(?:(train|held_out)-)?(\d{1,9})(?:-x(\d+(?:\.\d+)?))?(?:-without-([a-z_+]+))?"
)


@dataclass(frozen=True)
class ServiceWorld:
    """An org that is made anew from its seed as often as it is needed. Implements `WorldSource`.

    Attributes:
        seed: Where all chance comes from.
        factor: How many times the usual number of records; knowledge, issues, categories and
            price books do not grow.
        without: The latents that have no effect.
        pool: The part of people's names that it draws on; all of them if empty.
    """

    seed: int = DEFAULT_SEED
    factor: float = 1.0
    without: frozenset[str] = frozenset()
    pool: Pool = ""
    about = ""

    @property
    def name(self) -> str:
        """Such as ``org-42``, ``org-42-x10`` or ``org-7-without-agent_skill+region_effects``."""
        size = "" if self.factor == 1.0 else f"-x{self.factor:.12g}"
        off = "+".join(latent for latent in LATENTS if latent in self.without)
        part = f"{self.pool}-" if self.pool else ""
        return f"org-{part}{self.seed}{size}{f'-without-{off}' if off else ''}"

    @property
    def now(self) -> datetime:
        """The moment at which every episode begins, UTC."""
        return NOW_TIME

    def stream(self) -> Iterator[Chunk]:
        """Objects and their rows, each row after those that it refers to."""
        yield from stream_base(self._org)
        yield from stream_desk(self._org)

    def after_load(self, dialect: str) -> Sequence[str]:
        """Statements that make all indexes but those of keys, the full-text ones among them."""
        objects = catalog()
        indexes = [*reference_indexes(), *folded_indexes(objects), *create_index(objects, dialect)]
        # Without figures about the rows PostgreSQL reads whole tables where an index would do.
        return indexes if dialect == "sqlite" else [*indexes, *_analysis()]

    def latents(self) -> Latents:
        """What lies behind the records; never part of the org."""
        return read_latents(self._org)

    @cached_property
    def _org(self) -> OrgArrays:
        return make_org(self.seed, self.factor, self.without, self.pool)


def _analysis() -> list[str]:
    """Statements that let PostgreSQL look at every table and full-text index."""
    indexed = [
        f"{name}__fts"
        for name in OBJECTS
        if any(searchable(catalog().objects[name.lower()]).values())
    ]
    return [f'ANALYZE "{name}"' for name in (*OBJECTS, *indexed)]


def generate(
    seed: int = DEFAULT_SEED,
    factor: float = 1.0,
    without: frozenset[str] = frozenset(),
    pool: Pool = "",
) -> ServiceWorld:
    """The world of a seed.

    Args:
        seed: From 0 to 999,999,999.
        factor: From 0.05 to 100: how many times the usual number of records.
        without: Names of latents (see `LATENTS`) to switch off. All else stays as it is, as far
            as it does not follow from them.
        pool: The part of people's names that it draws on; all of them if empty.

    Raises:
        InputError: A value is out of range, or a latent is unknown.
    """
    if not 0 <= seed <= 999_999_999:
        raise InputError(
            f"There is no world of seed {seed}.", field="seed", expected="0 to 999999999"
        )
    if not LEAST_FACTOR <= factor <= MOST_FACTOR:
        raise InputError(
            f"A world cannot be {factor:g} times the usual size.",
            field="factor",
            expected=f"{LEAST_FACTOR:g} to {MOST_FACTOR:g}",
        )
    unknown = sorted(without - set(LATENTS))
    if unknown:
        raise InputError(
            f"There is no latent variable {unknown[0]!r}.",
            field="without",
            expected=", ".join(LATENTS),
        )
    return ServiceWorld(seed, factor, without, pool)


def world_from_name(name: str) -> ServiceWorld:
    """The world of a name that `ServiceWorld.name` gave.

    Raises:
        InputError: It is no such name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"The service domain has no world {name!r}.",
            field="world",
            expected="org-SEED, org-train-SEED, org-SEED-xFACTOR or org-SEED-without-LATENT",
        )
    pool, seed, factor, without = match.groups()
    return generate(
        int(seed),
        float(factor or 1.0),
        frozenset(without.split("+")) if without else frozenset(),
        read_pool(pool) if pool else "",
    )
