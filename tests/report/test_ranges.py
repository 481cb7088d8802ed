"""What is undecided is shown as a range wherever success is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.test_judged_summary import episode, kept

from crmbench.grading.metrics import Interval
from crmbench.report.compare import compare_runs, render_comparison
from crmbench.report.compare_page import write_comparison
from crmbench.report.html import write_report
from crmbench.report.leaderboard import leaderboard, write_leaderboard
from crmbench.report.study import ALL, PASS_HAT, study_figures
from crmbench.report.study_page import write_study
from crmbench.report.study_terminal import render_study
from crmbench.report.study_words import verdict


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


@pytest.mark.parametrize("kind", ["frameworks", "latents"])
def test_the_range_stands_in_every_figure_of_a_study(tmp_path: Path, kind: str) -> None:
    failed = [episode(name) for name in "abcd"]
    open_ = [replace(e, verdict=replace(e.verdict, undecided=True)) for e in failed]
    kept(tmp_path / "plain", failed)
    kept(tmp_path / "vague", [*open_[:1], *failed[1:]])
    arms = [
        {"name": name, "agent": "noop", "tools": None, "latent": None, "conversations": 4}
        for name in ("plain", "vague")
    ]
    plan = {
        "study": kind,
        "domain": "sales",
        "source": "demo",
        "arms": arms,
        "settings": {"trials": 1},
    }
    (tmp_path / "study.json").write_text(json.dumps(plan), "utf-8")

    figures = study_figures(tmp_path)
    (pair,) = figures.pairs
    low, high = pair.ends[ALL]
    assert (low.value, high.value) == pytest.approx((0.0, 0.25))
    assert PASS_HAT not in pair.ends
    plain, vague = (arm.to_data() for arm in figures.arms)
    assert (plain["undecided"], plain["at_most"]["value"]) == (0, 0.0)
    assert (vague["undecided"], vague["at_most"]["value"]) == (1, 0.25)
    assert [category["at_most"] for category in vague["categories"].values()] == [0.25]
    if kind == "latents":
        (apart,) = figures.apart
        assert [end.value for end in apart.ends[ALL]] == pytest.approx([0.0, 0.25])
        assert apart.ends.keys() == apart.by_category.keys()
    shown = render_study(figures)
    assert "0.0% to 25.0%" in shown
    assert "+0.0% to +25.0%" in shown
    assert "vague leaves 1 of 4 episodes undecided" in shown
    write_study(figures, tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text("utf-8")
    assert "0.0 to 25.0&nbsp;%" in page
    assert "undecided: +0.0 to +25.0" in page
    assert "vague: 0.0% to 25.0%" in page


def test_a_difference_that_the_undecided_may_undo_is_not_shown() -> None:
    above, around = Interval(0.3, 0.1, 0.5), Interval(0.05, -0.1, 0.2)
    assert verdict(above) == "higher"
    assert verdict(above, (above, above)) == "higher"
    assert verdict(above, (around, above)) == "not shown to differ"
    below = Interval(-0.3, -0.5, -0.1)
    assert verdict(below, (below, around)) == "not shown to differ"
    assert verdict(below, (below, below)) == "lower"
