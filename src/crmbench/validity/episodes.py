"""Gates that play the tasks: oracle, trivial agents, other right paths, isolation, leaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from crmbench.agents.oracle import Oracle, OracleFactory
from crmbench.agents.protocol import Agent, Session
from crmbench.agents.trivial import TRIVIAL
from crmbench.core.episode import ToolResult
from crmbench.core.gold import walk
from crmbench.core.score.state import compare_effects
from crmbench.core.task import Path, Task
from crmbench.domains import load_domain
from crmbench.harness.evaluate import AnyFactory, Evaluator, Finished, jobs_for
from crmbench.validity.gate import GateResult, Offender, none_wrong


def play_all(evaluator: Evaluator, tasks: Sequence[Task], concurrency: int = 1) -> list[Finished]:
    """Play every task once, in order."""
    finished: list[Finished] = []
    asyncio.run(evaluator.run(jobs_for(tasks, 1), finished.append, concurrency))
    order = {task.task_id: place for place, task in enumerate(tasks)}
    return sorted(finished, key=lambda f: order[f.task.task_id])


def oracle_gate(
    tasks: Sequence[Task], evaluator: Callable[[AnyFactory], Evaluator], backend: str
) -> tuple[GateResult, list[bytes]]:
    """The oracle's score must be exactly 1. Also returns each trace, to compare backends by."""
    playing = evaluator(OracleFactory())
    try:
        finished = play_all(playing, tasks)
    finally:
        playing.close()
    wrong = [
        Offender(f.task.task_id, f.verdict.reason or "") for f in finished if not f.verdict.success
    ]
    question = f"Does the ground truth pass its own test on {backend}?"
    gate = none_wrong(f"oracle on {backend}", question, wrong, len(tasks))
    return gate, [f.trace.to_json() for f in finished]


def backends_agree(tasks: Sequence[Task], one: list[bytes], two: list[bytes]) -> GateResult:
    """The same task on another database gives the same bytes."""
    wrong = [
        Offender(task.task_id, "the two databases give different traces")
        for task, a, b in zip(tasks, one, two, strict=True)
        if a != b
    ]
    question = "Do both databases give the same traces, byte for byte?"
    return none_wrong("backends agree", question, wrong, len(tasks))


def trivial_passes(
    tasks: Sequence[Task], evaluator: Callable[[AnyFactory], Evaluator]
) -> list[tuple[str, ...]]:
    """For each task, the agents that do no work and pass it."""
    passed: dict[str, list[str]] = {task.task_id: [] for task in tasks}
    for agent in TRIVIAL:
        playing = evaluator(agent)
        try:
            for finished in play_all(playing, tasks):
                if finished.verdict.success:
                    passed[finished.task.task_id].append(agent.name)
        finally:
            playing.close()
    return [tuple(passed[task.task_id]) for task in tasks]


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


def path_problems(
    tasks: Sequence[Task], evaluator: Callable[[AnyFactory], Evaluator]
) -> list[tuple[str, ...]]:
    """For each task, what is wrong with its other right paths."""
    playing = evaluator(OracleFactory())
    try:
        return [
            tuple(
                f"{path.note}: {problem}"
                for path in task.gold.paths
                if (problem := _path_problem(playing, task, path))
            )
            for task in tasks
        ]
    finally:
        playing.close()


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


def _path_problem(evaluator: Evaluator, task: Task, path: Path) -> str | None:
    domain, backend = load_domain(task.domain), evaluator.backend_for(task.domain)
    run = walk(domain, task, backend, path)
    if run.faults:
        return run.faults[0]
    gold = evaluator.gold_runs(task)[0]
    if path.same_effect and compare_effects(domain.schema, gold.effects[-1], run.effects[-1]):
        return "it ends in another state than the gold"
    follower = Evaluator.sharing(evaluator, _PathFactory(path))
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


def leaks_of(
    tasks: Sequence[Task], evaluator: Callable[[AnyFactory], Evaluator]
) -> list[tuple[str, ...]]:
    """For each task, what an agent is shown that it must not see."""
    listener = _ListenerFactory()
    playing = evaluator(listener)
    try:
        play_all(playing, tasks)
    finally:
        playing.close()
    return [
        tuple(
            what for what, text in _secrets(task) if text.encode() in listener.heard[task.task_id]
        )
        for task in tasks
    ]


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


def _secrets(task: Task) -> list[tuple[str, str]]:
    secrets = []
    if task.gold.canary:
        secrets.append(("the canary", task.gold.canary))
    if task.family:
        secrets.append(("the family's name", f'"{task.family}"'))
    for gold in task.gold.turns:
        text = (gold.response or {}).get("text")
        if isinstance(text, str) and len(text) > 40:
            secrets.append(("an expected reply", orjson.dumps(text).decode()[1:-1]))
    return secrets


class _ListenerFactory:
    """Agents that make the gold's calls and write down all that they are shown."""

    name = "listener"

    def __init__(self) -> None:
        self.heard: dict[str, bytes] = {}

    def start_with_gold(self, task: Task) -> Agent:
        return _Listener(self, task)

    async def close(self) -> None:
        return None


class _Listener:
    def __init__(self, factory: _ListenerFactory, task: Task) -> None:
        self._factory = factory
        self._task = task
        self._oracle = Oracle(task)
        self._heard: list[Any] = []

    async def turn(self, session: Session, utterance: str) -> str:
        if not self._heard:
            self._heard.append(session.view)
        self._heard.append(utterance)
        listening = Session(session.view, self._keeping(session), session.spend)
        reply = await self._oracle.turn(listening, utterance)
        self._factory.heard[self._task.task_id] = orjson.dumps(self._heard)
        return reply

    def _keeping(self, session: Session) -> Callable[[Any, Any], ToolResult]:
        def call(name: Any, arguments: Any) -> ToolResult:
            result = session.call_now(name, arguments)
            self._heard.append(result)
            return result

        return call


def isolation_gate(
    tasks: Sequence[Task], evaluator: Callable[[AnyFactory], Evaluator]
) -> GateResult:
    """Sixteen episodes at once give what one after another gives; the worlds stay as they were."""
    playing = evaluator(OracleFactory())
    try:
        before = _digests(playing, tasks)
        alone = [f.trace.to_json() for f in play_all(playing, tasks, 1)]
        crowd = [f.trace.to_json() for f in play_all(playing, tasks, 16)]
        after = _digests(playing, tasks)
    finally:
        playing.close()
    offenders = [
        Offender(task.task_id, "alone and beside others it goes differently")
        for task, a, b in zip(tasks, alone, crowd, strict=True)
        if a != b
    ]
    offenders += [
        Offender("", f"world {world} is not as it was")
        for world in before
        if before[world] != after[world]
    ]
    question = "Do episodes leave no trace on each other or on the world?"
    return none_wrong("isolation", question, offenders, len(tasks))


def _digests(evaluator: Evaluator, tasks: Sequence[Task]) -> dict[str, str]:
    digests = {}
    for domain_name, world_name in sorted({(task.domain, task.world) for task in tasks}):
        domain, backend = load_domain(domain_name), evaluator.backend_for(domain_name)
        world = domain.world(world_name)
        database = backend.acquire(world)
        digests[world_name] = database.digest()
        backend.release(world, database)
    return digests
