"""Nodes killed at random moments, twenty times: long, so only `make test-ray-kills` runs it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runner.executors.cluster import Nodes, nodes
from tests.runner.executors.test_ray import options, same_bytes

from crmbench.runner.run import execute
from crmbench.runner.run_dir import RunDir

pytest.importorskip("ray")

TRIALS = 12
KILLS = 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    with nodes(2) as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    execute(options("inline", TRIALS), path)
    return path


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_node_killed_at_any_moment_changes_nothing(
    cluster: Nodes, undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    moment, which = rng.random(), rng.randrange(2)
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed and done >= moment * total:
            killed.append(done)
            cluster.kill(which)

    execute(options("ray", TRIALS), tmp_path / "run", kill_one)
    assert killed
    keys = [record.key for record in RunDir(tmp_path / "run").outlines()]
    assert len(keys) == len(set(keys)) == len(RunDir(undisturbed).outlines())
    same_bytes(undisturbed, tmp_path / "run")
    cluster.nodes.append(cluster.add())
