"""No turn of the published conversations makes a careful reader stumble."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.domains.sales.dataset_page import published
from tests.domains.sales.turn_faults import FINDERS, only_asks

from crmbench.core.task import Task, Turn


@pytest.mark.parametrize("fault", FINDERS)
def test_the_published_conversations_are_free_of_it(fault: str) -> None:
    finder = FINDERS[fault]
    found = [(task.task_id, turn) for task in published().tasks for turn in finder(task)]
    assert found == []


def _spoilt(task: Task, place: int, utterance: str) -> Task:
    turns = list(task.turns)
    turns[place] = Turn(turns[place].turn_id, utterance, turns[place].clarification)
    return replace(task, turns=tuple(turns))


def test_an_answer_that_is_dictated_is_found() -> None:
    finder = FINDERS["dictated_answers"]
    for task in published().tasks:
        for place, turn in enumerate(task.gold.turns[1:], 1):
            names = [fact.value for fact in turn.facts if fact.kind == "name"]
            if names and turn.expect_success and not any("modify" in c.tool for c in turn.calls):
                spoilt = _spoilt(task, place - 1, f"I spoke with {names[0]}.")
                assert place + 1 in list(finder(spoilt))
                return
    pytest.fail("no conversation asks for a name")


def test_a_question_that_is_asked_again_is_found() -> None:
    task = next(t for t in published().tasks if only_asks(t.gold.turns[0]))
    gold = replace(task.gold, turns=task.gold.turns[:1] * 2)
    twice = replace(task, turns=task.turns[:1] * 2, gold=gold)
    asked = list(FINDERS["repeated_questions"](twice))
    assert asked == [2]


def test_an_opening_said_twice_is_found() -> None:
    task = published().tasks[0]
    finder = FINDERS["doubled_words"]
    assert list(finder(_spoilt(task, 0, "With that done, with that done, delete it."))) == [1]
    assert list(finder(_spoilt(task, 0, "I see. Then delete it."))) == []
