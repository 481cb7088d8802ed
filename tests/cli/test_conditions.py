"""``crmbench conditions`` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from crmbench.cli import app

RUNNER = CliRunner()


def test_each_condition_is_paired_with_the_clean_run(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    arguments = ["conditions", "demo", "--agent", "oracle:naive", "--sample", "12"]
    arguments += ["--conditions", "lures,pages:2+stale", "--out", str(out), "--json"]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    lures, both = json.loads(result.stdout)
    assert [lures["condition"], both["condition"]] == ["lures:4", "stale:3,pages:2"]
    assert lures["tasks"] == 12
    assert lures["clean"] == 1.0
    assert len(lures["lost"]) == round(12 * (1 - lures["under"])) > 0
    assert lures["drop"]["low"] <= lures["drop"]["value"] <= lures["drop"]["high"]
    assert sum(lures["attacks"]["obeyed"].values()) > 0
    assert both["attacks"] is None
    assert {path.name for path in out.iterdir()} >= {"clean", "lures-4"}


def test_a_careful_agent_loses_nothing() -> None:
    arguments = ["conditions", "demo", "--agent", "oracle:defensive", "--sample", "8"]
    result = RUNNER.invoke(app, [*arguments, "--conditions", "lures,colleague"])
    assert result.exit_code == 0, result.output
    assert "drop 0.0 points [0.0, 0.0]" in result.output
    assert "attack success 0.0%" in result.output


def test_a_condition_named_twice_is_said() -> None:
    result = RUNNER.invoke(app, ["conditions", "demo", "--conditions", "pages:2,pages:2"])
    assert result.exit_code != 0
