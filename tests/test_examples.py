"""Every example runs as its docstring says, and prints what it is there to show."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TRAINING = {"train_gymnasium", "train_trl"}
"""Programs that train something, tested where their packages are (``make test-rl``)."""
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem not in TRAINING]
SHOWN = {
    "minimal_agent": "demo-01 False turn 1: ",
    "model_agent": "model calls",
    "http_agent": "0% of 4 conversations",
    "python_crm": "refused: Amount must be greater than zero.",
    "grade_trace": "turn 1: right\nturn 2: Contact ",
    "sync_agent": "0% of 8 conversations, ",
    "openai_agent": "0% of 4 conversations",
    "salesforce_client": "refused: Priority: bad value for restricted picklist field: Whenever",
    "scripted_student": "reflection",
    "mcp_agent": "0% of 4 conversations",
    "cli_agent": "0% of 2 conversations",
}
"""What the output of each must hold."""
LAUNCHED = {"salesforce_client"}
"""Examples that find their org by `crmbench launch`, and need more than we do."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(example)]
    if example.stem in LAUNCHED:
        pytest.importorskip("simple_salesforce")
        command = [sys.executable, "-m", "crmbench", "launch", "--", *command]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert SHOWN[example.stem] in done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_how_to_run_it(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert f"python examples/{example.name}" in (ast.get_docstring(ast.parse(text)) or "")


def test_the_agent_of_an_example_plays_from_the_command_line(tmp_path: Path) -> None:
    agent = f"{ROOT / 'examples' / 'minimal_agent.py'}:Lookup"
    command = [sys.executable, "-m", "crmbench", "run", "demo", "--sample", "2", "--agent", agent]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
