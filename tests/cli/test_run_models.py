"""Runs with models on the command line: killed and resumed, estimated, judged, graded again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE, PartlyFactory

from crmbench.errors import InputError
from crmbench.models.testing.server import spawned
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with spawned("--latency", "0.05", "--tool-calls", "1") as url:
        yield url


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "crmbench", *arguments]


def crmbench(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def kill_when(path: Path, number: int, arguments: list[str], cwd: Path) -> None:
    """Start a run and kill it once so many episodes are on disk."""
    process = subprocess.Popen(arguments, cwd=cwd, stdout=subprocess.DEVNULL)
    while len(lines(path)) < number:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_model_run_is_killed_resumed_compared_and_graded_again(
    server: str, tmp_path: Path
) -> None:
    run = [
        *("run", NORTHGATE, "--model", f"{server}/v1#fake", "--concurrency", "16", "--trials", "2"),
        *("--user", f"{server}/v1#user", "--user-messages", "1"),
        *("--judge", f"{server}/v1#judge", "--judge-all", "--quiet"),
    ]
    episodes = tmp_path / "run" / "episodes.jsonl"
    kill_when(episodes, 5, command(*run, "--out", "run"), tmp_path)
    kept = lines(episodes)
    assert 5 <= len(kept) < 24
    done = crmbench(*run, "--out", "run", "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "User played by" in done.stdout
    assert "Cohen's kappa" not in done.stdout  # the fake server's words are no verdicts
    assert len(lines(episodes)) == 24
    assert {line for line in kept if line.endswith(b"}")} <= set(lines(episodes))

    options = RunOptions(
        NORTHGATE,
        agent="function_calling",
        model=f"{server}/v1#fake",
        concurrency=24,
        trials=2,
        user=f"{server}/v1#user",
        user_messages=1,
        judge=f"{server}/v1#judge",
        judge_all=True,
    )
    execute(options, tmp_path / "whole")
    assert (tmp_path / "whole" / "episodes.jsonl").read_bytes() == episodes.read_bytes()
    one, two = (RunDir(tmp_path / name).config() for name in ("run", "whole"))
    assert one == two
    summary = json.loads((tmp_path / "run" / "summary.json").read_bytes())
    assert summary["user"]["messages"] == 33 * 2
    assert summary["judge"]["asked"] == summary["judge"]["failed"] > 0

    compared = crmbench("compare", "run", "whole", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    graded = crmbench("grade", "run", "--out", "graded", "--json", cwd=tmp_path)
    assert graded.returncode == 0, graded.stderr
    figures = json.loads(graded.stdout)
    assert (figures["episodes"], figures["changed"]) == (24, [])
    assert figures["judge"] == summary["judge"]
    assert (tmp_path / "graded" / "episodes.jsonl").read_bytes() == episodes.read_bytes()


def test_a_resumed_run_keeps_its_user_and_its_judge(server: str, tmp_path: Path) -> None:
    options = RunOptions(NORTHGATE, agent="noop", sample=1)
    execute(options, tmp_path)
    model = f"{server}/v1#other"
    for other in (replace(options, judge=model), replace(options, user=model)):
        with pytest.raises(InputError, match=r"has (judge|user) None"):
            execute(replace(other, resume=True), tmp_path)


JUDGES = """
def strict():
    return ['{"goal": 0.2, "process": 1, "rationale": "no"}']

def kind():
    return ['{"goal": 1, "process": 1, "rationale": "yes"}']
"""


def test_a_run_is_graded_with_a_judge_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "judges.py").write_text(JUDGES, encoding="utf-8")
    execute(RunOptions(NORTHGATE, agent="partly"), tmp_path / "run", factory=PartlyFactory())
    grade = ("grade", "run", "--judge-all", "--judge")
    told = crmbench(*grade, "scripted:judges:kind", "--out", "kind", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "0 verdicts change" in told.stdout
    assert "Judge and checks agree on" in told.stdout
    summary = json.loads((tmp_path / "kind" / "summary.json").read_bytes())
    found: dict[str, Any] = summary["judge"]["agreement"]
    assert found["kappa"] == 0.0  # it passes everything: no better than chance
    assert found["turns"] == found["both_pass"] + found["only_judge_passes"]
    done = crmbench(*grade, "scripted:judges:strict", "--json", cwd=tmp_path)
    strict: dict[str, Any] = json.loads(done.stdout)["judge"]["agreement"]
    assert (strict["both_pass"], strict["only_judge_passes"]) == (0, 0)
    assert strict["only_checks_pass"] == found["both_pass"]


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    run = ("run", NORTHGATE, "--model", "openai/gpt-4.1", "--dry-run", "--out", "run")
    told = crmbench(*run, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "no model was asked" in told.stdout
    assert "cost with caching" in told.stdout
    figures = json.loads(crmbench(*run, "--json", cwd=tmp_path).stdout)
    assert figures["parts"][0]["typical"]["cost_with_caching"] > 0
    assert figures["prices_as_of"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("grade", "x", "--judge-all"), "--judge-all needs a --judge"),
        (("grade", "x", "--judge", "scripted:a:b", "--without-judge"), "exclude each other"),
        (("grade", "x", "--judge", "nobody"), "there is no model 'nobody'"),
    ],
)
def test_wrong_use_says_what_was_expected(
    arguments: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    done = crmbench(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
