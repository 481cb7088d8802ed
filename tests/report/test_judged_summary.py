"""What the models of a run did, and which of them failed, in every place that shows figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from crmbench.core.persona import role_of
from crmbench.core.record import JudgeRecord, ParticipantRecords, TurnJudgement, UserRecord
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.core.trace import EpisodeTrace, Message, Outcome, TokenUsage, TurnTrace
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict
from crmbench.report.compare import compare_runs, render_comparison, run_notes
from crmbench.report.compare_page import write_comparison
from crmbench.report.exclusions import NotCounted, count_exclusions
from crmbench.report.html import write_report
from crmbench.report.leaderboard import leaderboard, write_leaderboard
from crmbench.report.settings import settings
from crmbench.report.summary import Summary, summarise, summary_of
from crmbench.report.terminal import render_terminal
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import choose

USER = UserRecord("u", 2, 1, TokenUsage(10, 5, model_calls=2, cost=0.25))
NO_CALL = ToolMatch(None, False, False, False, "no call")
SPENT = TokenUsage(100, 20, model_calls=3, cost=0.5)


def task(task_id: str, persona: str = "", tags: tuple[str, ...] = ()) -> Task:
    return Task(
        task_id=task_id,
        domain="sales",
        world="northgate",
        turns=(Turn(1, "How many clients are there?"), Turn(2, "And contacts?")),
        gold=Gold(turns=(GoldTurn(), GoldTurn()), grading="state"),
        category="Client Management",
        complexity="simple",
        persona=persona,
        tags=tags,
    )


def episode(
    task_id: str,
    outcome: Outcome = "finished",
    *,
    counted: bool = True,
    participants: ParticipantRecords | None = None,
    said: Sequence[str] = ("user", "assistant"),
    trial: int = 0,
) -> EpisodeRecord:
    messages = tuple(Message("user" if r == "user" else "assistant", "Words.") for r in said)
    turns = (TurnTrace(1, messages, ()),) if messages else ()
    trace = EpisodeTrace(task_id, trial, turns, outcome, None, SPENT)
    found = tuple(
        TurnVerdict(1, False, False, None, NO_CALL, None, {}, ("missing",), ()) for _ in turns
    )
    verdict = EpisodeVerdict(task_id, trial, False, found, 1, None, counted, 0, 0, "it failed")
    return EpisodeRecord(trace, verdict, 1.0, participants)


def judged(passed: bool | None, cost: float | None = 1.0) -> ParticipantRecords:
    said = TurnJudgement(1, "call", None, passed, 0.9, 1.0, 0.7, "Well <done>.")
    return ParticipantRecords(
        None, JudgeRecord("j", (said,), TokenUsage(7, 3, model_calls=1, cost=cost))
    )


LOST = [
    episode("a", "infrastructure", counted=False, said=("user",)),
    episode(
        "b", "infrastructure", counted=False, participants=ParticipantRecords(USER), said=("user",)
    ),
    episode("c", "infrastructure", counted=False, participants=ParticipantRecords(USER)),
    episode("d", "infrastructure", counted=False, participants=ParticipantRecords(USER), said=()),
    episode("e", "user_error", counted=False, participants=ParticipantRecords(USER)),
    episode("f", counted=False, participants=judged(None)),
    episode("g"),
]
TASKS = [task(name) for name in "abcdefg"]


def kept(folder: Path, episodes: Sequence[EpisodeRecord], **config: object) -> RunDir:
    run_dir = RunDir(folder)
    basic = {"agent": "function_calling", "model": "http://x/v1#m", "data": "d", "trials": 1}
    run_dir.create({**basic, "data_digest": "0" * 64, "backend": "sqlite", **config}, TASKS)
    for e in episodes:
        run_dir.append(e)
    run_dir.settle(TASKS)
    return run_dir


def test_whoever_was_waited_for_has_failed() -> None:
    found = count_exclusions(LOST)
    assert found == NotCounted(agent=2, user=2, user_error=1, judge=1)
    assert found.total == 6
    assert found.described() == (
        "the agent's model or server failed in 2, the user's model or server failed in 2, "
        "the user's model did not keep to its part in 1, the judge gave no usable answer in 1"
    )
    assert NotCounted().described() == ""


def test_the_parts_stand_apart_and_add_up() -> None:
    summary = summarise(TASKS, LOST)
    assert (summary.trials, summary.infrastructure_failures) == (1, 4)
    assert summary.user is not None
    assert summary.judge is not None
    assert (summary.user.messages, summary.user.user_errors) == (8, 1)
    assert summary.usage.model_calls == 21
    assert summary.total_usage == TokenUsage(747, 163, 0, 0, 30, 7 * 0.5 + 4 * 0.25 + 1.0)
    data = summary.to_data()
    assert data["not_counted"] == {"agent": 2, "user": 2, "user_error": 1, "judge": 1, "total": 6}
    assert data["total_usage"]["model_calls"] == 30


def test_a_cost_that_is_partly_unknown_is_unknown() -> None:
    summary = summarise(TASKS, [episode("a", participants=judged(True, cost=None))])
    assert summary.usage.cost == 0.5
    assert summary.total_usage.cost is None
    assert summary.total_usage.model_calls == 4


def test_the_terminal_names_who_failed_and_what_was_spent() -> None:
    text = " ".join(render_terminal(summarise(TASKS, LOST), "title").split())
    assert "not counted: 6 episodes (the agent's model or server failed in 2" in text
    assert "User played by u: 8 messages" in text
    assert "Judge j: asked about 1 turn" in text
    assert "in all 747 in, 163 out, 30 model calls, cost $5.50" in text


def test_a_run_in_which_nothing_counts_has_no_success(tmp_path: Path) -> None:
    lost = kept(tmp_path / "lost", LOST[:6])
    text = render_terminal(summary_of(lost))
    assert "success   unknown: none counts" in text
    assert "missing   1 episode not played" in text
    write_report([lost], tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "success is unknown: no episode counts" in page
    assert "The run is not complete. Episodes not played: 1." in page
    (board,) = leaderboard([lost])
    assert (board.entries[0].rank, board.entries[0].not_counted) == (None, 6)


def test_tokens_that_no_server_told_are_unknown() -> None:
    told = summarise([task("a")], [episode("a")])
    untold = replace(told, usage=TokenUsage(model_calls=1))
    assert "tokens    100 in, 20 out, 3 model calls, cost $0.50" in render_terminal(told)
    assert "tokens    unknown, 1 model call, cost unknown" in render_terminal(untold)


def test_the_page_shows_the_models_the_settings_and_the_verdicts(tmp_path: Path) -> None:
    config = {"user": "u", "judge": "j", "seed": 0, "prompts": {"judge.md": "ab" * 32}}
    run_dir = kept(tmp_path / "run", LOST, **config)
    write_report([run_dir], tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "not counted: the agent&#39;s model or server failed in 2" in page
    assert "User played by u: 8 messages" in page
    assert "<td>prompt judge.md</td><td>abababababab</td>" in page
    assert "<td>seed</td><td>0</td>" in page
    names = [name for name, _ in settings({"agent": "noop", "max_steps": 20, "user_messages": 6})]
    assert names == ["agent"]


def test_runs_are_compared_with_what_does_not_count_in_them(tmp_path: Path) -> None:
    whole = [episode(name) for name in "abcdefg"]
    one, two = kept(tmp_path / "one", whole), kept(tmp_path / "two", LOST, judge="j")
    three = kept(tmp_path / "three", whole[:3])
    comparison = write_comparison([one, two, three], tmp_path / "c.html")
    text, page = render_comparison(comparison), (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "two: 6 episodes left out: the agent's model or server failed in 2" in text
    assert "two: Judge j: asked about 1 turn" in text
    assert "three: not played: 4 episodes" in text
    assert "6 episodes left out: the agent&#39;s model or server failed in 2" in page
    assert "The runs are of different judges." in run_notes(comparison)
    data = comparison.to_data()["runs"]
    assert [run["not_counted"]["judge"] for run in data] == [0, 1, 0]
    assert [run["missing"] for run in data] == [0, 0, 4]


def test_only_complete_runs_over_the_same_conversations_are_ranked(tmp_path: Path) -> None:
    whole = [episode(name) for name in "abcdefg"]
    runs = [
        kept(tmp_path / "whole", whole),
        kept(tmp_path / "partly", whole[:3]),
        kept(tmp_path / "chosen", whole, filters=["complexity=simple"]),
    ]
    boards = leaderboard(runs)
    assert [(board.part, len(board.entries)) for board in boards] == [
        ("", 2),
        ("complexity=simple", 1),
    ]
    assert {e.run: e.rank for e in boards[0].entries} == {"whole": 1, "partly": None}
    write_leaderboard(runs, tmp_path / "b.html")
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "<h2>d: complexity=simple</h2>" in page
    assert "3 episodes, not complete" in page


@pytest.mark.parametrize(
    ("persona", "role"),
    [
        ("Aiko Hayashi, sales representative", "sales representative"),
        ("Jean-Luc de Vries, sales manager", "sales manager"),
        ("Ana, head of sales, Europe", "head of sales, Europe"),
        ("the service manager", "the service manager"),
        ("A busy person, who is rude", "A busy person, who is rude"),
        ("Ana,", "Ana,"),
        ("", ""),
    ],
)
def test_a_role_is_a_persona_without_its_name(persona: str, role: str) -> None:
    assert role_of(persona) == role


def test_personas_are_sliced_and_filtered_by_role() -> None:
    tasks = [task(name, f"Person {name.upper()}, sales manager") for name in "abc"]
    tasks.append(task("d", "Person D, sales representative"))
    summary = summarise(tasks, [episode(name) for name in "abcd"])
    sizes = {role: found.tasks for role, found in summary.slices["persona"].items()}
    assert sizes == {"sales manager": 3, "sales representative": 1}
    assert [t.task_id for t in choose(tasks, filters=["persona=sales manager"])] == ["a", "b", "c"]
    chosen = choose(tasks, filters=["persona=Person B, sales manager"])
    assert [t.task_id for t in chosen] == ["b"]


def with_tags(count: int) -> Summary:
    tasks = [task(f"t{n}", tags=("every", f"tag_{n:02}")) for n in range(count)]
    return summarise(tasks, [episode(each.task_id) for each in tasks])


def test_long_tables_show_the_largest_and_say_how_many_more() -> None:
    text = render_terminal(with_tags(30))
    assert text.count("tag_") == 11
    assert " every " in text
    assert "… and 19 more by tag, in the HTML report" in text
    assert "more by tag" not in render_terminal(with_tags(11))


def test_a_half_written_line_of_a_killed_run_is_passed_over(tmp_path: Path) -> None:
    run_dir = kept(tmp_path / "run", [episode("a"), episode("b")])
    for name in ("episodes.jsonl", "timings.jsonl"):
        path = run_dir.path / name
        path.write_bytes(path.read_bytes()[:-10])
    assert [e.trace.task_id for e in run_dir.episodes()] == ["a"]
    assert summary_of(run_dir).missing == 6
    assert compare_runs([run_dir, run_dir]).others[0].whole.tasks == 1
