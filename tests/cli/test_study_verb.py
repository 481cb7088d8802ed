"""``crmbench study``: frameworks against a server, tools without a model, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crmbench.cli import main
from crmbench.models.testing.server import spawned


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with spawned("--tool-calls", "1") as url:
        yield url


def crmbench(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment,
    )


def test_frameworks_are_studied_and_every_arm_is_a_run(server: str, tmp_path: Path) -> None:
    study = (
        *("study", "frameworks", "demo", "--model", f"{server}/v1#fake", "--sample", "4"),
        *("--framework", "function_calling", "--framework", "json", "--trials", "2"),
    )
    done = crmbench(*study, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "json - function_calling" in done.stdout
    assert "pass^2" in done.stdout
    record = json.loads((tmp_path / "out" / "study.json").read_bytes())
    arms = record["results"]["arms"]
    assert [arm["name"] for arm in arms] == ["function_calling", "json"]
    assert all(arm["episodes"] == arm["planned"] == 8 for arm in arms)
    assert all(arm["model_calls_each"] > 0 and arm["tokens_each"] > 0 for arm in arms)
    assert record["results"]["pairs"][0]["consistency"]["k"] == 2
    for name in ("config.json", "episodes.jsonl", "summary.json", "results.jsonl", "report.html"):
        assert (tmp_path / "out" / "json" / name).exists()
    compared = crmbench("compare", "out/function_calling", "out/json", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr

    page = (tmp_path / "out" / "study.html").read_bytes()
    refused = crmbench(*study, "--out", "out", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    again = crmbench(*study, "--out", "out", "--resume", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["results"] == record["results"]
    assert (tmp_path / "out" / "study.html").read_bytes() == page


def test_prompts_are_studied_and_each_arms_digests_are_kept(server: str, tmp_path: Path) -> None:
    study = ("study", "prompts", "demo", "--model", f"{server}/v1#fake", "--sample", "3")
    done = crmbench(*study, "--prompts", "short_format", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "short_format - default" in done.stdout
    configs = {
        arm: json.loads((tmp_path / "out" / arm / "config.json").read_bytes())
        for arm in ("default", "short_format")
    }
    assert "prompt_files" not in configs["default"]
    assert configs["short_format"]["prompt_files"] == "short_format"
    digests = [config["prompts"]["function_calling.md"] for config in configs.values()]
    assert digests[0] != digests[1]


def test_spoilt_episodes_are_named_and_played_again(server: str, tmp_path: Path) -> None:
    study = ("study", "frameworks", "demo", "--sample", "2", "--trials", "1", "--out", "out")
    done = crmbench(*study, "--model", f"{server}/v1#fake+bad_request", cwd=tmp_path)
    assert done.returncode == 3
    assert "function_calling lacks 2 of 2 episodes, 2 of them spoilt" in done.stdout.replace(
        "\n", " "
    )
    assert "Go on with --resume" in done.stderr


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    study = ("study", "frameworks", "demo", "--model", "openai/gpt-4.1-mini", "--sample", "3")
    done = crmbench(*study, "--dry-run", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["arms"]) == ["function_calling", "react", "act"]
    assert found["total"]["typical"]["cost_with_caching"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "there is no study 'x'"),
        (("latents", "--framework", "act"), "--framework is for the study of frameworks"),
        (("latents", "demo"), "FILE is for the study of frameworks and tools"),
        (("frameworks", "demo", "--agent", "noop"), "--agent is for the study of tools and"),
        (("frameworks", "demo"), "a framework leads a model"),
        (("tools", "demo"), "one set of tools"),
        (("frameworks", "demo", "--tools", "a", "--tools", "b"), "--tools more than once"),
    ],
)
def test_what_makes_no_study_is_refused(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["crmbench", "study", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
