"""``crmbench generate`` and ``crmbench show``: directories of the same bytes, readable pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from crmbench.domains.sales.authoring.family import load_families

SMALLEST = str(2 * len(load_families()))


def crmbench(*arguments: str, cwd: Path, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "crmbench", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which a small data set has been generated, under its usual name."""
    folder = tmp_path_factory.mktemp("cli")
    done = crmbench("generate", "--size", SMALLEST, cwd=folder)
    assert done.returncode == 0, done.stderr
    half = int(SMALLEST) // 2
    assert f"{SMALLEST} conversations, " in done.stdout
    assert f"(train {half}, test {half}, standard {half}) in crmbench-sales" in done.stdout
    return folder


def test_shards_are_written_by_workers_and_not_mixed_with_other_sets(place: Path) -> None:
    size = str(2 * int(SMALLEST))
    shards = ("generate", "sales", "--seed", "7", "--size", size, "--shards", "2", "--out", "two")
    done = crmbench(*shards, "--workers", "2", cwd=place)
    assert done.returncode == 0, done.stderr
    assert f"{size} conversations (train {SMALLEST}, test {SMALLEST}) in 2 shards" in done.stdout
    before = digests(place / "two")
    again = crmbench(*shards, "--json", cwd=place)
    assert json.loads(again.stdout)["shards"] == 2
    assert digests(place / "two") == before
    refused = {
        "was made from something else": (*shards, "--seed", "8"),
        "holds a set in shards": ("generate", "sales", "--size", SMALLEST, "--out", "two"),
        "holds another data set": (*shards, "--out", "crmbench-sales"),
        "need --shards": ("generate", "sales", "--workers", "2"),
        "needs --size": ("generate", "sales", "--shards", "2"),
    }
    for words, command in refused.items():
        said = crmbench(*command, cwd=place)
        assert said.returncode == 2, said.stdout
        assert words in " ".join(said.stderr.split()), said.stderr
    assert digests(place / "two") == before


def digests(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_another_process_writes_the_same_bytes(place: Path) -> None:
    done = crmbench(
        *("generate", "sales", "--size", SMALLEST, "--out", "deep/again", "--json"),
        cwd=place,
        hash_seed="77",
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["splits"] == dict.fromkeys(("train", "test", "standard"), int(SMALLEST) // 2)
    assert said["canary"].startswith("crmbench canary ")
    assert all((place / file).is_file() for file in said["files"])
    again = digests(place / "deep" / "again")
    assert len(again) == len(said["files"]) == 8
    assert again == digests(place / "crmbench-sales")


def test_another_seed_writes_others(place: Path) -> None:
    done = crmbench(*("generate", "--seed", "7", "--size", SMALLEST, "--out", "private"), cwd=place)
    assert done.returncode == 0, done.stderr
    private, public = digests(place / "private"), digests(place / "crmbench-sales")
    assert private.keys() == public.keys()
    assert not set(private.values()) & set(public.values())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--size", "3"), f"expected an even number, at least {SMALLEST}"),
        (("--size", "0"), f"expected an even number, at least {SMALLEST}"),
        (("--seed", "-1"), "the seed is -1"),
        (("marketing",), "there is no domain 'marketing'"),
    ],
)
def test_what_cannot_be_made_is_said_and_nothing_written(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = crmbench("generate", *arguments, "--out", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a directory")
    done = crmbench("generate", "--size", SMALLEST, "--out", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert "taken" in done.stderr
    assert "Traceback" not in done.stderr


def test_show_reads_a_generated_directory_aloud(place: Path) -> None:
    done = crmbench("show", "crmbench-sales", "--sample", "3", "--seed", "5", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("### crm-") == 3
    assert "**1. User:**" in done.stdout
    again = crmbench("show", "crmbench-sales", "--sample", "3", "--seed", "5", cwd=place)
    assert again.stdout == done.stdout
    other = crmbench("show", "crmbench-sales", "--sample", "3", "--seed", "6", cwd=place)
    assert other.stdout != done.stdout


def test_show_takes_filters(place: Path) -> None:
    file = "crmbench-sales/test.jsonl"
    done = crmbench(
        "show", file, "--filter", "tag=undo", "--filter", "complexity=medium", cwd=place
    )
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("### ")]
    hard = [line for line in done.stdout.splitlines() if line.startswith("Hard because of: ")]
    assert heads
    assert all(line.endswith(", medium") for line in heads)
    assert len(hard) == len(heads)
    assert all("undo" in line for line in hard)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--filter", "tag=nothing"), "no conversation fits"),
        (("--filter", "colour"), "'colour' is no filter"),
        (("--sample", "-1"), "--sample"),
        (("--sample", "0"), "--sample"),
    ],
)
def test_show_says_what_is_wrong(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = crmbench("show", "demo", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
