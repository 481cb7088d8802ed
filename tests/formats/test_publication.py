"""What an upload would hold is said, and everything that is wrong with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crmbench.domains.sales.authoring.family import load_families
from crmbench.domains.sales.generate import generate
from crmbench.errors import InputError
from crmbench.formats.croissant import croissant_of
from crmbench.formats.dataset_dir import save_dataset
from crmbench.formats.publication import check_upload


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("set")
    save_dataset(generate(size=2 * len(load_families())), place)
    return place


def test_a_set_as_it_was_made_has_nothing_wrong(made: Path) -> None:
    upload = check_upload(made)
    assert upload.problems == ()
    assert upload.conversations == {"standard": 96, "test": 96, "train": 96}
    by_path = {file.path: file for file in upload.files}
    assert by_path.keys() >= {"README.md", "croissant.json", "data/test.parquet", "test.jsonl"}
    content = (made / "test.jsonl").read_bytes()
    assert by_path["test.jsonl"].size == len(content)
    assert by_path["test.jsonl"].sha256 == sha256(content).hexdigest()


def rewrite(folder: Path, change: Callable[[dict[str, object]], None]) -> None:
    path = folder / "test.jsonl"
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    change(lines[3])
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def no_canary(line: dict[str, object]) -> None:
    assert isinstance(line["crmbench"], dict)
    line["crmbench"]["canary"] = None


def other_words(line: dict[str, object]) -> None:
    assert isinstance(line["turns"], list)
    line["turns"][0]["user_utterance"] = "Something else."


def shorten(folder: Path) -> None:
    path = folder / "data" / "test.parquet"
    table: pa.Table = pq.read_table(path)
    pq.write_table(table.slice(1), path)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda f: (f / "README.md").unlink(), "README.md is missing"),
        (lambda f: (f / "croissant.json").unlink(), "croissant.json is missing"),
        (lambda f: (f / "croissant.json").write_text("{}"), "no description that generate wrote"),
        (lambda f: (f / "data" / "test.parquet").unlink(), "data/test.parquet is missing"),
        (shorten, "holds other conversations than test.jsonl"),
        (shorten, "another digest of data/test.parquet"),
        (lambda f: rewrite(f, no_canary), "has no canary"),
        (lambda f: rewrite(f, other_words), "test.jsonl differ in"),
        (lambda f: (f / "notes.txt").write_text("x"), "notes.txt is no part of the set"),
        (lambda f: (f / "README.md").write_text("# A set"), "does not name the split test"),
    ],
)
def test_whatever_is_wrong_is_named(
    made: Path, tmp_path: Path, damage: Callable[[Path], object], problem: str
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(made, folder)
    damage(folder)
    problems = check_upload(folder).problems
    assert any(problem in found for found in problems), problems


def test_a_directory_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no data set"):
        check_upload(tmp_path)


def test_croissant_describes_every_column_with_its_type(made: Path) -> None:
    table = pq.read_schema(made / "data" / "test.parquet")
    dataset = generate(size=2 * len(load_families()))
    described = croissant_of(dataset, table, [made / "data" / "test.parquet"], "1.0")
    (records,) = described["recordSet"]
    fields = {field["name"]: field for field in records["field"]}
    assert list(fields) == table.names
    assert fields["failure_turn"]["dataType"] == "sc:Integer"
    assert fields["contains_failure"]["dataType"] == "sc:Boolean"
    assert fields["segment_boundaries"]["repeated"] is True
    parts = {part["name"] for part in fields["turns"]["subField"]}
    assert {"turns/user_utterance", "turns/expected_response"} <= parts
