"""A domain with a few parts exchanged, everything else as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crmbench.core.database import Database
from crmbench.core.domain import Domain, SeedData
from crmbench.core.tool import Toolbox
from crmbench.core.world import WorldSource


class DomainOverlay:
    """Another domain, with what is given here in place of its own. Implements `Domain`.

    Args:
        inner: The domain that everything else is taken from.
        policy: What agents are told instead of its house rules.
        toolbox: The tools that agents have instead of its own.
        worlds: Where its worlds come from instead.
    """

    def __init__(
        self,
        inner: Domain,
        *,
        policy: str | None = None,
        toolbox: Toolbox | None = None,
        worlds: Callable[[str], WorldSource] | None = None,
    ) -> None:
        self.inner = inner
        self.name = inner.name
        self.schema = inner.schema
        self.toolbox = toolbox or inner.toolbox
        self.tool_sets = inner.tool_sets
        self.latents, self.default_world = inner.latents, inner.default_world
        self._policy = policy
        self._worlds = worlds or inner.world

    @property
    def policy(self) -> str:
        return self.inner.policy if self._policy is None else self._policy

    def handle(self, database: Database) -> Any:
        return self.inner.handle(database)

    def world(self, name: str) -> WorldSource:
        return self._worlds(name)

    def with_tools(self, tool_set: str) -> Domain:
        part = self.inner.with_tools(tool_set)
        return DomainOverlay(part, policy=self._policy, worlds=self._worlds)

    def seed(self, database: Database, data: SeedData) -> None:
        self.inner.seed(database, data)
