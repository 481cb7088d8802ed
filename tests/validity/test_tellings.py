"""The gates on replies read within a conversation: mutants, and what strangers wrote."""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from random import Random

import orjson
import pytest
from tests.conftest import NORTHGATE

from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader
from crmbench.grading.turn_words import TurnWords
from crmbench.runner.evaluate import grader_on
from crmbench.runner.task_sets import load_named
from crmbench.validity import strangers
from crmbench.validity.strangers import stranger_gates, strangers_tried, turn_digest
from crmbench.validity.tellings import (
    Telling,
    TellingResult,
    WrongTellings,
    gold_submission,
    name_index,
    telling_gate,
    tellings_tried,
)


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    grader = grader_on("sqlite")
    yield grader
    grader.close()


def written(task: Task, grader: Grader) -> Iterator[Telling]:
    """Every wrong reply to a task."""
    domain, run = load_domain(task.domain), grader.gold_runs(task)[0]
    names = name_index(task.domain, task.world)
    for index in range(len(task.turns)):
        words = TurnWords.of_gold(domain, task, run, index, gold_submission(run, index))
        yield from WrongTellings(domain, words, names, Random(1)).all()


def test_every_kind_of_wrong_reply_is_written_and_read(grader: Grader) -> None:
    sales = load_named("demo").tasks()
    service = load_named("service").tasks()[::40]
    kinds = Counter(t.what for task in (*sales, *service) for t in written(task, grader))
    assert set(kinds) == {
        *("denied", "of another record", "before for after", "told all the same", "swapped"),
        *("a stranger in the list", "either or", "either or in the reply", "the runner-up first"),
        "None beside a candidate",
    }
    gate = telling_gate(service, tellings_tried(service, grader))
    assert gate.passed, gate.offenders
    results = tellings_tried(sales, grader)
    assert sum(result.tried for result in results) > 150
    assert 0 < sum(result.undecided for result in results) < 100
    passing = [text for result in results for text in result.survivors]
    assert not [text for text in passing if "before for after" not in text]


def test_a_wrong_reply_that_passes_is_named() -> None:
    task = load_named("demo").tasks()[0]
    gate = telling_gate([task], [TellingResult(10, 1, ("turn 1: denied: 'No.'",))])
    assert not gate.passed
    assert gate.figure == 9
    assert gate.offenders[0].reason == "turn 1: denied: 'No.'"
    assert "(1 are left undecided)" in gate.question


def test_a_conversation_without_any_record_named_is_no_trouble(grader: Grader) -> None:
    tasks = load_named(NORTHGATE).tasks()
    assert sum(r.tried for r in tellings_tried(tasks, grader)) > 20


def test_strangers_replies_are_those_of_the_tests_folder() -> None:
    folder = Path(__file__).parents[1] / "data" / "replies"
    made = [orjson.loads(orjson.dumps(line)) for line in strangers.collected(folder)]
    path = resources.files("crmbench") / "data" / "replies.jsonl.xz"
    stored = [orjson.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines()]
    assert made == stored, "run: python -m crmbench.validity.strangers tests/data/replies"


def test_strangers_replies_are_found_by_their_turn_and_accepted(grader: Grader) -> None:
    folder = Path(__file__).parents[1] / "data" / "replies"
    tasks = load_named(str(folder / "sales_tasks.jsonl.xz")).tasks()
    found = strangers_tried(tasks, grader)
    assert sum(result.tried for result in found) > 300
    for gate in stranger_gates(tasks, found):
        assert gate.passed, gate.offenders
        assert gate.applies
    other = [replace(task, persona="somebody else") for task in tasks]
    assert all(result.tried == 0 for result in strangers_tried(other, grader))
    assert turn_digest(tasks[0], 0) != turn_digest(other[0], 0)


def test_a_rejected_reply_of_a_stranger_fails_the_gate() -> None:
    task = load_named("demo").tasks()[0]
    result = strangers.StrangersResult(4, ("turn 1: 'Yes.'",), 3, ("turn 2: 'Hm.'",))
    rejected, decided = stranger_gates([task], [result])
    assert (rejected.passed, rejected.figure, rejected.of) == (False, 3, 4)
    assert (decided.passed, decided.figure, decided.of) == (False, 2, 3)
