"""The backend that a name stands for."""

from __future__ import annotations

import os
from collections.abc import Callable

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
