"""Streams: their order follows from the seed, and what is held out is never learnt from."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crmbench.agents.oracle import OracleFactory
from crmbench.core.task import Task
from crmbench.domains.sales.rule_changes import CHANGES, NEW
from crmbench.errors import InputError
from crmbench.grading.grader import Grader
from crmbench.learning.streams import (
    STREAMS,
    StreamOptions,
    family_of,
    first_turn,
    make_schedule,
)
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.task_sets import load_named
from crmbench.runner.waiting import wait_for

(CHANGE,) = CHANGES


@pytest.fixture(scope="module")
def tasks() -> Sequence[Task]:
    return load_named("sales/standard").tasks()


@pytest.fixture(scope="module")
def grader() -> Grader:
    return grader_on("sqlite")


def ids(options: StreamOptions, tasks: Sequence[Task], seed: int) -> list[list[str]]:
    schedule = make_schedule(options, tasks, seed)
    return [[item.task.task_id for item in block.items] for block in schedule.blocks]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_follows_from_tasks_and_seed(name: str, tasks: Sequence[Task]) -> None:
    options = StreamOptions(name)
    once = ids(options, tasks, 3)
    assert once == ids(options, tasks[::-1], 3)
    assert once != ids(options, tasks, 4)
    flat = [each for block in once for each in block]
    assert len(flat) == len(set(flat))


def test_probes_are_never_learnt_from(tasks: Sequence[Task]) -> None:
    for name in ("blocked", "split"):
        schedule = make_schedule(StreamOptions(name), tasks, 0)
        learnt = {item.task.task_id for block in schedule.blocks for item in block.items}
        probed = {item.task.task_id for group in schedule.probes for item in group.items}
        assert learnt
        assert probed
        assert not learnt & probed


def test_blocks_hold_whole_families(tasks: Sequence[Task]) -> None:
    schedule = make_schedule(StreamOptions("blocked", blocks=5), tasks, 0)
    families = [{family_of(i.task) for i in block.items} for block in schedule.blocks]
    assert len(families) == 5
    assert sum(map(len, families)) == len(set().union(*families))
    for block, group in zip(schedule.blocks, schedule.probes, strict=True):
        assert block.name == group.name
        assert len(group.items) == 4


def test_a_split_holds_families_and_worlds_out(tasks: Sequence[Task]) -> None:
    schedule = make_schedule(StreamOptions("split"), tasks, 0)
    (block,) = schedule.blocks
    families = {family_of(item.task) for item in block.items}
    worlds = {item.task.world for item in block.items}
    groups = {group.name: [item.task for item in group.items] for group in schedule.probes}
    assert list(groups) == ["unseen families", "unseen worlds", "unseen families and worlds"]
    assert not families & {family_of(task) for task in groups["unseen families"]}
    assert {task.world for task in groups["unseen families"]} <= worlds
    assert {family_of(task) for task in groups["unseen worlds"]} <= families
    assert not worlds & {task.world for task in groups["unseen worlds"]}
    both = groups["unseen families and worlds"]
    assert not any(family_of(task) in families or task.world in worlds for task in both)


def test_parts_are_first_turns_of_other_conversations(
    tasks: Sequence[Task], grader: Grader
) -> None:
    schedule = make_schedule(StreamOptions("compositional"), tasks[:60], 0)
    parts, wholes = ([item.task for item in block.items] for block in schedule.blocks)
    assert all(len(task.turns) == len(task.gold.turns) == 1 for task in parts)
    assert all(len(task.turns) > 1 for task in wholes)
    assert not {task.task_id.removesuffix("~1") for task in parts} & {t.task_id for t in wholes}
    for task in parts[:10]:
        assert grader.fault_of(task) is None
        assert wait_for(Evaluator(OracleFactory(), grader).play(Job(task, 0))).verdict.success


def test_the_first_turn_alone_keeps_what_it_is_graded_by(tasks: Sequence[Task]) -> None:
    task = next(task for task in tasks if len(task.turns) > 3)
    cut = first_turn(task)
    assert cut.gold.turns == task.gold.turns[:1]
    assert cut.turns == task.turns[:1]
    assert cut.task_id != task.task_id


class OldHabits(OracleFactory):
    """Follows the ground truth from before the rule changed."""

    def __init__(self, before: dict[str, Task]) -> None:
        self._before = before

    def start_with_gold(self, task: Task):  # type: ignore[no-untyped-def]
        return super().start_with_gold(self._before[task.task_id])


def test_the_changed_rule_decides_the_changed_tasks(tasks: Sequence[Task], grader: Grader) -> None:
    pairs = [(task, new) for task in tasks if (new := CHANGE.changed(task)) is not None]
    assert len(pairs) >= 10
    old = OldHabits({new.task_id: task for task, new in pairs})
    for _, new in pairs[:6]:
        assert grader.fault_of(new) is None
        right = wait_for(Evaluator(OracleFactory(), grader).play(Job(new, 0)))
        assert right.verdict.success, new.task_id
        stale = wait_for(Evaluator(old, grader).play(Job(new, 0)))
        assert not stale.verdict.success
        wrong = [text for turn in stale.verdict.turns for text in turn.mismatches]
        assert wrong
        assert all(text.startswith("Opportunity") for text in wrong)


def test_a_drift_changes_the_page_with_the_ground_truth(tasks: Sequence[Task]) -> None:
    before, after = make_schedule(StreamOptions("drift"), tasks, 0).blocks
    assert not any(item.task.task_id.endswith("~DEAL-2") for item in before.items)
    changed = [item for item in after.items if item.task.task_id.endswith("~DEAL-2")]
    assert len(changed) >= 5
    # Nothing of the second half still has the ground truth of the old rule.
    assert all(item in changed or not CHANGE.touches(item.task) for item in after.items)
    assert {item.policy for item in before.items} == {None}
    (page,) = {item.policy for item in after.items}
    assert page is not None
    assert all(f"{stage} {value}" in page for stage, value in NEW.items())
    assert "Proposal 50" not in page


def test_an_unwritten_drift_leaves_the_values_out(tasks: Sequence[Task]) -> None:
    before, after = make_schedule(StreamOptions("drift-unwritten"), tasks, 0).blocks
    (page,) = {item.policy for item in (*before.items, *after.items)}
    assert page is not None
    assert "DEAL-2" in page
    assert "Proposal 50" not in page
    assert "Proposal 60" not in page


def test_what_makes_no_stream_is_said(tasks: Sequence[Task]) -> None:
    with pytest.raises(InputError, match="no stream 'sorted'"):
        make_schedule(StreamOptions("sorted"), tasks, 0)
    with pytest.raises(InputError, match="can follow a change of DEAL-2"):
        make_schedule(StreamOptions("drift"), load_named("demo").tasks(), 0)
    with pytest.raises(InputError, match="no rule that can change"):
        make_schedule(StreamOptions("drift"), load_named("service").tasks()[:20], 0)
    with pytest.raises(InputError, match="two families"):
        make_schedule(StreamOptions("blocked"), tasks[:1], 0)
