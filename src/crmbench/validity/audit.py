"""All gates on a set of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from crmbench.agents.oracle import OracleFactory
from crmbench.core.task import Task
from crmbench.domains import load_domain
from crmbench.harness.backends import backend_maker
from crmbench.harness.evaluate import AnyFactory, Evaluator
from crmbench.validity import contents, episodes, language
from crmbench.validity.gate import AuditReport, GateResult, Offender, at_least
from crmbench.validity.mutants import MutantResult, WorldKeys, try_mutants, world_keys
from crmbench.validity.replies import reply_gates
from crmbench.validity.values import untraceable, values_traceable

MIN_PHRASINGS = 3000
PHRASINGS_PER_TURN = 0.55
"""For sets too small for `MIN_PHRASINGS`."""
KILLED = 0.995
T = TypeVar("T")


def audit(
    tasks: Sequence[Task],
    name: str,
    *,
    backends: Sequence[str] = ("sqlite", "postgres"),
    processes: int = 2,
    on_gate: Callable[[GateResult], None] = lambda _gate: None,
) -> AuditReport:
    """Ask every gate.

    Args:
        backends: Where the oracle is played; with two, they are compared as well.
        processes: How many share the work on mutants.
        on_gate: Told of each gate as it is done.
    """
    gates: list[GateResult] = []

    def note(*found: GateResult) -> None:
        for gate in found:
            gates.append(gate)
            on_gate(gate)

    sqlite = partial(evaluator_on, "sqlite")
    traces = []
    for backend in backends:
        gate, played = episodes.oracle_gate(tasks, partial(evaluator_on, backend), backend)
        note(gate)
        traces.append(played)
    if len(traces) == 2:
        note(episodes.backends_agree(tasks, *traces))
    spread = partial(in_processes, processes=processes)
    note(*episodes.trivial_gates(tasks, spread(_trivial_passes, tasks)))
    note(episodes.path_gate(tasks, spread(_path_problems, tasks)))
    graded = [task for task in tasks if task.gold.grading == "state"]
    note(mutant_gate(graded, processes))
    note(*reply_gates(graded, spread))
    note(values_gate(graded, processes))
    note(*text_gates(tasks))
    note(contents.criteria_test_something(tasks))
    note(contents.answers_balanced(tasks))
    note(contents.failures_present(tasks))
    note(episodes.leak_gate(tasks, spread(_leaks_of, tasks)))
    note(episodes.isolation_gate(tasks, sqlite))
    return AuditReport(name, len(tasks), sum(len(t.turns) for t in tasks), tuple(gates))


def text_gates(tasks: Sequence[Task]) -> list[GateResult]:
    """The gates on what users say."""
    turns = sum(len(task.turns) for task in tasks)
    return [
        language.placeholders(tasks),
        language.values_said([task for task in tasks if task.gold.grading == "tool_match"]),
        language.distinct_turns(tasks),
        language.distinct_phrasings(tasks, min(MIN_PHRASINGS, int(PHRASINGS_PER_TURN * turns))),
        language.commonest_phrasing(tasks),
    ]


def mutant_gate(tasks: Sequence[Task], processes: int = 2) -> GateResult:
    """The share of wrong ways that fail."""
    results = in_processes(_mutants_of, tasks, processes)
    killed = sum(result.killed for result in results)
    survivors = [
        Offender(task.task_id, f"{kind}: {detail}")
        for task, result in zip(tasks, results, strict=True)
        for kind, detail in result.survivors
    ]
    equivalent = sum(result.equivalent for result in results)
    question = f"How many mutants of gold writes fail? ({equivalent} more change nothing)"
    return at_least("mutants killed", question, killed, killed + len(survivors), KILLED, survivors)


def _mutants_of(tasks: Sequence[Task]) -> list[MutantResult]:
    evaluator = evaluator_on("sqlite", OracleFactory())
    keys: dict[str, WorldKeys] = {}
    results = []
    for task in tasks:
        domain, backend = load_domain(task.domain), evaluator.backend_for(task.domain)
        place = task.task_id if task.seed_data else task.world
        if place not in keys:
            keys[place] = world_keys(domain, task, backend)
        gold = evaluator.gold_runs(task)[0]
        results.append(try_mutants(domain, task, backend, gold, keys[place]))
    evaluator.close()
    return results


def values_gate(tasks: Sequence[Task], processes: int = 2) -> GateResult:
    """Every value that the gold writes comes from somewhere."""
    return values_traceable(tasks, in_processes(_untraceable_of, tasks, processes))


def _untraceable_of(tasks: Sequence[Task]) -> list[tuple[list[str], int]]:
    evaluator = evaluator_on("sqlite", OracleFactory())
    found = [
        untraceable(load_domain(task.domain), task, evaluator.gold_runs(task)[0]) for task in tasks
    ]
    evaluator.close()
    return found


def _trivial_passes(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return episodes.trivial_passes(tasks, partial(evaluator_on, "sqlite"))


def _path_problems(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return episodes.path_problems(tasks, partial(evaluator_on, "sqlite"))


def _leaks_of(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return episodes.leaks_of(tasks, partial(evaluator_on, "sqlite"))


def in_processes(
    work: Callable[[Sequence[Task]], list[T]], tasks: Sequence[Task], processes: int
) -> list[T]:
    """`work` on all tasks, in a few processes, the results in the order of the tasks.

    Tasks of one world go to one process as far as possible: what is made for a world is made once.
    """
    if processes < 2 or len(tasks) < 64:
        return work(tasks)
    order = sorted(range(len(tasks)), key=lambda place: tasks[place].world)
    step = -(-len(tasks) // (processes * 4))
    parts = [order[start : start + step] for start in range(0, len(order), step)]
    results: dict[int, T] = {}
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        shares = [[tasks[place] for place in part] for part in parts]
        for part, found in zip(parts, pool.map(work, shares), strict=True):
            results.update(zip(part, found, strict=True))
    return [results[place] for place in range(len(tasks))]


def evaluator_on(backend: str, agent: AnyFactory) -> Evaluator:
    """An evaluator on the backend of that name."""
    return Evaluator(agent, backend_maker(backend))
