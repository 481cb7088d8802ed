"""The comparison page, made from real runs, and what it says of them."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from tests.conftest import NORTHGATE, PartlyFactory

from crmbench.core.trace import TokenUsage
from crmbench.grading.paired import compare
from crmbench.grading.record import EpisodeRecord
from crmbench.report.compare import compare_runs, percent_or_unknown, render_comparison
from crmbench.report.compare_page import reading, write_comparison
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

VOID = {"meta", "br", "input"}


class Page(HTMLParser):
    """The page's text, tables and links, and whether its elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.rows and self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data.replace("\xa0", " ")

    def row(self, first: str, cells: int) -> list[str]:
        return next(row for row in self.rows if row[:1] == [first] and len(row) == cells)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("noop", "oracle"):
        execute(RunOptions(NORTHGATE, agent=agent), folder / agent)
    options = RunOptions(NORTHGATE, agent="partly", trials=2)
    execute(options, folder / "partly", factory=PartlyFactory())
    return {path.name: RunDir(path) for path in folder.iterdir()}


def copied(run: RunDir, path: Path, usage: TokenUsage, **config: object) -> RunDir:
    """The run again, with other tokens and settings."""
    made = RunDir(path)
    made.create({**run.config(), **config}, run.tasks())
    for e in run.episodes():
        trace = replace(e.trace, usage=usage)
        made.append(EpisodeRecord(trace, e.verdict, e.seconds))
    made.settle(run.tasks())
    return made


def page_of(runs: list[RunDir], out: Path) -> tuple[str, Page]:
    write_comparison(runs, out)
    text = out.read_text(encoding="utf-8")
    return text, Page(text)


def test_the_page_stands_alone(runs: dict[str, RunDir], tmp_path: Path) -> None:
    text, page = page_of([runs["noop"], runs["oracle"], runs["partly"]], tmp_path / "c.html")
    assert page.open == []
    assert page.links == []
    assert "script" not in page.tags
    assert not re.search(r"@import|url\(", text)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 5
    for svg in drawings:
        ElementTree.fromstring(svg)


def test_the_figures_are_those_of_the_comparison(runs: dict[str, RunDir], tmp_path: Path) -> None:
    chosen = [runs["noop"], runs["oracle"], runs["partly"]]
    _, page = page_of(chosen, tmp_path / "c.html")
    assert page.row("oracle", 10)[3] == "100.0 %"
    assert page.row("partly", 10)[5] == "16.7 % (k = 2)"
    shown = page.row("oracle", 8)
    assert shown[1:3] == ["12", "0.0 → 100.0 %"]
    assert shown[3].startswith("+100.0")
    assert shown[4] == "12 / 0"
    assert shown[7] == "better"
    assert page.row("partly", 8)[7].startswith("not shown to differ; ")
    parts = [row[1:5] for row in page.rows if row[0] == "Opportunity Management"]
    assert parts == [
        ["oracle", "4", "0.0 → 100.0 %", "+100.0"],
        ["partly", "4", "0.0 → 50.0 %", "+50.0"],
    ]
    again = write_comparison(chosen, tmp_path / "again.html")
    assert again.to_data() == compare_runs(chosen).to_data()


def test_the_same_runs_give_the_same_page(runs: dict[str, RunDir], tmp_path: Path) -> None:
    one, _ = page_of([runs["noop"], runs["oracle"]], tmp_path / "one.html")
    two, _ = page_of([runs["noop"], runs["oracle"]], tmp_path / "two.html")
    assert one == two


def test_success_stands_against_cost_where_it_is_known(
    runs: dict[str, RunDir], tmp_path: Path
) -> None:
    spent = [
        copied(runs["oracle"], tmp_path / "dear", TokenUsage(9_000, 100, cost=0.4), model="a/dear"),
        copied(runs["noop"], tmp_path / "cheap", TokenUsage(90, 1, cost=0.01), model="a/cheap"),
        copied(runs["noop"], tmp_path / "free", TokenUsage(90, 1), model="http://127.0.0.1#free"),
    ]
    text, page = page_of(spent, tmp_path / "c.html")
    assert "Success against cost" in text
    assert "US dollars a conversation (logarithmic)" in text
    assert "left out: free." in text
    assert page.row("dear", 10)[8] == "$0.4000"
    assert page.row("free", 10)[7:9] == ["91", "–"]
    text, _ = page_of(
        [spent[2], copied(spent[2], tmp_path / "two", TokenUsage(50))], tmp_path / "d"
    )
    assert "tokens a conversation" in text
    assert "No run's price is known" in unescape(text)


def test_runs_without_tokens_have_no_cost_to_draw(runs: dict[str, RunDir], tmp_path: Path) -> None:
    text, _ = page_of([runs["noop"], runs["oracle"]], tmp_path / "c.html")
    assert "No run has a cost or counted tokens." in text


def test_runs_are_called_by_what_tells_them_apart(runs: dict[str, RunDir], tmp_path: Path) -> None:
    def labels(*settings: dict[str, str]) -> list[str]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        made = [
            copied(runs["noop"], folder / f"run{n}", TokenUsage(), **config)
            for n, config in enumerate(settings)
        ]
        text, _ = page_of(made, folder / "c.html")
        found = re.search(r"<title>crmbench comparison: (.*?)</title>", text)
        assert found
        return unescape(found[1]).split(", ")

    first, other = {"model": "http://127.0.0.1/v1#m"}, {"model": "http://127.0.0.2/v1#m"}
    assert labels(first, {"model": "http://127.0.0.1/v1#n"}) == ["m", "n"]
    assert labels(first, other) == [first["model"], other["model"]]
    assert labels({**first, "agent": "react"}, {**first, "agent": "act"}) == [
        *(first["model"], "react"),
        *(first["model"], "act"),
    ]
    assert labels(first, first) == ["m (run0)", "m (run1)"]


def test_what_makes_runs_less_alike_is_said(runs: dict[str, RunDir], tmp_path: Path) -> None:
    changed = copied(runs["oracle"], tmp_path / "x", TokenUsage(), grading_version=0)
    text, _ = page_of([runs["noop"], changed], tmp_path / "c.html")
    assert "The runs are of different versions of the grading." in text
    alike, _ = page_of([runs["noop"], runs["oracle"]], tmp_path / "d.html")
    assert "The runs are of different" not in alike


def test_conversations_that_only_one_run_counts_are_named(
    runs: dict[str, RunDir], tmp_path: Path
) -> None:
    execute(RunOptions(NORTHGATE, agent="oracle", sample=9), tmp_path / "part")
    chosen = [runs["noop"], RunDir(tmp_path / "part")]
    text, _ = page_of(chosen, tmp_path / "c.html")
    assert "part: 3 conversations counted in only one of the two runs" in text
    assert "left out    3" in render_comparison(compare_runs(chosen))


def test_markup_in_a_run_stays_text(runs: dict[str, RunDir], tmp_path: Path) -> None:
    nasty = "x</title></style><script>alert(1)</script>"
    made = copied(runs["oracle"], tmp_path / "nasty", TokenUsage(5, 5, cost=0.1), model=nasty)
    text, page = page_of([made, runs["noop"]], tmp_path / "c.html")
    assert "script" not in page.tags
    assert nasty not in text


def test_a_comparison_in_words() -> None:
    always, never = [True] * 2, [False] * 2
    up = compare({str(n): never for n in range(20)}, {str(n): always for n in range(20)})
    down = compare({str(n): always for n in range(20)}, {str(n): never for n in range(20)})
    same = compare({str(n): always for n in range(20)}, {str(n): always for n in range(20)})
    assert [reading(c) for c in (up, down, same)] == [
        "better",
        "worse",
        "every conversation came out the same",
    ]


def test_conversations_that_all_changed_alike_tell_nothing_of_their_spread() -> None:
    outcomes = {str(n): [True] for n in range(5)}
    same = compare(outcomes, outcomes)
    assert same.detectable == 0.0
    assert [percent_or_unknown(share) for share in (same.detectable, math.nan, 0.125)] == [
        "unknown",
        "unknown",
        "12.5%",
    ]


def test_the_command_line_writes_the_page(runs: dict[str, RunDir], tmp_path: Path) -> None:
    chosen = [str(runs[name].path) for name in ("noop", "oracle")]
    command = [sys.executable, "-m", "crmbench", "compare", *chosen, "--html", "c.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Comparison: c.html" in done.stdout
    assert Page((tmp_path / "c.html").read_text(encoding="utf-8")).row("oracle", 10)


def test_the_comparison_is_json(runs: dict[str, RunDir]) -> None:
    data = compare_runs([runs["noop"], runs["oracle"]]).to_data()
    assert orjson.loads(orjson.dumps(data))["others"][0]["whole"]["better"] == 12
