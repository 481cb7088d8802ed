"""crmbench from Python: run an evaluation, load tasks, or use the CRM directly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack, cast

from crmbench.agents.protocol import AgentFactory
from crmbench.agents.python import PythonAgents
from crmbench.core import sandbox as core
from crmbench.core.domain import Domain, SeedData
from crmbench.core.sandbox import Conditions
from crmbench.core.task import Task
from crmbench.core.trace import json_safe
from crmbench.core.world import Backend, WorldSource
from crmbench.domains.registry import load_domain
from crmbench.formats.remote import kept_at
from crmbench.grading.record import EpisodeRecord
from crmbench.report.run_files import conclude_run
from crmbench.report.summary import Summary
from crmbench.runner.options import RunOptions, RunSettings, usual_agent
from crmbench.runner.run import Progress, RunOutcome, play_run
from crmbench.runner.task_sets import each_named, given_data, load_named, read_data
from crmbench.runner.waiting import wait_for
from crmbench.training.session import TrainingSession as TrainingSession


def load(file: str | Path) -> list[Task]:
    """The tasks of a file of conversations, or of a bundled set such as ``"demo"``.

    Raises:
        InputError: The file cannot be read or a line of it is wrong; says which and why.
    """
    return load_named(str(file)).tasks()


def stream(file: str | Path) -> Iterator[Task]:
    """The tasks of `load` one by one: of a set in shards or a Parquet file few are held at once.

    Raises:
        InputError: The file cannot be read or a line of it is wrong; raised when it is reached.
    """
    return each_named(str(file))


@dataclass(frozen=True)
class RunResult:
    """What came of a run. Iterate over it for the episodes, by task and trial."""

    outcome: RunOutcome
    summary: Summary

    @property
    def success(self) -> float:
        """Share of conversations that succeeded, averaged over trials."""
        return self.summary.success.value

    def __iter__(self) -> Iterator[EpisodeRecord]:
        return iter(self.outcome.episodes)

    def __len__(self) -> int:
        return len(self.outcome.outlines)


AgentLike = str | AgentFactory | Callable[..., Any]
"""An agent's name as on the command line, a factory, or a class or function that makes an agent:
called with the `TaskView` if it takes an argument, else with nothing."""


async def arun(
    data: str | Path | Sequence[Task],
    agent: AgentLike | None = None,
    *,
    out: str | Path | None = None,
    on_progress: Progress | None = None,
    **options: Unpack[RunSettings],
) -> RunResult:
    """Evaluate an agent.

    Args:
        data: A file, the name of a bundled or published set, or tasks.
        agent: Who plays; None: ``heuristic``, or with a ``model`` the framework
            ``function_calling``.
        out: The directory, or the address such as ``s3://bucket/runs/mine``, to keep the run in,
            with all that the command writes.
        on_progress: Told the number of episodes done and of all, after each.
        options: Fields of `crmbench.runner.options.RunOptions`, such as ``trials`` or ``backend``.

    Raises:
        InputError: Something that was given cannot be used.
        HarnessError: A tool broke. Tasks that are broken are in `RunResult.outcome`'s ``faults``.
    """
    name, factory = _agent(agent, options.get("model"))
    file = str(data) if isinstance(data, str | Path) else ""
    chosen = RunOptions(file=file, agent=name, **options)
    read = read_data(file, chosen) if isinstance(data, str | Path) else given_data(data, chosen)
    with kept_at(Path(out) if out is not None else None) as directory:
        outcome = await play_run(read, chosen, directory, on_progress, factory)
        return RunResult(outcome, conclude_run(chosen, outcome, directory))


def run(
    data: str | Path | Sequence[Task],
    agent: AgentLike | None = None,
    *,
    out: str | Path | None = None,
    on_progress: Progress | None = None,
    **options: Unpack[RunSettings],
) -> RunResult:
    """`arun` for code without ``await``; works where an event loop runs already, as in a notebook.

    Args:
        data: A file, the name of a bundled or published set, or tasks.
        agent: Who plays; None: ``heuristic``, or with a ``model`` ``function_calling``.
        out: The directory to keep the run in, with all that the command writes.
        on_progress: Told the number of episodes done and of all, after each.
        options: Fields of `crmbench.runner.options.RunOptions`, such as ``trials`` or ``backend``.

    Raises:
        InputError: Something that was given cannot be used.
        HarnessError: A tool broke.
    """
    return wait_for(arun(data, agent, out=out, on_progress=on_progress, **options))


def _agent(agent: AgentLike | None, model: str | None) -> tuple[str, AgentFactory | None]:
    """The agent's name for the record, and its factory where it comes from code."""
    if agent is None:
        return usual_agent(model), None
    if isinstance(agent, str):
        return agent, None
    if isinstance(agent, type) or not hasattr(agent, "start"):
        name = str(getattr(agent, "__qualname__", type(agent).__name__))
        return name, PythonAgents(agent, name)
    return cast(AgentFactory, agent).name, cast(AgentFactory, agent)


class Record(dict[str, Any]):
    """What a tool gives back: a dictionary whose fields are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the record has no field '{name}'") from None


class Sandbox(core.Sandbox):
    """A world with tools and no conversation; `open` takes the domain by name too.

    with Sandbox.open("service") as sandbox:
        sandbox.call("issue_soql_query", {"query": "SELECT COUNT() FROM Case"}).result
    """

    @classmethod
    def open(
        cls,
        domain: str | Domain,
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
            domain: A domain, or the name of one.
            world: A world, or the name of one of the domain's; the domain's usual one if None.
            backend: A backend, or ``sqlite`` or ``postgres``.
            seed: Of the ids of created records: the same seed and calls give the same bytes.
            seed_data: Records to begin with: table to key to fields.
            tools: A named part of the domain's tools; else there are all of them.
            conditions: What stands between the caller and the tools.

        Raises:
            InputError: There is no such domain, world, backend or part of the tools, or a record
                of `seed_data` breaks a rule.
            MissingExtraError: The backend needs a package that is not installed.
            InfrastructureError: The database cannot be reached.
        """
        return super().open(
            load_domain(domain) if isinstance(domain, str) else domain,
            world,
            backend,
            seed=seed,
            seed_data=seed_data,
            tools=tools,
            conditions=conditions,
        )


class CRM:
    """A CRM of its own with a method for every tool.

        crm = CRM("sales")
        client = crm.create_new_client(name="Acme", email="ops@acme.example", status="Active")
        crm.client_search(name="acme").records[0].client_id == client.client_id

    Args:
        domain: The name of a domain, or one.
        world: Which org: a name; the domain's usual one if None (in sales it is empty).
        backend: ``sqlite`` or ``postgres``.
        seed: Of the ids; the same seed and calls give the same records.

    Raises:
        InputError: There is no such domain, world or backend.
    """

    def __init__(
        self,
        domain: str | Domain,
        world: str | None = None,
        backend: str = "sqlite",
        seed: str = "crm",
    ) -> None:
        self._sandbox = Sandbox.open(domain, world, backend, seed=seed)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._sandbox.domain.toolbox.by_name:
            raise AttributeError(f"the CRM has no tool '{name}'")
        return partial(self.call, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._sandbox.domain.toolbox.by_name]

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Run a tool.

        Returns:
            Its result; objects in it are `Record`, whose fields are attributes too.

        Raises:
            ToolError: It refused, with the CRM's own words; nothing has changed.
        """
        return _record(self._sandbox.run(tool, json_safe(arguments)).result)

    def snapshot(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Every record: entity to id to fields."""
        return self._sandbox.snapshot()

    def digest(self) -> str:
        """A SHA-256 of the whole state, the same on both databases."""
        return self._sandbox.digest()

    def close(self) -> None:
        """Throw the CRM away."""
        self._sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SalesCRM(CRM):
    """`CRM` of the domain sales, empty."""

    def __init__(self, backend: str = "sqlite", seed: str = "crm") -> None:
        super().__init__("sales", "empty", backend, seed)


class MockCrmApi(SalesCRM):
    """`SalesCRM` under the name that it has in the Arc benchmark; in memory, as there."""


def _record(value: Any) -> Any:
    if isinstance(value, dict):
        return Record({name: _record(item) for name, item in value.items()})
    if isinstance(value, list):
        return [_record(item) for item in value]
    return value
