"""The benchmarks measure what they say they do; how fast it was is no matter here."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest

from crmbench.bench import bench
from crmbench.bench.growth import measure_growth
from crmbench.bench.models import ModelEffort
from crmbench.bench.plot import growth_plot, page, tools_plot
from crmbench.bench.service import ServiceEffort
from crmbench.bench.tools import WORLD, Statement, raw_runner, recording, tool_calls
from crmbench.bench.world import (
    BenchDomain,
    BenchWorld,
    interleaved,
    ratio,
    task_in,
    timing,
)
from crmbench.core.episode import Episode
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.runner.task_sets import load_named

LATENCY = 0.02
TINY = bench.Effort(
    rounds=1,
    calls=2,
    sizes=(0, 30),
    orgs=(20,),
    resets=3,
    held=5,
    replay_turns=33,
    models=ModelEffort(12, 12, 12, litellm_calls=2, rounds=1, starts=1, latency=LATENCY),
    service=ServiceEffort(0.1, 1, 2),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A run of everything, on both backends, as small as can be."""
    out = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "QUICK", TINY)
        return out, bench.run_benchmarks(out, quick=True)


def test_everything_is_measured_on_both_backends(results: tuple[Path, dict[str, Any]]) -> None:
    _, data = results
    for part in ("replay", "tools", "reset", "growth"):
        assert {entry["backend"] for entry in data[part]} == {"sqlite", "postgres"}, part
    assert {entry["tool"] for entry in data["tools"]} == set(tool_calls(1))
    assert all(entry["ratio"] > 0 for part in ("tools", "growth") for entry in data[part])
    assert all(entry["succeeded"] == entry["conversations"] for entry in data["replay"])
    assert [entry["records"] for entry in data["growth"][:2]] == [0, 30]
    assert len(data["targets"]) == 19


def test_a_server_is_measured_beside_the_same_call_in_this_process(
    results: tuple[Path, dict[str, Any]],
) -> None:
    _, data = results
    found = {each["what"]: each for each in data["serving"]}
    assert set(found) == {"tool call over HTTP", "tool call over MCP", "session opened"}
    assert found["tool call over HTTP"]["ratio"] > 1
    assert found["session opened"]["ratio"] is None
    assert "Serving, one client" in bench.render(data)


def test_models_are_driven_by_the_harness_and_by_the_client_alone(
    results: tuple[Path, dict[str, Any]],
) -> None:
    _, data = results
    found = {speed["way"]: speed for speed in data["models"]}
    assert {"harness", "client"} <= set(found)
    assert found["client"]["calls"] == 12
    # Every turn takes three calls of tools and a reply.
    turns = sum(len(task.turns) for task in load_named("demo").tasks())
    assert found["harness"]["calls"] == 4 * turns
    for speed in found.values():
        assert speed["tools"] == len(load_domain("sales").toolbox.schemas)
        # 12 at once, each as long as the latency: no right way of counting gives more.
        assert 0 < speed["calls_per_s"] <= 12 / LATENCY
        assert 20 < speed["peak_mb"] < 500
    assert 0 < data["start"]["bare_seconds"] < data["start"]["seconds"]


def test_the_files_hold_what_is_returned(results: tuple[Path, dict[str, Any]]) -> None:
    out, data = results
    assert orjson.loads((out / "bench.json").read_bytes()) == orjson.loads(orjson.dumps(data))
    for name in ("growth.svg", "tools.svg"):
        ElementTree.fromstring((out / name).read_text(encoding="utf-8"))
    assert bench.render(data).splitlines()[0] in (out / "bench.html").read_text(encoding="utf-8")


def test_the_text_names_every_tool_and_target(results: tuple[Path, dict[str, Any]]) -> None:
    _, data = results
    text = bench.render(data)
    assert all(entry["tool"] in text for entry in data["tools"])
    assert all(target["what"] in text for target in data["targets"])


def test_a_missed_target_is_said_to_be_missed(results: tuple[Path, dict[str, Any]]) -> None:
    _, data = results
    missed = {**data, "targets": [{**data["targets"][0], "met": False}]}
    assert "MISSED" in bench.render(missed)


def test_recorded_statements_do_the_same_work() -> None:
    domain = load_domain("sales")
    backend = SqliteBackend(domain.schema)
    statements: list[Statement] = []
    with Episode(BenchDomain(domain, [WORLD]), task_in(WORLD), backend) as episode:
        with recording(episode, statements):
            for calls in tool_calls(2).values():
                for name, arguments in calls:
                    assert episode.execute(name, arguments).ok, name
        after = episode.database.digest()
        episode.database.reset()
        episode.database.start(episode.database.clock)
        assert episode.database.digest() != after
        raw_runner(episode.database.connection)(statements)
        assert episode.database.digest() == after
    backend.close()


def test_a_world_has_the_records_it_names() -> None:
    domain = load_domain("sales")
    backend = SqliteBackend(domain.schema)
    world = BenchWorld(clients=7, deals=3)
    database = backend.acquire(world)
    counts = {table: len(rows) for table, rows in database.snapshot().items() if rows}
    assert counts == {"Client": 7, "Opportunity": 3, "Quote": 3, "Contact": 3, "Contract": 3}
    backend.close()


def test_searches_find_their_client() -> None:
    domain = load_domain("sales")
    backend = SqliteBackend(domain.schema)
    world = BenchWorld(40)
    with Episode(BenchDomain(domain, [world]), task_in(world), backend) as episode:
        found = episode.execute("client_search", {"email": "OFFICE000039@client"})
    assert found.result["total_count"] == 1
    assert len(measure_growth(domain, backend, (0, 40), 1, 3)) == 4
    backend.close()


def test_measurements_take_turns_after_a_round_to_warm_up() -> None:
    order: list[str] = []

    def measurement(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    taken = interleaved(
        {"a": lambda: measurement("a", 2.0), "b": lambda: measurement("b", 1.0)}, rounds=2
    )
    assert order == ["a", "b"] * 3
    assert taken == {"a": [2.0, 2.0], "b": [1.0, 1.0]}
    assert ratio(taken["a"], taken["b"]) == 2
    assert timing([3.0, 1.0, 2.0]).middle == 2


def test_plots_escape_what_they_show() -> None:
    entry = {"backend": "<b>", "tool": "a&b", "ratio": 1.5, "records": 0, "call_us": 12.0}
    for svg in (growth_plot([entry, {**entry, "records": 9}]), tools_plot([entry])):
        assert "<b>" not in svg
        ElementTree.fromstring(svg)
    assert "<script>" not in page("<script>", {})
