"""The quick start of the Arc benchmark can be pasted: its options, names and files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crmbench.errors import InputError
from crmbench.formats.arc_results import result_record
from crmbench.models.resolve import full_model_name
from crmbench.models.testing.server import spawned
from crmbench.runner.run_dir import RunDir


def crmbench(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    without_keys = {n: v for n, v in os.environ.items() if not n.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**without_keys, "COLUMNS": "120", **environment},
    )


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"),
        ("gpt-4.1-mini", "openai/gpt-4.1-mini"),
        ("o3", "openai/o3"),
        ("claude", "anthropic/claude-sonnet-4-5"),
        ("ollama/qwen3", "ollama/qwen3"),
    ],
)
def test_bare_names_of_known_providers_resolve(name: str, full: str) -> None:
    assert full_model_name(name) == full


@pytest.mark.parametrize("name", ["opus", "nobody/x", "", "openai/", "gpt 4.1"])
def test_names_that_reach_nothing_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="there is no model"):
        full_model_name(name)


def test_arcs_first_command_runs_and_writes_its_file(tmp_path: Path) -> None:
    with spawned("--tool-calls", "1") as url:
        (tmp_path / ".env").write_text(
            f"OPENAI_API_KEY=of-no-worth\nOPENAI_BASE_URL={url}/v1\n", "utf-8"
        )
        done = crmbench(
            *("run", "--conversations", "demo", "--agent", "gpt4.1", "--model", "gpt-4.1"),
            *("--backend", "mock", "--sample", "3", "--output", "out/first.jsonl"),
            *("--temperature", "0.0", "--max-output-tokens", "800", "--no-judge"),
            *("--out", "kept", "--quiet"),
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out/first.jsonl").read_text().splitlines()]
    assert len(records) == 3
    assert all(record["metadata"].pop("seconds") > 0 for record in records)
    run = RunDir(tmp_path / "kept")
    config = run.config()
    assert (config["backend"], config["max_tokens"]) == ("sqlite", 800)
    assert config["model"] == "gpt-4.1"
    tasks = {task.task_id: task for task in run.tasks()}
    agent = {"provider": None, "model": "gpt-4.1"}
    stored = [
        result_record(tasks[each.trace.task_id], each.trace, each.verdict, agent)
        for each in run.episodes()
    ]
    assert records == json.loads(json.dumps(stored))
    kept = b"".join(p.read_bytes() for p in (tmp_path / "kept").rglob("*") if p.is_file())
    assert b"of-no-worth" not in kept


def test_what_is_set_goes_before_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DATABASE_URL=postgresql://x:y@127.0.0.1:1/none\n", "utf-8")
    down = crmbench("db", "list", cwd=tmp_path)
    assert down.returncode == 3
    blank = crmbench("db", "list", cwd=tmp_path, DATABASE_URL=" ")
    assert blank.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("demo", "--conversations", "demo"), "--conversations names a file"),
        (("--conversations", "demo", "--domain", "sales"), "--domain names a published set"),
        (("demo", "--judge", "gpt4.1", "--no-judge"), "exclude each other"),
        (("demo", "--model", "opus", "--dry-run"), "there is no model 'opus'"),
        (("demo", "--judge", "nobody/x", "--dry-run"), "there is no model 'nobody/x'"),
    ],
)
def test_what_contradicts_itself_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    done = crmbench("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert problem in " ".join(done.stderr.replace("│", " ").split())
