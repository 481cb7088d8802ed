"""A sales world: the rows of one org, streamed block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from math import ceil

from crmbench.domains.sales.world.block import make_block
from crmbench.domains.sales.world.setting import check_spec, sales_team
from crmbench.domains.sales.world.spec import STANDARD_WORLDS, WorldSpec
from crmbench.errors import InputError

TABLES = (
    "Client",
    "Contact",
    "Opportunity",
    "Quote",
    "Contract",
    "Company",
    "Document",
    "Note",
)
"""In foreign-key order."""

Row = dict[str, object]


@dataclass(frozen=True)
class SalesWorld:
    """Implements `WorldSource`: an org of about 600 records for each unit of scale.

    It is made of blocks of about 600 records that refer only to each other, so that a world of any
    size takes time in proportion and memory for one block.
    """

    spec: WorldSpec
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The spec's name, with the scale unless it is 1."""
        return self.spec.name if self.scale == 1 else f"{self.spec.name}-x{self.scale:.12g}"

    @property
    def today(self) -> str:
        """ISO date of the world's clock."""
        return self.spec.today

    @property
    def now(self) -> datetime:
        """09:00 UTC today."""
        return datetime.fromisoformat(f"{self.spec.today}T09:00:00").replace(tzinfo=UTC)

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """Full names of the sales people; the first is the sales manager, the others are reps."""
        return sales_team(self.spec)

    @property
    def about(self) -> str:
        """Who is the sales manager, and who the representatives are."""
        manager, *reps = self.owners
        return (
            "## Who is who\n\n"
            f"The sales manager is {manager}; nobody else is. The representatives are "
            f"{', '.join(reps[:-1])} and {reps[-1]}."
        )

    def stream(self) -> Iterator[tuple[str, list[Row]]]:
        """Tables and rows: `TABLES` in order for the first block, then for the next, and so on."""
        for number in range(ceil(self.scale)):
            block = make_block(self.spec, number, min(1.0, self.scale - number))
            for table in TABLES:
                yield table, block[table]

    def after_load(self, dialect: str) -> Sequence[str]:
        """Nothing: the sales tables have all their indexes in the schema."""
        del dialect
        return ()


def generate(spec_or_name: WorldSpec | str, scale: float = 1.0) -> SalesWorld:
    """The world of a spec, or of a standard world's name.

    Args:
        spec_or_name: One's own spec, or a key of `STANDARD_WORLDS`.
        scale: Size in units of about 600 records; below 1 the world is too small to have every
            structure that the task families look for.

    Raises:
        InputError: The name is not known, the spec names something that the banks do not have or a
            day on which nobody works, or the scale is not above 0.
    """
    if not scale > 0:
        raise InputError(f"a world of scale {scale} has no records", expected="a scale above 0")
    if isinstance(spec_or_name, WorldSpec):
        check_spec(spec_or_name)
        return SalesWorld(spec_or_name, scale)
    if spec_or_name not in STANDARD_WORLDS:
        known = ", ".join(STANDARD_WORLDS)
        raise InputError(f"there is no sales world named '{spec_or_name}'", expected=known)
    return SalesWorld(STANDARD_WORLDS[spec_or_name], scale)


def rows(world: SalesWorld) -> dict[str, list[Row]]:
    """All rows of a world by table; for worlds that fit into memory."""
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    for table, chunk in world.stream():
        tables[table] += chunk
    return tables
