"""All gates on a set of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crmbench.core.task import Task
from crmbench.runner.executors import Workers
from crmbench.validity import answers, contents, episodes, language, mutants, replies, values
from crmbench.validity.gate import AuditReport, GateResult

MIN_PHRASINGS = 3000
PHRASINGS_PER_TURN = 0.55
"""For sets too small for `MIN_PHRASINGS`."""


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
        processes: How many share the work.
        on_gate: Told of each gate as it is done.
    """
    gates: list[GateResult] = []

    def note(*found: GateResult) -> None:
        for gate in found:
            gates.append(gate)
            on_gate(gate)

    graded = [task for task in tasks if _by_state(task)]
    with Workers(tasks, processes) as workers:
        # All work is handed out at once, so that no process waits for another between gates.
        oracle = [workers.submit(episodes.oracle_results, backend) for backend in backends]
        trivial = workers.submit(episodes.trivial_passes)
        paths = workers.submit(episodes.path_problems)
        mutated = workers.submit(mutants.mutants_tried, keep=_by_state)
        replied = workers.submit(replies.replies_tried, keep=_by_state)
        answered = workers.submit(answers.answers_tried)
        lost = workers.submit(values.values_lost, keep=_by_state)
        leaks = workers.submit(episodes.leaks_of)
        crowd = workers.submit(episodes.isolation_results, backends[0])

        alone = [pending.results() for pending in oracle]
        for backend, found in zip(backends, alone, strict=True):
            note(episodes.oracle_gate(tasks, found, backend))
        if len(alone) == 2:
            note(episodes.backends_agree(tasks, *alone))
        note(*episodes.trivial_gates(tasks, trivial.results()))
        note(episodes.path_gate(tasks, paths.results()))
        note(mutants.mutant_gate(graded, mutated.results()))
        note(*replies.reply_gates(graded, replied.results()))
        note(*answers.answer_gates(tasks, answered.results()))
        note(values.values_traceable(graded, lost.results()))
        note(*text_gates(tasks))
        note(contents.criteria_test_something(tasks))
        note(contents.answers_balanced(tasks))
        note(*contents.constant_answers(tasks))
        note(contents.failures_present(tasks))
        note(episodes.leak_gate(tasks, leaks.results()))
        note(episodes.isolation_gate(tasks, alone[0], crowd.results()))
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


def _by_state(task: Task) -> bool:
    return task.gold.grading == "state"
