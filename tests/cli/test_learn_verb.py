"""``crmbench learn``: what it prints and keeps, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from crmbench.cli import app
from crmbench.errors import InputError
from crmbench.learning.learners.registry import OURS
from crmbench.learning.streams import STREAMS

ROOT = Path(__file__).parents[2]
STUDENT = f"scripted:{ROOT / 'examples' / 'scripted_student.py'}:student"
SIMULATED = ("learn", "demo", "--learner", "simulated:0.2,placebo", "--agent", "simulated")


def crmbench(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


def test_the_docs_command_shows_what_a_playbook_is_worth(tmp_path: Path) -> None:
    out = tmp_path / "out"
    learn = ("learn", "demo", "--learner", "playbook,placebo", "--model", STUDENT, "--sample", "12")
    done = crmbench(*learn, "--seeds", "1", "--out", str(out), "--quiet")
    assert done.exit_code == 0, done.output
    assert "reflection" in done.output
    assert "There is no placebo" not in done.output
    assert (out / "learn.html").exists()
    figures = json.loads((out / "learn.json").read_bytes())
    none, playbook, placebo = figures["results"]["arms"]
    assert none["success"][0] == placebo["success"][0] == 0
    assert playbook["gain"][1] > 0.1
    assert figures["on_boards"] is True


def test_what_is_played_is_not_played_again(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    first = crmbench(*SIMULATED, "--seeds", "2", "--sample", "6", "--out", out, "--json", "--quiet")
    assert first.exit_code == 0, first.output
    refused = crmbench(*SIMULATED, "--seeds", "2", "--sample", "6", "--out", out)
    assert isinstance(refused.exception, InputError)
    assert "--resume" in str(refused.exception)
    again = crmbench(
        *SIMULATED, "--seeds", "2", "--sample", "6", "--out", out, "--resume", "--json", "--quiet"
    )
    assert json.loads(again.stdout) == json.loads(first.stdout)


def test_one_that_was_told_the_gold_is_marked(tmp_path: Path) -> None:
    done = crmbench(
        *(*SIMULATED, "--feedback", "gold", "--seeds", "1", "--sample", "4", "--quiet"),
        *("--out", str(tmp_path / "out")),
    )
    assert "no result to rank" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--learner", "nobody"), "there is no learner 'nobody'"),
        (("--learner", "playbook"), "reflects with a model"),
        (("--learner", "placebo"), "has no learner to be as long as"),
        (("--learner", "history", "--feedback", "loud"), "no level of feedback 'loud'"),
        (("--learner", "history", "--stream", "sorted"), "there is no stream 'sorted'"),
    ],
)
def test_what_cannot_be_learnt_leaves_nothing_behind(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = crmbench("learn", "demo", *arguments, "--sample", "4", "--out", str(out))
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)
    assert not out.exists()


def test_the_page_names_every_stream_learner_and_level() -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    for name in (*STREAMS, "none", "binary", "message", "gold"):
        assert f"| `{name}` |" in page, name
    for name in OURS:
        assert f"`{name}" in page, name
