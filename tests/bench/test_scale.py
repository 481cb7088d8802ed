"""The measurement of several workers: that it measures what it says, not how fast that is."""

from __future__ import annotations

import pytest

from crmbench.bench import scale
from crmbench.bench.scale import ScaleResults, Spread, measure_scale, render_scale, results_data
from crmbench.domains.sales.authoring.family import load_families


def test_everything_is_measured_once_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "cores", lambda: 2)
    monkeypatch.setattr(scale, "LOOPS", 1000)
    monkeypatch.setattr(scale, "GENERATED", (2, 2 * len(load_families())))
    monkeypatch.setattr(scale, "find_spec", lambda _name: None)
    monkeypatch.setattr(scale, "backends_here", lambda: (["sqlite"], []))
    results = measure_scale("demo", 1, 1, 0)
    (kept,) = results.kept
    assert (kept.backend, kept.turns) == ("sqlite", 96)
    assert kept.ratio == pytest.approx(kept.turns_per_s / kept.inserts_per_s)
    assert [(each.work, each.workers) for each in results.spread] == [
        (work, workers) for work in ("replay", "generate") for workers in (1, 2)
    ]
    assert results.episodes == 24
    assert results.ray_ms is None
    assert results.spread[0].speedup == 1.0
    assert all(0 < each.first_s <= each.seconds for each in results.spread)
    text = render_scale(results)
    assert "replay, 2 on processes" in text
    assert "generate, 2 on processes" in text
    assert "Note: Ray was left out" in text
    assert results_data(results)["kept"][0]["backend"] == "sqlite"


def test_what_ray_takes_is_told_by_episode() -> None:
    def replayed(executor: str, workers: int, seconds: float) -> Spread:
        return Spread("replay", executor, workers, seconds, seconds, 0.5, 1.0, 1.0)

    spread = (replayed("processes", 1, 20.0), replayed("ray", 1, 24.0), replayed("ray", 2, 13.0))
    results = ScaleResults((), spread, 40_000, 100.0, 0.0, ())
    assert results.ray_ms == pytest.approx(0.1)
    assert "An episode on Ray, beside one process: +0.10 ms" in render_scale(results)
