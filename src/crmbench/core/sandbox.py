"""A world with tools and no conversation: what episodes, servers and the Python CRM stand on.

    with Sandbox.open(SALES, "empty") as sandbox:
        made = sandbox.call("create_new_client", {"name": "Acme", ...})
        made.ok, made.result, sandbox.effect(), sandbox.digest()

Everything that is done in a sandbox is undone when it closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self

import orjson

from crmbench.core.backends import backend_maker
from crmbench.core.clock import WorldClock
from crmbench.core.database import Database
from crmbench.core.domain import Domain, SeedData
from crmbench.core.journal import Change, Effect, Snapshot, fold
from crmbench.core.trace import CallRecord, json_safe
from crmbench.core.world import Backend, WorldSource
from crmbench.errors import HarnessError, ToolError


class Conditions(Protocol):
    """What stands between the caller and the tools, such as outages or a colleague's edits.

    The one place to change what a call meets; a sandbox has at most one, and one may hold several.
    Whatever it does must follow from its own seed and from the calls, never from the wall clock.
    """

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """Asked before each call, valid or not; nothing has run.

        Raises:
            ToolError: The call is refused with this text, and changes nothing.
        """

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        """What the caller gets of a call, refused ones included.

        `record.changes` are what the call wrote. Keep them as they are, or an episode's effect is
        not what its calls say; a call may fail for the caller and have written all the same.
        """

    def between(self, sandbox: Sandbox, turn: int) -> None:
        """Told before the user speaks in turn `turn`, counted from 1.

        What it writes (in `sandbox.database`) is in the journal and in no call: the org has
        changed, and the agent has not done it.
        """


class Done(NamedTuple):
    """What a tool gave back and what it changed."""

    tool: str
    result: Any
    changes: tuple[Change, ...]


class Sandbox:
    """A private copy of a world, and a domain's tools on it.

    Use `open` unless you have a backend and close it yourself.

    Args:
        domain: Whose tools and rules hold.
        world: What the copy is of.
        backend: Who lends the copy.
        seed: Of the ids of created records: the same seed and calls give the same bytes.
        seed_data: Records (table to key to fields) to begin with; they are no part of `effect`.
        conditions: What stands between the caller and the tools.

    Raises:
        InputError: A record of `seed_data` breaks a rule of the domain.
        InfrastructureError: The database cannot be reached.
    """

    def __init__(
        self,
        domain: Domain,
        world: WorldSource,
        backend: Backend,
        *,
        seed: str = "sandbox",
        seed_data: SeedData | None = None,
        conditions: Conditions | None = None,
    ) -> None:
        self.domain = domain
        self.world = world
        self.conditions = conditions
        self.fault: HarnessError | None = None
        """Set when a tool broke, which is never the caller's failure."""
        self._backend = backend
        self._owns_backend = False
        self._open = True
        self.database: Database = backend.acquire(world)
        self.database.start(WorldClock(world.now, seed))
        try:
            if seed_data:
                domain.seed(self.database, seed_data)
                # A task's own records are what the agent finds, not what it did.
                self.database.journal.clear()
        except BaseException:
            self.close()
            raise
        self.handle = domain.handle(self.database)
        """What the domain's tools take as their first argument."""

    @classmethod
    def open(
        cls,
        domain: Domain,
        world: str | WorldSource | None = None,
        backend: str | Backend = "sqlite",
        *,
        seed: str = "sandbox",
        seed_data: SeedData | None = None,
        tools: str | None = None,
        conditions: Conditions | None = None,
    ) -> Self:
        """A sandbox by names. What was named is closed with it, a backend handed in is not.

        Args:
            domain: Whose tools and rules hold.
            world: A world, or the name of one of the domain's; the domain's usual one if None.
            backend: A backend, or ``sqlite`` or ``postgres``.
            seed: Of the ids of created records.
            seed_data: Records to begin with: table to key to fields.
            tools: A named part of the domain's tools; else there are all of them.
            conditions: What stands between the caller and the tools.

        Raises:
            InputError: There is no such world, backend or part of the tools, or a record of
                `seed_data` breaks a rule.
            MissingExtraError: The backend needs a package that is not installed.
            InfrastructureError: The database cannot be reached.
        """
        chosen = domain.with_tools(tools) if tools else domain
        name = domain.default_world if world is None else world
        source = domain.world(name) if isinstance(name, str) else name
        lender = backend_maker(backend)(domain) if isinstance(backend, str) else backend
        try:
            sandbox = cls(
                chosen, source, lender, seed=seed, seed_data=seed_data, conditions=conditions
            )
        except BaseException:
            if isinstance(backend, str):
                lender.close()
            raise
        sandbox._owns_backend = isinstance(backend, str)
        return sandbox

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Name, description and argument schema of each tool; made anew each time."""
        return self.domain.toolbox.schemas

    @property
    def today(self) -> str:
        """ISO date of the world's clock when the sandbox was opened."""
        return self.world.now.date().isoformat()

    def call(self, name: Any, arguments: Any) -> CallRecord:
        """Run a tool. A refused call changes nothing and has ``ok=False``.

        Args:
            name: Of the tool; anything else is refused.
            arguments: An object of names and values; anything else is refused.

        Raises:
            HarnessError: The tool broke, which is a fault of the domain.
        """
        try:
            done = self.run(name, arguments)
            # A copy, for the caller may go on to change what it called with.
            kept = orjson.loads(orjson.dumps(dict(arguments)))
            record = CallRecord(done.tool, kept, True, done.result, changes=done.changes)
        except ToolError as refused:
            record = refusal(name, arguments, refused)
        return self.conditions.after(self, record) if self.conditions else record

    def run(self, name: Any, arguments: Any) -> Done:
        """Run a tool and raise what it raises; `call` without the record.

        Raises:
            ToolError: The call is refused and has changed nothing.
            HarnessError: The tool broke, or wrote though it is marked as reading.
        """
        if self.conditions is not None:
            self.conditions.before(self, name, arguments)
        tool = self.domain.toolbox.get(name)
        checked = tool.check(arguments)
        database = self.database
        database.begin_call()
        try:
            result = tool.function(self.handle, **checked)
        except ToolError:
            database.undo_call()
            raise
        except Exception as error:
            database.undo_call()
            # Kept as well as raised: an agent might catch it and go on.
            self.fault = HarnessError(
                f"the tool {tool.name} broke: {type(error).__name__}: {error}"
            )
            raise self.fault from error
        changes = database.end_call()
        # Gates and conditions trust the mark: a reading tool that wrote would change scores in
        # silence.
        if changes and not tool.writes:
            self.fault = HarnessError(f"the tool {tool.name} is marked as reading and wrote")
            raise self.fault
        return Done(tool.name, result, tuple(changes))

    def effect(self) -> Effect:
        """All that has changed since the sandbox was opened, at most one change a row."""
        return fold(self.database.journal)

    def snapshot(self) -> Snapshot:
        """Every record: table to key to fields."""
        return self.database.snapshot()

    def digest(self) -> str:
        """A SHA-256 of the whole state, the same on every backend."""
        return self.database.digest()

    def close(self) -> None:
        """Undo everything and give the copy back; closing twice does nothing."""
        if not self._open:
            return
        # First, for what follows may raise, and closing again would give the same copy back twice.
        self._open = False
        self.database.reset()
        self._backend.release(self.world, self.database)
        if self._owns_backend:
            self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refusal(name: Any, arguments: Any, error: ToolError) -> CallRecord:
    """The record of a refused call, whatever it was called with."""
    kept = json_safe(arguments)
    return CallRecord(
        tool=str(json_safe(name)),
        arguments=dict(kept) if isinstance(kept, Mapping) else {"arguments": kept},
        ok=False,
        error=error.text,
        error_kind=error.kind,
    )
