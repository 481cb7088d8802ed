"""``crmbench play`` as its users call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE


class Shell:
    """Runs commands of a play, with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, verb: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "crmbench", "play", verb, "--dir", "p", *words]
        cache = {"CRMBENCH_CACHE": str(self.folder / "cache")}
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, **cache},
            input=given,
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_conversation_by_commands(shell: Shell) -> None:
    begun = shell("start", NORTHGATE, "--task", "2", "--agent", "somebody")
    assert begun.returncode == 0, begun.stderr
    for part in ("HOUSE RULES", "TOOLS", "\nuser: ", "client_search(", "Today is 20"):
        assert part in begun.stdout
    calls = shell("call", "summarize_counts", "client_search", '{"limit": 1}', "no_such", "{}")
    lines = calls.stdout.splitlines()
    assert lines[0].startswith("[1] summarize_counts: {")
    assert lines[1].startswith("[2] client_search: {")
    assert lines[2].startswith("[3] no_such was refused: There is no tool")
    piped = shell("call", "--json", given='["client_search", {"limit": 1}]\n')
    assert json.loads(piped.stdout)["call"] == 4
    for _ in range(9):
        answered = shell("reply", "-", given="- Done.\n")
        if "over" in answered.stdout:
            break
    assert "crmbench grade" not in answered.stdout
    assert "crmbench grade p" in shell("status").stdout
    state = json.loads(shell("status", "--json").stdout)
    assert state["over"]
    assert state["calls"] == 4
    assert all(turn["reply"] == "- Done.\n" for turn in state["turns"])


def test_after_a_break_the_rules_stand_above_what_came_since(shell: Shell) -> None:
    shell("start", NORTHGATE, "--task", "2", "--brief", "--condition", "break")
    before = shell("status").stdout
    assert "HOUSE RULES" not in before
    assert "HOUSE RULES" in shell("status", "--rules").stdout
    for _ in range(9):
        said = shell("reply", "One moment.").stdout
        if "The session breaks here" in said:
            break
    after = shell("status").stdout
    for part in ("Today is 20", "HOUSE RULES", "notebook_read", "The session breaks here"):
        assert part in after
    assert "you: One moment." not in after


def test_what_is_left_for_all_of_a_conversation_is_called_so(shell: Shell) -> None:
    shell("start", NORTHGATE, "--task", "2", "--brief", "--budget", "2")
    said = shell("status").stdout
    assert "left for the whole conversation: " in said
    assert "before your next reply" not in said


def test_a_write_without_an_answer_was_not_refused(shell: Shell) -> None:
    begun = shell("start", "sales/standard", "--brief", "--condition", "timeouts")
    assert "## Who is who" in begun.stdout
    found = shell("call", "--json", "contact_search", '{"limit": 12}')
    records = json.loads(found.stdout)["result"]["records"]
    lines = [
        json.dumps(["modify_contact", {"contact_id": r["contact_id"], "title": "x"}])
        for r in records
    ]
    said = shell("call", given="\n".join(lines)).stdout
    assert "modify_contact: No answer from the server in time." in said
    assert "was refused: No answer" not in said


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (["client_search", "{'a': 1}"], "", "character 2, near «{'a': 1}»"),
        (["client_search", "[1]"], "", "not an object"),
        (["summarize_counts", "client_search", "{"], "", "arguments of client_search"),
        (['{"limit": 1}'], "", "where a tool's name belongs"),
        ([], '["summarize_counts"]\nwhat\n', "line 2: not JSON"),
        (["-"], '{"name": "x"}\n', "line 1: is no call"),
        ([], "", "no call is named"),
    ],
)
def test_mistakes_are_placed_and_nothing_is_called(
    words: list[str], given: str, said: str, shell: Shell
) -> None:
    assert shell("start", NORTHGATE, "--brief").returncode == 0
    done = shell("call", *words, given=given)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(shell("status", "--json").stdout)["calls"] == 0


def test_a_directory_without_a_play_is_said(shell: Shell) -> None:
    done = shell("status")
    assert done.returncode == 2
    assert "holds no play" in done.stderr


def test_plays_are_graded_and_reported_beside_runs(shell: Shell, tmp_path: Path) -> None:
    shell("start", NORTHGATE, "--task", "1")
    command = [sys.executable, "-m", "crmbench"]
    done = subprocess.run(
        [*command, "grade", "p", "--out", "played", "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    [play] = json.loads(done.stdout)["plays"]
    assert (play["success"], play["finished"]) == (False, False)
    assert play["wrong_items"] == []

    def report(folder: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "report", folder], capture_output=True, text=True, check=False, cwd=tmp_path
        )

    shown = report("played")
    assert shown.returncode == 0, shown.stderr
    assert "player" in shown.stdout
    refused = report("p")
    assert refused.returncode == 2
    assert "by `crmbench grade p --out RUN`" in refused.stderr
