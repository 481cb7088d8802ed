"""Gates that play the tasks: oracle, trivial agents, other right paths, isolation, leaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from crmbench.agents.oracle import Oracle, OracleFactory
from crmbench.agents.protocol import Agent, Session
from crmbench.agents.trivial import TRIVIAL
from crmbench.core.episode import Episode, ToolResult
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Path, Task
from crmbench.core.world import Backend, WorldSource
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.grading.gold import execute_gold
from crmbench.grading.grader import Grader, TaskError
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.state import compare_effects
from crmbench.runner.evaluate import Evaluator, Job, jobs_for
from crmbench.validity.gate import GateResult, Offender, none_wrong

CROWD = 16
"""Episodes at once, where they are to get into each other's way."""


def play_all(
    evaluator: Evaluator, tasks: Sequence[Task], concurrency: int = 1
) -> list[EpisodeRecord]:
    """Play every task once, in order."""
    finished: list[EpisodeRecord] = []
    asyncio.run(evaluator.run(jobs_for(tasks, 1), finished.append, concurrency))
    order = {task.task_id: place for place, task in enumerate(tasks)}
    return sorted(finished, key=lambda f: order[f.task_id])


def set_up_problems(tasks: Sequence[Task], grader: Grader) -> list[str | None]:
    """Why a task cannot be played at all: its records break a rule, or a gold call fails."""
    return [_set_up_problem(task, grader) for task in tasks]


def _set_up_problem(task: Task, grader: Grader) -> str | None:
    try:
        grader.gold_runs(task)
        domain, backend = grader.backends.place(task.domain)
        Episode(domain, task, backend).finish()
    except TaskError as error:
        return error.fault.reason
    except InputError as error:
        return str(error)
    return None


def set_up_gate(tasks: Sequence[Task], found: Sequence[str | None]) -> GateResult:
    """No other gate can be asked of a task that cannot be played.

    Args:
        found: What `set_up_problems` found.
    """
    wrong = [
        Offender(task.task_id, problem)
        for task, problem in zip(tasks, found, strict=True)
        if problem is not None
    ]
    return none_wrong("set up", "Can the task be set up and its gold be run?", wrong, len(tasks))


class OracleResult(NamedTuple):
    """One task, played by the oracle."""

    problem: str | None
    """Why it fails; None if it passes."""
    trace: bytes
    """A digest of the trace."""


def oracle_results(tasks: Sequence[Task], grader: Grader) -> list[OracleResult]:
    """Let the oracle play each task."""
    return [
        OracleResult(None if f.verdict.success else f.verdict.reason or "", _digest(f))
        for f in play_all(Evaluator(OracleFactory(), grader), tasks)
    ]


def _digest(finished: EpisodeRecord) -> bytes:
    return blake2b(finished.trace.to_json(), digest_size=16).digest()


def oracle_gate(tasks: Sequence[Task], found: Sequence[OracleResult], backend: str) -> GateResult:
    """The oracle's score must be exactly 1.

    Args:
        found: What `oracle_results` found on that backend.
    """
    wrong = [
        Offender(task.task_id, result.problem)
        for task, result in zip(tasks, found, strict=True)
        if result.problem is not None
    ]
    question = f"Does the ground truth pass its own test on {backend}?"
    return none_wrong(f"oracle on {backend}", question, wrong, len(tasks))


def backends_agree(
    tasks: Sequence[Task], one: Sequence[OracleResult], two: Sequence[OracleResult]
) -> GateResult:
    """The same task on another database gives the same bytes."""
    wrong = [
        Offender(task.task_id, "the two databases give different traces")
        for task, a, b in zip(tasks, one, two, strict=True)
        if a.trace != b.trace
    ]
    question = "Do both databases give the same traces, byte for byte?"
    return none_wrong("backends agree", question, wrong, len(tasks))


def trivial_passes(tasks: Sequence[Task], grader: Grader) -> list[tuple[str, ...]]:
    """For each task, the agents that do no work and pass it."""
    playings = [(agent.name, Evaluator(agent, grader)) for agent in TRIVIAL]

    async def passed(task: Task) -> tuple[str, ...]:
        return tuple([name for name, agent in playings if await agent.succeeds(Job(task, 0))])

    async def all_passed() -> list[tuple[str, ...]]:
        return [await passed(task) for task in tasks]

    return asyncio.run(all_passed())


def trivial_gates(tasks: Sequence[Task], passes: Sequence[tuple[str, ...]]) -> list[GateResult]:
    """Agents that do no work must pass nothing.

    Args:
        passes: What `trivial_passes` found.
    """
    gates = []
    for agent in TRIVIAL:
        offenders = [
            Offender(task.task_id, f"{agent.name} passes")
            for task, names in zip(tasks, passes, strict=True)
            if agent.name in names
        ]
        question = f"How many tasks does the agent '{agent.name}' pass?"
        gates.append(none_wrong(agent.name, question, offenders, len(tasks)))
    return gates


def path_problems(tasks: Sequence[Task], grader: Grader) -> list[tuple[str, ...]]:
    """For each task, what is wrong with its other right paths."""
    return [
        tuple(
            f"{path.note}: {problem}"
            for path in task.gold.paths
            if (problem := _path_problem(grader, task, path))
        )
        for task in tasks
    ]


def path_gate(tasks: Sequence[Task], problems: Sequence[tuple[str, ...]]) -> GateResult:
    """Every other right path passes, and has the effect that it claims.

    Args:
        problems: What `path_problems` found.
    """
    total = sum(len(task.gold.paths) for task in tasks)
    offenders = [
        Offender(task.task_id, text)
        for task, texts in zip(tasks, problems, strict=True)
        for text in texts
    ]
    question = "Does every other right way pass?"
    return none_wrong("other paths", question, offenders, total, applies=total > 0)


def _path_problem(grader: Grader, task: Task, path: Path) -> str | None:
    domain, backend = load_domain(task.domain), grader.backends.backend(task.domain)
    run = execute_gold(domain, task, backend, path)
    if run.faults:
        return run.faults[0]
    gold = grader.gold_runs(task)[0]
    if path.same_effect and compare_effects(domain.schema, gold.effects[-1], run.effects[-1]):
        return "it ends in another state than the gold"
    follower = Evaluator(_PathFactory(path), grader)
    verdict = play_all(follower, [task])[0].verdict
    return None if verdict.success else verdict.reason


@dataclass(frozen=True)
class _PathFactory:
    """Oracles that walk another path."""

    path: Path
    name: str = "path"

    def start_with_gold(self, task: Task) -> Agent:
        return Oracle(task, self.path)

    async def close(self) -> None:
        return None


def leaks_of(tasks: Sequence[Task], grader: Grader) -> list[tuple[str, ...]]:
    """For each task, what an agent is shown that it must not see."""
    listener = _ListenerFactory()
    play_all(Evaluator(listener, grader), tasks)
    return [tuple(listener.leaks.get(task.task_id, {})) for task in tasks]


def leak_gate(tasks: Sequence[Task], leaks: Sequence[tuple[str, ...]]) -> GateResult:
    """Nothing that an agent is given holds the canary, the family's name or a gold reply.

    Args:
        leaks: What `leaks_of` found.
    """
    offenders = [
        Offender(task.task_id, f"the agent is shown {what}")
        for task, found in zip(tasks, leaks, strict=True)
        for what in found
    ]
    question = "Is an agent ever shown a canary, a family's name or an expected reply?"
    return none_wrong("leaks", question, offenders, len(tasks))


class _Secret(NamedTuple):
    """What no agent may be shown."""

    what: str
    text: bytes
    in_records: bool = False
    """It is the answer, in the words of the article that it has to be found in: a tool may give
    it, the prompt may not.
    """


def _secrets(task: Task) -> list[_Secret]:
    secrets = []
    if task.gold.canary:
        secrets.append(_Secret("the canary", task.gold.canary.encode()))
    if task.family:
        secrets.append(_Secret("the family's name", f'"{task.family}"'.encode()))
    for gold in task.gold.turns:
        text = (gold.response or {}).get("text")
        if isinstance(text, str) and len(text) > 40:
            found = gold.answer is not None and text in gold.answer.values
            secrets.append(_Secret("an expected reply", orjson.dumps(text)[1:-1], found))
    return secrets


class _ListenerFactory:
    """Agents that make the gold's calls and write down all that they are shown."""

    name = "listener"

    def __init__(self) -> None:
        self.leaks: dict[str, dict[str, None]] = {}
        """For each task what it has heard and should not have, in order."""

    def start_with_gold(self, task: Task) -> Agent:
        return _Listener(self, task)

    async def close(self) -> None:
        return None


class _Listener:
    def __init__(self, factory: _ListenerFactory, task: Task) -> None:
        self._factory = factory
        self._task = task
        self._oracle = Oracle(task)
        self._secrets = _secrets(task)
        self._viewed = False

    async def turn(self, session: Session, utterance: str) -> str:
        if not self._viewed:
            self._hear(session.view)
            self._viewed = True
        self._hear(utterance)
        listening = Session(session.view, self._keeping(session), session.spend)
        return await self._oracle.turn(listening, utterance)

    def _hear(self, shown: Any, from_records: bool = False) -> None:
        told = orjson.dumps(shown)
        found = self._factory.leaks.setdefault(self._task.task_id, {})
        for secret in self._secrets:
            if secret.text in told and not (from_records and secret.in_records):
                found[secret.what] = None

    def _keeping(self, session: Session) -> Callable[[Any, Any], ToolResult]:
        def call(name: Any, arguments: Any) -> ToolResult:
            result = session.call_now(name, arguments)
            self._hear(result, from_records=True)
            return result

        return call


class IsolationResult(NamedTuple):
    """One task, played beside fifteen others."""

    trace: bytes
    """A digest of the trace."""
    world_kept: bool
    """Whether its world is afterwards as it is when new."""


def isolation_results(tasks: Sequence[Task], grader: Grader) -> list[IsolationResult]:
    """Let the oracle play sixteen tasks at once, then look at the worlds."""
    crowd = play_all(Evaluator(OracleFactory(), grader), tasks, CROWD)
    kept = {
        (domain, world): _is_as_new(grader, domain, world)
        for domain, world in sorted({(task.domain, task.world) for task in tasks})
    }
    return [
        IsolationResult(_digest(f), kept[task.domain, task.world])
        for task, f in zip(tasks, crowd, strict=True)
    ]


def isolation_gate(
    tasks: Sequence[Task], alone: Sequence[OracleResult], crowd: Sequence[IsolationResult]
) -> GateResult:
    """Sixteen episodes at once give what one after another gives; the worlds stay as they were.

    Args:
        alone: What `oracle_results` found.
        crowd: What `isolation_results` found on the same backend, after all else was played.
    """
    offenders = [
        Offender(task.task_id, "alone and beside others it goes differently")
        for task, a, b in zip(tasks, alone, crowd, strict=True)
        if a.trace != b.trace
    ]
    changed = {task.world for task, b in zip(tasks, crowd, strict=True) if not b.world_kept}
    offenders += [Offender("", f"world {world} is not as it was") for world in sorted(changed)]
    question = "Do episodes leave no trace on each other or on the world?"
    return none_wrong("isolation", question, offenders, len(tasks))


def _is_as_new(grader: Grader, domain_name: str, world_name: str) -> bool:
    """Whether episodes would now start from what a database that nobody has used holds."""
    domain, used = load_domain(domain_name), grader.backends.backend(domain_name)
    world = domain.world(world_name)
    fresh = SqliteBackend(domain.schema)
    try:
        return _world_digest(used, world) == _world_digest(fresh, world)
    finally:
        fresh.close()


def _world_digest(backend: Backend, world: WorldSource) -> str:
    database = backend.acquire(world)
    digest = database.digest()
    backend.release(world, database)
    return digest
