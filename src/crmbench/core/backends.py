"""The backend that a name stands for."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from functools import cache

from crmbench.core.domain import Domain
from crmbench.core.world import Backend
from crmbench.errors import InputError

BACKENDS = ("sqlite", "postgres")


def backend_maker(name: str) -> Callable[[Domain], Backend]:
    """A function that opens the backend for a domain.

    ``postgres`` uses the server of ``DATABASE_URL`` if that is set, else an embedded one.

    Raises:
        InputError: There is no backend of that name.
    """
    if name == "sqlite":
        from crmbench.core.sqlite import SqliteBackend

        return lambda domain: SqliteBackend(domain.schema)
    if name == "postgres":
        from crmbench.core.postgres import PostgresBackend

        return lambda domain: PostgresBackend(domain.schema, os.environ.get("DATABASE_URL"))
    raise InputError(f"there is no backend '{name}'", expected=" or ".join(BACKENDS))


class Backends:
    """A backend for each domain, opened when it is first asked for.

    Args:
        domains: Gives the domain of a name.
        make: Opens the backend of a domain; called once for each.
    """

    def __init__(self, domains: Callable[[str], Domain], make: Callable[[Domain], Backend]) -> None:
        self.domain: Callable[[str], Domain] = cache(domains)
        self._make = make
        self._open: dict[str, Backend] = {}

    def backend(self, name: str) -> Backend:
        """The backend on which tasks of a domain play.

        Raises:
            InputError: There is no such domain.
            MissingExtraError: The backend needs a package that is not installed.
            InfrastructureError: The database cannot be reached.
        """
        if name not in self._open:
            self._open[name] = self._make(self.domain(name))
        return self._open[name]

    def place(self, name: str) -> tuple[Domain, Backend]:
        """A domain and its backend; raises as `backend` does."""
        return self.domain(name), self.backend(name)

    def prepare(self, worlds: Collection[tuple[str, str]], copies: int) -> None:
        """Build each world, once, and where there is only one a copy for each episode at once.

        Args:
            worlds: Domains and the names of their worlds, each once.
            copies: Episodes at once.
        """
        for domain_name, world_name in sorted(worlds):
            domain, backend = self.place(domain_name)
            world = domain.world(world_name)
            # Held together, or each would get the copy that the one before gave back. Of many
            # worlds one copy each, or a set of a hundred would hold a hundred times its episodes.
            held = [backend.acquire(world) for _ in range(copies if len(worlds) == 1 else 1)]
            for database in held:
                backend.release(world, database)

    def close(self) -> None:
        """Close every backend that was opened; it can be used again afterwards."""
        for backend in self._open.values():
            backend.close()
        self._open.clear()
