"""Playing and grading: whose failure is whose, and nothing depends on who plays beside whom."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AnyFactory, Session, SimpleFactory
from crmbench.agents.trivial import RANDOM
from crmbench.core.task import Task
from crmbench.core.tool import Tool
from crmbench.domains.sales.domain import SALES
from crmbench.errors import AgentError, HarnessError, InfrastructureError, InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.evaluate import Evaluator, grader_on, jobs_for
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import choose, load_named


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_named(NORTHGATE).tasks()


def play(
    agent: AnyFactory, tasks: list[Task], *, concurrency: int = 1, time_limit: float | None = None
) -> list[EpisodeRecord]:
    evaluator = Evaluator(agent, grader_on("sqlite"), time_limit=time_limit)
    finished: list[EpisodeRecord] = []
    try:
        asyncio.run(evaluator.run(jobs_for(tasks, 1), finished.append, concurrency))
    finally:
        evaluator.grader.close()
    return finished


class Raising:
    """Makes a call and then fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def turn(self, session: Session, utterance: str) -> str:
        await session.call("list_clients")
        raise self.error


@pytest.mark.parametrize(
    ("error", "outcome", "counted"),
    [
        (ValueError("oops"), "agent_error", True),
        (AgentError("not my form"), "agent_error", True),
        (InfrastructureError("no model"), "infrastructure", False),
        (TimeoutError("slow model"), "timeout", True),
    ],
)
def test_a_failure_is_attributed_to_the_boundary_it_came_from(
    tasks: list[Task], error: Exception, outcome: str, counted: bool
) -> None:
    agent = SimpleFactory("raising", lambda _view, _seed: Raising(error))
    (finished,) = play(agent, tasks[:1])
    assert finished.trace.outcome == outcome
    assert finished.verdict.counted is counted
    assert not finished.verdict.success
    assert finished.trace.turns[0].calls[0].tool == "list_clients"


def test_a_slow_agent_runs_out_of_time(tasks: list[Task]) -> None:
    class Sleeper:
        async def turn(self, session: Session, utterance: str) -> str:
            await asyncio.sleep(3600)
            return ""

    (finished,) = play(
        SimpleFactory("sleeper", lambda _view, _seed: Sleeper()), tasks[:1], time_limit=0.05
    )
    assert finished.trace.outcome == "timeout"
    assert finished.verdict.counted


def test_a_reply_that_is_no_text_is_the_agents_failure(tasks: list[Task]) -> None:
    class Mute:
        async def turn(self, session: Session, utterance: str) -> str:
            nothing: dict[str, str] = {}
            return nothing.get("reply")  # type: ignore[return-value]

    (finished,) = play(SimpleFactory("mute", lambda _view, _seed: Mute()), tasks[:1])
    assert "returned NoneType" in (finished.trace.error or "")


def test_a_broken_tool_is_never_blamed_on_the_agent(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("bug")

    class Careless:
        async def turn(self, session: Session, utterance: str) -> str:
            try:
                await session.call("list_clients")
            except Exception:
                return "Never mind."
            return "Done."

    mended = replace(SALES.toolbox.by_name["list_clients"], function=broken)
    assert isinstance(mended, Tool)
    monkeypatch.setitem(SALES.toolbox.by_name, "list_clients", mended)
    with pytest.raises(HarnessError, match="the tool list_clients broke: ZeroDivisionError: bug"):
        play(SimpleFactory("careless", lambda _view, _seed: Careless()), tasks[:1])


def test_a_tool_that_reads_must_not_write(
    tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    lying = replace(SALES.toolbox.by_name["modify_opportunity"], writes=False)
    monkeypatch.setitem(SALES.toolbox.by_name, "modify_opportunity", lying)
    with pytest.raises(HarnessError, match="marked as reading and wrote"):
        play(OracleFactory(), tasks[:1])


def test_no_more_calls_than_allowed_in_one_turn(tasks: list[Task]) -> None:
    class Eager:
        async def turn(self, session: Session, utterance: str) -> str:
            results = [await session.call("summarize_counts") for _ in range(105)]
            return f"{sum(result.ok for result in results)} worked"

    (finished,) = play(SimpleFactory("eager", lambda _view, _seed: Eager()), tasks[:1])
    turn = finished.trace.turns[0]
    assert turn.reply == "100 worked"
    assert turn.calls[-1].error_kind == "limit"


def test_one_or_sixteen_at_once_gives_the_same(tasks: list[Task]) -> None:
    def traces(concurrency: int) -> list[bytes]:
        finished = play(RANDOM, tasks, concurrency=concurrency)
        return [f.trace.to_json() for f in sorted(finished, key=lambda f: f.task_id)]

    assert traces(1) == traces(16)


def test_the_gold_of_a_task_that_fails_stops_the_run(tasks: list[Task]) -> None:
    gold = tasks[0].gold
    calls = (replace(gold.turns[0].calls[0], tool="no_such_tool"),)
    broken = replace(gold, turns=(replace(gold.turns[0], calls=calls), *gold.turns[1:]))
    with pytest.raises(HarnessError, match="the gold fails: turn 1: no_such_tool"):
        play(OracleFactory(), [replace(tasks[0], gold=broken)])


def test_filters_and_samples_choose_in_order(tasks: list[Task]) -> None:
    undo = choose(tasks, filters=["tag=undo"])
    assert [task.family for task in undo] == ["undo"]
    some = choose(tasks, sample=5, seed=3)
    assert some == choose(tasks, sample=5, seed=3)
    assert [t.task_id for t in some] == sorted(t.task_id for t in some)
    assert len(some) == 5
    with pytest.raises(InputError, match="is no filter"):
        choose(tasks, filters=["undo"])


def test_spoilt_episodes_are_played_again_on_resume(tmp_path: Path) -> None:
    class Flaky:
        broken = True

        async def turn(self, session: Session, utterance: str) -> str:
            if Flaky.broken and "Northwind" in utterance:
                raise InfrastructureError("down")
            return "Done."

    agent = SimpleFactory("flaky", lambda _view, _seed: Flaky())
    options = RunOptions(NORTHGATE, agent="flaky")
    first = execute(options, tmp_path / "run", factory=agent)
    spoilt = [e for e in first.episodes if not e.verdict.counted]
    assert spoilt
    Flaky.broken = False
    second = execute(replace(options, resume=True), tmp_path / "run", factory=agent)
    assert second.turns_played < sum(len(e.trace.turns) for e in second.episodes)
    assert all(e.verdict.counted for e in second.episodes)
    assert len(second.episodes) == len(first.episodes)
    again = RunDir(tmp_path / "run").episodes()
    assert [e.trace for e in again] == [e.trace for e in second.episodes]


def test_published_conversations_replay_alike_on_both_databases(arc_data: Path) -> None:
    options = RunOptions(str(arc_data / "evaluation_400.jsonl"), concurrency=4)
    one = execute(options)
    two = execute(replace(options, backend="postgres"))
    assert [e.trace for e in one.episodes] == [e.trace for e in two.episodes]
    assert [e.verdict for e in one.episodes] == [e.verdict for e in two.episodes]
    assert len(one.episodes) == 400
    assert sum(e.verdict.success for e in one.episodes) == 376
    assert len(one.faults) == 24
    assert all("document_url" in fault.reason for fault in one.faults)


def test_turns_that_must_fail_and_do_count_as_passed(arc_data: Path) -> None:
    outcome = execute(RunOptions(str(arc_data / "chains_with_failures_120.jsonl")))
    assert sum(e.verdict.success for e in outcome.episodes) == 120
    failing = [t for task in outcome.tasks for t in task.gold.turns if not t.expect_success]
    assert len(failing) == 48
