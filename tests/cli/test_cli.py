"""The command line as people and machines use it: real processes, real files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE

from crmbench.runner.run import RunOptions, execute


def crmbench(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
    )


def as_json(*arguments: str, cwd: Path | None = None) -> Any:
    """What a verb prints with ``--json``."""
    done = crmbench(*arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


VERBS = (
    "run",
    "replay",
    "report",
    "compare",
    "import",
    "export",
    "doctor",
    "bench",
    "audit",
    "grade",
)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb: str) -> None:
    done = crmbench(verb, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"crmbench {verb}" in done.stdout
    assert "--json" in done.stdout


def test_help_names_the_verbs_and_the_exit_codes() -> None:
    done = crmbench("--help")
    assert all(verb in done.stdout for verb in VERBS)
    assert "130 interrupted" in done.stdout


def test_replay_of_the_bundled_conversations_succeeds_wholly() -> None:
    figures = as_json("replay", "demo")
    assert figures["conversations"] == figures["succeeded"] == 24
    assert figures["ground_truth_faults"] == []
    assert figures["turns_per_s"] > 0


def test_both_backends_give_the_same_bytes(tmp_path: Path) -> None:
    for backend in ("sqlite", "postgres"):
        as_json("run", NORTHGATE, "--agent", "random", "--backend", backend, "--out",
                str(tmp_path / backend))  # fmt: skip
    for name in ("episodes.jsonl", "results.jsonl", "summary.json"):
        one, two = (tmp_path / b / name for b in ("sqlite", "postgres"))
        assert one.read_bytes() == two.read_bytes(), name


@pytest.mark.parametrize("agent", ["noop", "refuse_all", "random", "dump"])
def test_trivial_agents_pass_nothing(agent: str) -> None:
    assert as_json("run", "demo", "--agent", agent)["succeeded"] == 0


def test_concurrency_changes_no_byte(tmp_path: Path) -> None:
    for number in ("1", "16"):
        as_json("run", NORTHGATE, "--agent", "random", "--concurrency", number, "--trials", "2",
                "--out", str(tmp_path / number))  # fmt: skip
    one, many = (tmp_path / n / "episodes.jsonl" for n in ("1", "16"))
    assert one.read_bytes() == many.read_bytes()


def test_a_run_leaves_what_the_docs_promise_and_can_be_looked_at_again(tmp_path: Path) -> None:
    out = tmp_path / "run"
    as_json("run", NORTHGATE, "--agent", "oracle", "--out", str(out))
    expected = {
        "config.json",
        "tasks.jsonl",
        "episodes.jsonl",
        "traces.jsonl.zst",
        "timings.jsonl",
        "results.jsonl",
        "summary.json",
        "report.html",
    }
    assert {path.name for path in out.iterdir()} == expected
    assert as_json("report", str(out))["runs"][0]["succeeded"] == 12
    assert "northgate-01" in (out / "report.html").read_text(encoding="utf-8")


def test_compare_pairs_two_runs(tmp_path: Path) -> None:
    for agent in ("oracle", "noop"):
        execute(RunOptions(NORTHGATE, agent=agent), tmp_path / agent)
    done = crmbench("compare", str(tmp_path / "noop"), str(tmp_path / "oracle"))
    assert done.returncode == 0, done.stderr
    assert "oracle" in done.stdout
    only = crmbench("compare", str(tmp_path / "noop"))
    assert only.returncode == 2
    assert "two or more" in only.stderr


def test_import_and_export_go_round(tmp_path: Path) -> None:
    clean = tmp_path / "clean.jsonl"
    imported = as_json("import", NORTHGATE, "--out", str(clean))
    again = tmp_path / "again.jsonl"
    as_json("import", str(clean), "--out", str(again))
    assert clean.read_bytes() == again.read_bytes()
    run = tmp_path / "run"
    as_json("run", str(clean), "--agent", "oracle", "--out", str(run))
    records = as_json("export", str(run), "--out", str(tmp_path / "results.jsonl"))
    assert records["records"] == imported["conversations"]


BAD_FILES = {
    "broken JSON": ('{"conversation_id": "a", \n', "not valid JSON", 1),
    "an array": ("[1, 2]\n", "where an object should be", 1),
    "missing turns": ('{"conversation_id": "a"}\n', "turns: is missing", 1),
    "an unknown field": (
        (
            '{"conversation_id": "a", "colour": 1, "turns": [{"turn_id": 1, "user_utterance": "", '
            '"expected_tool": "list_clients", "expected_args": {}}]}\n'
        ),
        "colour: is not a field",
        1,
    ),
    "an empty file": ("\n\n", "holds no conversation", None),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_input_is_explained_without_a_traceback(case: str, tmp_path: Path) -> None:
    text, expected, line = BAD_FILES[case]
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    done = crmbench("replay", str(path))
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    place = f"bad.jsonl:{line}" if line else "bad.jsonl"
    assert place in done.stderr


def test_invalid_lines_can_be_skipped_and_are_counted(tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    as_json("import", NORTHGATE, "--out", str(good))
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(good.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    figures = as_json("replay", str(mixed), "--skip-invalid")
    assert figures["conversations"] == 12
    assert len(figures["skipped"]) == 1
    assert "not valid JSON" in figures["skipped"][0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", "demo", "--agent", "nobody"), "there is no agent 'nobody'"),
        (("run", "demo", "--agent", "missing_module:Agent"), "cannot be imported"),
        (("run", "demo", "--backend", "oracle9"), "there is no backend 'oracle9'"),
        (("run", "no_such_file.jsonl"), "no_such_file.jsonl"),
        (("run", "demo", "--filter", "colour=red"), "is no filter"),
        (("run", "demo", "--filter", "tag=nothing-like-it"), "no conversation fits"),
        (("run", "demo", "--filter", "foo=bar"), "expected NAME=VALUE, with a NAME of tag, cat"),
        (("run", "demo", "--filter", "tag=bach"), "batch, by_description"),
        (("run", "demo", "--filter", "tag=bach"), "(did you mean 'batch'?)"),
        (("run", "demoo"), "(did you mean 'demo'?)"),
        (("run", "sales/standart"), "(did you mean 'sales/standard'?)"),
        (("run", "demo", "--agent", "my_agent.py"), "such as my_agent.py:MyAgent"),
        (("run", "demo", "--keep-raw"), "--keep-raw needs --out"),
        (("audit", "demo", "--out", "/dev/null/x"), "--out: cannot be made: Not a directory"),
        (("bench", "--out", "/dev/null/x"), "--out: cannot be made: Not a directory"),
        (("report", "nowhere"), "holds no run"),
        (("export", "nowhere", "--out", "x"), "holds no run"),
        (("import", "demo", "--out", "no/such/folder/x.jsonl"), "cannot be written"),
    ],
)
def test_wrong_use_says_what_was_expected(
    arguments: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    done = crmbench(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_played_conversation_is_shown_beside_what_was_expected(tmp_path: Path) -> None:
    as_json("run", NORTHGATE, "--agent", "noop", "--out", str(tmp_path))
    shown = crmbench("show", str(tmp_path), "--failed", "--sample", "1")
    assert shown.returncode == 0, shown.stderr
    assert ": failed" in shown.stdout
    assert "- expected `" in shown.stdout
    assert "**Turn 1" in shown.stdout
    assert ": passed" not in shown.stdout
    name = shown.stdout.partition("### ")[2].partition(",")[0]
    one = crmbench("show", str(tmp_path), "--id", name)
    assert one.stdout.count("### ") == 1
    assert "--failed is for a directory" in crmbench("show", "demo", "--failed").stderr


def test_a_directory_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    as_json("run", NORTHGATE, "--agent", "noop", "--out", str(tmp_path))
    again = crmbench("run", NORTHGATE, "--agent", "noop", "--out", str(tmp_path))
    assert again.returncode == 2
    assert "--resume" in again.stderr
    other = crmbench("run", NORTHGATE, "--agent", "dump", "--out", str(tmp_path), "--resume")
    assert other.returncode == 2
    assert "agent" in other.stderr


def test_an_agent_of_ones_own_in_ten_lines(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(
        "class MyAgent:\n"
        "    async def turn(self, session, utterance):\n"
        "        found = await session.call('client_search', {'name': 'Northwind'})\n"
        "        return f\"I found {found.value['total_count']} clients.\"\n",
        encoding="utf-8",
    )
    figures = as_json("run", NORTHGATE, "--agent", "my_agent.py:MyAgent", "--out", "mine",
                      cwd=tmp_path)  # fmt: skip
    assert figures["conversations"] == 12
    episodes = (tmp_path / "mine" / "episodes.jsonl").read_text(encoding="utf-8")
    assert "I found 2 clients." in episodes


def test_a_first_run_says_why_it_failed_and_what_to_do_next(tmp_path: Path) -> None:
    done = crmbench("run", NORTHGATE, "--agent", "noop", "--out", str(tmp_path / "run"))
    said = done.stdout.splitlines()
    assert len(said) < 24, "one screen"
    assert not any(line.lstrip().startswith(("Category", "Tag", "Persona")) for line in said)
    why = said.index("The commonest first faults, each with a conversation that has it:")
    assert re.match(r" +\d+  northgate-\d+, turn \d: ", said[why + 1])
    following = [line.partition(": crmbench ")[2] for line in said if ": crmbench " in line]
    assert len(following) == 2
    for each in following:
        assert crmbench(*each.split()).stdout


def test_doctor_finds_this_installation_healthy() -> None:
    found = as_json("doctor")
    assert found["ok"]
    assert all(check["ok"] for check in found["checks"])


def test_a_run_whose_tasks_were_cut_is_refused_in_a_sentence(tmp_path: Path) -> None:
    as_json("run", NORTHGATE, "--agent", "noop", "--out", str(tmp_path))
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_bytes(tasks.read_bytes().partition(b"\n")[0] + b"\n")
    done = crmbench("report", str(tmp_path))
    assert done.returncode == 2
    assert "tasks.jsonl: lacks '" in done.stderr
    assert "Traceback" not in done.stderr
