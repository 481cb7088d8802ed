"""The figures and the page, made from real runs."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE, PartlyFactory

from crmbench.agents.protocol import Session, SimpleFactory
from crmbench.core.journal import Change
from crmbench.report import html
from crmbench.report.compare import compare_runs, render_comparison
from crmbench.report.html import write_report
from crmbench.report.labels import short_player
from crmbench.report.played import problems_of
from crmbench.report.summary import Summary, summarise
from crmbench.report.terminal import render_overview, render_terminal
from crmbench.report.views.episode import MAX_REPLY, episode_view, row_diff
from crmbench.report.views.templates import parts
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

NASTY = "<script>alert('x')</script></script><img src=x onerror=alert(1)>"


class Nasty:
    """Writes into the CRM what a page must not run."""

    async def turn(self, session: Session, utterance: str) -> str:
        await session.call("list_clients", {"limit": 1})
        await session.call("list_clients", {"limit": 0})
        email = f"x{len(utterance)}@x.example"
        await session.call("create_new_client", {"name": NASTY, "email": email, "status": "Active"})
        return NASTY


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for agent in ("oracle", "noop"):
        execute(RunOptions(NORTHGATE, agent=agent), folder / agent)
        made[agent] = RunDir(folder / agent)
    options = RunOptions(NORTHGATE, agent="partly", trials=2)
    execute(options, folder / "partly", factory=PartlyFactory())
    made["partly"] = RunDir(folder / "partly")
    nasty = SimpleFactory("nasty", lambda _view, _seed: Nasty())
    execute(RunOptions(NORTHGATE, agent="nasty"), folder / "nasty", factory=nasty)
    made["nasty"] = RunDir(folder / "nasty")
    return made


def summary_of(run: RunDir) -> Summary:
    return summarise(run.tasks(), run.episodes())


class Page(HTMLParser):
    """What a browser would find in the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.rows: list[dict[str, str | None]] = []
        self.words = ""
        self.packs: list[str] = []
        self._in_pack = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.outside += [str(found[n]) for n in ("src", "href") if found.get(n)]
        if "data-standing" in found:
            self.rows.append({})
            self.rows[-1].update(found)
        elif tag == "a" and self.rows and (found.get("href") or "").startswith("#e"):
            self.rows[-1].setdefault("href", found["href"])
        self._in_pack = (found.get("id") or "").startswith("pack")

    def handle_data(self, data: str) -> None:
        if self._in_pack:
            self.packs.append(data)
        else:
            self.words += data

    def conversations(self) -> list[str]:
        """The markup of every conversation, unpacked."""
        packs = [json.loads(gzip.decompress(b64decode(pack))) for pack in self.packs]
        return [made for pack in packs for made in pack]

    def handle_endtag(self, tag: str) -> None:
        self._in_pack = False


def page(runs: list[RunDir], path: Path) -> tuple[str, Page]:
    write_report(runs, path)
    text = path.read_text(encoding="utf-8")
    return text, Page(text)


def test_the_oracle_scores_one_and_doing_nothing_zero(runs: dict[str, RunDir]) -> None:
    oracle, noop = summary_of(runs["oracle"]), summary_of(runs["noop"])
    assert (oracle.succeeded, oracle.conversations, oracle.turns) == (12, 12, 33)
    assert oracle.success.value == 1.0
    assert oracle.arc.strict_success == 1.0
    assert noop.succeeded == 0
    assert noop.success.high < 0.3
    assert sum(noop.reasons.values()) == 12


def test_slices_add_up_to_the_whole(runs: dict[str, RunDir]) -> None:
    summary = summary_of(runs["partly"])
    for name in ("category", "complexity", "domain"):
        groups = summary.slices[name].values()
        assert sum(group.tasks for group in groups) == 12
        assert sum(group.trials for group in groups) == 24
        weighted = sum(group.success.value * group.tasks for group in groups) / 12
        assert weighted == pytest.approx(summary.success.value)
    assert set(summary.pass_hat) == {1, 2}
    assert summary.pass_hat[2] <= summary.pass_hat[1] == summary.success.value
    assert sum(played for _, played in summary.by_turn.values()) == summary.turns


def test_errors_are_counted_by_tool_and_kind(runs: dict[str, RunDir]) -> None:
    summary = summary_of(runs["nasty"])
    found = {entry.tool: entry for entry in summary.tool_errors}
    assert found["list_clients"].errors == 33
    assert found["list_clients"].calls == 66
    assert found["list_clients"].kinds == {"validation": 33}


def test_episodes_that_do_not_count_are_apart(runs: dict[str, RunDir]) -> None:
    run = runs["oracle"]
    first, *rest = run.episodes()
    spoilt = replace(first, verdict=replace(first.verdict, counted=False, success=False))
    summary = summarise(run.tasks(), [spoilt, *rest])
    assert (summary.infrastructure_failures, summary.conversations) == (1, 11)
    assert summary.success.value == 1.0


def test_no_episode_at_all_is_no_error(runs: dict[str, RunDir]) -> None:
    summary = summarise(runs["oracle"].tasks(), [])
    assert summary.conversations == 0
    assert "0 conversations" in " ".join(render_terminal(summary, "empty").split())


def test_the_data_is_json_and_the_same_twice(runs: dict[str, RunDir]) -> None:
    one = json.dumps(summary_of(runs["partly"]).to_data())
    assert one == json.dumps(summary_of(runs["partly"]).to_data())
    assert json.loads(one)["success"]["value"] == pytest.approx(1 / 6)


def test_the_page_needs_no_network(runs: dict[str, RunDir], tmp_path: Path) -> None:
    text, found = page([runs["oracle"], runs["noop"]], tmp_path / "report.html")
    for part in (found, *map(Page, found.conversations())):
        assert all(link.startswith("#") for link in part.outside)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", text)
    assert "link" not in found.tags
    assert found.tags.count("svg") >= 6


def test_what_the_crm_holds_is_shown_and_never_run(runs: dict[str, RunDir], tmp_path: Path) -> None:
    text, found = page([runs["nasty"]], tmp_path / "report.html")
    assert found.tags.count("script") == 1 + len(found.packs)
    assert "img" not in found.tags
    assert NASTY not in text
    for made in found.conversations():
        assert NASTY not in made
        inside = Page(made)
        assert not {"script", "img"} & set(inside.tags)
        assert inside.words.count(NASTY) > 1
    first = Page(found.conversations()[0])
    assert re.search(r"Client\s+\S+\s+created", first.words)
    assert re.search(rf"name\s*{re.escape(NASTY)}", first.words)


def test_only_the_script_of_the_page_may_run(runs: dict[str, RunDir], tmp_path: Path) -> None:
    text, _ = page([runs["nasty"]], tmp_path / "report.html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', text)[0])
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}';" in policy


def test_the_page_says_why_a_conversation_failed(runs: dict[str, RunDir], tmp_path: Path) -> None:
    _, found = page([runs["noop"]], tmp_path / "report.html")
    assert len(found.rows) == 12
    assert {row["data-standing"] for row in found.rows} == {"failed"}
    whole = runs["noop"].episodes()
    for made, episode in zip(found.conversations(), whole, strict=True):
        words = Page(made).words
        assert "Why it fails" in words
        assert episode.trace.task_id in words
        assert all(problem in words for turn in problems_of(episode) for problem in turn)


def test_a_conversation_is_drawn_as_the_viewer_draws_it(
    runs: dict[str, RunDir], tmp_path: Path
) -> None:
    run = runs["partly"]
    _, found = page([run], tmp_path / "report.html")
    parts_used: Any = parts().get_template("episode_parts.html").module
    tasks = {task.task_id: task for task in run.tasks()}
    for made, episode in zip(found.conversations(), run.episodes(), strict=True):
        view = episode_view(tasks[episode.trace.task_id], episode, cut=html.MAX_RESULT)
        for turn in view.turns:
            assert str(parts_used.chat(turn, short_player(run.config()), "")) in made
            assert str(parts_used.expect(turn)) in made


def test_of_a_very_long_reply_a_page_shows_the_beginning(runs: dict[str, RunDir]) -> None:
    run = runs["partly"]
    episode = run.episodes()[0]
    task = next(task for task in run.tasks() if task.task_id == episode.trace.task_id)
    first, *others = episode.trace.turns
    long = "The amount is 45,000. " * 2_000
    said = (*first.messages[:-1], replace(first.messages[-1], text=long))
    trace = replace(episode.trace, turns=(replace(first, messages=said), *others))
    (bubble,) = episode_view(task, replace(episode, trace=trace)).turns[0].after
    shown = "".join(text for text, _ in bubble.pieces)
    assert long.startswith(shown)
    assert len(shown) + bubble.cut == len(long)
    assert len(shown) == MAX_REPLY


def test_runs_are_compared_pair_by_pair(runs: dict[str, RunDir]) -> None:
    comparison = compare_runs([runs["noop"], runs["oracle"], runs["partly"]])
    oracle, partly = comparison.others
    assert oracle.whole.difference.value == 1.0
    assert (oracle.whole.better, oracle.whole.worse) == (12, 0)
    assert oracle.whole.significant
    assert partly.whole.better == 2
    text = render_comparison(comparison)
    assert "+100.0%" in text
    assert "smallest difference" in text
    assert json.dumps(comparison.to_data())


def test_tables_fit_eighty_columns(runs: dict[str, RunDir]) -> None:
    texts = [render_terminal(summary_of(run), "title") for run in runs.values()]
    texts.append(render_overview([(name, summary_of(run)) for name, run in runs.items()]))
    for text in texts:
        assert max(map(len, text.splitlines())) <= 80
    assert "oracle" in texts[-1]


def test_the_column_that_keeps_the_order_is_not_shown_as_changed() -> None:
    before, after = {"seq": 4, "title": "a"}, {"seq": 5, "title": "b"}
    assert row_diff(Change("t", "k", None, after)).fields == (("title", None, "b"),)
    assert row_diff(Change("t", "k", before, after)).fields == (("title", "a", "b"),)


def test_a_page_of_a_large_run_holds_those_that_failed_first(
    runs: dict[str, RunDir], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "SHOWN", 22)
    text, found = page([runs["partly"]], tmp_path / "page.html")
    assert len(found.rows) == 22
    failed = [e.key for e in runs["partly"].outlines() if not e.verdict.success]
    assert 0 < len(failed) < 22
    assert sum(row["data-standing"] == "failed" for row in found.rows) == len(failed)
    assert "Of 24 episodes 22 are on this page" in text
    assert [row["href"] for row in found.rows] == [f"#e0-{n}" for n in range(22)]
    made = found.conversations()
    assert len(made) == 22
    for row, markup in zip(found.rows, made, strict=True):
        assert f'<span class="chip {row["data-standing"]}">' in markup


def test_lines_after_the_first_are_packed(
    runs: dict[str, RunDir], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "LISTED", 10)
    text, found = page([runs["partly"]], tmp_path / "page.html")
    (packed,) = re.findall(r'id="rows0">([^<]+)<', text)
    rest = Page("".join(json.loads(gzip.decompress(b64decode(packed)))))
    assert [len(found.rows), len(rest.rows)] == [10, 14]
    hrefs = [row["href"] for row in found.rows + rest.rows]
    assert hrefs == [f"#e0-{n}" for n in range(24)]


def test_the_figures_of_lean_outlines_are_those_of_whole_episodes(runs: dict[str, RunDir]) -> None:
    for run in runs.values():
        assert summarise(run.tasks(), run.for_figures()) == summary_of(run)
        calls = [c for e in run.for_figures() for turn in e.trace.turns for c in turn.calls]
        assert not any(call.arguments for call in calls)


def test_tasks_of_many_decisions_count_as_more_of_those_whose_gold_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = RunOptions("sales/L1", agent="noop", filters=("family=handbook_worklist",), sample=3)
    execute(options, tmp_path / "many")
    for room, shown in ((html.OF_MANY, 1), (html.OF_MANY + 1, 2)):
        monkeypatch.setattr(html, "EXECUTED", room)
        _, found = page([RunDir(tmp_path / "many")], tmp_path / f"{room}.html")
        assert sum("<th>Expected</th>" in made for made in found.conversations()) == shown
