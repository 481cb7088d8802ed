"""An org of somebody's own as a world of the service domains: every record checked as any seed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.sandbox import Sandbox
from crmbench.core.stored_world import save_world
from crmbench.core.world import EmptyWorld
from crmbench.errors import InputError


def write_own_world(
    path: Path,
    domain: Domain,
    rows: Mapping[str, Mapping[str, Mapping[str, Any]]],
    now: datetime,
    about: str = "",
) -> dict[str, int]:
    """Check records, complete them as the org does, and write them as a world's file.

    Args:
        rows: Object to id to fields; a record after those of its own object that it refers to.
        now: The world's clock.
        about: What agents are told of the org.

    Returns:
        The number of records by object.

    Raises:
        InputError: The domain is no service org, or a record breaks a rule of its object; names
            object, id and field.
    """
    if not domain.name.startswith("service"):
        raise InputError(
            f"records cannot be imported into the domain {domain.name}",
            field="--domain",
            expected="service or service_hard",
        )
    with Sandbox.open(domain, EmptyWorld(now), seed_data=rows) as sandbox:
        snapshot = sandbox.snapshot()
    # In the order given, where a record comes after those of its own object that it refers to.
    complete = {name: [snapshot[name][key] for key in given] for name, given in rows.items()}
    save_world(path, domain.schema, domain.name, now, complete, about)
    return {name: len(found) for name, found in complete.items()}
