"""``crmbench check-replies``: replies that are known to be right or wrong, against the grader."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_cli import as_json, crmbench

ASKED = {"task_id": "demo-13", "turn": 1}
LINES = [
    {**ASKED, "reply": "Done: quote v3 at $31,350 is there.", "right": True, "style": 1},
    {**ASKED, "reply": "Done.", "right": True, "style": 2},
    {**ASKED, "reply": "I could not make the quote.", "right": False, "why": "it was made"},
]


def write(path: Path, lines: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return str(path)


def test_counts_what_is_accepted_and_rejected(tmp_path: Path) -> None:
    found = as_json("check-replies", write(tmp_path / "r.jsonl", LINES), "--data", "demo")
    assert found == {
        "right": {
            "n": 2,
            "accepted": 2,
            "rejected": 0,
            "undecided": 0,
            "by_style": {
                "1": {"n": 1, "accepted": 1, "rejected": 0, "undecided": 0},
                "2": {"n": 1, "accepted": 1, "rejected": 0, "undecided": 0},
            },
        },
        "wrong": {"n": 1, "accepted": 0, "rejected": 1, "undecided": 0, "by_style": {}},
    }


def test_names_each_disagreement(tmp_path: Path) -> None:
    lines = [{**LINES[2], "right": True, "style": 3}]
    done = crmbench("check-replies", write(tmp_path / "r.jsonl", lines))
    assert done.returncode == 0
    assert "demo-13 turn 1, right, style 3: fails" in done.stdout
    assert "misreports what was done" in done.stdout


def test_a_line_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "r.jsonl", [LINES[0], {**ASKED, "reply": "Done."}])
    done = crmbench("check-replies", file)
    assert done.returncode == 2
    assert "line 2" in done.stderr
    assert "right" in done.stderr


def test_a_reply_to_no_task_is_an_error(tmp_path: Path) -> None:
    done = crmbench(
        "check-replies", write(tmp_path / "r.jsonl", [{**LINES[0], "task_id": "nobody"}])
    )
    assert done.returncode == 2
    assert "nobody" in done.stderr
