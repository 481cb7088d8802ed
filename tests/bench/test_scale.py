"""The measurement of several workers: that it measures what it says, not how fast that is."""

from __future__ import annotations

import pytest

from crmbench.bench import scale
from crmbench.bench.scale import measure_scale, render_scale, results_data
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
    assert results.spread[0].speedup == 1.0
    assert all(0 < each.first_s <= each.seconds for each in results.spread)
    text = render_scale(results)
    assert "replay, 2 on processes" in text
    assert "generate, 2 on processes" in text
    assert "Note: Ray was left out" in text
    assert results_data(results)["kept"][0]["backend"] == "sqlite"
