"""An org opened for somebody at a command line rather than for an episode."""

from __future__ import annotations

from typing import Any

from crmbench.core.sandbox import Sandbox
from crmbench.domains.service.domain import SERVICE
from crmbench.domains.service.org import open_org
from crmbench.domains.service.world import generate


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
    source = SERVICE.world(world) if world else generate()
    with Sandbox.open(SERVICE, source) as sandbox:
        org = open_org(sandbox.database)
        language = org.sosl if query.lstrip()[:4].upper() == "FIND" else org.soql
        return language.run(query, sandbox.database.connection.execute, source.now).as_json()
