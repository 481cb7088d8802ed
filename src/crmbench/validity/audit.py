"""All gates on a set of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from crmbench.core.task import Task
from crmbench.validity import (
    answers,
    columns,
    contents,
    episodes,
    expected,
    hard,
    language,
    mutants,
    records,
    replies,
    strangers,
    tellings,
    values,
)
from crmbench.validity.gate import AuditReport, GateResult
from crmbench.validity.work import Question
from crmbench.validity.work import answers as answers_of

MIN_PHRASINGS = 3000
PHRASINGS_PER_TURN = 0.55
"""For sets too small for `MIN_PHRASINGS`."""


def audit(
    tasks: Sequence[Task],
    name: str,
    *,
    backends: Sequence[str] = ("sqlite", "postgres"),
    workers: int = 2,
    executor: str = "",
    on_gate: Callable[[GateResult], None] = lambda _gate: None,
    on_round: Callable[[int, int], None] = lambda _done, _of: None,
) -> AuditReport:
    """Ask every gate. A task that cannot be set up is named, and the gates are asked of the others.

    Args:
        backends: Where the oracle is played; with two, they are compared as well.
        workers: How many processes share the work, or actors on Ray.
        executor: Where they are; see `crmbench.runner.executors.spread.open_executor`.
        on_gate: Told of each gate as it is done.
        on_round: Told how many rounds are done, and of how many; the gates of tasks of many
            decisions are known after the last.
    """
    gates: list[GateResult] = []

    def note(*found: GateResult) -> None:
        for gate in found:
            gates.append(gate)
            on_gate(gate)

    whole = tasks
    with closing(
        answers_of(whole, [Question(episodes.set_up_problems)], workers, executor)
    ) as asked:
        problems = next(asked)
        assert next(asked, None) is None, "one question was asked"
    note(episodes.set_up_gate(whole, problems))
    tasks = [task for task, problem in zip(whole, problems, strict=True) if problem is None]
    if tasks:
        _ask_all(tasks, backends, workers, executor, note, on_round)
    return AuditReport(name, len(whole), sum(len(t.turns) for t in whole), tuple(gates))


def _ask_all(
    tasks: Sequence[Task],
    backends: Sequence[str],
    workers: int,
    executor: str,
    note: Callable[..., None],
    on_round: Callable[[int, int], None],
) -> None:
    """Ask every gate of tasks that can be played."""
    graded = [task for task in tasks if _by_state(task)]
    found = answers_of(
        tasks,
        [
            *(Question(episodes.oracle_results, backend) for backend in backends),
            Question(episodes.trivial_passes),
            Question(episodes.path_problems),
            Question(mutants.mutants_tried, keep=_by_state),
            Question(columns.columns_tried, keep=_by_state),
            Question(replies.replies_tried, keep=_by_state),
            Question(tellings.tellings_tried, keep=_by_state),
            Question(strangers.strangers_tried, keep=_by_state),
            Question(expected.expected_tried, keep=_by_state),
            Question(answers.answers_tried),
            Question(values.values_lost, keep=_traced),
            Question(records.facts_compared, keep=_traced),
            Question(hard.hard_problems, keep=hard.of_many),
            Question(episodes.leaks_of),
            Question(episodes.isolation_results, backends[0]),
        ],
        workers,
        executor,
        on_round,
    )
    with closing(found):
        alone = [next(found) for _ in backends]
        for backend, results in zip(backends, alone, strict=True):
            note(episodes.oracle_gate(tasks, results, backend))
        if len(alone) == 2:
            note(episodes.backends_agree(tasks, *alone))
        note(*episodes.trivial_gates(tasks, next(found)))
        note(episodes.path_gate(tasks, next(found)))
        note(mutants.mutant_gate(graded, next(found)))
        note(columns.column_gate(graded, next(found)))
        note(*replies.reply_gates(graded, next(found)))
        note(tellings.telling_gate(graded, next(found)))
        note(*strangers.stranger_gates(graded, next(found)))
        note(expected.expected_gate(graded, next(found)))
        note(*answers.answer_gates(tasks, next(found)))
        single = [task for task in tasks if not hard.of_many(task)]
        traced = [task for task in tasks if _traced(task)]
        note(values.values_traceable(traced, next(found)))
        note(records.record_gate(traced, next(found)))
        note(*hard.hard_gates([t for t in tasks if hard.of_many(t)], next(found)))
        note(*text_gates(single))
        note(contents.criteria_test_something(tasks))
        note(contents.answers_balanced(tasks))
        note(*contents.constant_answers(tasks))
        note(contents.failures_present(single))
        note(episodes.leak_gate(tasks, next(found)))
        note(episodes.isolation_gate(tasks, alone[0], next(found)))
        # To its end, where the workers are let go in peace.
        assert next(found, None) is None, "every question was asked about"


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


def _traced(task: Task) -> bool:
    """Tasks of many decisions have a second truth in place of the tracing of each value."""
    return _by_state(task) and not hard.of_many(task)
