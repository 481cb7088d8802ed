"""The ``datasets`` library loads a set as its card prints: ``make test-datasets``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

datasets = pytest.importorskip("datasets", reason="datasets is missing; see make test-datasets")

from crmbench.authoring.dataset import Dataset  # noqa: E402 - after the check above
from crmbench.domains.registry import load_generator  # noqa: E402
from crmbench.formats.arc_tasks import task_to_data  # noqa: E402
from crmbench.formats.dataset_dir import save_dataset  # noqa: E402

SIZES = {"sales": 192, "service": 90}


@pytest.fixture(scope="module", params=sorted(SIZES))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Dataset, Path]:
    dataset = load_generator(request.param)(42, SIZES[request.param])
    folder = tmp_path_factory.mktemp(request.param)
    save_dataset(dataset, folder)
    return dataset, folder


def plain(value: object) -> Any:
    """As JSON has it; the library's reader of JSON may miss a fraction by its last digit."""
    return rounded(orjson.loads(orjson.dumps(value)))


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 9) if isinstance(value, float) else value


def test_the_directory_loads_with_all_splits(made: tuple[Dataset, Path], tmp_path: Path) -> None:
    dataset, folder = made
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    assert set(loaded) == set(dataset.splits)
    for name, tasks in dataset.splits.items():
        assert len(loaded[name]) == len(tasks)
        for row, task in zip(loaded[name], tasks, strict=True):
            assert plain(row) == plain(task_to_data(task))


def test_parquet_files_load_and_index_as_the_card_prints(
    made: tuple[Dataset, Path], tmp_path: Path
) -> None:
    dataset, folder = made
    name = next(iter(dataset.splits))
    data = datasets.load_dataset(
        "parquet",
        data_files={name: str(folder / "data" / f"{name}.parquet")},
        split=name,
        cache_dir=str(tmp_path),
    )
    task = dataset.splits[name][0]
    for turn, gold in zip(data[0]["turns"], task.gold.turns, strict=True):
        if gold.response:
            assert turn["expected_response"]["text"] == gold.response["text"]
        last = gold.calls[-1] if gold.calls else None
        assert plain(turn["expected_args"]) == plain(dict(last.arguments) if last else {})
    assert set(data[0]["initial_entities"]["seed_data"]) == set(task.shown_slice)


def test_lines_load_as_well(made: tuple[Dataset, Path], tmp_path: Path) -> None:
    dataset, folder = made
    name = next(iter(dataset.splits))
    lines = str(folder / f"{name}.jsonl")
    data = datasets.load_dataset("json", data_files=lines, split="train", cache_dir=str(tmp_path))
    assert len(data) == len(dataset.splits[name])
    for row, task in zip(data, dataset.splits[name], strict=True):
        assert [t["user_utterance"] for t in row["turns"]] == [t.utterance for t in task.turns]


def test_croissant_is_read_by_its_own_library(made: tuple[Dataset, Path]) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="see make test-datasets")
    dataset, folder = made
    described = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not described.metadata.issues.errors
    name = next(iter(dataset.splits))
    ids = [record[f"{name}/conversation_id"].decode() for record in described.records(name)]
    assert ids == [task.task_id for task in dataset.splits[name]]
