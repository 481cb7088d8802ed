"""Feedback: each level tells what it says, and nothing of the gold below the level ``gold``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import orjson
import pytest

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Agent, AnyFactory
from crmbench.agents.slip import SlipFactory
from crmbench.agents.trivial import TRIVIAL
from crmbench.core.task import Task
from crmbench.grading.record import EpisodeRecord
from crmbench.learning.feedback import experience_of, gold_text
from crmbench.learning.protocol import LEVELS, Experience, Feedback, RecallView
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.task_sets import load_named
from crmbench.runner.waiting import wait_for

VIEW = RecallView("sales", "1999-01-01", "Nobody", "Hello")
GRADER = grader_on("sqlite")


class WrongWords:
    """Does all that is right and tells nothing of it."""

    name = "wrong_words"

    def start_with_gold(self, task: Task) -> Agent:
        class Silent(Oracle):
            def answer(self, gold: Any, made: Any) -> str:
                return "It is the way it is."

        return Silent(task)

    async def close(self) -> None:
        return None


def play(agent: AnyFactory, task: Task) -> EpisodeRecord:
    return wait_for(Evaluator(agent, GRADER).play(Job(task, 0)))


def told(record: EpisodeRecord, task: Task, level: Feedback) -> Experience:
    schema = GRADER.backends.domain(task.domain).schema
    return experience_of(VIEW, "", record, level, task, schema)


def strings(value: Any) -> Iterator[str]:
    """Every text and number of some length in a piece of ground truth."""
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str | float) or (isinstance(value, int) and value > 99):
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if len(text) > 3:
            yield text


def canaries(task: Task) -> set[str]:
    """What only the ground truth holds."""
    held: set[str] = set()
    for turn in task.gold.turns:
        held |= set(strings([dict(call.arguments) for call in turn.calls]))
        held |= set(strings([fact.value for fact in (*turn.facts, *turn.forbidden)]))
        held |= set(strings([turn.response and turn.response.get("text"), turn.error_substring]))
    return held


def seen(record: EpisodeRecord) -> str:
    """All that the agent met in an episode."""
    return orjson.dumps(
        [
            [[m.text for m in t.messages], [[c.arguments, c.result, c.error] for c in t.calls]]
            for t in record.trace.turns
        ],
        option=orjson.OPT_NON_STR_KEYS,
    ).decode()


AGENTS: Sequence[AnyFactory] = (
    *(agent for agent in TRIVIAL if agent.name in ("noop", "refuse_all", "random")),
    SlipFactory("0.4"),
    WrongWords(),
)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@pytest.mark.parametrize("name", ["demo", "service"])
def test_no_level_below_gold_tells_what_only_the_gold_holds(agent: AnyFactory, name: str) -> None:
    checked = 0
    for task in load_named(name).tasks()[:20]:
        record = play(agent, task)
        met = seen(record)
        # Tables have names that anybody may know; columns are no values.
        tables = GRADER.backends.domain(task.domain).schema.tables
        hidden = {text for text in canaries(task) if text not in met and text not in tables}
        for level in LEVELS[:3]:
            text = told(record, task, level).transcript()
            leaked = [each for each in hidden if each in text]
            assert not leaked, (task.task_id, level, leaked)
        if not record.verdict.success:
            checked += len(hidden)
            gold = told(record, task, "gold").transcript()
            assert all(call.tool in gold for turn in task.gold.turns for call in turn.calls)
    assert checked > 3


def test_levels_tell_more_and_more() -> None:
    task = load_named("demo").tasks()[0]
    record = play(AGENTS[0], task)
    none, binary, message, gold = (told(record, task, level) for level in LEVELS)
    assert (none.success, none.message, none.gold) == (None, None, None)
    assert (binary.success, binary.message, binary.gold) == (False, None, None)
    assert message.success is False
    assert message.gold is None
    assert message.message
    assert gold.gold == gold_text(task)
    lengths = [len(each.transcript()) for each in (none, binary, message, gold)]
    assert lengths == sorted(set(lengths))
    assert none.feedback_lines() == []


def test_a_message_names_turn_table_and_column_in_fixed_words() -> None:
    shape = re.compile(r"turn \d+: [a-z_A-Z ,;]+(\. turn \d+: [a-z_A-Z ,;]+)*\.")
    found = set()
    for task in load_named("demo").tasks():
        for agent in AGENTS:
            record = play(agent, task)
            message = told(record, task, "message").message
            assert message is not None
            if record.verdict.success:
                assert message == ""
                continue
            assert shape.fullmatch(message), message
            found |= set(re.split(r"turn \d+: |; ", message))
    assert any(text.startswith("a change to ") for text in found)
    assert any("leaves out something" in text for text in found)


def test_an_experience_has_no_field_for_a_task_or_a_verdict() -> None:
    assert {field.name for field in fields(Experience)} == {
        *("view", "recalled", "turns", "success", "message", "gold")
    }
