"""Large worlds in files: built once, opened by everybody, changed by nobody."""

from __future__ import annotations

import multiprocessing
from hashlib import sha256
from pathlib import Path

import pytest

from crmbench.core import sqlite, stored_world
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain

WORLD = "harbour-01"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every world is a large one, and a cache of its own."""
    monkeypatch.setenv("CRMBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sqlite, "COPIES_SIZE", 1)
    return tmp_path / "worlds"


def work(backend: SqliteBackend, seed: str) -> tuple[str, list[str], bool]:
    """An episode that writes: the world before it, what it made, and whether it left a trace."""
    sales = load_domain("sales")
    with Sandbox.open(sales, WORLD, backend, seed=seed) as sandbox:
        before = sandbox.digest()
        made = [
            sandbox.call(
                "create_new_client",
                {"name": f"Client {seed} {n}", "email": f"{seed}{n}@a.example", "status": "Active"},
            )
            for n in range(200)
        ]
        assert all(record.ok for record in made)
        assert sandbox.digest() != before
        ids = [record.result["client_id"] for record in made]
    with Sandbox.open(sales, WORLD, backend) as sandbox:
        return before, ids, sandbox.digest() == before


def in_process(seed: str) -> tuple[str, list[str], bool]:
    return work(SqliteBackend(load_domain("sales").schema), seed)


def test_a_large_world_is_built_once_and_stays_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales = load_domain("sales")
    first = in_process("a")
    (file,) = folder.glob("*.sqlite")
    kept = sha256(file.read_bytes()).hexdigest()
    assert {path.suffix for path in folder.iterdir()} == {".sqlite", ".json"}

    def refuse(*_: object) -> None:
        raise AssertionError("the world is built again")

    monkeypatch.setattr(SqliteBackend, "_build", refuse)
    backend = SqliteBackend(sales.schema)
    # Two episodes at once write to the same tables, and neither meets the other.
    with (
        Sandbox.open(sales, WORLD, backend, seed="b") as one,
        Sandbox.open(sales, WORLD, backend, seed="c") as two,
    ):
        for sandbox in (one, two):
            made = sandbox.call(
                "create_new_client", {"name": "Acme", "email": "a@a.example", "status": "Active"}
            )
            assert made.ok
        assert one.digest() != two.digest()
    assert work(backend, "a") == first
    backend.close()
    assert sha256(file.read_bytes()).hexdigest() == kept


def test_processes_share_the_file(folder: Path) -> None:
    expected = in_process("a")
    (file,) = folder.glob("*.sqlite")
    kept = sha256(file.read_bytes()).hexdigest()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(in_process, ["a"] * 6) == [expected] * 6
    assert sha256(file.read_bytes()).hexdigest() == kept
    assert len(list(folder.iterdir())) == 2


def test_a_kept_world_is_the_one_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_process("a")
    from_file = in_process("x")
    monkeypatch.setattr(sqlite, "COPIES_SIZE", 200 * 2**20)
    monkeypatch.setenv("CRMBENCH_CACHE", str(folder / "elsewhere"))
    assert in_process("x") == from_file


def test_other_sources_have_other_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_process("a")
    stored_world._digest.cache_clear()
    monkeypatch.setattr(stored_world, "_sources", lambda: "others")
    in_process("a")
    stored_world._digest.cache_clear()
    assert len(list(folder.glob("*.sqlite"))) == 2


def test_where_nothing_can_be_kept_the_world_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CRMBENCH_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(sqlite, "COPIES_SIZE", 1)
    before, ids, unchanged = in_process("a")
    assert unchanged
    assert len(ids) == 200
    assert before
