"""How the work of an audit is shared out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from crmbench.core.task import Task
from crmbench.grading.grader import Grader
from crmbench.runner.task_sets import load_named
from crmbench.validity.hard import of_many
from crmbench.validity.work import FEW_OF_MANY, WORLDS_AT_ONCE, Question, answers, rounds_of


def test_every_task_is_asked_about_once_and_no_worker_has_more_worlds_than_it_keeps() -> None:
    tasks = [*load_named("demo").tasks(), *load_named("sales/hard").tasks()]
    few, *rounds = rounds_of(tasks, 3)
    places = chain.from_iterable(chain.from_iterable([few, *rounds]))
    assert sorted(places) == list(range(len(tasks)))
    assert not any(of_many(tasks[place]) for share in few for place in share)
    for shares in rounds:
        assert max(len({tasks[p].world for p in share}) for share in shares) <= WORLDS_AT_ONCE
    # One mechanism costs many times what another does: every worker has as many of each.
    by_worker: list[list[str | None]] = [[], [], []]
    for shares in rounds:
        for worker, share in enumerate(shares):
            by_worker[worker] += [tasks[place].tag("mechanism") for place in share]
    for mechanism in ("worklist", "review", "shift"):
        counts = [mechanisms.count(mechanism) for mechanisms in by_worker]
        assert max(counts) - min(counts) <= 1


def names(tasks: Sequence[Task], grader: Grader) -> list[str]:
    """What each task is called."""
    del grader
    return [task.task_id for task in tasks]


def test_the_answers_of_several_rounds_come_in_the_order_of_the_tasks() -> None:
    hard, demo = load_named("sales/hard").tasks(), load_named("demo").tasks()
    tasks = [*hard[:40], *demo[:4], *hard[40:70]]
    told: list[tuple[int, int]] = []
    questions = [Question(names), Question(names, keep=of_many)]
    for workers in (1, 2):
        told.clear()
        found = answers(tasks, questions, workers, on_round=lambda *done: told.append(done))
        every, many = found
        assert every == [task.task_id for task in tasks]
        assert many == [task.task_id for task in tasks if of_many(task)]
        rounds = len(rounds_of(tasks, workers))
        assert rounds > 2
        assert told == [(n, rounds) for n in range(1, rounds + 1)]


def test_a_few_tasks_of_many_decisions_are_shared_out_too() -> None:
    hard = load_named("sales/hard").tasks()
    told: list[tuple[int, int]] = []
    for count in (FEW_OF_MANY - 1, FEW_OF_MANY):
        tasks = hard[:count]
        found = answers(tasks, [Question(names)], 2, on_round=lambda *done: told.append(done))
        assert list(found) == [[task.task_id for task in tasks]]
    # Seven are two rounds for one process; eight are one for two.
    assert told == [(1, 2), (2, 2), (1, 1)]
