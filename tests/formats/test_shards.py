"""Sets in shards: the same bytes whoever writes them, nothing lost, gone on with after a kill."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crmbench import load, stream
from crmbench.authoring.dataset import Dataset
from crmbench.domains.sales.authoring.family import load_families
from crmbench.domains.sales.generate import generate
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.parquet import read_rows, table_of, write_table
from crmbench.formats.shards import ShardedSet, ShardPlan
from crmbench.runner.executors import generating
from crmbench.runner.executors.generating import generate_shards, plan_shards
from crmbench.runner.options import RunOptions
from crmbench.runner.run import execute
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import digest_of_named, load_named, parts_named

SIZE = 2 * len(load_families())
PLAN = plan_shards("sales", 7, 2 * SIZE, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shards") / "set"
    generate_shards(PLAN, place, workers=1)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_files_are_those_that_the_card_names(folder: Path) -> None:
    assert sorted(contents(folder)) == [
        "README.md",
        "data/shards.jsonl",
        *(f"data/test-0000{n}-of-00002.parquet" for n in range(2)),
        *(f"data/train-0000{n}-of-00002.parquet" for n in range(2)),
    ]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "path: data/train-*.parquet" in card
    assert f"| Conversations | {2 * SIZE} |" in card
    assert f"--seed 7 --size {2 * SIZE} --shards 2`" in card


def test_two_processes_write_the_bytes_of_one(folder: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    generate_shards(PLAN, tmp_path, workers=2, on_progress=lambda *done: told.append(done))
    assert contents(tmp_path) == contents(folder)
    assert told == [(1, 2), (2, 2)]


def test_what_was_cut_off_is_gone_on_with(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        generate_shards(PLAN, tmp_path, executor="inline", on_progress=stop)
    # A kill in the middle of a line.
    with (tmp_path / "data" / "shards.jsonl").open("ab") as file:
        file.write(b'{"number":1,"spl')
    with pytest.raises(InputError, match="is not complete: 1 of 2 shards"):
        load(tmp_path)
    made: list[int] = []
    monkeypatch.setattr(generating, "generator_of", lambda plan: _noting(made))
    generate_shards(PLAN, tmp_path, executor="inline")
    assert made == [PLAN.seed_of(1)]
    assert contents(tmp_path) == contents(folder)


def _noting(made: list[int]) -> Any:
    def make(seed: int, size: int) -> Dataset:
        made.append(seed)
        return generate(seed, size)

    return make


def test_nothing_of_a_conversation_is_lost(folder: Path) -> None:
    tasks = load(folder)
    expected = [
        replace(
            task,
            task_id=f"crm-00000-{task.task_id[-4:]}",
            gold=replace(task.gold, canary=PLAN.canary),
        )
        for task in generate(PLAN.seed_of(0), SIZE).tasks
    ]
    assert [t.task_id for t in tasks[:SIZE]] == [t.task_id for t in expected]
    for one, two in zip(tasks, expected, strict=False):
        assert task_to_data(one) == task_to_data(two)


def test_a_set_is_read_in_one_piece_by_shards_and_one_by_one(folder: Path) -> None:
    tasks = load(folder)
    assert len(tasks) == len({t.task_id for t in tasks}) == 2 * SIZE
    parts = parts_named(str(folder))
    assert parts is not None
    assert [len(part) for part in parts] == [SIZE, SIZE]
    assert list(stream(folder)) == tasks
    assert parts_named("demo") is None
    assert [t.task_id for t in stream("demo")] == [t.task_id for t in load("demo")]


def test_a_stream_reads_no_more_than_it_gives(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / "data" / PLAN.name_of("test", 1)).unlink()
    assert len(list(islice(stream(copy), SIZE))) == SIZE
    with pytest.raises(InputError, match="is not the file that generate wrote"):
        list(stream(copy))


def test_another_plan_does_not_go_on_with_a_set(folder: Path) -> None:
    before = contents(folder)
    for plan in (replace(PLAN, seed=8), replace(PLAN, shards=3)):
        with pytest.raises(InputError, match="was made from something else"):
            generate_shards(plan, folder, workers=1)
    assert contents(folder) == before


def test_sizes_that_cannot_be_shared_out_are_said_to_be_so() -> None:
    with pytest.raises(InputError, match=r"1,000 conversations make no 3 shards") as error:
        plan_shards("sales", 7, 1000, 3)
    assert error.value.expected == "a multiple of the shards, such as 1002"


def test_no_two_shards_share_a_seed() -> None:
    seeds = {
        ShardPlan("sales", seed, 200, 10_000).seed_of(number)
        for seed in range(4)
        for number in (0, 1, 42, 9_999)
    }
    assert len(seeds) == 16
    assert min(seeds) >= 10_000


def test_a_file_of_a_set_is_played_and_its_digest_kept(folder: Path, tmp_path: Path) -> None:
    file = folder / "data" / PLAN.name_of("test", 1)
    outcome = execute(RunOptions(str(file), agent="oracle", workers=1), tmp_path / "run")
    assert len(outcome.tasks) == SIZE // 2
    assert all(episode.verdict.success for episode in outcome.outlines)
    assert RunDir(tmp_path / "run").config()["data_digest"] == digest_of_named(str(file))


def test_the_digest_of_a_set_is_that_of_its_files(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert digest_of_named(str(copy)) == digest_of_named(str(folder))
    listed = copy / "data" / "shards.jsonl"
    digest = ShardedSet(copy).records()[1].splits["test"].sha256
    listed.write_text(listed.read_text().replace(digest, "0" * 64))
    assert digest_of_named(str(copy)) != digest_of_named(str(folder))


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.parquet"
    write_table(table_of(load_named("demo").tasks()[:3]), path)
    table = pq.read_table(path)
    place = table.column_names.index("crmbench")
    texts = ["{}", "{no json", "{}"]
    pq.write_table(table.set_column(place, "crmbench", [texts]), path)
    return path


def test_a_damaged_row_is_named(damaged: Path) -> None:
    with pytest.raises(InputError) as error:
        load(damaged)
    assert error.value.line == 2
    assert str(damaged) in str(error.value)
    assert len(load_named(str(damaged), skip_invalid=True).conversations) == 2


def test_other_files_of_parquet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(path))
    import pyarrow as pa

    pq.write_table(pa.table({"conversation_id": ["a"]}), path)
    with pytest.raises(InputError, match="has no column"):
        load(path)


def test_the_set_that_a_directory_holds_is_not_taken_for_another(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="holds another data set"):
        ShardedSet(tmp_path).begin(PLAN)
