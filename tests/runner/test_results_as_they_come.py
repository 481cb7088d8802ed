"""The lines of results.jsonl: kept with the episodes, the same bytes whoever made them and when."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench.formats.arc_results import write_results
from crmbench.report.run_files import conclude_run
from crmbench.runner.regrade import regrade
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RESULTS, RunDir

OPTIONS = RunOptions(NORTHGATE, agent="heuristic", trials=3)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "run"
    execute(OPTIONS, path)
    return path


def as_read_from_the_directory(path: Path, beside: Path) -> bytes:
    run = RunDir(path)
    write_results(beside, run.tasks(), run.each(), run.config())
    return beside.read_bytes()


def part_of(source: Path, target: Path, episodes: int, results: int | None) -> Path:
    """A run as a kill leaves it, with so many episodes and results, the last ones torn."""
    target.mkdir()
    for name in ("config.json", "tasks.jsonl", "traces.jsonl.zst"):
        (target / name).write_bytes((source / name).read_bytes())
    for name, number in (("episodes.jsonl", episodes), (RESULTS, results)):
        if number is not None:
            lines = (source / name).read_bytes().splitlines(keepends=True)
            (target / name).write_bytes(b"".join(lines[:number]) + lines[number][:50])
    return target


def resumed(path: Path) -> bytes:
    options = RunOptions(NORTHGATE, agent="heuristic", trials=3, resume=True)
    conclude_run(options, execute(options, path), path)
    return (path / RESULTS).read_bytes()


def test_they_are_those_made_from_the_stored_episodes(undisturbed: Path, tmp_path: Path) -> None:
    expected = as_read_from_the_directory(undisturbed, tmp_path / "expected.jsonl")
    assert (undisturbed / RESULTS).read_bytes() == expected
    assert len(expected.splitlines()) == 36


def test_workers_make_the_same(undisturbed: Path, tmp_path: Path) -> None:
    options = RunOptions(NORTHGATE, agent="heuristic", trials=3, workers=2)
    execute(options, tmp_path / "two")
    assert (tmp_path / "two" / RESULTS).read_bytes() == (undisturbed / RESULTS).read_bytes()


@pytest.mark.parametrize(("episodes", "results"), [(5, 5), (5, 8), (0, 3), (5, None), (20, 35)])
def test_a_run_that_was_cut_off_ends_with_the_same(
    undisturbed: Path, tmp_path: Path, episodes: int, results: int | None
) -> None:
    cut = part_of(undisturbed, tmp_path / "cut", episodes, results)
    assert resumed(cut) == (undisturbed / RESULTS).read_bytes()


def test_the_one_that_counts_stays_where_an_episode_was_played_twice(
    undisturbed: Path, tmp_path: Path
) -> None:
    run, again = RunDir(tmp_path / "run"), RunDir(undisturbed)
    run.make()
    for episode in [*again.each()][:2]:
        run.append(episode, b'{"first": true}\n')
    lines = (undisturbed / RESULTS).read_bytes().splitlines(keepends=True)
    for episode, line in reversed(list(zip(again.each(), lines, strict=True))):
        run.append(episode, line)
    run.settle(again.tasks())
    assert (run.path / RESULTS).read_bytes() == b"".join(lines)


def test_a_run_of_before_gets_them_at_its_end(undisturbed: Path, tmp_path: Path) -> None:
    old = part_of(undisturbed, tmp_path / "old", 35, None)
    (old / "timings.jsonl").write_bytes((undisturbed / "timings.jsonl").read_bytes())
    assert resumed(old) == (undisturbed / RESULTS).read_bytes()


def test_grading_again_makes_them_too(undisturbed: Path, tmp_path: Path) -> None:
    regrade(undisturbed, tmp_path / "one")
    regrade(undisturbed, tmp_path / "two", workers=2)
    for name in ("one", "two"):
        assert (tmp_path / name / RESULTS).read_bytes() == (undisturbed / RESULTS).read_bytes()
