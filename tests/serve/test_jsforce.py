"""jsforce, the real one, in Node against a real server: every row of the table in the docs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.serve.running import Running

from crmbench.serve.sessions import Sessions

PROGRAM = Path(__file__).with_name("jsforce_rows.mjs")
ROWS = re.findall(r'^row\("([^"]+)"', PROGRAM.read_text(encoding="utf-8"), re.MULTILINE)
MODULES = os.environ.get("CRMBENCH_NODE_MODULES", "")
"""The folder that jsforce is installed in; `make test-serve` sets it up."""


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    if not MODULES or shutil.which("node") is None:
        pytest.skip("jsforce is not installed: make test-serve")
    sessions = Sessions()
    sessions.open_org("service", "service")
    with Running(sessions) as running:
        done = subprocess.run(
            ["node", str(PROGRAM), running.address], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {each["row"]: each for each in found}


@pytest.mark.parametrize("name", ROWS)
def test_a_method_does_what_it_says(results: dict[str, dict[str, Any]], name: str) -> None:
    assert results[name]["ok"], results[name].get("error")
