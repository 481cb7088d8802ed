"""Sets and runs at addresses, on fsspec's file system in memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crmbench import load, run
from crmbench.cli import app
from crmbench.errors import InputError
from crmbench.formats.remote import ADDRESS, ADDRESSES, PATHS, address_of, here, kept_at
from crmbench.report.summary import summary_of
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import digest_of_named, path_of

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CRMBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def put_demo(memory: Any, path: str, keep: int = 4) -> None:
    lines = path_of("demo").read_bytes().splitlines(keepends=True)
    memory.pipe_file(path, b"".join(lines[:keep]))


def test_what_is_an_address_and_what_a_path() -> None:
    assert all(ADDRESS.fullmatch(text) for text in ADDRESSES)
    assert not any(ADDRESS.fullmatch(text) for text in PATHS)
    assert (
        address_of(Path("s3://bucket/set/")) == address_of("s3://bucket/set") == "s3://bucket/set"
    )
    assert address_of("file:///a/b") is None
    assert here("file:///a/b%20c") == Path("/a/b c")
    assert here("http://example.com/x") == Path("http://example.com/x")


def test_a_set_is_read_from_its_address_and_again_where_it_changed(memory: Any) -> None:
    put_demo(memory, "/sets/few.jsonl")
    address = "memory://sets/few.jsonl"
    assert load(address) == load("demo")[:4]
    before = digest_of_named(address)
    put_demo(memory, "/sets/few.jsonl", 3)
    assert load(address) == load("demo")[:3]
    assert digest_of_named(address) != before


def test_a_run_goes_to_its_address_and_is_read_there(
    memory: Any, cache: Path, tmp_path: Path
) -> None:
    result = run("demo", "oracle", out="memory://runs/mine", sample=3, workers=1)
    names = {path.removeprefix("/runs/mine/") for path in memory.find("/runs/mine")}
    assert {"config.json", "tasks.jsonl", "episodes.jsonl", "summary.json", "report.html"} <= names
    assert "timings.jsonl" in names
    # On another machine, where nothing is in the cache.
    cache.rename(tmp_path / "gone")
    there = RunDir(here("memory://runs/mine"))
    assert there.path.name == "mine"
    assert summary_of(there) == result.summary
    assert there.episodes() == list(result)


def test_no_run_is_written_over(memory: Any, cache: Path, tmp_path: Path) -> None:
    run("demo", "oracle", out="memory://runs/mine", sample=3, workers=1)
    before = {path: memory.cat_file(path) for path in memory.find("/runs")}
    cache.rename(tmp_path / "gone")
    with pytest.raises(InputError, match="already holds a run"):
        run("demo", "noop", out="memory://runs/mine", sample=3, workers=1)
    assert {path: memory.cat_file(path) for path in memory.find("/runs")} == before


def test_what_was_cut_off_is_not_sent_and_gone_on_with(memory: Any) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise Stopped

    mine = partial(run, "demo", "oracle", out="memory://runs/mine", sample=4, workers=1)
    with pytest.raises(Stopped):
        mine(on_progress=stop)
    assert memory.find("/runs") == []
    told: list[int] = []
    result = mine(on_progress=lambda done, total: told.append(total), resume=True)
    assert told[0] < 4 == len(result)
    assert memory.exists("/runs/mine/config.json")


def test_the_commands_take_addresses(memory: Any) -> None:
    put_demo(memory, "/sets/few.jsonl")
    runner = CliRunner()
    for agent in ("oracle", "noop"):
        played = runner.invoke(
            app,
            ["run", "memory://sets/few.jsonl", "--agent", agent, "--out", f"memory://runs/{agent}"],
        )
        assert played.exit_code == 0, played.output
    for verb in (["report"], ["compare", "memory://runs/oracle"]):
        done = runner.invoke(app, [*verb, "memory://runs/noop"])
        assert done.exit_code == 0, done.output
    graded = runner.invoke(app, ["grade", "memory://runs/noop", "--out", "memory://runs/again"])
    assert graded.exit_code == 0, graded.output
    assert memory.cat_file("/runs/again/tasks.jsonl") == memory.cat_file("/runs/noop/tasks.jsonl")


def test_what_goes_from_an_address_goes_from_the_cache(memory: Any) -> None:
    for name in ("a", "b"):
        memory.pipe_file(f"/folder/{name}.txt", name.encode())
    copy = here("memory://folder")
    memory.rm_file("/folder/a.txt")
    memory.pipe_file("/folder/deep/c.txt", b"c")
    assert here("memory://folder") == copy
    found = {str(p.relative_to(copy)): p.read_text() for p in copy.rglob("*") if p.is_file()}
    assert found == {"b.txt": "b", "deep/c.txt": "c"}


def test_what_cannot_be_had_is_said(memory: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="memory://nowhere: there is nothing"):
        here("memory://nowhere")
    with pytest.raises(InputError, match="nosuchscheme://x: cannot be reached"):
        here("nosuchscheme://x")
    with kept_at(tmp_path / "plain") as folder:
        assert folder == tmp_path / "plain"
    nothing: Path | None = None
    with kept_at(nothing) as none:
        assert none is None
