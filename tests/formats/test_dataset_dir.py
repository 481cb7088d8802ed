"""A data set on disk: the same bytes, nothing lost, a card that counts right."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from crmbench.authoring.dataset import Dataset
from crmbench.core.task import Task
from crmbench.domains.sales.authoring.family import load_families
from crmbench.domains.sales.generate import generate
from crmbench.errors import InputError
from crmbench.formats.arc import load
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.dataset_dir import card_of, save_dataset
from crmbench.runner.task_sets import load_named

SPLITS = ("train", "test", "standard")
AS_JSON = ("initial_entities", "final_expected_state", "cumulative_context", "crmbench")
TURN_AS_JSON = ("expected_args", "expected_response", "crmbench")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return generate(size=2 * len(load_families()))


@pytest.fixture(scope="module")
def folder(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dataset")
    save_dataset(dataset, place)
    return place


def rows(folder: Path, split: str) -> list[dict[str, Any]]:
    """The rows of a split's Parquet file."""
    return list(pq.read_table(folder / "data" / f"{split}.parquet").to_pylist())


def test_the_files_are_those_that_are_named(dataset: Dataset, tmp_path: Path) -> None:
    files = save_dataset(dataset, tmp_path / "new" / "folder")
    names = {str(file.relative_to(tmp_path / "new" / "folder")) for file in files}
    assert names == {
        "README.md",
        "croissant.json",
        *(f"{split}.jsonl" for split in SPLITS),
        *(f"data/{split}.parquet" for split in SPLITS),
    }
    assert all(file.stat().st_size > 1000 for file in files)


def test_the_same_data_set_gives_the_same_bytes(
    dataset: Dataset, folder: Path, tmp_path: Path
) -> None:
    for file in save_dataset(dataset, tmp_path):
        assert file.read_bytes() == (folder / file.relative_to(tmp_path)).read_bytes()
    # Written over itself, too.
    assert [f.read_bytes() for f in save_dataset(dataset, tmp_path)] == [
        (folder / f.relative_to(tmp_path)).read_bytes() for f in save_dataset(dataset, tmp_path)
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_conversations_load_back_as_they_were(dataset: Dataset, folder: Path, split: str) -> None:
    loaded = load(folder / f"{split}.jsonl")
    assert loaded.skipped == ()
    assert_same(loaded.tasks(), list(dataset.splits[split]))


def test_the_whole_directory_loads_every_conversation_once(dataset: Dataset, folder: Path) -> None:
    assert_same(load_named(str(folder)).tasks(), list(dataset.tasks))


def assert_same(found: list[Task], wanted: list[Task]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one == other, one.task_id


@pytest.mark.parametrize("split", SPLITS)
def test_parquet_holds_what_the_lines_hold(dataset: Dataset, folder: Path, split: str) -> None:
    read = rows(folder, split)
    assert len(read) == len(dataset.splits[split])
    for row, task in zip(read, dataset.splits[split], strict=True):
        for name in AS_JSON:
            row[name] = orjson.loads(row[name])
        for turn in row["turns"]:
            for name in TURN_AS_JSON:
                turn[name] = orjson.loads(turn[name])
        assert row == orjson.loads(orjson.dumps(task_to_data(task)))


def test_all_splits_have_one_schema(folder: Path) -> None:
    schemas = [pq.read_schema(folder / "data" / f"{split}.parquet") for split in SPLITS]
    assert schemas[0].equals(schemas[1])
    assert schemas[0].equals(schemas[2])


def test_a_file_that_generate_did_not_put_there_is_refused(folder: Path, tmp_path: Path) -> None:
    stray = tmp_path / "copy"
    shutil.copytree(folder, stray)
    shutil.copy(stray / "test.jsonl", stray / "mine.jsonl")
    with pytest.raises(InputError, match=r"mine\.jsonl is no part of a set"):
        load_named(str(stray))


def test_a_directory_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no conversations"):
        load_named(str(tmp_path))


# --- the card -------------------------------------------------------------------------------------


def figures(card: str) -> dict[str, int]:
    """Every line of the card's tables that ends in a number."""
    found = re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|", card, re.MULTILINE)
    return {name: int(number.replace(",", "")) for name, number in found}


def test_the_card_counts_right(dataset: Dataset, folder: Path) -> None:
    shown = figures((folder / "README.md").read_text(encoding="utf-8"))
    tasks = dataset.tasks
    assert shown["Conversations"] == len(tasks)
    assert shown["User turns"] == sum(len(task.turns) for task in tasks)
    assert shown["Gold tool calls"] == sum(len(g.calls) for t in tasks for g in t.gold.turns)
    failing = [t for t in tasks if not all(g.expect_success for g in t.gold.turns)]
    assert shown["Conversations with a turn that must fail"] == len(failing)
    for split in SPLITS:
        assert shown[f"Split {split}"] == len(dataset.splits[split])
    counted = Counter(
        value
        for task in tasks
        for value in (task.category, task.world, task.complexity, *task.tags)
    )
    assert all(shown[name] == count for name, count in counted.items())
    rules = Counter(r for t in tasks for r in {r for g in t.gold.turns for r in g.rules})
    assert all(shown[rule] == count for rule, count in rules.items())


def test_the_card_names_every_family_and_marks_those_held_out(
    dataset: Dataset, folder: Path
) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    shown, counts = figures(card), Counter(task.family for task in dataset.tasks)
    for name, about in dataset.about.items():
        marked = f"{name} *" if name in dataset.held_out else name
        assert shown[marked] == counts[name]
        assert about in card
    assert dataset.canary in card


def test_the_card_begins_with_what_a_loader_reads(folder: Path) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    head = card.split("---\n")[1]
    for split in SPLITS:
        assert f"  - split: {split}\n    path: data/{split}.parquet\n" in head
    assert "license: mit" in head
    assert "n<1K" in head


def test_a_cell_of_a_table_does_not_break_it(dataset: Dataset) -> None:
    for line in card_of(dataset).splitlines():
        if line.startswith("| "):
            assert line.endswith(" |"), line
            assert line.count("|") in (3, 4), line


def test_a_set_of_one_split_and_no_families_has_a_card_too(dataset: Dataset) -> None:
    plain = Dataset("sales", 5, {"all": dataset.splits["train"]}, "canary text")
    card = card_of(plain)
    assert "## Families" not in card
    assert 'split="all"' in card
    assert "--seed 5" in card
