"""Whole learning runs: against a model server, killed and gone on with, paired and counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.learning import scripted as scripted_model

from crmbench.core.trace import CallRecord, TokenUsage
from crmbench.errors import InfrastructureError, InputError
from crmbench.grading.gold import resolve_references
from crmbench.learning.plan import LearnOptions
from crmbench.learning.protocol import Feedback
from crmbench.learning.record import ChainFiles, StepRecord
from crmbench.learning.run import play_learning
from crmbench.learning.streams import StreamOptions
from crmbench.learning.told import HEADING
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer, FakeCall, FakeRequest
from crmbench.report.learning.figures import learning_report, render_learning
from crmbench.report.learning.page import write_learning
from crmbench.runner.options import RunOptions
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData, load_named, read_data

DEMO = {task.turns[0].utterance: task for task in load_named("demo").tasks()}
LESSON = "Go on until all that was asked for is done, and tell it."
REFLECTS = "You keep the playbook"


class Stopped(Exception):
    """Ends a run in the middle."""


class Student:
    """Fails without the lesson in its prompt, and knows the way with it; reflects to the lesson."""

    def __init__(self) -> None:
        self.prompts: list[FakeRequest] = []

    def __call__(self, request: FakeRequest) -> FakeAnswer:
        self.prompts.append(request)
        if request.texts[0][1].startswith(REFLECTS):
            return FakeAnswer(orjson.dumps({"add": [LESSON]}).decode())
        if LESSON not in request.texts[0][1]:
            return FakeAnswer("I cannot say.")
        turns: list[list[CallRecord]] = []
        for role, text in request.texts[1:]:
            if role == "user":
                turns.append([])
            elif role == "tool":
                ok = not text.startswith("Error")
                turns[-1].append(CallRecord("", {}, ok, orjson.loads(text) if ok else None))
        gold = DEMO[request.texts[1][1]].gold.turns[len(turns) - 1]
        done = len(turns[-1])
        if done < len(gold.calls):
            call = gold.calls[done]
            return FakeAnswer(
                calls=(FakeCall(call.tool, dict(resolve_references(call.arguments, turns))),)
            )
        return FakeAnswer(str((gold.response or {})["text"]))


def options(url: str = "", **others: Any) -> LearnOptions:
    run = RunOptions("demo", "function_calling", model=f"{url}/v1#fake", sample=8)
    return replace(LearnOptions(run, ("playbook", "placebo"), seeds=2), **others)


def learn(
    given: Callable[[str], LearnOptions], out: Path, student: Student | None = None, **how: Any
) -> FakeServer:
    """Play a learning run against a server."""

    async def play() -> FakeServer:
        async with FakeServer(student or Student()) as server:
            server.bodies = []
            chosen = given(server.url)
            await play_learning(read_data("demo", chosen.run), chosen, out, **how)
            return server

    return asyncio.run(play())


def steps_of(out: Path, arm: str, seed: int = 0) -> list[StepRecord]:
    return ChainFiles(out / arm / f"seed-{seed}").steps()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Student, FakeServer]:
    out, student = tmp_path_factory.mktemp("learn") / "out", Student()
    return out, student, learn(options, out, student)


def test_a_student_fails_without_and_passes_with_what_its_learner_recalled(
    played: tuple[Path, Student, FakeServer],
) -> None:
    out, _, _ = played
    for seed in (0, 1):
        assert not any(step.success for step in steps_of(out, "none", seed))
        assert not any(step.success for step in steps_of(out, "placebo", seed))
        first, *others = steps_of(out, "playbook", seed)
        assert not first.success
        assert all(step.success for step in others), [s.task_id for s in others if not s.success]
    none, playbook, placebo = learning_report(out).arms
    assert none.success.value == 0
    assert playbook.gain.value == pytest.approx(7 / 8)
    assert playbook.gain.low > 0.5
    assert placebo.gain == (0.0, 0.0, 0.0)
    assert playbook.worse.value != playbook.worse.value  # nothing was passed without a memory


def test_arms_play_the_same_conversations_in_the_same_order(
    played: tuple[Path, Student, FakeServer],
) -> None:
    out, _, _ = played
    for seed in (0, 1):
        orders = {
            tuple(s.task_id for s in steps_of(out, arm, seed))
            for arm in ("none", "playbook", "placebo")
        }
        assert len(orders) == 1
    assert [s.task_id for s in steps_of(out, "none", 0)] != [
        s.task_id for s in steps_of(out, "none", 1)
    ]


def test_a_placebo_is_as_long_in_every_step(played: tuple[Path, Student, FakeServer]) -> None:
    out, _, _ = played
    lengths = [[s.recalled for s in steps_of(out, arm)] for arm in ("playbook", "placebo")]
    assert lengths[0] == lengths[1]
    assert lengths[0][0] == 0
    assert min(lengths[0][1:]) > 0


def test_tokens_are_equal_at_client_and_server(played: tuple[Path, Student, FakeServer]) -> None:
    out, student, server = played
    arms = learning_report(out).arms
    total = sum((arm.total for arm in arms), TokenUsage())
    assert total.model_calls == server.requests == len(student.prompts)
    assert total.prompt_tokens == sum(request.size // 4 + 1 for request in student.prompts)
    reflections = [r for r in student.prompts if r.texts[0][1].startswith(REFLECTS)]
    own = arms[1].learner["reflection"]
    assert own.model_calls == len(reflections) == 16
    assert own.prompt_tokens == sum(request.size // 4 + 1 for request in reflections)
    assert arms[0].learner == arms[2].learner == {}


def test_what_was_recalled_stands_once_at_the_end_of_the_rules(
    played: tuple[Path, Student, FakeServer],
) -> None:
    _, student, _ = played
    with_lesson = [r for r in student.prompts if f"[r1] {LESSON}" in r.texts[0][1]]
    assert with_lesson
    for request in with_lesson:
        if not request.texts[0][1].startswith(REFLECTS):
            assert request.texts[0][1].count(HEADING) == 1
            assert request.texts[0][1].index("SAY-3") < request.texts[0][1].index(HEADING)


@pytest.mark.parametrize("level", ["none", "binary", "message"])
def test_no_gold_reaches_the_model_below_the_level_gold(level: Feedback, tmp_path: Path) -> None:
    class Mute(Student):
        def __call__(self, request: FakeRequest) -> FakeAnswer:
            super().__call__(request)
            return FakeAnswer("I cannot say.")

    student = Mute()
    learn(lambda url: options(url, feedback=level, seeds=1), tmp_path / "out", student)
    texts = "\n".join(text for request in student.prompts for _, text in request.texts)
    asked = "\n".join(turn.utterance for task in DEMO.values() for turn in task.turns)
    plain = [r.texts[0][1] for r in student.prompts if HEADING not in r.texts[0][1]]
    rules = "\n".join({text for text in plain if not text.startswith(REFLECTS)})
    hidden = {
        value
        for task in DEMO.values()
        for turn in task.gold.turns
        for call in turn.calls
        for value in call.arguments.values()
        if isinstance(value, str) and len(value) > 12 and value not in asked + rules
    }
    assert len(hidden) > 30
    assert not [value for value in hidden if value in texts]
    said = "The checker says:" in texts
    assert said == (level == "message")
    assert ("Outcome: wrong." in texts) == (level != "none")


KEPT = ("episodes.jsonl", "traces.jsonl.zst", "steps.jsonl", "learner.json", "tasks.jsonl")


def files(folder: Path) -> dict[str, bytes]:
    """What has to be the same bytes: all but seconds, and the address in the records of a model."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name in KEPT
    }


STREAM = StreamOptions("blocked", blocks=2, probes=1)


def scripted(url: str) -> LearnOptions:
    del url
    run = RunOptions(
        "demo", "function_calling", model="scripted:tests.learning.scripted:make", sample=8
    )
    return LearnOptions(run, ("playbook", "placebo"), STREAM, seeds=2)


@pytest.mark.parametrize("after", [1, 25])
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(after: int, tmp_path: Path) -> None:
    learn(scripted, tmp_path / "whole")

    def stop(done: int, _all: int) -> None:
        if done == after:
            raise Stopped

    with pytest.raises(Stopped):
        learn(scripted, tmp_path / "killed", on_progress=stop)
    # A kill between an episode's line and the state leaves a line too many, or half of one.
    torn = tmp_path / "killed" / "playbook" / "seed-0" / "episodes.jsonl"
    if torn.exists():
        torn.write_bytes(torn.read_bytes() + b'{"trace":')
    with pytest.raises(InputError, match="already holds a learning run"):
        learn(scripted, tmp_path / "killed")
    learn(scripted, tmp_path / "killed", resume=True)
    whole, killed = files(tmp_path / "whole"), files(tmp_path / "killed")
    assert len(whole) == 30
    assert killed == whole
    assert learning_report(tmp_path / "killed") == learning_report(tmp_path / "whole")


def test_another_command_does_not_go_on_with_a_run(tmp_path: Path) -> None:
    learn(scripted, tmp_path)
    with pytest.raises(InputError, match="has feedback 'binary', this one 'none'"):
        learn(lambda url: replace(scripted(url), feedback="none"), tmp_path, resume=True)


def test_a_failing_model_ends_the_run_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(scripted, tmp_path / "whole")
    monkeypatch.setattr(scripted_model, "left", 60)
    with pytest.raises(InfrastructureError, match="the server is down"):
        learn(scripted, tmp_path / "down")
    kept = sum(len(steps_of(tmp_path / "down", arm)) for arm in ("none", "playbook"))
    assert 0 < kept < 16
    monkeypatch.setattr(scripted_model, "left", None)
    learn(scripted, tmp_path / "down", resume=True)
    assert files(tmp_path / "down") == files(tmp_path / "whole")


def test_a_chain_is_a_run_like_any_other(played: tuple[Path, Student, FakeServer]) -> None:
    out, _, _ = played
    run_dir = RunDir(out / "playbook" / "seed-1")
    assert len(run_dir.episodes()) == 8
    assert run_dir.config()["learning"] == {
        "arm": "playbook",
        "stream": "shuffled",
        "feedback": "binary",
    }


def test_the_report_says_what_a_reader_has_to_know(
    played: tuple[Path, Student, FakeServer], tmp_path: Path
) -> None:
    out, _, _ = played
    report = learning_report(out)
    text = render_learning(report)
    assert "+87.5" in text
    assert "reflection" in text
    assert "There is no placebo" not in text
    write_learning(report, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "http://" not in page.replace(str(report.plan["model"]), "")
    data = orjson.dumps(report.to_data())
    assert b"NaN" not in data
    gold = replace(report, plan={**report.plan, "on_boards": False}, arms=report.arms[:2])
    words = render_learning(gold)
    assert "no result to rank" in words.replace("\n", " ")
    assert "There is no placebo" in words


def test_a_simulated_learner_is_measured_in_whole_runs(tmp_path: Path) -> None:
    from crmbench.learning.simulated import START, ability

    tasks = load_named("demo").tasks()
    run = RunOptions("demo", "simulated")
    chosen = LearnOptions(run, ("simulated:0.08", "placebo"), seeds=6)
    data = RunData(tuple(tasks), "demo", "digest")
    asyncio.run(play_learning(data, chosen, tmp_path))
    none, learner, placebo = learning_report(tmp_path).arms
    truth = sum(ability(0.08, n) - START for n in range(24)) / 24
    assert learner.gain.low <= truth <= learner.gain.high
    assert learner.gain.low > 0
    assert placebo.gain.low <= 0 <= placebo.gain.high
    assert none.episodes == learner.episodes == 144
