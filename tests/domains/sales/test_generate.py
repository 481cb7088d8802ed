"""The data set: its size, its splits, and what the halves may not share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from crmbench.authoring.dataset import Dataset
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Task
from crmbench.domains.sales.authoring.compose import LENGTHS
from crmbench.domains.sales.authoring.family import CATEGORIES, TAGS, load_families
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.generate import HELD_OUT, SHARES, SIZE, generate
from crmbench.domains.sales.phrases import VOICES
from crmbench.domains.sales.schema import SCHEMA
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data
from crmbench.grading.gold import execute_gold

SMALLEST = 2 * len(load_families())


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return generate(size=SMALLEST)


@pytest.fixture(scope="module")
def another() -> Dataset:
    return generate(seed=7, size=SMALLEST)


@pytest.fixture(scope="module")
def full() -> Dataset:
    return generate()


def words(task: Task) -> tuple[str, ...]:
    return tuple(turn.utterance for turn in task.turns)


def test_the_halves_are_of_one_size_and_share_no_conversation(dataset: Dataset) -> None:
    train, test = dataset.splits["train"], dataset.splits["test"]
    assert len(train) == len(test) == SMALLEST // 2
    assert len(dataset.tasks) == SMALLEST
    assert not {words(t) for t in train} & {words(t) for t in test}


def test_ids_count_through_the_set_and_say_nothing(dataset: Dataset) -> None:
    ids = [task.task_id for task in dataset.tasks]
    assert ids == [f"crm-{number:04d}" for number in range(1, SMALLEST + 1)]
    # Neighbours are of different families: the order is shuffled.
    families = [task.family for task in dataset.tasks]
    same = sum(a == b for a, b in pairwise(families))
    assert same < SMALLEST / 10


def test_the_halves_play_in_different_worlds(dataset: Dataset) -> None:
    train = {task.world for task in dataset.splits["train"]}
    test = {task.world for task in dataset.splits["test"]}
    assert len(train) == len(test) == 6
    assert not train & test


def test_families_held_out_are_seen_in_the_test_half_only(dataset: Dataset) -> None:
    held_out = set(dataset.held_out)
    assert len(held_out) == len(dataset.held_out) == HELD_OUT
    assert not held_out & {task.family for task in dataset.splits["train"]}
    assert held_out <= {task.family for task in dataset.splits["test"]}
    categories = Counter(load_families()[name].category for name in held_out)
    assert len(categories) >= 7
    assert max(categories.values()) <= 4


def test_the_same_families_are_held_out_whatever_the_seed(
    dataset: Dataset, another: Dataset
) -> None:
    assert another.held_out == dataset.held_out


def test_every_family_and_category_occurs(dataset: Dataset) -> None:
    assert {task.family for task in dataset.tasks} == set(load_families())
    assert {task.category for task in dataset.tasks} == set(CATEGORIES)
    assert set(dataset.about) == set(load_families())


def test_the_standard_split_is_a_sample_of_the_test_half(dataset: Dataset) -> None:
    test, standard = dataset.splits["test"], dataset.splits["standard"]
    # Smaller than the sample that is wanted, the half is the sample.
    assert standard == test


def test_the_full_set_has_the_figures_that_it_is_described_with(full: Dataset) -> None:
    assert {name: len(tasks) for name, tasks in full.splits.items()} == {
        "train": 600,
        "test": 600,
        "standard": 400,
    }
    assert Counter(task.complexity for task in full.tasks) == SHARES
    test, standard = full.splits["test"], full.splits["standard"]
    sampled = {task.task_id for task in standard}
    assert [task for task in test if task.task_id in sampled] == list(standard)
    for category in CATEGORIES:
        whole = sum(task.category == category for task in test)
        part = sum(task.category == category for task in standard)
        assert abs(part - whole * 400 / 600) < 3, category
    for half in (full.splits["train"], test):
        assert min(Counter(task.family for task in half).values()) >= 3
    assert len({(task.world, words(task)) for task in full.tasks}) == SIZE


def test_the_levels_of_complexity_are_bands_of_length(dataset: Dataset) -> None:
    for task in dataset.tasks:
        fewest, most = LENGTHS[task.complexity]
        assert fewest <= len(task.turns) <= most, task.task_id
        assert [turn.turn_id for turn in task.turns] == list(range(1, len(task.turns) + 1))
    counts = Counter(task.complexity for task in dataset.tasks)
    for level, share in SHARES.items():
        assert abs(counts[level] / SMALLEST - share / SIZE) < 0.02, level


def test_a_fifth_of_the_conversations_have_a_turn_that_must_fail(dataset: Dataset) -> None:
    for tasks in dataset.splits.values():
        failing = [t for t in tasks if any(not g.expect_success for g in t.gold.turns)]
        assert len(failing) >= 0.2 * len(tasks)


def test_every_gold_walks(dataset: Dataset) -> None:
    backend = SqliteBackend(SCHEMA)
    for task in dataset.tasks:
        assert execute_gold(SALES, task, backend).faults == (), task.task_id


def test_every_other_path_walks(dataset: Dataset) -> None:
    backend = SqliteBackend(SCHEMA)
    for task in dataset.tasks[::4]:
        for path in task.gold.paths:
            assert execute_gold(SALES, task, backend, path).faults == (), (task.task_id, path.note)


def test_tags_and_personas_are_known(dataset: Dataset) -> None:
    voices = {f"voice_{voice}" for voice in VOICES}
    for task in dataset.tasks:
        assert set(task.tags) <= TAGS | voices, task.task_id
        assert len(set(task.tags) & voices) == 1
        name, _, role = task.persona.partition(", ")
        assert name in standard_world(task.world).owners
        assert role in ("sales manager", "sales representative")
    # Each kind of difficulty occurs, as each manner of speech does.
    assert {tag for task in dataset.tasks for tag in task.tags} == TAGS | voices


def test_every_task_carries_the_canary_out_of_sight(dataset: Dataset) -> None:
    for task in dataset.tasks:
        assert task.gold.canary == dataset.canary
        assert not any(dataset.canary in text for text in words(task))


def test_the_same_seed_gives_the_same_tasks(dataset: Dataset) -> None:
    again = generate(size=SMALLEST)
    assert again == dataset
    assert [task_to_data(t) for t in again.tasks] == [task_to_data(t) for t in dataset.tasks]


def test_another_seed_gives_other_worlds_and_words(dataset: Dataset, another: Dataset) -> None:
    assert another.canary != dataset.canary
    assert not {t.world for t in another.tasks} & {t.world for t in dataset.tasks}
    assert all(world.endswith(".7") for world in {t.world for t in another.tasks})
    shared = set(map(words, another.tasks)) & set(map(words, dataset.tasks))
    assert not shared
    backend = SqliteBackend(SCHEMA)
    assert all(execute_gold(SALES, task, backend).faults == () for task in another.tasks[::8])


@pytest.mark.parametrize("size", [0, -2, 2, SMALLEST - 2, SMALLEST + 1])
def test_sizes_that_cannot_be_made_are_refused(size: int) -> None:
    with pytest.raises(InputError, match=f"an even number, at least {SMALLEST}"):
        generate(size=size)
