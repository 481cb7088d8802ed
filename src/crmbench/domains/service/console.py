"""An org opened for somebody at a command line rather than for an episode."""

from __future__ import annotations

from typing import Any

from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.org import open_org
from crmbench.domains.service.schema import SCHEMA
from crmbench.domains.service.world import generate, world_from_name


def ask(query: str, world: str | None = None) -> dict[str, Any]:
    """Run a SOQL query, or a SOSL search if it begins with FIND, in an org made for it in memory.

    Args:
        query: The text.
        world: Name of the org; the default one if None.

    Returns:
        The body of the REST API's answer.

    Raises:
        InputError: There is no such org.
        SoqlError: The query is refused.
    """
    source = world_from_name(world) if world else generate()
    backend = SqliteBackend(SCHEMA)
    database = backend.acquire(source)
    database.start(WorldClock(source.now, source.name))
    try:
        org = open_org(database)
        language = org.sosl if query.lstrip()[:4].upper() == "FIND" else org.soql
        return language.run(query, database.connection.execute, source.now).as_json()
    finally:
        database.reset()
        backend.release(source, database)
        backend.close()
