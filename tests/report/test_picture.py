"""The picture of several runs, and the one in the README."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.conftest import NORTHGATE

from crmbench.errors import InputError
from crmbench.report.picture import write_picture
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

ROOT = Path(__file__).parent.parent.parent
AGENTS = ("heuristic", "oracle", "noop", "refuse_all", "random", "dump")
"""As in the Makefile."""


def test_the_picture_of_the_readme_is_what_its_command_draws(tmp_path: Path) -> None:
    for agent in AGENTS:
        execute(RunOptions(file="demo", agent=agent), tmp_path / agent)
    write_picture([RunDir(tmp_path / agent) for agent in AGENTS], tmp_path / "success.svg")
    drawn = (tmp_path / "success.svg").read_bytes()
    kept = (ROOT / "docs" / "_static" / "success.svg").read_bytes()
    assert drawn == kept, "make pictures"
    assert f"AGENTS := {' '.join(AGENTS)}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_best_stands_first_and_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    for agent in ("noop", "oracle"):
        execute(RunOptions(file=NORTHGATE, agent=agent), tmp_path / agent)
    path = tmp_path / "pictures" / "both.svg"
    write_picture([RunDir(tmp_path / "noop"), RunDir(tmp_path / "oracle")], path)
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    labels = [e.text for e in root.iter() if e.get("class") == "label"]
    assert labels == ["oracle", "noop"]
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "var(--accent)" not in text


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    execute(RunOptions(file=NORTHGATE, agent="noop"), tmp_path / "noop")
    with pytest.raises(InputError, match=r"noop.config\.json"):
        write_picture([RunDir(tmp_path / "noop")], tmp_path / "noop" / "config.json" / "x.svg")
