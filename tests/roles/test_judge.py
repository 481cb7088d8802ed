"""A model as the judge: asked where nothing else decides, kept as data, never shown the gold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AnyFactory, Session, SimpleFactory
from crmbench.core.fact import Fact
from crmbench.core.record import JudgeRecord, TurnJudgement
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.errors import AgentError, InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.models import Message, Model, Reply, ScriptedModel, ToolSpec, TransientModelError
from crmbench.models.resolve import open_model
from crmbench.models.testing.server import FakeServer, spawned
from crmbench.models.testing.wire import FakeAnswer, FakeRequest
from crmbench.report.role_figures import agreement, figures_lines, judge_figures
from crmbench.roles.judge import Judge, read_scores
from crmbench.roles.role_model import RoleModel
from crmbench.roles.shown import RESULT_LIMIT
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

SECRET = "gold-3f9c1a"
NEW = {"name": "Acme", "email": "ops@acme.example", "status": "Active"}


def arc_task(*gold: GoldTurn) -> Task:
    """A task as Arc has them: graded by tool match, with things that only gold may hold."""
    turns = tuple(Turn(n, f"Request {n}, please.") for n in range(1, len(gold) + 1))
    return Task(
        "arc-1",
        "sales",
        "empty",
        turns,
        Gold(gold, grading="tool_match", criteria="all_turns", canary=SECRET),
        seed_data={
            "Client": {"c1": {"name": "Acme", "email": "a@acme.example", "status": "Active"}}
        },
        success_note=SECRET,
    )


def search(name: str, **more: Any) -> GoldTurn:
    return GoldTurn((GoldCall("client_search", {"name": name}),), **more)


class Doing:
    """Makes the calls of each turn that it is given, and says something."""

    def __init__(self, *turns: Sequence[tuple[str, dict[str, Any]]], words: str = "Done.") -> None:
        self._turns = iter(turns)
        self._words = words

    async def turn(self, session: Session, utterance: str) -> str:
        for name, arguments in next(self._turns):
            await session.call(name, arguments)
        return self._words


def doing(*turns: Sequence[tuple[str, dict[str, Any]]], words: str = "Done.") -> AnyFactory:
    return SimpleFactory("doing", lambda _view, _seed: Doing(*turns, words=words))


def verdict(goal: float, process: float = 1.0) -> str:
    return orjson.dumps({"rationale": "so", "goal": goal, "process": process}).decode()


def play(task: Task, agent: AnyFactory, model: Model, *, everything: bool = False) -> EpisodeRecord:
    judge = Judge(RoleModel(model), everything)
    evaluator = Evaluator(agent, grader_on("sqlite"), judge=judge)
    try:
        return asyncio.run(evaluator.play(Job(task, 0)))
    finally:
        evaluator.grader.close()


def judging(finished: EpisodeRecord) -> JudgeRecord:
    assert finished.participants is not None
    assert finished.participants.judge is not None
    return finished.participants.judge


OTHER = [("client_search", {"status": "Active"})]
EXACT = [("client_search", {"name": "acme"})]


@pytest.mark.parametrize(
    ("goal", "process", "passes"),
    [
        (1.0, 1.0, True),
        (1.0, 0.34, True),
        (1.0, 0.33, False),
        (0.72, 1.0, True),
        (0.71, 1.0, False),
    ],
)
def test_a_call_that_ran_otherwise_is_the_judges_to_decide(
    goal: float, process: float, passes: bool
) -> None:
    finished = play(arc_task(search("acme")), doing(OTHER), ScriptedModel([verdict(goal, process)]))
    assert finished.verdict.success is passes
    assert finished.verdict.counted
    (said,) = judging(finished).turns
    assert (said.why, said.checks, said.passed) == ("call", None, passes)
    assert said.score == pytest.approx(0.7 * goal + 0.3 * process)
    kept = finished.trace.turns[0].judgement
    assert kept is not None
    assert (kept.model, kept.passed, kept.score) == ("scripted", passes, said.score)


NEVER = ScriptedModel([])


@pytest.mark.parametrize(
    ("gold", "calls", "success"),
    [
        (search("acme"), EXACT, True),
        (search("acme"), [], False),
        (search("acme"), [("client_search", {"colour": "red"})], False),
        (search("acme"), [("no_such_tool", {})], False),
        (search("acme"), [("create_new_client", NEW)], False),
        (search("acme"), OTHER * 11, False),
        (search("acme", expect_success=False), EXACT, False),
    ],
)
def test_what_the_checks_decide_is_not_asked(
    gold: GoldTurn, calls: list[tuple[str, dict[str, Any]]], success: bool
) -> None:
    finished = play(arc_task(gold), doing(calls), NEVER)
    assert finished.verdict.success is success
    assert judging(finished).turns == ()


def test_text_that_is_held_to_nothing_is_asked_about_and_gates_nothing() -> None:
    finished = play(arc_task(GoldTurn()), doing([]), ScriptedModel([verdict(0.0)]))
    assert finished.verdict.success
    (said,) = judging(finished).turns
    assert (said.why, said.passed) == ("text", False)
    assert finished.trace.turns[0].judgement is not None


def note_task(*facts: Fact) -> Task:
    call = GoldCall(
        "add_note", {"entity_type": "Client", "entity_id": "c1", "content": "Call back"}
    )
    base = arc_task(search("acme"))
    gold = Gold((GoldTurn((call,), note_facts=facts),), canary=SECRET)
    return replace(base, gold=gold)


def test_a_note_is_asked_about_where_no_fact_checks_it() -> None:
    finished = play(note_task(), OracleFactory(), ScriptedModel([verdict(1.0)]))
    (said,) = judging(finished).turns
    assert (said.why, said.checks, said.passed) == ("text", True, True)
    fact = Fact("text", "call back")
    checked = play(note_task(fact), OracleFactory(), NEVER)
    assert checked.verdict.success, checked.verdict.reason
    assert judging(checked).turns == ()


def test_judge_all_asks_about_every_turn_and_overrules_no_check() -> None:
    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        # Says the opposite of what the checks find.
        return verdict(0.0 if '"name":"acme"' in messages[1].text else 1.0)

    right = play(arc_task(search("acme")), doing(EXACT), ScriptedModel(script), everything=True)
    wrong = play(arc_task(search("acme")), doing([]), ScriptedModel(script), everything=True)
    assert right.verdict.success
    assert not wrong.verdict.success
    assert [(t.why, t.checks, t.passed) for t in judging(right).turns] == [
        ("agreement", True, False)
    ]
    assert [(t.why, t.checks, t.passed) for t in judging(wrong).turns] == [
        ("agreement", False, True)
    ]
    assert right.trace.turns[0].judgement is None
    figures = judge_figures([right, wrong])
    assert figures is not None
    assert figures.agreement is not None
    assert (figures.agreement.only_judge_passes, figures.agreement.only_checks_pass) == (1, 1)
    assert figures.agreement.kappa == -1.0


def test_a_turn_that_rests_on_a_wrong_one_says_nothing_about_agreement() -> None:
    resting = GoldTurn((GoldCall("client_search", {"name": "{{turn_1.name}}"}),))
    gold = (search("acme"), search("acme"), resting, search("acme"))
    finished = play(
        arc_task(*gold),
        doing(EXACT, [], [], EXACT),
        ScriptedModel(lambda _m, _t: verdict(1.0)),
        everything=True,
    )
    found = [(t.turn_id, t.checks) for t in judging(finished).turns]
    assert found == [(1, True), (2, False), (4, True)]


def test_a_state_that_was_wrong_before_says_nothing_about_agreement() -> None:
    call = GoldCall("create_new_client", NEW | {"name": "Acme Nord"})
    base = arc_task(GoldTurn((call,)), GoldTurn())
    task = replace(base, gold=replace(base.gold, grading="state", criteria="both"))
    lazy = ScriptedModel(lambda _m, _t: verdict(1.0))
    finished = play(task, doing([], []), lazy, everything=True)
    assert [(t.turn_id, t.checks) for t in judging(finished).turns] == [(1, False)]


@pytest.mark.parametrize(
    "answer", ["I think it is fine.", "", '{"goal": 2, "process": 1}', '{"goal": true}', "{broken"]
)
def test_an_answer_that_cannot_be_read_is_asked_for_again_once(answer: str) -> None:
    task = arc_task(search("acme"))
    mended = play(task, doing(OTHER), ScriptedModel([answer, f"Well: {verdict(0.9)}"]))
    assert mended.verdict.success
    assert judging(mended).usage.model_calls == 2
    failed = play(task, doing(OTHER), ScriptedModel([answer, answer]))
    assert not failed.verdict.counted
    assert failed.verdict.reason == "the judge gave no usable answer"
    (said,) = judging(failed).turns
    assert said.passed is None
    assert said.rationale.startswith("judge failed:")
    assert failed.trace.turns[0].judgement is None


def test_a_judge_that_fails_saves_no_agent_that_failed_anyway() -> None:
    task = arc_task(search("acme"), search("acme"))
    finished = play(task, doing(OTHER, []), ScriptedModel(["?", "?"]))
    assert finished.verdict.counted
    assert not finished.verdict.success


def test_a_judge_that_cannot_be_reached_has_failed() -> None:
    def script(_messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> Reply:
        raise TransientModelError("gone", kind="connection")

    finished = play(arc_task(search("acme")), doing(OTHER), ScriptedModel(script))
    assert not finished.verdict.counted
    assert judging(finished).turns[0].rationale == "judge failed: gone"


def test_the_judge_sees_words_calls_and_results_and_no_gold() -> None:
    seen: list[str] = []

    def script(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> str:
        assert not tools
        seen.append("\n".join(m.text for m in messages))
        return verdict(1.0)

    task = arc_task(search("acme"), search("Acme Nord"))
    calls: list[tuple[str, dict[str, Any]]] = [*OTHER, ("no_such_tool", {"x": 1})]
    finished = play(task, doing(EXACT, calls, words="One is active."), ScriptedModel(script))
    assert finished.verdict.success
    (asked,) = seen
    material = orjson.loads(asked[asked.rindex('{"earlier"') :])
    assert material["earlier"][0]["messages"][0]["text"] == "Request 1, please."
    assert "result" not in material["earlier"][0]["calls"][0]
    first, second = material["turn"]["calls"]
    assert first["result"]["total_count"] == 1
    assert "no tool named" in second["error"]
    assert material["turn"]["messages"][1] == {"from": "assistant", "text": "One is active."}
    assert "House rules" in asked
    for hidden in (SECRET, "Acme Nord", "arc-1"):
        assert hidden not in asked


def test_a_long_result_is_cut_and_says_so() -> None:
    lengths: list[str] = []

    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        result = orjson.loads(messages[1].text)["turn"]["calls"][-1]["result"]
        lengths.append(result)
        return verdict(1.0)

    clients = {
        f"c{n}": {"name": f"Client {n}", "email": f"c{n}@x.example", "status": "Active"}
        for n in range(60)
    }
    task = replace(arc_task(search("nobody")), seed_data={"Client": clients})
    play(task, doing([("client_search", {"status": "Active"})]), ScriptedModel(script))
    assert len(lengths[0]) < RESULT_LIMIT + 50
    assert lengths[0].endswith("more characters)")


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ('{"goal": 1, "process": 0.5, "rationale": "r"}', (1.0, 0.5, "r")),
        ('```json\n{"goal": 0, "process": 0}\n```', (0.0, 0.0, "")),
        ('{"a": {"b": 1}} then {"process": 1, "goal": 1, "rationale": null}', (1.0, 1.0, "")),
    ],
)
def test_scores_are_found_whatever_stands_around_them(
    text: str, scores: tuple[float, float, str]
) -> None:
    assert tuple(read_scores(text)) == scores


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"goal": "1", "process": 1}', '{"goal": NaN, "process": 1}']
)
def test_scores_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(AgentError):
        read_scores(text)


def test_kappa_follows_its_formula() -> None:
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    turns = [TurnJudgement(1, "agreement", checks, judge) for judge, checks in pairs]
    turns.append(TurnJudgement(1, "agreement", True, None))  # the judge failed: no pair
    turns.append(TurnJudgement(1, "call", None, True))
    found = agreement(turns)
    assert found is not None
    # Observed 35/50, by chance (25/50)(30/50) + (25/50)(20/50) = 0.5: (0.7 - 0.5) / 0.5.
    assert (found.turns, found.share, found.kappa) == (50, 0.7, 0.4)
    alike = agreement([TurnJudgement(1, "agreement", True, True)] * 3)
    assert alike is not None
    assert alike.kappa is None
    assert agreement([]) is None


def of_a_judge(request: FakeRequest) -> FakeAnswer:
    return FakeAnswer(verdict(1.0))


@pytest.mark.parametrize("wire", ["{}/v1#fake", "anthropic+{}#fake"])
def test_the_judge_is_asked_over_both_wire_formats(wire: str) -> None:
    async def run() -> EpisodeRecord:
        async with FakeServer(of_a_judge) as server:
            judge = Judge(RoleModel(open_model(wire.format(server.url))))
            evaluator = Evaluator(doing(OTHER), grader_on("sqlite"), judge=judge)
            try:
                return await evaluator.play(Job(arc_task(search("acme")), 0))
            finally:
                await judge.close()
                evaluator.grader.close()

    finished = asyncio.run(run())
    assert finished.verdict.success
    assert judging(finished).usage.prompt_tokens > 500


def test_a_whole_run_with_a_judge_leaks_nothing_and_keeps_what_it_said(tmp_path: Path) -> None:
    kept = tmp_path / "bodies.jsonl"
    with spawned("--tool-calls", "1", "--keep", str(kept)) as url:
        options = RunOptions(
            NORTHGATE, model=f"{url}/v1#fake", judge=f"{url}/v1#judge", judge_all=True
        )
        outcome = execute(options, tmp_path / "run")
    bodies = kept.read_bytes()
    asked = [b for b in map(orjson.loads, bodies.splitlines()) if b["model"] == "judge"]
    assert len(asked) >= 12
    (canary,) = {task.gold.canary for task in outcome.tasks}
    assert canary is not None
    assert canary.encode() not in bodies
    for task in outcome.tasks:
        assert task.task_id.encode() not in bodies
    found = judge_figures(outcome.episodes)
    assert found is not None
    # The fake server's answers are no verdicts, so each question is asked twice.
    assert (found.asked * 2, found.failed) == (len(asked), found.asked)
    assert found.usage.model_calls == len(asked)
    assert any("without a usable answer" in line for line in figures_lines(None, found))
    stored = RunDir(tmp_path / "run").episodes()
    assert [e.participants for e in stored] == [e.participants for e in outcome.episodes]
    assert "judge.md" in RunDir(tmp_path / "run").config()["prompts"]


def test_wrong_use_is_said() -> None:
    with pytest.raises(InputError, match="needs a judge"):
        execute(RunOptions(NORTHGATE, agent="noop", judge_all=True))
    for agent in ("recat", "noop", "my_agent.py:Mine"):
        with pytest.raises(InputError, match=f"'{agent}' runs no model"):
            execute(RunOptions(NORTHGATE, agent=agent, model="http://h/v1#x"))
    with pytest.raises(InputError, match="there is no model 'nobody'"):
        execute(RunOptions(NORTHGATE, agent="noop", judge="nobody"))
    with pytest.raises(InputError, match="is not known, so no limit of cost"):
        execute(RunOptions(NORTHGATE, agent="noop", judge="http://h/v1#x", max_cost=1.0))


def test_without_a_judge_nothing_is_added_to_an_episodes_line(tmp_path: Path) -> None:
    execute(RunOptions(NORTHGATE, agent="noop", sample=1), tmp_path / "run")
    (line,) = (tmp_path / "run" / "episodes.jsonl").read_bytes().splitlines()
    assert set(orjson.loads(line)) == {"trace", "verdict"}
    assert judge_figures(RunDir(tmp_path / "run").episodes()) is None
