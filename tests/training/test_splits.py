"""Tasks to train on and tasks to be tested on share nothing that could be learnt by heart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tests.training.conftest import play, right_actions

from crmbench.authoring.masking import mask
from crmbench.authoring.pools import POOLS, Pool
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.phrases.bank import load_bank
from crmbench.domains.sales.world.banks import banks
from crmbench.domains.service.families.wording import template_owners
from crmbench.domains.service.text import QA
from crmbench.errors import InputError
from crmbench.runner.task_sets import load_named
from crmbench.training.curriculum import Curriculum
from crmbench.training.resources import SessionResources
from crmbench.training.session import TrainingSession
from crmbench.training.tasks import TaskPool

TRAIN_SEEDS = (0, 1, 42)
NAMES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "sales": {
        "Client": ("name",),
        "Contact": ("first_name", "last_name"),
        "Company": ("name",),
    },
    "service": {
        "User": ("FirstName", "LastName"),
        "Account": ("FirstName", "LastName"),
        "Contact": ("FirstName", "LastName"),
    },
}
"""The columns that hold names of people and firms."""


def _sales_names(pool: Pool) -> set[str]:
    bank = banks(pool)
    people = {
        name.text
        for region in bank.regions.values()
        for language in region.people.things
        for name in (*language.first, *language.last)
    }
    return people | set(bank.leads) | set(bank.company_leads)


def test_no_name_and_no_phrasing_is_in_both_pools_of_sales() -> None:
    """Whatever the seed: worlds and users of a pool draw on nothing else."""
    train, held_out = (_sales_names(pool) for pool in POOLS)
    assert not train & held_out
    assert min(len(train), len(held_out)) > 250
    said = [
        {
            phrasing.wording
            for manners in load_bank(pool).intents.values()
            for phrasings in manners.values()
            for phrasing in phrasings
            if not phrasing.is_bare
        }
        for pool in POOLS
    ]
    assert not said[0] & said[1]
    assert min(map(len, said)) > 1400


def test_no_template_and_no_question_is_in_both_pools_of_service() -> None:
    owners = template_owners()
    assert set(owners.values()) == set(POOLS)
    assert min(list(owners.values()).count(pool) for pool in POOLS) > 180
    asked = [{text for item in QA[start::2] for text in item.phrasings} for start in (0, 1)]
    assert not asked[0] & asked[1]


def _world_names(task: Task) -> Iterator[tuple[str, str]]:
    columns = NAMES[task.domain]
    for table, rows in load_domain(task.domain).world(task.world).stream():
        for row in rows:
            for column in columns.get(table, ()):
                yield column.lower(), str(row[column])


def _by_domain(domain: str, split: str, seeds: Sequence[int]) -> list[Task]:
    size = {"sales": 140, "service": 90}[domain]
    return [task for seed in seeds for task in TaskPool.made(domain, split, seed, size).tasks]


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_made_splits_share_no_world_name_or_phrasing(domain: str) -> None:
    train = _by_domain(domain, "train", TRAIN_SEEDS)
    held_out = _by_domain(domain, "held_out", (7,))
    published = load_named(domain).tasks()
    worlds = [{task.world for task in tasks} for tasks in (train, held_out, published)]
    assert not worlds[0] & worlds[1]
    assert not (worlds[0] | worlds[1]) & worlds[2]
    ids = [{task.task_id for task in tasks} for tasks in (train, held_out, published)]
    assert not ids[0] & ids[1]
    assert not (ids[0] | ids[1]) & ids[2]
    names = [
        {name for world in firsts.values() for name in _world_names(world)}
        for firsts in ({task.world: task for task in tasks} for tasks in (train, held_out))
    ]
    assert not names[0] & names[1]
    assert min(map(len, names)) > 100
    said = [
        {mask(turn.utterance) for task in tasks for turn in task.turns}
        for tasks in (train, held_out)
    ]
    assert not said[0] & said[1]


def test_families_held_out_from_training_are_only_in_the_other_split() -> None:
    train = {task.family for task in TaskPool.made("sales", "train", 0, 140).tasks}
    held_out = {task.family for task in TaskPool.made("sales", "held_out", 0, 140).tasks}
    assert len(held_out - train) == 15


def test_made_tasks_can_be_solved(shared: SessionResources) -> None:
    pool = TaskPool.made("sales", "held_out", 3, 140)
    session = TrainingSession(pool, resources=shared)
    for task in pool.tasks[:40]:
        steps = play(session, task, right_actions(shared, task))
        assert steps[-1].reward == 1.0, task.task_id


def test_the_same_seed_makes_the_same_tasks() -> None:
    one, two = (TaskPool.made("sales", "train", 5, 140).tasks for _ in range(2))
    assert one == two


def test_what_cannot_be_made_is_said() -> None:
    with pytest.raises(InputError, match="no split 'test' to train with"):
        TaskPool.made("sales", "test")
    with pytest.raises(InputError, match="no domain 'marketing'"):
        TaskPool.made("marketing")
    with pytest.raises(InputError, match="42 is the seed of the published"):
        TaskPool.ladder("sales", 1, seed=42)
    with pytest.raises(InputError, match="no tasks to train on"):
        TaskPool([])


def _pools() -> list[TaskPool]:
    tasks: list[Any] = load_named("demo").tasks()
    return [TaskPool(tasks[:2]), TaskPool(tasks[2:4]), TaskPool(tasks[4:6])]


def test_a_curriculum_rises_when_enough_succeeds() -> None:
    pools = _pools()
    curriculum = Curriculum(pools, window=4, raise_at=0.75)
    assert curriculum.draw(0) in pools[0].tasks
    for success in (True, False, False, True, True):
        curriculum.note(curriculum.draw(1), success)
    assert curriculum.level == 0
    curriculum.note(curriculum.draw(1), True)
    assert curriculum.level == 1
    for _ in range(8):
        curriculum.note(pools[0].tasks[0], True)
    assert curriculum.level == 1, "an episode of another level says nothing"
    for _ in range(8):
        curriculum.note(curriculum.draw(2), True)
    assert curriculum.level == 2
    assert curriculum.find(pools[0].tasks[1].task_id) == pools[0].tasks[1]
    with pytest.raises(InputError, match="no levels"):
        Curriculum([])


def test_the_ladders_levels_are_tasks_of_growing_size(shared: SessionResources) -> None:
    small, large = (TaskPool.ladder("sales", level, seed=5) for level in (1, 3))
    sizes = [sorted(int(task.tag("size") or 0) for task in pool.tasks) for pool in (small, large)]
    assert sizes[0][len(sizes[0]) // 2] < sizes[1][len(sizes[1]) // 2]
    curriculum = Curriculum([small, large], window=1, raise_at=1.0)
    session = TrainingSession(curriculum, resources=shared)
    task = small.tasks[0]
    play(session, task, right_actions(shared, task))
    assert session.verdict is not None
    assert curriculum.level == int(session.verdict.success)
