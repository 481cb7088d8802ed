"""Runs of several workers that ask models: rates held together, requests kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE

from crmbench.models.shared_rates import FileRates
from crmbench.models.testing.server import spawned
from crmbench.runner.evaluate import grader_on, jobs_for
from crmbench.runner.executors.rates import shared_rates
from crmbench.runner.executors.shards import begin, end, play_shard, setup_of, shards_of
from crmbench.runner.options import RunOptions
from crmbench.runner.run import execute
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with spawned("--latency", "0.01", "--tool-calls", "1") as url:
        yield url


def test_only_limited_models_share_rates(server: str) -> None:
    model = RunOptions(NORTHGATE, agent="function_calling", model=f"{server}/v1#fake")
    limited = RunOptions(**{**vars(model), "requests_per_minute": 1e6})
    for options, sharing in (
        (model, False),
        (limited, True),
        (RunOptions(NORTHGATE, agent="oracle", requests_per_minute=1.0), False),
    ):
        with shared_rates(options) as rates:
            assert isinstance(rates, FileRates) == sharing


def test_a_worker_takes_from_the_rates_that_it_was_given(server: str, tmp_path: Path) -> None:
    options = RunOptions(
        NORTHGATE,
        agent="function_calling",
        model=f"{server}/v1#fake",
        requests_per_minute=1e6,
        keep_raw=True,
    )
    tasks = load_named(NORTHGATE).tasks()[:2]
    jobs = jobs_for(tasks, 1)
    grader = grader_on("sqlite")
    try:
        begin(setup_of(options, jobs, grader, tasks, FileRates(tmp_path)))
        played = [play_shard(shard) for shard in shards_of(jobs, tasks, 60)]
    finally:
        end()
        grader.close()
    assert sum(len(each.episodes) for each in played) == 2
    assert len(list(tmp_path.iterdir())) == 1
    assert all(each.raw for each in played)


def test_two_workers_keep_the_requests_of_one(server: str, tmp_path: Path) -> None:
    counts = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        options = RunOptions(
            NORTHGATE,
            agent="function_calling",
            model=f"{server}/v1#fake",
            requests_per_minute=1e6,
            keep_raw=True,
            workers=workers,
        )
        execute(options, out)
        lines = (out / "raw.jsonl").read_bytes().splitlines()
        counts.append(Counter(orjson.loads(line)["tag"] for line in lines))
        assert len(RunDir(out).keys()) == len(load_named(NORTHGATE).tasks())
    assert counts[0] == counts[1]
    assert sum(counts[0].values()) > len(counts[0])
