"""A set in shards played into a run of parts: the same bytes whoever plays it, and the figures of
the whole without its episodes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from tests.runner.test_kill_and_resume import lines, wait_for_episodes

from crmbench import load
from crmbench.authoring.dataset import Dataset
from crmbench.errors import InputError
from crmbench.formats.episode_rows import ROWS, read_head, read_rows
from crmbench.formats.shards import ShardedSet, ShardPlan, shard_of
from crmbench.models.testing.server import spawned
from crmbench.report.compare import compare_runs
from crmbench.report.run_files import conclude_parts, conclude_run, finish_part
from crmbench.report.summary import rows_of, summarise, summary_of
from crmbench.runner.outline import outlines, task_heads
from crmbench.runner.parts import PartedRun, open_run
from crmbench.runner.play_parts import PartsOutcome, is_for_parts, play_parts
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir
from crmbench.web.runs import RunStore

SHARDS = 3


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shards of five conversations, in two splits."""
    place = tmp_path_factory.mktemp("parts") / "set"
    plan = ShardPlan("sales", 7, 5, SHARDS)
    known = ShardedSet(place)
    known.begin(plan)
    tasks = load("sales/test")
    for number in range(SHARDS):
        own = tuple(tasks[5 * number : 5 * number + 5])
        dataset = Dataset("sales", 7, {"test": own[:3], "train": own[3:]}, plan.canary)
        known.add(plan, shard_of(plan, number, dataset))
    return place


def options(sharded: Path, **others: Any) -> RunOptions:
    return replace(
        RunOptions(str(sharded), agent="heuristic", trials=2, workers=1),
        **others,
    )


def played(chosen: RunOptions, out: Path) -> PartsOutcome:
    outcome = play_parts(chosen, out, finish_part)
    conclude_parts(outcome.run)
    return outcome


@pytest.fixture(scope="module")
def whole(sharded: Path, tmp_path_factory: pytest.TempPathFactory) -> PartedRun:
    return played(options(sharded), tmp_path_factory.mktemp("run") / "run").run


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a run by their names, without what a clock measured."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timings.jsonl", "report.html")
    }


def test_a_part_is_laid_out_as_a_run(whole: PartedRun) -> None:
    names = {path.name for path in whole.path.iterdir()}
    assert names == {"config.json", "parts", ROWS, "summary.json", "report.html"}
    first = RunDir(whole.path / "parts" / "00000")
    assert len(whole.parts()) == SHARDS
    assert len(first.tasks()) == 5
    assert len(first.episodes()) == 10
    assert len(lines(first.path / "results.jsonl")) == 10
    assert summary_of(first).to_data() == summary_of(first).to_data()
    stored = json.loads((first.path / "summary.json").read_bytes())
    assert stored["trials"] == summary_of(first).trials


def test_workers_write_the_same(sharded: Path, whole: PartedRun, tmp_path: Path) -> None:
    two = played(options(sharded, workers=2), tmp_path / "two").run
    assert contents(two.path) == contents(whole.path)


def test_the_figures_are_those_of_all_episodes(whole: PartedRun) -> None:
    tasks = [task for part in whole.parts() for task in part.tasks()]
    episodes = list(chain.from_iterable(part.each() for part in whole.parts()))
    found = summary_of(whole)
    assert found == summarise(tasks, episodes, trials=2)
    assert json.loads((whole.path / "summary.json").read_bytes()) == orjson.loads(
        orjson.dumps(found.to_data(), option=orjson.OPT_NON_STR_KEYS)
    )
    assert 0 < found.succeeded < found.trials == 30


def test_the_rows_come_back_as_they_were(whole: PartedRun) -> None:
    expected = [row for part in whole.parts() for row in rows_of(part.tasks(), part.for_figures())]
    assert list(whole.rows()) == expected
    assert list(read_rows(whole.path / ROWS)) == expected
    assert read_head(whole.path / ROWS).tasks == 15
    table = pq.read_table(whole.path / ROWS)
    assert table.num_rows == 30
    assert set(table["category"].to_pylist()) == {row.category for row in expected}


def test_everything_of_a_run_is_found_in_its_parts(whole: PartedRun) -> None:
    opened = open_run(whole.path)
    keys = opened.keys()
    assert [episode.key for episode in opened.each(whole=False)] == keys
    assert [episode.key for episode in opened.by_key()(reversed(keys))] == keys[::-1]
    task_id, trial = keys[-1]
    assert opened.episode(task_id, trial).key == keys[-1]
    assert opened.task(task_id).task_id == task_id
    assert [each.place for each in outlines(whole.path)] == keys
    assert len([*task_heads(whole.path)]) == 15
    with pytest.raises(InputError, match="no episode of the task nobody"):
        opened.episode("nobody")


def test_the_list_of_view_has_all_parts(whole: PartedRun) -> None:
    store = RunStore.open([whole.path])
    store.read()
    (run,) = store.runs.values()
    assert [(line.task_id, line.trial) for line in run.lines] == whole.keys()
    assert run.figures == json.loads((whole.path / "summary.json").read_bytes())
    last = run.lines[-1]
    assert run.episode(last.task_id, last.trial).task_id == last.task_id


def test_the_page_shows_conversations_of_all_parts(whole: PartedRun) -> None:
    page = (whole.path / "report.html").read_text(encoding="utf-8")
    for part in whole.parts():
        assert part.tasks()[0].task_id in page


def test_a_shard_of_one_file_is_played_as_that_file_by_itself(tmp_path: Path) -> None:
    tasks, plan = load("sales/test")[:3], ShardPlan("sales", 7, 3, 1)
    sharded = ShardedSet(tmp_path / "set")
    sharded.begin(plan)
    sharded.add(plan, shard_of(plan, 0, Dataset("sales", 7, {"test": tuple(tasks)}, plan.canary)))
    played(options(sharded.folder), tmp_path / "parts")
    (file,) = sharded.files()
    chosen = options(file)
    conclude_run(chosen, execute(chosen, tmp_path / "alone"), tmp_path / "alone")
    part = contents(tmp_path / "parts" / "parts" / "00000")
    del part[ROWS]
    assert part == contents(tmp_path / "alone")


def test_one_that_was_cut_off_ends_with_the_same(
    sharded: Path, whole: PartedRun, tmp_path: Path
) -> None:
    """The first part whole, the second torn, the third not begun, nothing joined."""
    cut = tmp_path / "cut"
    for name, content in contents(whole.path).items():
        if name == "config.json" or name.startswith("parts/00000"):
            (cut / name).parent.mkdir(parents=True, exist_ok=True)
            (cut / name).write_bytes(content)
    torn = cut / "parts" / "00001"
    torn.mkdir()
    for name in ("config.json", "tasks.jsonl", "traces.jsonl.zst"):
        (torn / name).write_bytes((whole.path / "parts" / "00001" / name).read_bytes())
    for name in ("episodes.jsonl", "results.jsonl"):
        kept = (whole.path / "parts" / "00001" / name).read_bytes()
        (torn / name).write_bytes(kept[: len(kept) // 2])
    (cut / "parts" / "00002").mkdir()
    again = played(options(sharded, resume=True), cut)
    assert contents(cut) == contents(whole.path)
    # Nothing of the first part was played again.
    assert again.turns_played < sum(row.turns for row in whole.rows())
    assert played(options(sharded, resume=True), cut).turns_played == 0


def test_a_kill_in_the_middle_loses_nothing(
    sharded: Path, whole: PartedRun, tmp_path: Path
) -> None:
    agent = tmp_path / "slow.py"
    agent.write_text(
        "import asyncio\n"
        "class Slow:\n"
        "    async def turn(self, session, utterance):\n"
        "        await asyncio.sleep(0.02)\n"
        "        return 'Done.'\n",
        encoding="utf-8",
    )
    command = [
        sys.executable, "-m", "crmbench", "run", str(sharded), "--agent", "slow.py:Slow",
        "--concurrency", "1", "--quiet", "--json", "--out",
    ]  # fmt: skip
    killed = subprocess.Popen([*command, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    wait_for_episodes(tmp_path / "killed" / "parts" / "00001" / "episodes.jsonl", 2, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert (tmp_path / "killed" / "parts" / "00000" / ROWS).exists()
    assert not (tmp_path / "killed" / "parts" / "00001" / ROWS).exists()
    for more in (["killed", "--resume"], ["undisturbed"]):
        subprocess.run([*command, *more], cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_a_limit_of_cost_holds_over_all_parts(
    sharded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spawned() as url:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        model = {"model": "openai/gpt-4.1", "agent": "act", "concurrency": 1, "trials": 1}
        chosen = options(sharded, workers=None, **model)
        all_of_it = played(chosen, tmp_path / "whole").run
        cost = summary_of(all_of_it).usage.cost or 0.0
        assert cost > 0
        cut = tmp_path / "cut"
        first = played(replace(chosen, max_cost=0.5 * cost), cut)
        assert f"of ${0.5 * cost:,.2f} allowed" in (first.stopped or "")
        assert 0.5 * cost <= (summary_of(first.run).usage.cost or 0.0) < cost
        assert summary_of(first.run).missing > 0
        assert played(replace(chosen, resume=True), cut).stopped is None
    assert contents(cut) == contents(all_of_it.path)


def test_a_filter_leaves_out_parts_in_which_nothing_fits(sharded: Path, tmp_path: Path) -> None:
    wanted = ShardedSet(sharded).records()[1]
    family = next(iter(wanted.families))
    chosen = options(sharded, filters=(f"family={family}",))
    run = played(chosen, tmp_path / "some").run
    assert {row.family for row in run.rows()} == {family}
    assert 1 <= len(run.parts()) <= SHARDS
    with pytest.raises(InputError, match="no conversation fits"):
        played(options(sharded, filters=("family=nobody's",)), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_start_that_fails_leaves_nothing_behind(sharded: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        played(options(sharded, agent="nobody"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_in_parts_goes_on_with_its_own_set_only(
    sharded: Path, whole: PartedRun, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="already holds a run"):
        played(options(sharded), whole.path)
    with pytest.raises(InputError, match="has agent 'heuristic', this one 'oracle'"):
        played(options(sharded, agent="oracle", resume=True), whole.path)
    execute(options(sharded), tmp_path / "one piece")
    with pytest.raises(InputError, match="in one piece"):
        played(options(sharded, resume=True), tmp_path / "one piece")


def test_what_is_played_in_parts(sharded: Path, tmp_path: Path) -> None:
    assert is_for_parts(options(sharded), tmp_path)
    assert not is_for_parts(options(sharded), None)
    assert not is_for_parts(options(sharded, sample=3), tmp_path)
    assert not is_for_parts(options(next((sharded / "data").glob("*.parquet"))), tmp_path)
    assert not is_for_parts(RunOptions("demo"), tmp_path)


def test_runs_in_parts_compare_as_runs_in_one_piece(
    sharded: Path, whole: PartedRun, tmp_path: Path
) -> None:
    oracle = played(options(sharded, agent="oracle", trials=1), tmp_path / "oracle").run
    pieces = []
    for name, agent, trials in (("run", "heuristic", 2), ("oracle", "oracle", 1)):
        pieces.append(RunDir(tmp_path / "pieces" / name))
        execute(options(sharded, agent=agent, trials=trials), pieces[-1].path)
    parts, piece = compare_runs([whole, oracle]), compare_runs(pieces)
    one, other = parts.to_data(), piece.to_data()
    assert one["others"] == other["others"]
    assert one["runs"] == other["runs"]
    assert one["notes"] == other["notes"]
    assert parts.others[0].whole.second == 1.0


def command(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments, "--json"],
        capture_output=True,
        check=True,
        env=os.environ,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_grading_a_run_in_parts_again_copies_it(whole: PartedRun, tmp_path: Path) -> None:
    again = command("grade", str(whole.path), "--out", str(tmp_path / "again"), "--workers", "1")
    assert (again["episodes"], again["changed"]) == (30, [])
    assert contents(tmp_path / "again") == contents(whole.path)
    without = command("grade", str(whole.path), "--workers", "1")
    assert without["succeeded"] == again["succeeded"]


def test_the_commands_take_one(sharded: Path, whole: PartedRun, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    ran = command("run", str(sharded), "--agent", "heuristic", "--trials", "2", "--out", out)
    assert ran["succeeded"] == summary_of(whole).succeeded
    assert contents(tmp_path / "out") == contents(whole.path)
    report = command("report", out, str(whole.path), "--out", str(tmp_path / "page.html"))
    one, two = report["runs"]
    assert {**one, "run": ""} == {**two, "run": ""}
    shown = subprocess.run(
        [sys.executable, "-m", "crmbench", "show", out, "--failed", "--sample", "2"],
        capture_output=True,
        check=True,
    )
    assert b", trial 1: failed" in shown.stdout
