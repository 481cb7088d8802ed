"""What the command line says of a run whose agent, user or judge had a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.conftest import NORTHGATE

from crmbench.cli import main

MODELS = """
from crmbench.models import ModelError

def agent():
    return lambda messages, tools: "I have done what you asked for."

def failing():
    def answer(messages, tools):
        raise ModelError("HTTP 401: The key is not valid.", kind="auth", status=401)
    return answer

def strict():
    return lambda messages, tools: '{"goal": 0.2, "process": 1, "rationale": "no"}'
"""


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def crmbench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The command line in a directory with models, in this process."""
    (tmp_path / "parts.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "parts", raising=False)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["crmbench", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def run(crmbench: Command) -> Command:
    """A run over two conversations."""
    return partial(crmbench, "run", NORTHGATE, "--sample", "2", "--quiet")


def test_the_figures_name_every_model_and_what_it_took(crmbench: Command, run: Command) -> None:
    models = ("--model", "scripted:parts:agent", "--judge", "scripted:parts:strict", "--judge-all")
    done = run(*models, "--out", "run", "--json")
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    assert (figures["agent"], figures["model"]) == ("function_calling", "scripted:parts:agent")
    assert figures["not_counted"]["total"] == figures["missing"] == 0
    assert figures["user"] is None
    assert figures["judge"]["asked"] == figures["judge"]["usage"]["model_calls"] > 0
    agent, judge = figures["usage"]["model_calls"], figures["judge"]["usage"]["model_calls"]
    assert figures["total_usage"]["model_calls"] == agent + judge
    summary = json.loads((Path("run") / "summary.json").read_bytes())
    for name in ("not_counted", "usage", "user", "judge", "total_usage"):
        assert summary[name] == figures[name]
    record = json.loads((Path("run") / "results.jsonl").read_bytes().splitlines()[0])
    assert record["metadata"]["agent"]["model"] == "scripted:parts:agent"

    shown = crmbench("report", "run")
    assert "Judge scripted:parts:strict: asked about" in shown.stdout
    graded = crmbench("grade", "run", "--without-judge", "--out", "bare", "--json")
    assert json.loads(graded.stdout)["judge"] is None
    config = json.loads((Path("bare") / "config.json").read_bytes())
    assert config["judge"] is None
    assert "judge.md" not in config["prompts"]
    record = json.loads((Path("bare") / "results.jsonl").read_bytes().splitlines()[0])
    assert record["metadata"]["agent"]["model"] == "scripted:parts:agent"


def test_a_failing_model_of_the_agent_is_named(run: Command) -> None:
    done = run("--model", "scripted:parts:failing", "--out", "run")
    assert done.returncode == 3
    assert "the agent's model or server failed in 2. Play them again with --resume" in done.stderr
    assert "2 times: HTTP 401: The key is not valid." in done.stderr
    assert "success   unknown: none counts" in done.stdout
    resumed = run("--model", "scripted:parts:failing", "--out", "run", "--resume")
    assert resumed.returncode == 3


def test_a_failing_model_of_the_user_is_named(run: Command) -> None:
    models = ("--model", "scripted:parts:agent", "--user", "scripted:parts:failing")
    done = run(*models, "--json")
    assert done.returncode == 3
    figures = json.loads(done.stdout)
    assert figures["not_counted"] == {
        "agent": 0,
        "user": 2,
        "user_error": 0,
        "judge": 0,
        "total": 2,
    }
    assert figures["success_rate"] is None
    assert "the user's model or server failed in 2. With --out" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", "demo", "--domain", "sales"), "FILE names another"),
        (("run", "--domain", "nowhere"), "--domain is one of sales, service"),
        (("run", "demo", "--filter", "persona=nobody"), "no conversation fits the filters"),
        (("report", "parts.py"), "holds no run"),
        (("compare", "one", "two"), "one: holds no run"),
    ],
)
def test_wrong_use_is_said_without_a_traceback(
    arguments: tuple[str, ...], expected: str, crmbench: Command
) -> None:
    done = crmbench(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_that_cannot_be_written_is_said(crmbench: Command, run: Command) -> None:
    run("--agent", "noop", "--out", "run")
    for option in ("--out", "--leaderboard"):
        done = crmbench("report", "run", option, "nowhere/page.html")
        assert done.returncode == 2
        assert "nowhere/page.html: cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
