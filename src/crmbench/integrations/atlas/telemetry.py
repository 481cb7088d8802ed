"""The library's tables in PostgreSQL: made, written to and read back.

Its wheel lacks the file that makes them, so they are made here, from what it reads and writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from atlas.config.models import StorageConfig
from atlas.runtime.storage.database import Database
from sqlalchemy import (
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from crmbench.core.postgres import EmbeddedServer
from crmbench.errors import MissingExtraError

URL = "ATLAS_DATABASE_URL"
"""The environment variable of a server of one's own; without it an embedded one is started, whose
data ends with it."""
_METADATA = MetaData()


def _table(name: str, *columns: Any) -> Table:
    return Table(name, _METADATA, *columns)


def _session(primary: bool = False) -> Column[int]:
    reference = ForeignKey("sessions.id", ondelete="CASCADE")
    return Column("session_id", Integer, reference, primary_key=primary)


def _now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


_SESSIONS = _table(
    "sessions",
    Column("id", Integer, primary_key=True),
    Column("task", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="running"),
    *(Column(name, JSONB) for name in ("metadata", "reward", "reward_stats", "reward_audit")),
    *(Column(n, Text) for n in ("final_answer", "student_learning", "teacher_learning")),
    Column("review_status", Text, nullable=False, server_default="pending"),
    Column("review_notes", Text),
    _now("created_at"),
    Column("completed_at", DateTime(timezone=True)),
)
Index("sessions_learning_key_idx", text("(metadata ->> 'learning_key')"), _table=_SESSIONS)
_table("plans", _session(primary=True), Column("plan", JSONB, nullable=False))
_table(
    "step_results",
    _session(primary=True),
    Column("step_id", Integer, primary_key=True),
    Column("trace", Text),
    Column("output", Text),
    Column("evaluation", JSONB),
    Column("attempts", Integer),
    Column("metadata", JSONB),
)
_table(
    "step_attempts",
    _session(primary=True),
    Column("step_id", Integer, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("evaluation", JSONB),
)
_table(
    "guidance_notes",
    _session(primary=True),
    Column("step_id", Integer, primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("note", Text, nullable=False),
)
_table(
    "trajectory_events",
    Column("id", Integer, primary_key=True),
    _session(),
    Column("event", JSONB, nullable=False),
    _now("created_at"),
)
_table(
    "discovery_runs",
    Column("id", Integer, primary_key=True),
    Column("project_root", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("source", Text, nullable=False, server_default="discovery"),
    Column("payload", JSONB, nullable=False),
    Column("metadata", JSONB),
    _now("created_at"),
)
_table(
    "learning_registry",
    Column("learning_key", Text, primary_key=True),
    Column("student_learning", Text),
    Column("teacher_learning", Text),
    Column("metadata", JSONB),
    _now("updated_at"),
)
TABLES = tuple(_METADATA.tables)


@dataclass(frozen=True)
class SessionCounts:
    """What the tables hold of one learning key."""

    sessions: int
    attempts: int
    guidance_notes: int
    events: int
    student_tokens: int
    """As the library counted those of our student."""


class Telemetry:
    """The tables of one server.

    Raises:
        MissingExtraError: No server is named, and the wheel of the embedded one is missing.
    """

    def __init__(self) -> None:
        named = os.environ.get(URL, "").strip()
        self._server: EmbeddedServer | None = None
        if not named:
            try:
                self._server = EmbeddedServer()
            except ImportError as error:
                raise MissingExtraError("postgres", "Atlas with an embedded server") from error
        self.url = named or (self._server.url if self._server else "")
        config = StorageConfig(
            database_url=self.url,
            min_connections=1,
            max_connections=1,
            apply_schema_on_connect=False,
        )
        self.database = Database(config)

    async def open(self) -> None:
        """Connect, and make the tables that are not there."""
        await self.database.connect()
        pool = self.database._pool
        # The class says nothing of the types of its arguments.
        dialect_class: Callable[[], Dialect] = PGDialect_psycopg
        dialect = dialect_class()
        async with pool.acquire() as connection:
            for table in _METADATA.sorted_tables:
                made = CreateTable(table, if_not_exists=True).compile(dialect=dialect)
                await connection.execute(str(made))
                for index in table.indexes:
                    made = CreateIndex(index, if_not_exists=True).compile(dialect=dialect)
                    await connection.execute(str(made))

    async def keep(
        self, key: str, session: int | None, state: Mapping[str, Any], reward: Mapping[str, Any]
    ) -> None:
        """Store what was learnt, by its key and with the session that it was learnt from."""
        student, teacher = state.get("student_learning"), state.get("teacher_learning")
        await self.database.upsert_learning_state(key, student, teacher, state.get("metadata"))
        if session is not None:
            await self.database.log_session_reward(session, dict(reward), student, teacher)

    async def state(self, key: str) -> dict[str, Any]:
        """What is stored by a key; empty if nothing is."""
        found = await self.database.fetch_learning_state(key)
        return {k: v for k, v in (found or {}).items() if k != "updated_at"}

    async def counts(self, key: str) -> SessionCounts:
        """What the tables hold of a learning key."""
        of_key = "SELECT id FROM sessions WHERE metadata ->> 'learning_key' = $1"
        usage = "(metadata -> 'token_usage' ->> 'total_tokens')::int"
        async with self.database._pool.acquire() as connection:
            numbers = [
                await connection.fetchval(query, key)
                for query in (
                    f"SELECT count(*) FROM ({of_key}) s",
                    f"SELECT count(*) FROM step_attempts WHERE session_id IN ({of_key})",
                    f"SELECT count(*) FROM guidance_notes WHERE session_id IN ({of_key})",
                    f"SELECT count(*) FROM trajectory_events WHERE session_id IN ({of_key})",
                    f"SELECT coalesce(sum({usage}), 0) FROM sessions WHERE id IN ({of_key})",
                )
            ]
        return SessionCounts(*map(int, numbers))

    async def close(self) -> None:
        """Disconnect, and stop the server if it is ours."""
        await self.database.disconnect()
        if self._server is not None:
            self._server.stop()
