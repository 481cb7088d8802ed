"""What is undecided is shown as a range wherever success is shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.test_judged_summary import episode, kept

from crmbench.report.compare import compare_runs, render_comparison
from crmbench.report.compare_page import write_comparison
from crmbench.report.html import write_report
from crmbench.report.leaderboard import leaderboard, write_leaderboard


def test_the_range_stands_in_every_figure_of_success(tmp_path: Path) -> None:
    failed = [episode(name) for name in "abcd"]
    first = kept(tmp_path / "first", failed)
    open_ = [replace(e, verdict=replace(e.verdict, undecided=True)) for e in failed[:1]]
    second = kept(tmp_path / "second", [*open_, *failed[1:]])

    found = compare_runs([first, second])
    ends = found.others[0].ends
    assert ends is not None
    assert [end.value for end in ends] == pytest.approx([0.0, 0.25])
    assert "between +0.0%" in render_comparison(found)
    assert compare_runs([first, first]).others[0].ends is None

    entry = next(e for e in leaderboard([second])[0].entries)
    assert (entry.success.value, entry.at_most.value, entry.undecided) == (0.0, 0.25, 1)
    pages = {"board": tmp_path / "board.html", "report": tmp_path / "report.html"}
    write_leaderboard([first, second], pages["board"])
    write_report([first, second], pages["report"])
    write_comparison([first, second], tmp_path / "compare.html")
    assert "to 25.0" in pages["board"].read_text("utf-8")
    assert "success at most" in pages["report"].read_text("utf-8")
    assert "undecided: +0.0 to +25.0" in (tmp_path / "compare.html").read_text("utf-8")
