"""``crmbench site``: the leaderboard as files."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from tests.web.hostile import CORPUS, hostile_run
from tests.web.pages import play, play_partly

from crmbench.errors import InputError
from crmbench.ladder.climb import Stop
from crmbench.ladder.pool import load_tasks
from crmbench.ladder.run import run_ladder
from crmbench.report.ladder import ladder_figures
from crmbench.report.leaderboard import leaderboard
from crmbench.runner.options import RunOptions
from crmbench.runner.run_dir import RunDir
from crmbench.web.site import FILES, STATIC_POLICY, write_site


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunDir]:
    root = tmp_path_factory.mktemp("runs")
    partly, oracle = play_partly(root / "partly"), play(root / "oracle")
    return [partly, oracle, hostile_run(oracle, root / "hos tile")]


@pytest.fixture(scope="module")
def site(runs: list[RunDir], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "public"
    write_site(runs, out)
    return out


def test_boards_have_the_figures_of_the_leaderboard(site: Path, runs: list[RunDir]) -> None:
    page = unescape((site / "index.html").read_text(encoding="utf-8"))
    for board in leaderboard(runs):
        assert board.data_digest[:12] in page
        for entry in board.entries:
            assert f"{100 * entry.success.value:.1f} %" in page
            assert f"{100 * entry.success.low:.0f} % to {100 * entry.success.high:.0f} %" in page
    assert page.count("data-entry") == len(runs)


def test_every_link_leads_to_a_file(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 6
    followed = 0
    for page in pages:
        for target in re.findall(r'(?:href|src)="([^"#]+)"', page.read_text(encoding="utf-8")):
            assert not target.startswith(("http", "/", "data:")), target
            assert (page.parent / unescape(target)).is_file(), (page, target)
            followed += 1
    assert followed > 30
    assert {path.name for path in (site / "static").iterdir()} == set(FILES)


def test_pages_hold_no_script_and_ask_for_nothing_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert unescape(page).count(STATIC_POLICY) == 1
        assert not re.findall(r"<script(?![^>]*\bsrc=)", page)
        assert not re.findall(r'\s(?:style|on\w+)="', page)
        for text in CORPUS:
            if "<" in text:
                assert text not in page


def test_a_run_has_its_configuration_and_digest(site: Path, runs: list[RunDir]) -> None:
    page = (site / "runs" / "partly.html").read_text(encoding="utf-8")
    config = runs[0].config()
    assert config["data_digest"] in page
    assert f"grading version {config['grading_version']}" in page
    assert "What was run" in page


def test_the_rules_say_how_anybody_checks_a_run(site: Path) -> None:
    assert "crmbench grade" in (site / "rules.html").read_text(encoding="utf-8")
    data = (site / "data.html").read_text(encoding="utf-8")
    assert "<dt>conversations</dt><dd>12</dd>" in data


def test_the_same_runs_give_the_same_bytes(site: Path, runs: list[RunDir], tmp_path: Path) -> None:
    write_site(runs, tmp_path / "again")
    for path in site.rglob("*.*"):
        assert (tmp_path / "again" / path.relative_to(site)).read_bytes() == path.read_bytes()


def test_a_place_that_cannot_be_written_is_said(runs: list[RunDir], tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_site(runs, tmp_path / "taken")


def test_as_a_command(runs: list[RunDir], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crmbench", "site", str(runs[0].path), "--out", "public"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "4 pages" in done.stdout
    assert (tmp_path / "public" / "index.html").exists()


@pytest.fixture(scope="module")
def climbed(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    out = tmp_path_factory.mktemp("ladder") / "slipping"
    tasks = load_tasks([], ["sales"], ["worklist"], 4, 42, (1,))
    run_ladder(tasks, RunOptions(file="sales", agent="slip:0.1"), Stop(8, 1.8), out)
    return RunDir(out)


def test_a_ladder_has_the_size_at_which_half_is_passed(
    runs: list[RunDir], climbed: RunDir, tmp_path: Path
) -> None:
    write_site([runs[1], climbed], tmp_path)
    page = unescape((tmp_path / "index.html").read_text(encoding="utf-8"))
    figures = ladder_figures(climbed.tasks(), climbed.outlines())
    assert len(figures) > 0
    assert any(each.n50.value is not None for each in figures)
    rows = re.findall(r"<tr data-entry.*?</tr>", page, re.DOTALL)
    (with_ladder,) = [row for row in rows if "runs/slipping.html" in row]
    (without,) = [row for row in rows if "runs/oracle.html" in row]
    own = unescape((tmp_path / "runs" / "slipping.html").read_text(encoding="utf-8"))
    for each in figures:
        assert f'<th class="n">Half of {each.mechanism}</th>' in page
        assert each.described in with_ladder
        assert each.described not in without
        assert f'<td>{each.mechanism}</td><td class="n">{each.described}</td>' in own
    assert without.count('<td class="n">–</td>') >= len(figures)
    plain = unescape((tmp_path / "runs" / "oracle.html").read_text(encoding="utf-8"))
    assert "By mechanism of the ladder" not in plain
