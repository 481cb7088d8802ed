"""Runs on a real Ray cluster of two nodes: the same bytes as anywhere, also when a node dies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runner.executors.cluster import Nodes, nodes

from crmbench.errors import InfrastructureError
from crmbench.ladder.climb import Stop
from crmbench.ladder.pool import load_tasks
from crmbench.ladder.run import run_ladder
from crmbench.runner.executors.generating import generate_shards, plan_shards
from crmbench.runner.executors.ray_cluster import RayExecutor
from crmbench.runner.executors.ray_rates import RayRates, ray_rates
from crmbench.runner.options import RunOptions
from crmbench.runner.run import execute
from crmbench.runner.run_dir import TRACES, RunDir
from crmbench.runner.task_sets import load_named
from crmbench.validity.audit import audit

pytest.importorskip("ray")

FILES = ("config.json", "tasks.jsonl", "episodes.jsonl", TRACES)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Nodes]:
    with nodes(2) as made:
        yield made


def same_bytes(one: Path, two: Path) -> None:
    for name in FILES:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def options(executor: str, trials: int = 4, resume: bool = False) -> RunOptions:
    return RunOptions(
        "demo", agent="heuristic", trials=trials, executor=executor, workers=2, resume=resume
    )


def begin() -> None:
    return None


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


def test_results_come_in_order_and_what_a_job_raises_is_raised(cluster: Nodes) -> None:
    with RayExecutor("ray", 0, begin, (), begin) as executor:
        assert executor.workers == 2
        assert list(executor.stream(square, range(50))) == [n * n for n in range(50)]
        assert list(executor.map(square, range(9))) == [n * n for n in range(9)]
        with pytest.raises(ValueError, match="-1 is negative"):
            list(executor.stream(square, [1, -1]))


def test_a_run_on_two_nodes_gives_the_bytes_of_one_process(cluster: Nodes, tmp_path: Path) -> None:
    execute(options("inline"), tmp_path / "inline")
    execute(options("ray"), tmp_path / "ray")
    same_bytes(tmp_path / "inline", tmp_path / "ray")


def test_no_episode_is_lost_or_doubled_when_a_node_is_killed(
    cluster: Nodes, tmp_path: Path
) -> None:
    execute(options("inline", trials=12), tmp_path / "inline")
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed and done > total // 4:
            killed.append(done)
            cluster.kill(0)

    execute(options("ray", trials=12), tmp_path / "ray", kill_one)
    assert killed
    same_bytes(tmp_path / "inline", tmp_path / "ray")
    keys = [record.key for record in RunDir(tmp_path / "ray").outlines()]
    assert len(keys) == len(set(keys)) == 12 * len(load_named("demo").tasks())
    cluster.nodes.append(cluster.add())


def test_a_run_that_was_cut_off_on_one_executor_goes_on_on_another(
    cluster: Nodes, tmp_path: Path
) -> None:
    execute(options("inline"), tmp_path / "inline")

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise Stopped

    with pytest.raises(Stopped):
        execute(options("ray"), tmp_path / "ray", stop)
    kept = len(RunDir(tmp_path / "ray").outlines())
    assert 0 < kept < 4 * len(load_named("demo").tasks())
    execute(options("processes", resume=True), tmp_path / "ray")
    same_bytes(tmp_path / "inline", tmp_path / "ray")


def test_an_audit_on_two_nodes_says_what_one_process_says(cluster: Nodes) -> None:
    tasks = load_named("sales/standard").tasks()[:70]
    one, two = (
        audit(tasks, "standard", backends=("sqlite",), workers=workers, executor=executor)
        for workers, executor in ((1, ""), (2, "ray"))
    )
    assert one == two


def take(rates: RayRates) -> list[float]:
    """What an actor has to wait for each of its requests, at one in a thousand seconds."""

    async def taken() -> list[float]:
        rate = rates.rate("agent requests", 0.06)
        return [await rate.take(1.0) for _ in range(5)]

    return asyncio.run(taken())


def test_workers_on_two_nodes_take_from_one_rate(cluster: Nodes) -> None:
    with ray_rates("ray") as rates:
        with RayExecutor("ray", 2, begin, (), begin) as executor:
            waits = sorted(w for part in executor.map(take, [rates] * 4) for w in part)
        # A second's worth is nearly nothing, so each of the twenty waits for all before it.
        assert [round(wait / 1000) for wait in waits] == list(range(20))


def test_shards_of_a_set_are_the_same_from_two_nodes(cluster: Nodes, tmp_path: Path) -> None:
    plan = plan_shards("sales", 7, 3 * 200, 3)
    generate_shards(plan, tmp_path / "inline", executor="inline")
    generate_shards(plan, tmp_path / "ray", executor="ray")
    for path in (tmp_path / "inline").rglob("*"):
        if path.is_file():
            other = tmp_path / "ray" / path.relative_to(tmp_path / "inline")
            assert other.read_bytes() == path.read_bytes()


def test_a_ladder_on_two_nodes_is_the_ladder_of_one_process(cluster: Nodes, tmp_path: Path) -> None:
    domain, mechanisms, levels = ["sales"], ["worklist", "merge"], (1, 2)
    tasks = load_tasks([], domain, mechanisms, 2, 42, levels, workers=2, executor="ray")
    assert tasks == load_tasks([], domain, mechanisms, 2, 42, levels)
    for executor in ("inline", "ray"):
        chosen = RunOptions("sales", agent="slip:0.1", executor=executor, workers=2)
        run_ladder(tasks, chosen, Stop(8, 1.2), tmp_path / executor)
    for name in ("tasks.jsonl", "episodes.jsonl", TRACES):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "inline" / name).read_bytes()


def test_a_cluster_that_is_not_there_is_said_in_a_sentence() -> None:
    with pytest.raises(InfrastructureError, match=r"the Ray cluster at 'ray://127.0.0.1:1' cannot"):
        RayExecutor("ray://127.0.0.1:1", 1, begin, (), begin)
